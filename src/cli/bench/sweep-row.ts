import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BASE_MODEL } from '../../backtest/simulated-executor.ts';
import type { Trial } from '../../backtest/trial.ts';
import { trialOf } from '../../backtest/trial.ts';
import type { Amount, Bps } from '../../core/amount.ts';
import { systemClock } from '../../daemon/system-clock.ts';
import type { Token } from '../../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import { syntheticQuotes } from '../../recording/synthetic.ts';
import { createRecordingWriter } from '../../recording/writer.ts';
import { PROJECT_DIR } from '../project.ts';
import type { ThreadSetup } from '../research/thread-setup.ts';
import type { RecordingTrialPool } from '../research/trial-pool.ts';
import { createTrialPool } from '../research/trial-pool.ts';
import { BENCH_PROTECTIONS } from './backtest-rows.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, stopwatch } from './measurement.ts';

const EVENTS = 100_000;
const WORKERS = 2;
const RUNS = 5;
/** Not counted: threads start and the compiler warms up once, however long the sweep. */
const WARM_UP_RUNS = 2;
const STEP_MS = 1_000;
const TOKENS: readonly Token[] = [{ mint: USDC_MINT, symbol: 'USDC', decimals: 6 }, { mint: SOL_MINT, symbol: 'SOL', decimals: 9 }];

/** 100 parameter sets of SMA crossover, each with the whole engine, its figures and its decision hash, over one recording in shared memory. */
export const SWEEP_ROWS: readonly BenchRow[] = [{ name: 'sweep', measure: measureSweep }];

async function measureSweep(): Promise<Measurement> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const pool = await createTrialPool(await benchSetup(dir), { workers: WORKERS });
    try {
      const rates: number[] = [];
      for (let run = -WARM_UP_RUNS; run < RUNS; run++) {
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
    if (result.kind !== 'done' || result.fills === 0) throw new Error(`a benchmark that does not trade measures nothing: ${result.kind === 'done' ? 'no fills' : result.reason}`);
    evaluations += result.events;
  }
  return evaluations / ((stopwatch() - startedAt) / 1_000);
}

function trials(): Trial[] {
  return Array.from({ length: 100 }, (_, i) => trialOf({ params: { trend: { fast: 5 + 5 * (i % 10), slow: 60 + 20 * Math.floor(i / 10) } } }));
}

export async function benchSetup(dir: string): Promise<ThreadSetup> {
  const writer = createRecordingWriter({ dir, name: 'bench', clock: systemClock, tokens: TOKENS, onError: (error) => { throw error; } });
  const quotes = syntheticQuotes({
    count: EVENTS, seed: 7, stepMs: STEP_MS, instruments: [{ inputMint: USDC_MINT, outputMint: SOL_MINT, amount: 25_000_000n as Amount, startRate: 1_000 / 150 }],
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
      budget: { mint: USDC_MINT, amount: 1_000_000_000n as Amount }, limits: { maxAgeMs: undefined, maxExposure: undefined }, warmupMs: undefined,
    }],
    places: { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: PROJECT_DIR },
  };
}
