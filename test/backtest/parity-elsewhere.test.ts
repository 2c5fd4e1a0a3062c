import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, JsonLine, Playground } from '../e2e/gannet.ts';
import { copyOf, createPlayground, daemonOf, document, jsonLines } from '../e2e/gannet.ts';
import type { ProjectCopy } from './parity-project.ts';
import { copyOfProject, PLACES, rewriteRecording } from './parity-project.ts';

const COMMON = `
service: { base_url: embedded }
control: { port: 0 }
tokens:
  SOL: So11111111111111111111111111111111111111112
  USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v
  PEARL: Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij
backtest: { balances: { USDC: "10000", SOL: "1" }, latency: { land: 50ms }, landing: { drop_probability: 0 } }
`;
const RISK = `risk:
  max_trade: "200 USDC"
  max_swaps: { per_minute: 200 }
  protections: [{ kind: daily_loss, limit: "800 USDC", action: halt }, { kind: cooldown, after: loss, for: 1s }]
  token_safety: { trusted: [SOL, USDC] }
`;
const TRADERS = `strategies:
  - { use: dca, budget: "1000 USDC", params: { buy: SOL, spend: "5 USDC", every: 1s, watch: 500ms } }
  - use: dca
    name: built
    budget: "1000 USDC"
    params: { buy: PEARL, spend: "5 USDC", every: 1s, offset: 500ms, route: build, watch: 500ms }
  - use: sma-crossover
    name: trend
    budget: "500 USDC"
    params: { pair: SOL/USDC, size: "25 USDC", every: 500ms, fast: 1, slow: 2 }
  - { use: book-watch, name: tide, params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5, every: 1s } }
`;
/** A strategy that does what none of the project may do: it writes local digits, and hides that from the check. */
const LOCAL = `import { map } from 'rxjs';
import { z } from 'zod';
import { defineStrategy, interval } from '../src/strategy/index.ts';
export default defineStrategy({
  name: 'local-time', summary: 'Tells the time in local digits.', params: z.strictObject({}), inputs: () => ({}),
  run: (_inputs, _params, ctx) => interval(ctx, '500ms').pipe(map((n) => (
    ctx.alert('info', n < 2 ? 'not yet' : ctx.now()['toLocale' + 'String']())))),
});
`;
/** A strategy that no other may imitate: its error comes after the last handler is gone. */
const LOOSE = `import { NEVER } from 'rxjs';
import { z } from 'zod';
import { defineStrategy, interval } from '../src/strategy/index.ts';
export default defineStrategy({
  name: 'loose', summary: 'Subscribes by itself.', params: z.strictObject({}), inputs: () => ({}),
  run: (_inputs, _params, ctx) => {
    interval(ctx, '500ms')['sub' + 'scribe'](() => { throw new Error('an uncaught error'); });
    return NEVER;
  },
});
`;

let playground: Playground;
let project: ProjectCopy;
let localRun: string;
let localOutput: string;
const runs: Record<string, { readonly state: string; readonly runId: string; readonly hash: string }> = {};

const confirmed = (stdout: string): number => stdout.split('"state":"confirmed"').length - 1;

async function make(name: string, config: string, until: (stdout: string) => boolean): Promise<void> {
  const state = playground.path(name);
  const environment = PLACES.newfoundland;
  const running = playground.start(
    ['run', '--json', '--config', playground.write(`${name}.yaml`, config), '--state-dir', state], { environment },
  );
  await running.until(until);
  expect(readFileSync(`/proc/${await daemonOf(running)}/environ`, 'latin1').split('\0'))
    .toEqual(expect.arrayContaining(['TZ=America/St_Johns', 'LC_ALL=ar_EG.UTF-8']));
  running.signal('SIGINT');
  const ended = await running.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const summary = jsonLines(ended.stdout).at(-1)!;
  runs[name] = { state, runId: String(summary['run_id']), hash: String(summary['decision_hash']) };
}

beforeAll(async () => {
  playground = createPlayground();
  project = copyOfProject(playground);
  writeFileSync(join(project.dir, 'strategies', 'local-time.ts'), LOCAL);
  writeFileSync(join(project.dir, 'strategies', 'loose.ts'), LOOSE);
  await Promise.all([
    make('live', `mode: live\nchain: { rpc_url: embedded }\n${COMMON}${RISK}${TRADERS}`, (stdout) =>
      confirmed(stdout) > 5 && stdout.includes('the 1-price mean')),
    make('paper', `mode: paper\n${COMMON}${RISK}${TRADERS}`, (stdout) =>
      confirmed(stdout) > 5 && stdout.includes('the 1-price mean')),
    project.run(['run', '--json', '--config', playground.write(
      'local.yaml', `mode: paper\n${COMMON}strategies: [{ use: local-time }, { use: loose }]\n`,
    ), '--state-dir', playground.path('local'), '--duration', '2s'], PLACES.newfoundland)
      .then(({ stdout }) => {
        localOutput = stdout;
        localRun = String(jsonLines(stdout)[0]!['run_id']);
      }),
  ]);
}, 180_000);
afterAll(() => playground.close());

