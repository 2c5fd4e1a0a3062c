import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { map } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunConfig, StrategyConfig } from '../../../src/config/run-config.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { copyCode } from '../../../src/daemon/files/kept-code.ts';
import type { Reloading } from '../../../src/daemon/reload/reloader.ts';
import { Reloader } from '../../../src/daemon/reload/reloader.ts';
import { createEngineLoop } from '../../../src/daemon/run/engine-loop.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { RecordedRows } from '../../../src/engine/warm-up.ts';
import type { PricedQuote } from '../../../src/strategy/index.ts';
import type { Input } from '../../../src/trading/step.ts';
import { cursorOver } from '../../backtest/recordings.ts';
import { alerts, apart, start, strategy } from '../../engine/runs.ts';
import { buyingSol } from '../../market/events.ts';

const dir = mkdtempSync(join(tmpdir(), 'gannet-reloader-'));
const NAMES = ['one', 'two', 'three'] as const;
afterAll(() => { rmSync(dir, { recursive: true }); });

/** Tells each price under its version's word; fails at the price that it cannot bear. */
const telling = (name: string, word: string, worst = Infinity): StrategyConfig => ({
  ...apart(strategy(name, ({ price }, context) => price!.pipe(map((quote) => {
    const { at } = quote as PricedQuote;
    if (at === worst) throw new Error(`not the price of ${worst}`);
    return context.alert('info', word);
  })))),
  use: `./${name}.ts`, file: join(dir, `${name}.ts`), rawParams: { word }, warmupMs: 5_000_000,
}) as unknown as StrategyConfig;

const configOf = (strategies: readonly StrategyConfig[]): RunConfig => ({ strategies }) as unknown as RunConfig;

/** A run of three strategies whose next versions a test decides. */
async function reloadable(options: {
  readonly load?: Reloading['load'];
  readonly rows?: () => RecordedRows;
} = {}): Promise<{
  readonly reloader: Reloader; readonly accept: (input: Input) => void; readonly told: () => string[];
  readonly commands: () => string[]; readonly adopted: string[]; readonly closed: () => number;
  /** Resolves during the first warm-up. */
  readonly warming: Promise<void>;
  phase: string; next: StrategyConfig[];
}> {
  const before = NAMES.map((name) => telling(name, 'old'));
  const adopted: string[] = [];
  const warming = Promise.withResolvers<void>();
  let closed = 0;
  const run = start(before, {
    startAt: systemClock.now(), versionOf: (order) => made.reloader.versionOf(order),
  });
  const loop = createEngineLoop(run.engine, systemClock);
  loop.start();
  const copies = Object.fromEntries(await Promise.all(before.map(async ({ name, file }) =>
    [name, await copyCode(file!)] as const)));
  const made = {
    phase: 'trading', next: before, adopted, warming: warming.promise, closed: () => closed,
    accept: (input: Input) => { loop.accept(input); },
    told: () => alerts(run).map((alert) => alert.replace(/^\S+ /, '')),
    commands: () => run.inputs.flatMap(({ input }) => (input.kind === 'command' ? [input.name] : [])),
    reloader: undefined as unknown as Reloader,
  };
  made.reloader = new Reloader({
    config: configOf(before), copies, engine: run.engine, loop, state: run.state, seed: 7,
    load: options.load ?? (async (_reader, leftOut) =>
      ({ config: configOf(made.next.filter((_one, index) => !leftOut.has(index))) })),
    *prepareWarmup() {
      warming.resolve();
      yield;
      const rows = options.rows?.();
      const record = { strategies: {}, from: 0, until: 1, recordings: [] };
      return rows === undefined ? undefined : { record, rows, missing: () => [], shown: () => '' };
    },
    hosts: { stage: () => ({
      reader: undefined as never, adopt: (name: string) => { adopted.push(name); },
      close: async () => { closed += 1; },
    }) } as never,
    files: { code: () => undefined }, phase: () => made.phase, onReloaded: () => undefined,
  });
  return made;
}

