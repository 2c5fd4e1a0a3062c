import type { Observable } from 'rxjs';
import type { Amount } from '../../core/amount.ts';
import { seededRandom } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { DeniedSwap, StrategyContext } from '../../strategy/context.ts';
import { swapProposal } from '../../strategy/context.ts';
import type { StateParts } from '../../strategy/stateful.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';

/** What the context of a strategy is made of. */
interface ContextParts {
  readonly name: string;
  /** The seed of the run. */
  readonly seed: number | string;
  readonly clock: Clock;
  readonly parts: Pick<StateParts, 'open'>;
  readonly outcomes$: Observable<Outcome>;
  readonly denials$: Observable<DeniedSwap>;
  readonly available: (mint: Mint) => Amount;
  readonly openIntents: () => number;
  readonly log: (message: string) => void;
}

/** Returns the context of a strategy, the same in the engine's process and apart from it. */
export function createContext(
  { name, seed, clock, parts, outcomes$, denials$, available, openIntents, log }: ContextParts,
): StrategyContext {
  return {
    name, clock, outcomes$, denials$, openIntents, log,
    now: () => clock.now(),
    random: seededRandom(`${seed}:${name}`),
    available: (token) => available(token.mint),
    stateful: (part, initial, reducer, options) => parts.open(part, initial, reducer, options),
    buy: (pair, size, reason, options) => swapProposal(pair.quote, pair.base, size, reason, options),
    sell: (pair, size, reason, options) => swapProposal(pair.base, pair.quote, size, reason, options),
    swap: swapProposal,
    alert: (level, message, data): AlertProposal =>
      ({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
  };
}
