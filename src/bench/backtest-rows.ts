import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBacktest } from '../backtest/backtest.ts';
import { startCommand } from './child-command.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured } from './measurement.ts';
import { probedEnvironment, readProbe } from './probe-line.ts';
import type { SyntheticInstrument } from './synthetic-quotes.ts';
import { syntheticQuotes } from './synthetic-quotes.ts';
import { PROJECT_DIR } from '../core/code-files.ts';
import type { Amount, Bps } from '../core/amount.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import type { Mint, Token } from '../market/token.ts';
import { SOL_MINT, tokenTable, USDC_MINT } from '../market/token.ts';
import { createRecordingWriter } from '../recording/writer.ts';
import { stopwatch } from '../research/stopwatch.ts';
import type { ThreadSetup } from '../research/trials/thread-setup.ts';
import type { RecordingTrialPool } from '../research/trials/trial-pool.ts';
import { createTrialPool } from '../research/trials/trial-pool.ts';
import type { Trial } from '../research/trials/trial.ts';
import { trialOf } from '../research/trials/trial.ts';
import { withTokens } from '../strategy/params.ts';
import type { Protection } from '../trading/limits.ts';
import { DEFAULT_PROTECTIONS } from '../trading/protections/catalogue.ts';
import { BASE_MODEL } from '../trading/simulation-model.ts';
import { createState, freshSnapshot } from '../trading/engine-state.ts';
import smaCrossover from '../../strategies/sma-crossover.ts';

const RUNS = 5;
/** Not counted: a real backtest takes longer than the compiler's warm-up. */
const WARM_UP_RUNS = 2;
const BUDGET = 1_000_000_000n as Amount;
const STAKE = 25_000_000n as Amount;
/** The default protections with limits that are never reached, because a stopped strategy would do less work. */
const BENCH_PROTECTIONS: readonly Protection[] = DEFAULT_PROTECTIONS.map((protection) => {
  if (protection.trigger.kind === 'max-drawdown')
    return { ...protection, trigger: { ...protection.trigger, limitPct: 100 } };
  return protection.trigger.kind === 'loss-streak'
    ? { ...protection, trigger: { ...protection.trigger, withinMs: 1 } } : protection;
});
const USDC: Token = { mint: USDC_MINT, symbol: 'USDC', decimals: 6 };
const SOL: Token = { mint: SOL_MINT, symbol: 'SOL', decimals: 9 };
const TOKENS: readonly Token[] = [USDC, SOL];
const STEP_MS = 1_000;

/** The load of a row: strategies, each on an instrument of its own or all on one. */
interface Scene {
  readonly strategies: number;
  readonly instruments: number;
  readonly events: number;
}

/**
 * The whole engine over a synthetic recording: SMA crossover with risk, portfolio, simulated fills and decision hash.
 * Twenty instruments are merged in time, each with a strategy of its own. Twenty strategies watch one instrument, the
 * first with the averages of the other rows, 20 and 100, the others with longer ones.
 */
export const BACKTEST_ROWS: readonly BenchRow[] = [
  { name: 'backtest-one', measure: async () =>
    measureBacktest('backtest-one', { strategies: 1, instruments: 1, events: 1_000_000 }) },
  { name: 'backtest-twenty', measure: async () =>
    measureBacktest('backtest-twenty', { strategies: 20, instruments: 20, events: 1_000_000 }) },
  { name: 'backtest-twenty-strategies', measure: async () =>
    measureBacktest('backtest-twenty-strategies', { strategies: 20, instruments: 1, events: 100_000 }) },
];

