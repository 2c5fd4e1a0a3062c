import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { EngineState } from '../state.ts';

/**
 * Returns what an exit that asks for all, or for a share, may spend: what the strategy has, but not more than the
 * wallet has, nor the SOL that must stay. An exit that asks for what cannot be would never happen.
 */
export function spendable(state: EngineState, strategy: string, mint: Mint): Amount {
  const own = state.portfolio.available(strategy, mint);
  const kept = mint === SOL_MINT ? state.limits.solReserve : 0n;
  const wallet = state.portfolio.unreserved(mint);
  const free = wallet > kept ? wallet - kept : 0n;
  return (own < free ? own : free) as Amount;
}