/** A changed copy of a run. */
function spoilt(run: string, name: string): { readonly state: string; readonly runId: string } {
  const { state, runId } = runs[run]!;
  return { state: copyOf(playground, state, name), runId };
}

const replay = (state: string, runId: string, ...more: readonly string[]): Promise<Ended> =>
  playground.ask(['replay', runId, '--state-dir', state, ...more]);
const divergenceOf = (ended: Ended): JsonLine => document(ended)['first_divergence'] as JsonLine;

describe('a run on the sandbox', () => {
  it.each([
    'live', 'paper',
  ])('that traded %s in one folder is replayed in other folders with the same hash and exit code 0', async (name) => {
    const { state, runId, hash } = runs[name]!;
    const elsewhere = (['chatham', 'nowhere'] as const).map((place) =>
      playground.run(['replay', runId, '--json', '--state-dir', state], { environment: PLACES[place], cwd: '/' }));
    for (const ended of await Promise.all(elsewhere)) {
      expect(ended.code, ended.stderr + ended.stdout).toBe(0);
      expect(document(ended))
        .toMatchObject({ match: true, decision_hash: hash, recorded_hash: hash, first_divergence: null, warnings: [] });
      expect(document(ended)).not.toHaveProperty('truncated_at');
      expect(Number(document(ended)['decisions'])).toBeGreaterThan(5);
    }
  });

  it('decides the same in every place where a strategy hides that it writes local digits', async () => {
    const state = playground.path('local');
    const [here, there] = await Promise.all([PLACES.newfoundland, PLACES.chatham].map((place) =>
      project.run(['replay', localRun, '--json', '--state-dir', state], place)));
    for (const ended of [here!, there!]) {
      expect(ended.code, ended.stderr + ended.stdout).toBe(0);
      expect(document(ended)).toMatchObject({ match: true, first_divergence: null });
    }
    // The process of a strategy has no variables, so it knows no place; a subscription of its own ends a strategy.
    expect(localOutput).not.toMatch(/[٠-٩]/);
    expect(localOutput).toContain('loose stopped: it threw outside the engine’s time: an uncaught error');
  });

  it('is refused where the check finds that a strategy writes local digits or subscribes by itself', async () => {
    const open = (name: string, text: string): void => {
      writeFileSync(join(project.dir, 'strategies', `${name}.ts`), text.replaceAll(/\['(\w+)' \+ '(\w+)'\]/g, '.$1$2'));
    };
    open('local-time', LOCAL);
    open('loose', LOOSE);
    const ended = await project.run(['config', 'check', playground.path('local.yaml')]);
    writeFileSync(join(project.dir, 'strategies', 'local-time.ts'), LOCAL);
    writeFileSync(join(project.dir, 'strategies', 'loose.ts'), LOOSE);
    expect(ended.code).toBe(2);
    expect(ended.stdout + ended.stderr).toMatch(/local-time\.ts:7:\d+/);
    expect(ended.stdout + ended.stderr).toMatch(/loose\.ts:7:\d+/);
  });
});

