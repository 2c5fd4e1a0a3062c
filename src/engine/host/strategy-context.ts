import type { Observable } from 'rxjs';
import { seededRandom } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { DeniedSwap, StrategyContext } from '../../strategy/context.ts';
import { positionOf, swapProposal } from '../../strategy/context.ts';
import type { StateParts } from '../../strategy/stateful.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { PortfolioView } from './strategy-call.ts';

/** What the context of a strategy is made of. */
interface ContextParts {
  readonly name: string;
  /** The seed of the run. */
  readonly seed: number | string;
  readonly clock: Clock;
  readonly parts: Pick<StateParts, 'open'>;
  readonly outcomes$: Observable<Outcome>;
  readonly denials$: Observable<DeniedSwap>;
  readonly portfolio: PortfolioView;
  readonly log: (message: string) => void;
}

/** Returns the context of a strategy, the same in the engine's process and apart from it. */
export function createContext(
  { name, seed, clock, parts, outcomes$, denials$, portfolio, log }: ContextParts,
): StrategyContext {
  const swap: StrategyContext['swap'] = (from, to, size, reason, options) =>
    swapProposal(from, to, size, reason, options, clock.now());
  return {
    name, clock, outcomes$, denials$, log,
    now: () => clock.now(),
    random: seededRandom(`${seed}:${name}`),
    available: (token) => portfolio.available(token.mint),
    openIntents: () => portfolio.openIntents(),
    position: (token) => positionOf(token, portfolio.holding(token.mint), portfolio.budget()?.token),
    equity: () => portfolio.equity(),
    budget: () => portfolio.budget(),
    stateful: (part, initial, reducer, options) => parts.open(part, initial, reducer, options),
    buy: (pair, size, reason, options) => swap(pair.quote, pair.base, size, reason, options),
    sell: (pair, size, reason, options) => swap(pair.base, pair.quote, size, reason, options),
    swap,
    alert: (level, message, data): AlertProposal =>
      ({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
  };
}
