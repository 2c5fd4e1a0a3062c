import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { strategyGrants } from '../../../src/research/box/strategy-grants.ts';
import { ownWorkers } from '../../../src/research/box/workers.ts';
import type { Trial, TrialResult } from '../../../src/research/trials/trial.ts';
import { trialOf } from '../../../src/research/trials/trial.ts';
import { strategyHash } from '../../../src/research/trials/strategy-source.ts';
import type { ThreadStrategy } from '../../../src/research/trials/thread-setup.ts';
import { createTrialPool } from '../../../src/research/trials/trial-pool.ts';
import { threadStrategy, trialSetup, UNRULY, writeSwings } from './trial-setup.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-trials-'));
let recordingDir = '';
beforeAll(async () => { recordingDir = await writeSwings(folder); });
afterAll(() => { rmSync(folder, { recursive: true }); });

const REVERSION = threadStrategy('mean-reversion', { window: 10, k: 1 });
const WINDOWS = [5, 10, 20, 40];

function windows(): Trial[] {
  return WINDOWS.map((window) => trialOf({ params: { own: { window } } }));
}

async function ran(
  trials: readonly Trial[], strategy: ThreadStrategy, options: Parameters<typeof createTrialPool>[1] = {},
): Promise<ReadonlyMap<string, TrialResult>> {
  const pool = await createTrialPool(trialSetup(recordingDir, [strategy]), { workers: 1, ...options });
  try {
    const results = new Map<string, TrialResult>();
    for await (const result of pool.run(trials)) {
      expect(results.has(result.id)).toBe(false);
      results.set(result.id, result);
    }
    return results;
  } finally {
    await pool.close();
  }
}

/** In the order of the trials: they come as they are done. */
function inOrder(trials: readonly Trial[], results: ReadonlyMap<string, TrialResult>): (TrialResult | undefined)[] {
  return trials.map(({ id }) => results.get(id));
}

/** Threads take their time to start on a busy machine. */
const SLOW = { timeout: 120_000 };