const price = (): Input => buyingSol(150_000, systemClock.now());
const HALT: Input = { kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'test' };
/** Rows from a while ago up to the present. */
const rowsBefore = (count: number): (() => RecordedRows) => () => {
  const now = systemClock.now();
  return cursorOver(Array.from({ length: count }, (_, n) => {
    const at = now - (count - n) * 200;
    return { at, input: buyingSol(150_000, at) };
  }));
};

beforeEach(() => { for (const name of NAMES) writeFileSync(join(dir, `${name}.ts`), `// ${name}\n`); });

describe('a reload of all that has changed', () => {
  it('takes the good versions over, and names the fault of one that cannot be read', async () => {
    const asked: number[][] = [];
    const run = await reloadable({ load: async (_reader, leftOut) => {
      asked.push([...leftOut]);
      return leftOut.has(1) ? { config: configOf([telling('one', 'new'), telling('three', 'new')]) }
        : { faults: new Map([[1, 'run.yaml:9:5 two.ts cannot be loaded']]) };
    } });
    expect(await run.reloader.reload(undefined)).toEqual({
      reloaded: ['one', 'three'].map((name) =>
        ({ strategy: name, params: [{ name: 'word', before: 'old', after: 'new' }], code: undefined })),
      refused: [{ strategy: 'two', reason: 'run.yaml:9:5 two.ts cannot be loaded' }], unchanged: [],
    });
    run.accept(price());
    expect(run.told()).toEqual(['new', 'old', 'new']);
    expect([asked, run.adopted, run.closed()]).toEqual([[[], [1]], ['one', 'three'], 2]);
  });

  it('refuses one that fails in its warm-up, and one that does not run, beside the others', async () => {
    const worst = systemClock.now() - 900_000;
    const run = await reloadable({ rows: () => cursorOver([{ at: worst, input: buyingSol(150_000, worst) }]) });
    run.next = [telling('one', 'new', worst), telling('two', 'new'), telling('three', 'new')];
    run.accept({ kind: 'command', name: 'stop-strategy', strategy: 'three', code: 'STRATEGY_MEMORY', reason: 'full',
      start: 1, call: 0 } as never);
    const { reloaded, refused } = await run.reloader.reload(undefined);
    expect(reloaded.map(({ strategy: name }) => name)).toEqual(['two']);
    expect(refused).toEqual([
      { strategy: 'three', reason: expect.stringMatching(/it was stopped: full; correct it and start/) as string },
      { strategy: 'one',
        reason: expect.stringMatching(/cannot be warmed up: not the price of \d+ \(reloader/) as string },
    ]);
    run.accept(price());
    expect(run.told().slice(-2)).toEqual(['old', 'new']);
  });

  it('refuses what cannot change of one strategy, and of all what belongs to the run', async () => {
    const run = await reloadable();
    run.next = [{ ...telling('one', 'new'), maxAgeMs: 5 }, telling('two', 'new'), telling('three', 'old')];
    const { reloaded, refused, unchanged } = await run.reloader.reload(undefined);
    expect([reloaded.length, refused, unchanged]).toEqual([1, [{ strategy: 'one',
      reason: expect.stringMatching(/^max_age of strategy one cannot change while the daemon runs/) as string }],
    ['three']]);
    run.next = run.next.toReversed();
    await expect(run.reloader.reload('two')).rejects.toMatchObject({ code: 'RELOAD_REFUSED' });
  });

  it('refuses changed code with "isolation: off", and takes its parameters over', async () => {
    const run = await reloadable();
    writeFileSync(join(dir, 'one.ts'), '// another text\n');
    run.next = [{ ...telling('one', 'new'), apart: undefined }, ...run.next.slice(1)];
    await expect(run.reloader.reload('one')).rejects.toThrow('the code of strategy one has changed, and with '
      + '"isolation: off" it cannot be loaded again: start the daemon again, or remove "isolation"');
    writeFileSync(join(dir, 'one.ts'), '// one\n');
    expect((await run.reloader.reload('one')).reloaded).toMatchObject([{ params: [{ name: 'word' }] }]);
    run.accept(price());
    expect(run.told()).toEqual(['new', 'old', 'old']);
  });

  it('leaves the running version alone where its recorded events cannot be read', async () => {
    const run = await reloadable({ rows: () => ({
      next: () => { throw new GannetError('RECORDING_CORRUPT', 'a torn segment'); }, at: 0, input: price(),
    }) });
    run.next = [telling('one', 'new'), ...run.next.slice(1)];
    await expect(run.reloader.reload('one')).rejects.toThrow(/one cannot be warmed up: a torn segment/);
    run.accept(price());
    expect([run.told(), run.adopted]).toEqual([['old', 'old', 'old'], []]);
  });

  it('is refused where the run has begun to end while it loaded', async () => {
    const run = await reloadable({ load: async () => {
      run.phase = 'draining';
      return { config: configOf(NAMES.map((name) => telling(name, 'new'))) };
    } });
    await expect(run.reloader.reload(undefined)).rejects.toThrow('the run is draining');
    expect([run.commands(), run.adopted, run.closed()]).toEqual([[], [], 1]);
  });

  it('is tried again where the process of the new versions was ended from outside, and not for ever', async () => {
    const run = await reloadable();
    let ends = 0;
    const mortal = (most: number): StrategyConfig => {
      const good = telling('one', 'new');
      const ending = { code: 'STRATEGY_NEIGHBOUR', reason: 'its process was ended' } as const;
      return { ...good, apart: { call: (call, portfolio) => (call.kind === 'start' && ++ends <= most
        ? { ending } : good.apart!.call(call, portfolio)) } };
    };
    run.next = [mortal(2), ...run.next.slice(1)];
    expect((await run.reloader.reload('one')).reloaded).toHaveLength(1);
    expect([ends, run.closed()]).toEqual([4, 3]);
    run.next = [mortal(99), ...run.next.slice(1)];
    await expect(run.reloader.reload('one')).rejects.toThrow(/its process kept ending: reload again/);
    run.accept(price());
    expect(run.told()).toEqual(['new', 'old', 'old']);
  });

  it('is followed by the next one, and neither stands for the other', async () => {
    const run = await reloadable();
    run.next = NAMES.map((name) => telling(name, 'new'));
    const first = run.reloader.reload('one');
    const second = run.reloader.reload(undefined);
    expect((await first).reloaded).toHaveLength(1);
    expect((await second).reloaded.map(({ strategy: name }) => name)).toEqual(['two', 'three']);
    expect(run.commands()).toEqual(['reload-strategy', 'reload-strategy', 'reload-strategy']);
  });
});

describe('a long warm-up', () => {
  it('lets other things happen, while events wait for its end', async () => {
    const run = await reloadable({ rows: rowsBefore(20_000) });
    run.next = [telling('one', 'new'), ...run.next.slice(1)];
    let isOver = false;
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    const reload = run.reloader.reload('one').finally(() => { isOver = true; });
    await run.warming;
    setImmediate(turn);
    run.accept(price());
    expect(run.told()).toEqual([]);
    await reload;
    expect(run.told()).toEqual(['new', 'old', 'old']);
    expect(turns).toBeGreaterThan(2);
  });

  it('is ended by a command, which takes effect at once, and is then repeated', async () => {
    const run = await reloadable({ rows: rowsBefore(20_000) });
    run.next = [telling('one', 'new'), ...run.next.slice(1)];
    const reload = run.reloader.reload('one');
    await run.warming;
    run.accept(price());
    expect(run.commands()).toEqual([]);
    run.accept(HALT);
    // What waited came before the command.
    expect([run.told(), run.commands()]).toEqual([['old', 'old', 'old'], ['set-trading-state']]);
    expect((await reload).reloaded).toHaveLength(1);
    expect(run.commands()).toEqual(['set-trading-state', 'reload-strategy']);
  });
});
