import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Amount } from '../../core/amount.ts';
import { systemClock } from '../../daemon/system-clock.ts';
import type { Token } from '../../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import { syntheticQuotes } from '../../recording/synthetic.ts';
import { createRecordingWriter } from '../../recording/writer.ts';
import { startCommand } from './child-command.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured } from './measurement.ts';
import { probedEnvironment, readProbe } from './probe-line.ts';

const EVENTS = 10_000_000;
/** Made and written piece by piece: this process must not hold them all either. */
const CHUNK = 500_000;
const STEP_MS = 1_000;
const START_AT = 1_750_000_000_000;
const RUNS = 3;
const MEGABYTE = 1_048_576;
const TOKENS: readonly Token[] = [{ mint: USDC_MINT, symbol: 'USDC', decimals: 6 }, { mint: SOL_MINT, symbol: 'SOL', decimals: 9 }];

const CONFIG = `mode: paper
tokens: { SOL: ${SOL_MINT}, USDC: ${USDC_MINT} }
backtest: { balances: { USDC: "1000", SOL: "1000" } }
risk:
  max_swaps: { per_minute: 60, per_hour: 3600, per_day: 86400 }
  max_open_intents: 1
  protections: [ { kind: max_drawdown, limit_pct: 100, action: reduce_only } ]
strategies:
  - { use: sma-crossover, name: trend, budget: "1000 USDC", params: { pair: SOL/USDC, size: "25 USDC", every: 1s } }
`;

/** The most memory that `gannet backtest` ever has of ten million events on disk: SMA(20/100), all three settings, in a process of its own. */
export const MEMORY_ROWS: readonly BenchRow[] = [{ name: 'backtest-memory', measure: measureMemory }];

async function measureMemory(): Promise<Measurement> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  try {
    const recording = await writeRecording(dir);
    const config = join(dir, 'bench.yaml');
    writeFileSync(config, CONFIG);
    const peaks: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const probe = join(dir, `probe-${run}.ndjson`);
      const args = ['backtest', config, '--recording', recording, '--json', '--no-grid', '--state-dir', join(dir, `state-${run}`)];
      await startCommand(args, probedEnvironment(probe)).ended();
      const last = readProbe(probe).at(-1);
      if (last?.kind !== 'exit') throw new Error('the backtest did not say how much memory it took');
      peaks.push(last.peakRssBytes / MEGABYTE);
    }
    return measured('backtest-memory', 'MB', peaks);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the folder of a recording of one market's quotes. Each piece goes on from the price that the one before ended with. */
async function writeRecording(dir: string): Promise<string> {
  const writer = createRecordingWriter({ dir, name: 'bench', clock: systemClock, tokens: TOKENS, onError: (error) => { throw error; } });
  let startRate = 1_000 / 150;
  for (let first = 0; first < EVENTS; first += CHUNK) {
    const cursor = syntheticQuotes({
      count: CHUNK, seed: first + 7, stepMs: STEP_MS, startAt: START_AT + first * STEP_MS,
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