describe('a replay', () => {
  it('names the first decision that a changed strategy file changes, with both proposals', async () => {
    const { state, runId } = runs['live']!;
    const file = join(project.dir, 'strategies', 'dca.ts');
    const before = readFileSync(file, 'utf8');
    expect(before).toContain('purchase due at');
    writeFileSync(file, before.replace('purchase due at', 'bought for'));
    const [scripts, people] = await Promise.all([
      project.run(['replay', runId, '--json', '--state-dir', state]),
      project.run(['replay', runId, '--state-dir', state]),
    ]);
    writeFileSync(file, before);
    expect([scripts.code, people.code], scripts.stderr).toEqual([1, 1]);
    expect(document(scripts)).toMatchObject({ match: false, recorded_hash: runs['live']!.hash });
    const first = divergenceOf(scripts);
    expect(first).toMatchObject({
      differs: ['proposal.reason'],
      recorded: { decision: {
        seq: first['seq'], at: first['at'], proposal: { reason: expect.stringMatching(/^purchase due at \d/) },
        h: expect.stringMatching(/^[0-9a-f]{64}$/),
      } },
      replayed: {
        decision: { seq: first['seq'], at: first['at'], proposal: { reason: expect.stringMatching(/^bought for \d/) } },
      },
    });
    expect(people.stdout).toContain('the decisions DIFFER');
    expect(people.stdout).toMatch(/first difference +number \d+, in proposal\.reason/);
    expect(people.stdout).toMatch(/the run +\S+ wants to swap 5 USDC to \S+: purchase due at \d/);
    expect(people.stdout).toMatch(/the replay +\S+ wants to swap 5 USDC to \S+: bought for \d/);
    expect(people.stdout).toMatch(/a strategy, a default, Gannet or the recording differs from the run’s/);
  });

  it('names the first decision that a changed parameter changes', async () => {
    const { state, runId } = spoilt('paper', 'other-parameter');
    const file = join(state, 'runs', runId, 'manifest.json');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('"spend": "5 USDC"');
    writeFileSync(file, text.replace('"spend": "5 USDC"', '"spend": "6 USDC"'));
    const ended = await replay(state, runId, '--json');
    expect(ended.code).toBe(1);
    expect(document(ended)['warnings']).toEqual([expect.stringContaining('manifest.json is not what the run wrote')]);
    expect(divergenceOf(ended)).toMatchObject({
      differs: ['proposal.amount'],
      recorded: { decision: { strategy: 'dca', proposal: { amount: '5000000' } } },
      replayed: { decision: { strategy: 'dca', proposal: { amount: '6000000' } } },
    });
  });

  it('names the row of a changed recording that changes the first decision', async () => {
    const { state, runId } = spoilt('live', 'other-price');
    const decided = jsonLines(readFileSync(join(state, 'runs', runId, 'decisions.ndjson'), 'utf8'))
      .filter(({ proposal }) => (proposal as { reason: string }).reason.startsWith('the 1-price mean')).at(-1)!;
    let changed = 0;
    await rewriteRecording(join(state, 'recordings'), runId, (input, seq) => {
      if (input.kind !== 'quote' || seq !== Number(decided['seq']) - 1) return input;
      changed = seq;
      return { ...input, outAmount: (input.outAmount * 2n) as typeof input.outAmount };
    });
    const [scripts, people] = await Promise.all([replay(state, runId, '--json'), replay(state, runId)]);
    expect([scripts.code, people.code], scripts.stderr + scripts.stdout).toEqual([1, 1]);
    expect(divergenceOf(scripts)).toMatchObject({
      seq: decided['seq'],
      recorded: { decision: decided, input: {
        occasion: 'row',
        row: { seq: changed, kind: 'quote', inAmount: '25000000', outAmount: expect.stringMatching(/^\d+$/) },
      } },
    });
    expect(people.stdout).toMatch(new RegExp(`on row ${changed} of [-\\d]+ [:\\d]+ UTC: 25 USDC would bring \\d`));
  });

  it('reports where a truncated recording ends, and compares until there', async () => {
    const { state, runId } = spoilt('live', 'cut');
    const last = 40;
    await rewriteRecording(
      join(state, 'recordings'), runId, (input, seq) => (seq <= last ? input : undefined), { close: false },
    );
    const [scripts, people] = await Promise.all([replay(state, runId, '--json'), replay(state, runId)]);
    expect([scripts.code, people.code], scripts.stderr + scripts.stdout).toEqual([0, 0]);
    const { truncated_at: truncatedAt, decisions, decision_hash: hash, recorded_hash: recorded } = document(scripts);
    expect(Number(truncatedAt)).toBeGreaterThanOrEqual(last);
    const written = jsonLines(readFileSync(join(state, 'runs', runId, 'decisions.ndjson'), 'utf8'))
      .filter(({ seq }) => Number(seq) <= Number(truncatedAt));
    expect([decisions, hash, recorded]).toEqual([written.length, written.at(-1)!['h'], written.at(-1)!['h']]);
    expect(people.stdout).toContain(`the run was cut off: compared up to seq ${String(truncatedAt)}`);
  });

  it('reports no match where the run ended with other decisions, or where none could be compared', async () => {
    const { state, runId } = spoilt('paper', 'other-end');
    const file = join(state, 'runs', runId, 'manifest.json');
    const text = readFileSync(file, 'utf8');
    const refused = async (changed: string, said: string): Promise<void> => {
      writeFileSync(file, changed);
      const { code, stdout, stderr } = await replay(state, runId, '--json');
      expect(code, stderr).toBe(1);
      expect((JSON.parse(stdout) as JsonLine)['error'])
        .toMatchObject({ code: 'RECORDING_CORRUPT', message: expect.stringContaining(said) as string });
    };
    const { hash } = runs['paper']!;
    await refused(
      text.replace(hash, '0'.repeat(64)), `hash ${'0'.repeat(64)}, its decisions.ndjson and the replay come to`,
    );
    await refused(text.replace('"protections": [', '"protections": [7, '), 'cannot be repeated');
    writeFileSync(file, text);
    // Its recording is truncated to nothing, so that no decision is known to be equal.
    await rewriteRecording(join(state, 'recordings'), runId, () => undefined, { close: false });
    const lines = jsonLines(readFileSync(join(state, 'runs', runId, 'decisions.ndjson'), 'utf8'));
    const beforeRows = lines.findIndex(({ seq }, index) => Number(seq) !== index + 1);
    const ended = await replay(state, runId, '--json');
    expect(ended.code).toBe(beforeRows === 0 ? 1 : 0);
    expect(document(ended)).toMatchObject({
      match: beforeRows === 0 ? null : true, not_compared: lines.length - beforeRows, decisions: beforeRows,
    });
  });
});
