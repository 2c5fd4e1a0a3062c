import type { Amount, Bps } from '../../core/amount.ts';
import { runBacktest } from '../../backtest/backtest.ts';
import { BASE_MODEL } from '../../backtest/simulated-executor.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT, USDC_MINT, tokenTable } from '../../market/token.ts';
import type { SyntheticInstrument } from '../../recording/synthetic.ts';
import { syntheticQuotes } from '../../recording/synthetic.ts';
import { withTokens } from '../../strategy/params.ts';
import type { Protection } from '../../trading/protection.ts';
import { DEFAULT_PROTECTIONS } from '../../trading/protections/default-protections.ts';
import { createState, freshSnapshot } from '../../trading/state.ts';
import smaCrossover from '../../../strategies/sma-crossover.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, stopwatch } from './measurement.ts';

const RUNS = 5;
/** Not counted: a backtest worth waiting for is longer than the compiler takes to warm up. */
const WARM_UP_RUNS = 2;
const BUDGET = 1_000_000_000n as Amount;
const STAKE = 25_000_000n as Amount;
/** The usual protections, looked at as ever, but out of reach: a strategy that is stopped would measure less work. */
export const BENCH_PROTECTIONS: readonly Protection[] = DEFAULT_PROTECTIONS.map((protection) => {
  if (protection.trigger.kind === 'max-drawdown') return { ...protection, trigger: { ...protection.trigger, limitPct: 100 } };
  return protection.trigger.kind === 'loss-streak' ? { ...protection, trigger: { ...protection.trigger, withinMs: 1 } } : protection;
});
const USDC: Token = { mint: USDC_MINT, symbol: 'USDC', decimals: 6 };

/** What is run: so many strategies, each on an instrument of its own or all on one. */
interface Scene {
  readonly strategies: number;
  readonly instruments: number;
  readonly events: number;
}

/**
 * The whole engine over a synthetic recording: SMA crossover with risk, portfolio, simulated fills and decision hash.
 * Twenty instruments are merged in time, each with a strategy of its own; twenty strategies look at one instrument, the
 * first with the averages of the other rows, 20 and 100, the others with longer ones.
 */
export const BACKTEST_ROWS: readonly BenchRow[] = [
  { name: 'backtest-one', measure: async () => measureBacktest('backtest-one', { strategies: 1, instruments: 1, events: 1_000_000 }) },
  { name: 'backtest-twenty', measure: async () => measureBacktest('backtest-twenty', { strategies: 20, instruments: 20, events: 1_000_000 }) },
  { name: 'backtest-twenty-strategies', measure: async () => measureBacktest('backtest-twenty-strategies', { strategies: 20, instruments: 1, events: 100_000 }) },
];

function measureBacktest(name: string, scene: Scene): Measurement {
  const { instruments: instrumentCount, events } = scene;
  const bases = Array.from({ length: instrumentCount }, (_, index): Token => ({ mint: benchMint(index), symbol: `T${index}`, decimals: 9 }));
  const instruments = bases.map((base): SyntheticInstrument => ({ inputMint: USDC_MINT, outputMint: base.mint, amount: STAKE, startRate: 1_000 / 150 }));
  const recording = syntheticQuotes({ count: events, instruments, seed: 7, stepMs: Math.max(1, Math.floor(1_000 / instrumentCount)) });
  const tokens = tokenTable([USDC, ...bases]);
  const strategies = Array.from({ length: scene.strategies }, (_, index) => {
    const { symbol } = bases[index % instrumentCount]!;
    const longer = instrumentCount === 1 ? index : 0;
    const given = { pair: `${symbol}/USDC`, size: '25 USDC', fast: 20 + longer, slow: 100 + 5 * longer };
    return { name: `sma-${index}`, strategy: smaCrossover, params: withTokens(tokens, () => smaCrossover.params.parse(given)) };
  });
  const rates: number[] = [];
  for (let run = -WARM_UP_RUNS; run < RUNS; run++) {
    const state = createState({
      tokens,
      limits: {
        maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxPosition: new Map(),
        maxOpenIntents: scene.strategies, maxSwaps: { perMinute: 60 * scene.strategies }, solReserve: 50_000_000n as Amount,
        protections: BENCH_PROTECTIONS,
      },
      strategies: strategies.map((instance) => ({ name: instance.name, budget: { mint: USDC_MINT, amount: BUDGET }, limits: {} })),
      snapshot: freshSnapshot(new Map([[USDC_MINT, (BUDGET * BigInt(scene.strategies)) as Amount], [SOL_MINT, 1_000_000_000_000n as Amount]])),
    });
    const result = runBacktest({
      state, strategies, seed: 7, startAt: recording.firstAt ?? 0, cursor: recording.cursor(), model: BASE_MODEL, stopwatch,
    });
    if (result.decisions === 0) throw new Error('a benchmark that decides nothing measures nothing');
    if (run >= 0) rates.push(result.events / result.seconds);
  }
  return measured(name, 'events/s', rates);
}

/** Mints that exist nowhere but here; base58 of the right length. */
function benchMint(index: number): Mint {
  const letter = 'ABCDEFGHJKLMNPQRSTUVWXYZ'[index]!;
  return `Bench${letter}1111111111111111111111111111111111111`.slice(0, 43) as Mint;
}