describe('trials in threads', SLOW, () => {
  it('have the same results with any number of threads, in any order, from memory and from disk', async () => {
    const trials = windows();
    const one = inOrder(trials, await ran(trials, REVERSION));
    expect(one.map((result) => result?.kind)).toStrictEqual(['done', 'done', 'done', 'done']);
    expect(new Set(one.map((result) => (result?.kind === 'done' ? result.decisionHash : ''))).size).toBe(4);
    expect(inOrder(trials, await ran(trials.toReversed(), REVERSION, { workers: 2 }))).toStrictEqual(one);
    expect(inOrder(trials, await ran(trials, REVERSION, { mostSharedBytes: 0 }))).toStrictEqual(one);
  });

  it('fail alone when a strategy throws, exits, leaves work behind or takes too long', async () => {
    const modes = ['fine', 'throw', 'exit', 'late', 'loop', 'talk'];
    const trials = modes.map((mode) => trialOf({ params: { own: { mode } } }));
    const results = inOrder(trials, await ran(
      [...trials, trialOf({ params: { own: { every_nth: 7 } } })], threadStrategy(UNRULY), { limitMs: 3_000 },
    ));
    expect(results.map((result) => (result?.kind === 'failed' ? result.reason : result?.kind))).toStrictEqual([
      'done', expect.stringContaining('own stopped: it fell over'),
      expect.stringContaining('own stopped: process.exit() was called'),
      expect.stringContaining('work that a strategy left behind failed later: too late'),
      'it takes longer than 3s',
      'done',
    ]);
  });

  it('fail with the file and the line of an endless loop', async () => {
    const { places } = trialSetup(recordingDir, []);
    const box = ownWorkers({ readable: [recordingDir, ...await strategyGrants([UNRULY], places)], writable: [] }, 900);
    const trial = trialOf({ params: { own: { mode: 'loop' } } });
    expect((await ran([trial], threadStrategy(UNRULY), { box })).get(trial.id)).toMatchObject({
      kind: 'failed', reason: expect.stringMatching(
        /^strategy own: it took longer than 900 ms for one call, at unruly-strategy\.ts:52:\d+$/,
      ) as string,
    });
  });

  it('are refused when a schema refuses them, or the recording lacks their feeds', async () => {
    const trials = [{ window: 1 }, { window: 'wide' }, { size: '26 USDC' }, { windw: 5 }]
      .map((own) => trialOf({ params: { own } }));
    const results = inOrder(trials, await ran(trials, REVERSION));
    expect(results.map((result) => (result?.kind === 'refused' ? result.reason : result?.kind))).toStrictEqual([
      expect.stringContaining('own: window'), expect.stringContaining('own: window'),
      'the recording lacks what the strategies watch: the price of 26 USDC in SOL', expect.stringContaining('windw'),
    ]);
    const [failing] = await ran([trialOf({ params: { own: { mode: 'bad-schema' } } })], threadStrategy(UNRULY))
      .then((results) => [...results.values()]);
    expect(failing).toMatchObject({
      kind: 'refused', reason: 'the strategy fails on these parameters before it starts: a schema that fails',
    });
  });

  it('do not run with other code than at the start of the command', async () => {
    const trial = trialOf({ params: {} });
    const { places } = trialSetup(recordingDir, []);
    expect((await ran([trial], threadStrategy(UNRULY, {}, { codeHash: await strategyHash(UNRULY, places) }))).get(
      trial.id,
    )?.kind).toBe('done');
    await expect(ran([trial], threadStrategy(UNRULY, {}, { codeHash: 'of what stood there then' })))
      .rejects.toMatchObject({
        code: 'STRATEGY_INVALID',
        message: expect.stringContaining('the code of strategy own was changed while the command ran') as string,
      });
  });

  it('end at once with INTERRUPTED at an interrupt', async () => {
    const controller = new AbortController();
    const endless =
      ran([trialOf({ params: { own: { mode: 'loop' } } })], threadStrategy(UNRULY), { interrupt: controller.signal });
    setTimeout(() => { controller.abort(); }, 50);
    await expect(endless).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('issue 13.9: run in new modules, so that state in a module never reaches the next trial', async () => {
    const own = { mode: 'remember' };
    const pool = await createTrialPool(trialSetup(recordingDir, [threadStrategy(UNRULY)]), { workers: 1 });
    try {
      const hashes: string[] = [];
      for (let i = 0; i < 2; i++) {
        for await (const result of pool.run([
          trialOf({ params: { own } }), trialOf({ params: { own: { ...own, every_nth: 10 } } }),
        ])) if (result.kind === 'done') hashes.push(result.decisionHash);
      }
      expect([hashes.length, new Set(hashes).size]).toStrictEqual([4, 1]);
    } finally {
      await pool.close();
    }
  });

  it('continue in new threads after many trials', async () => {
    const pool = await createTrialPool(
      trialSetup(recordingDir, [threadStrategy(UNRULY, { mode: 'remember-globally' })]),
      { workers: 1, trialsPerProcess: 2 },
    );
    try {
      const hashes: string[] = [];
      for await (const result of pool.run(Array.from({ length: 5 }, () => trialOf({ params: {} }))))
        if (result.kind === 'done') hashes.push(result.decisionHash);
      expect(hashes).toStrictEqual([hashes[0], hashes[1], hashes[0], hashes[1], hashes[0]]);
      expect(hashes[1]).not.toBe(hashes[0]);
    } finally {
      await pool.close();
    }
  });

  it('run alone in a new thread', async () => {
    const trial = trialOf({ params: { own: { mode: 'remember-globally' } } });
    const pool = await createTrialPool(trialSetup(recordingDir, [threadStrategy(UNRULY)]), { workers: 1 });
    try {
      const hashes: string[] = [];
      const take = (result: TrialResult): void => { if (result.kind === 'done') hashes.push(result.decisionHash); };
      for (let i = 0; i < 2; i++) for await (const result of pool.run([trial])) take(result);
      for (let i = 0; i < 2; i++) take(await pool.runAlone(trial));
      // What a strategy keeps outside its modules reaches the next run of the thread, and no other thread.
      expect(hashes[1]).not.toBe(hashes[0]);
      expect(hashes.slice(2)).toStrictEqual([hashes[0], hashes[0]]);
    } finally {
      await pool.close();
    }
  });
});
