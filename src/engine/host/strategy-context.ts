import { filter, Observable, share } from 'rxjs';
import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { printable } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import { declaredFeed, readFeedSpec } from '../../market/feed.ts';
import { hasMintForm } from '../../market/token.ts';
import type { DeniedSwap, FilledSwap, StrategyContext } from '../../strategy/context.ts';
import { positionOf, swapProposal } from '../../strategy/context.ts';
import type { Input } from '../../strategy/input.ts';
import { specsOf } from '../../strategy/input.ts';
import type { StateParts } from '../../strategy/stateful.ts';
import type { Outcome } from '../../trading/intent.ts';
import type { AlertProposal, Proposal } from '../../trading/proposal.ts';
import { readProposal } from '../../trading/proposal.ts';
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
  /** Begins a watch and returns what ends it; `asked` has the author's line in its stack. */
  readonly watch: BeginWatch;
}

/** Hands the values of an input to `emit` from now on, until the returned function is called. */
type BeginWatch = (input: Input<unknown>, emit: (value: unknown) => void, asked: Error) => () => void;

/** Returns the context of a strategy, the same in the engine's process and apart from it. */
export function createContext(
  { name, seed, clock, parts, outcomes$, denials$, portfolio, log, watch }: ContextParts,
): StrategyContext {
  const swap: StrategyContext['swap'] = (from, to, size, reason, options) =>
    noted(swapProposal(from, to, size, reason, options, clock.now()));
  return {
    name, clock, outcomes$, denials$, log,
    fills$: outcomes$.pipe(filter((outcome): outcome is FilledSwap => outcome.fill !== undefined)),
    now: () => clock.now(),
    random: seededRandom(`${seed}:${name}`),
    available: (token) => portfolio.available(token.mint),
    openIntents: () => portfolio.openIntents(),
    position: (token) => positionOf(token, portfolio.holding(token.mint), portfolio.budget()?.token),
    equity: () => portfolio.equity(),
    budget: () => portfolio.budget(),
    watch: <T>(input: Input<T>) => {
      refuseUnpolled(input);
      const asked = new Error('asked');
      return new Observable<T>((subscriber) =>
        watch(input, (value) => { subscriber.next(value as T); }, asked)).pipe(share());
    },
    stateful: (part, initial, reducer, options) => parts.open(part, initial, reducer, options),
    buy: (pair, size, reason, options) => swap(pair.quote, pair.base, size, reason, options),
    sell: (pair, size, reason, options) => swap(pair.base, pair.quote, size, reason, options),
    swap,
    alert: (level, message, data): AlertProposal =>
      noted({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
  };
}

/** The calls of `ctx` that made proposals which no engine takes. */
const faultyCalls = new WeakMap<object, Error>();

/** Notes the author's line of a proposal that no engine takes, while that line is still on the stack. */
function noted<P extends Proposal>(proposal: P): P {
  const fault = readProposal(proposal);
  if (typeof fault === 'string') faultyCalls.set(proposal, new TypeError(fault));
  return proposal;
}

/** Returns an error with the author's line that made a faulty proposal; undefined where `ctx` did not make it. */
export function faultyCallOf(proposal: unknown): Error | undefined {
  return typeof proposal === 'object' && proposal !== null ? faultyCalls.get(proposal) : undefined;
}

const READING = {
  isAddress: hasMintForm,
  shown: (value: unknown): string => printable(JSON.stringify(value) ?? 'undefined', 60),
};

function refuseUnpolled(input: Input<unknown>): void {
  for (const spec of specsOf(input)) {
    const read = readFeedSpec(declaredFeed(spec), READING);
    if (typeof read === 'string') throw new GannetError('STRATEGY_INVALID', `an input given to ctx.watch ${read}`);
  }
}
