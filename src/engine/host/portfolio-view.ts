import type { Clock } from '../../core/time.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { budgetAmount, equityOf, holdingOf } from '../../trading/positions/holding.ts';
import type { PortfolioView } from './strategy-call.ts';

/** Returns what a strategy may see of its own book. */
export function portfolioView(
  { state, clock }: { readonly state: EngineState; readonly clock: Pick<Clock, 'now'> }, name: string,
): PortfolioView {
  return {
    available: (mint) => state.portfolio.available(name, mint),
    openIntents: () => openSwaps(state, name),
    holding: (mint) => holdingOf(state, name, mint, clock.now()),
    equity: () => equityOf(state, name, clock.now()),
    budget: () => budgetAmount(state, name),
  };
}

/** Returns the number of open intents, plus exits in parts without an open intent. */
function openSwaps({ intents, exits }: EngineState, name: string): number {
  const open = intents.values().filter(({ intent }) => intent.strategy === name);
  const waiting = exits.size === 0 ? []
    : exits.of(name).filter(({ inputMint }) => !open.some(({ intent }) => intent.inputMint === inputMint));
  return open.length + waiting.length;
}