function measureBacktest(name: string, scene: Scene): Measurement {
  const { instruments: instrumentCount, events } = scene;
  const bases = Array.from({ length: instrumentCount }, (_, index): Token =>
    ({ mint: benchMint(index), symbol: `T${index}`, decimals: 9 }));
  const instruments = bases.map((base): SyntheticInstrument =>
    ({ inputMint: USDC_MINT, outputMint: base.mint, amount: STAKE, startRate: 1_000 / 150 }));
  const recording =
    syntheticQuotes({ count: events, instruments, seed: 7, stepMs: Math.max(1, Math.floor(1_000 / instrumentCount)) });
  const tokens = tokenTable([USDC, ...bases]);
  const strategies = Array.from({ length: scene.strategies }, (_, index) => {
    const { symbol } = bases[index % instrumentCount]!;
    const longer = instrumentCount === 1 ? index : 0;
    const given = { pair: `${symbol}/USDC`, size: '25 USDC', fast: 20 + longer, slow: 100 + 5 * longer };
    return {
      name: `sma-${index}`, strategy: smaCrossover, params: withTokens(tokens, () => smaCrossover.params.parse(given)),
    };
  });
  const rates: number[] = [];
  for (let run = -WARM_UP_RUNS; run < RUNS; run++) {
    const state = createState({
      tokens,
      limits: {
        maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxPosition: new Map(),
        maxOpenIntents: scene.strategies, maxSwaps: { perMinute: 60 * scene.strategies },
        solReserve: 50_000_000n as Amount,
        protections: BENCH_PROTECTIONS,
      },
      strategies: strategies.map((instance) =>
        ({ name: instance.name, budget: { mint: USDC_MINT, amount: BUDGET }, limits: {} })),
      snapshot: freshSnapshot(
        new Map([[USDC_MINT, (BUDGET * BigInt(scene.strategies)) as Amount], [SOL_MINT, 1_000_000_000_000n as Amount]]),
      ),
    });
    const result = runBacktest({
      state, strategies, seed: 7, startAt: recording.firstAt ?? 0, cursor: recording.cursor(), model: BASE_MODEL,
      stopwatch,
    });
    if (result.decisions === 0) throw new Error('a benchmark that decides nothing measures nothing');
    if (run >= 0) rates.push(result.events / result.seconds);
  }
  return measured(name, 'events/s', rates);
}

/** Returns a mint of the benchmark, in base58 of the right length. */
function benchMint(index: number): Mint {
  const letter = 'ABCDEFGHJKLMNPQRSTUVWXYZ'[index]!;
  return `Bench${letter}1111111111111111111111111111111111111`.slice(0, 43) as Mint;
}

const SWEEP_EVENTS = 100_000;
const SWEEP_WORKERS = 2;
const SWEEP_RUNS = 5;
/** Not counted: threads start and the compiler warms up only once per sweep. */
const SWEEP_WARM_UP_RUNS = 2;

/**
 * Runs 100 parameter sets of SMA crossover over one recording in shared memory, each with the whole engine, metrics and
 * decision hash.
 */
export const SWEEP_ROWS: readonly BenchRow[] = [{ name: 'sweep', measure: measureSweep }];

