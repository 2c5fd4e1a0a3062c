import type { RiskLimits } from '../../src/trading/limits.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { buyingSol } from '../market/events.ts';
import { SOL } from '../market/tokens.ts';
import type { Run } from '../engine/runs.ts';
import { start } from '../engine/runs.ts';
import { fillAtOnce } from './instances.ts';

/** Returns a run in which every approved swap is filled at once. */
export function filled(instance: StrategyInstance, options: { readonly limits?: Partial<RiskLimits> } = {}): Run {
  const run: Run = start([instance], { ...options, onEffect: fillAtOnce(() => run.state) });
  return run;
}

/** Shows a run prices in dollars, one every five seconds from `from` on. */
export function show(run: Run, prices: readonly number[], from = 5_000): void {
  prices.forEach((price, n) => {
    const at = from + n * 5_000;
    run.engine.accept(buyingSol(Math.round(price * 1_000), at), at);
  });
}

/** Returns the swaps proposed: "buy" or "sell", the number of the price that led to it, from 0, and the verdict. */
export function swaps(run: Run): string[] {
  return run.logged.flatMap(({ at, proposal, verdict, code }) => (proposal.kind === 'swap'
    ? [`${proposal.outputMint === SOL.mint ? 'buy' : 'sell'} ${at / 5_000 - 1} ${code ?? verdict}`] : []));
}
