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
import type { BenchRow } from './measurement.ts';
import { measured, stopwatch } from './measurement.ts';

const EVENTS = 1_000_000;
const RUNS = 5;
/** Not counted: a backtest worth waiting for is longer than the compiler takes to warm up. */
const WARM_UP_RUNS = 2;
const BUDGET = 1_000_000_000n as Amount;
const STAKE = 25_000_000n as Amount;
/** Looked at as ever, but out of reach: a strategy that is stopped would measure less work. */
const PROTECTIONS: readonly Protection[] = DEFAULT_PROTECTIONS.map((protection) => {
  if (protection.trigger.kind === 'max-drawdown') return { ...protection, trigger: { ...protection.trigger, limitPct: 100 } };
  return protection.trigger.kind === 'loss-streak' ? { ...protection, trigger: { ...protection.trigger, losses: 1_000 } } : protection;
});
const USDC: Token = { mint: USDC_MINT, symbol: 'USDC', decimals: 6 };

/**
 * The whole engine over a synthetic recording: SMA(20/100) crossover with risk, portfolio, simulated fills and decision
 * hash. With several strategies each has an instrument of its own, merged in time.
 */
export const BACKTEST_ROWS: readonly BenchRow[] = [
  { name: 'backtest-one', measure: async () => measureBacktest('backtest-one', 1) },
  { name: 'backtest-twenty', measure: async () => measureBacktest('backtest-twenty', 20) },
];

function measureBacktest(name: string, instrumentCount: number): ReturnType<typeof measured> {
  const bases = Array.from({ length: instrumentCount }, (_, index): Token => ({ mint: benchMint(index), symbol: `T${index}`, decimals: 9 }));
  const instruments = bases.map((base): SyntheticInstrument => ({ inputMint: USDC_MINT, outputMint: base.mint, amount: STAKE, startRate: 1_000 / 150 }));
  const recording = syntheticQuotes({ count: EVENTS, instruments, seed: 7, stepMs: Math.max(1, Math.floor(1_000 / instrumentCount)) });
  const tokens = tokenTable([USDC, ...bases]);
  const strategies = bases.map(({ symbol }) => ({
    name: `sma-${symbol}`,
    strategy: smaCrossover,
    params: withTokens(tokens, () => smaCrossover.params.parse({ pair: `${symbol}/USDC`, size: '25 USDC' })),
  }));
  const rates: number[] = [];
  for (let run = -WARM_UP_RUNS; run < RUNS; run++) {
    const state = createState({
      tokens,
      limits: {
        maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, maxPosition: new Map(),
        maxOpenIntents: instrumentCount, maxSwaps: { perMinute: 60 * instrumentCount }, solReserve: 50_000_000n as Amount,
        protections: PROTECTIONS,
      },
      strategies: strategies.map((instance) => ({ name: instance.name, budget: { mint: USDC_MINT, amount: BUDGET }, limits: {} })),
      snapshot: freshSnapshot(new Map([[USDC_MINT, (BUDGET * BigInt(instrumentCount)) as Amount], [SOL_MINT, 1_000_000_000_000n as Amount]])),
    });
    const result = runBacktest({
      state, strategies, seed: 7, startAt: recording.firstAt ?? 0, cursor: recording.cursor(), model: BASE_MODEL, currency: USDC, stopwatch,
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