async function measureSweep(): Promise<Measurement> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const pool = await createTrialPool(await benchSetup(dir), { workers: SWEEP_WORKERS });
    try {
      const rates: number[] = [];
      for (let run = -SWEEP_WARM_UP_RUNS; run < SWEEP_RUNS; run++) {
        const rate = await rateOf(pool);
        if (run >= 0) rates.push(rate);
      }
      return measured('sweep', 'evaluations/s', rates);
    } finally {
      await pool.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function rateOf(pool: RecordingTrialPool): Promise<number> {
  let evaluations = 0;
  const startedAt = stopwatch();
  for await (const result of pool.run(trials())) {
    if (result.kind !== 'done' || result.fills === 0) throw new Error(
      `a benchmark that does not trade measures nothing: ${result.kind === 'done' ? 'no fills' : result.reason}`,
    );
    evaluations += result.events;
  }
  return evaluations / ((stopwatch() - startedAt) / 1_000);
}

function trials(): Trial[] {
  return Array.from({ length: 100 }, (_, i) =>
    trialOf({ params: { trend: { fast: 5 + 5 * (i % 10), slow: 60 + 20 * Math.floor(i / 10) } } }));
}

async function benchSetup(dir: string): Promise<ThreadSetup> {
  const writer = createRecordingWriter({
    dir, name: 'bench', clock: systemClock, tokens: TOKENS, onError: (error) => { throw error; },
  });
  const quotes = syntheticQuotes({
    count: SWEEP_EVENTS, seed: 7, stepMs: STEP_MS, instruments: [
      { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as Amount, startRate: 1_000 / 150 },
    ],
  });
  const cursor = quotes.cursor();
  while (cursor.next()) writer.append(cursor.seq, cursor.at, cursor.input);
  await writer.close();
  return {
    tokens: TOKENS,
    limits: {
      maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxPosition: new Map(),
      maxOpenIntents: 1, maxSwaps: { perMinute: 60 }, solReserve: 50_000_000n as Amount, protections: BENCH_PROTECTIONS,
    },
    balances: new Map([[USDC_MINT, 1_000_000_000n as Amount], [SOL_MINT, 1_000_000_000_000n as Amount]]),
    model: BASE_MODEL, seed: 7, currency: TOKENS[0]!,
    firstAt: quotes.firstAt ?? 0, lastAt: quotes.lastAt ?? 0,
    recordingDir: writer.directory,
    strategies: [{
      name: 'trend', use: 'sma-crossover', rawParams: { pair: 'SOL/USDC', size: '25 USDC', every: '1s' },
      budget: { mint: USDC_MINT, amount: 1_000_000_000n as Amount },
      limits: { maxAgeMs: undefined, maxExposure: undefined }, warmupMs: undefined,
    }],
    places: { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: PROJECT_DIR },
  };
}

const MEMORY_EVENTS = 10_000_000;
/** Events are generated and written in chunks, so that this process does not hold them all. */
const MEMORY_CHUNK = 500_000;
const MEMORY_START_AT = 1_750_000_000_000;
const MEMORY_RUNS = 3;
const MEGABYTE = 1_048_576;

const MEMORY_CONFIG = `mode: paper
tokens: { SOL: ${SOL_MINT}, USDC: ${USDC_MINT} }
backtest: { balances: { USDC: "1000", SOL: "1000" } }
risk:
  max_swaps: { per_minute: 60, per_hour: 3600, per_day: 86400 }
  max_open_intents: 1
  protections: [ { kind: max_drawdown, limit_pct: 100, action: reduce_only } ]
strategies:
  - { use: sma-crossover, name: trend, budget: "1000 USDC", params: { pair: SOL/USDC, size: "25 USDC", every: 1s } }
`;

/**
 * The peak memory of `gannet backtest` over ten million events on disk: SMA(20/100), all three settings, in a process
 * of its own.
 */
export const MEMORY_ROWS: readonly BenchRow[] = [{ name: 'backtest-memory', measure: measureMemory }];

async function measureMemory(): Promise<Measurement> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const recording = await writeRecording(dir);
    const config = join(dir, 'bench.yaml');
    writeFileSync(config, MEMORY_CONFIG);
    const peaks: number[] = [];
    for (let run = 0; run < MEMORY_RUNS; run++) {
      const probe = join(dir, `probe-${run}.ndjson`);
      const args =
        ['backtest', config, '--recording', recording, '--json', '--no-grid', '--state-dir', join(dir, `state-${run}`)];
      await startCommand(args, probedEnvironment(probe)).ended();
      const last = readProbe(probe).at(-1);
      if (last?.kind !== 'exit') throw new Error('the backtest did not report its peak memory');
      peaks.push(last.peakRssBytes / MEGABYTE);
    }
    return measured('backtest-memory', 'MB', peaks);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the folder of a recording of one market's quotes. Each chunk starts at the last price of the one before. */
async function writeRecording(dir: string): Promise<string> {
  const writer = createRecordingWriter({
    dir, name: 'bench', clock: systemClock, tokens: TOKENS, onError: (error) => { throw error; },
  });
  let startRate = 1_000 / 150;
  for (let first = 0; first < MEMORY_EVENTS; first += MEMORY_CHUNK) {
    const cursor = syntheticQuotes({
      count: MEMORY_CHUNK, seed: first + 7, stepMs: STEP_MS, startAt: MEMORY_START_AT + first * STEP_MS,
      instruments: [{ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as Amount, startRate }],
    }).cursor();
    while (cursor.next()) {
      const { seq, at, input } = cursor;
      writer.append(first + seq, at, input);
      if (input.kind === 'quote') startRate = input.rate;
    }
  }
  await writer.close();
  return writer.directory;
}
