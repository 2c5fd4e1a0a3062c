import type { Observable, SchedulerAction, Subscription } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import { messageOf } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import type { DeniedSwap, StrategyContext, SwapOptions } from '../strategy/context.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Input } from '../strategy/input.ts';
import type { Outcome } from '../trading/intent.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import type { AlertProposal, Proposal, Size, SwapProposal } from '../trading/proposal.ts';
import { proposalFault } from '../trading/proposal.ts';
import type { EngineState } from '../trading/state.ts';
import { HotSource } from './hot-source.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A strategy that answers each refusal with a new proposal would never let time go on. */
const PROPOSALS_PER_INSTANT_MAX = 1_000;

/** A strategy as the configuration uses it. */
export interface StrategyInstance {
  /** Unique within the run: two instances of one strategy have two names. */
  readonly name: string;
  readonly strategy: Strategy;
  /** Already read by the strategy's own schema. */
  readonly params: unknown;
}

/** What a running strategy may do to the engine. */
export interface HostPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  readonly seed: number | string;
  propose(strategy: string, proposal: Proposal): void;
  /** Whether the engine is at work: a proposal from outside its time could not be replayed. */
  inTurn(): boolean;
  log(strategy: string, message: string): void;
}

/** A declared input with the stream that feeds it. */
export interface HostedInput {
  readonly slot: FeedSlot;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: HotSource<unknown>;
  /** Takes what `adapt` throws: the fault of this strategy alone. */
  readonly fail: (error: unknown) => void;
}

/**
 * Runs one strategy: gives it its streams, takes its proposals, and keeps its failures to itself.
 * A strategy that throws is stopped and says so in an alert; its neighbours go on.
 */
export class Host {
  readonly name: string;
  readonly inputs: readonly HostedInput[];
  readonly #outcomes = new HotSource<Outcome>();
  readonly #denials = new HotSource<DeniedSwap>();
  readonly #port: HostPort;
  readonly #instance: StrategyInstance;
  readonly #streams: Readonly<Record<string, Observable<unknown>>>;
  #subscription: Subscription | undefined;
  #failed = false;
  #burst = 0;
  #burstAt: Millis = -Infinity;

  constructor(instance: StrategyInstance, port: HostPort) {
    this.name = instance.name;
    this.#instance = instance;
    this.#port = port;
    const declared = Object.entries(instance.strategy.inputs(instance.params));
    const hosted = declared.map(([name, input]) => [name, this.#hostInput(input)] as const);
    this.inputs = hosted.map(([, input]) => input);
    this.#streams = Object.fromEntries(hosted.map(([name, input]) => [name, input.source]));
  }

  get running(): boolean {
    return this.#subscription?.closed === false;
  }

  start(): void {
    const { strategy, params } = this.#instance;
    try {
      this.#subscription = strategy.run(this.#streams, params, this.#context()).subscribe({
        next: (proposal) => { this.#propose(proposal); },
        error: (error: unknown) => { this.#fail(error); },
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }

  publishOutcome(outcome: Outcome): void {
    this.#outcomes.emit(outcome);
  }

  publishDenial(denial: DeniedSwap): void {
    this.#denials.emit(denial);
  }

  #propose(proposal: Proposal): void {
    const now = this.#port.clock.now();
    this.#burst = now === this.#burstAt ? this.#burst + 1 : 1;
    this.#burstAt = now;
    const fault = this.#faultOf(proposal);
    if (fault === undefined) this.#port.propose(this.name, proposal);
    else this.#fail(new TypeError(fault));
  }

  #faultOf(proposal: Proposal): string | undefined {
    if (!this.#port.inTurn()) return 'it proposed outside the engine’s time: use the time operators of src/strategy, no timers or promises';
    if (this.#burst > PROPOSALS_PER_INSTANT_MAX) return 'it keeps proposing at one instant';
    return proposalFault(proposal);
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#subscription?.unsubscribe();
    this.#port.propose(this.name, {
      kind: 'alert', level: 'critical', message: `strategy ${this.name} stopped: ${messageOf(error)}`,
    });
  }

  #hostInput(input: Input<unknown>): HostedInput {
    return {
      slot: this.#port.state.market.slotOf(feedKey(input.spec)),
      adapt: input.adapt,
      source: new HotSource(),
      fail: (error) => { this.#fail(error); },
    };
  }

  /** The engine's clock; what this strategy's own timers throw stays this strategy's. */
  #guardedClock(): Clock {
    const { clock } = this.#port;
    const fail = (error: unknown): void => { this.#fail(error); };
    return {
      now: () => clock.now(),
      schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T) =>
        clock.schedule<T>(function guarded(given) {
          try {
            work.call(this, given);
          } catch (error) {
            fail(error);
          }
        }, delay, state),
    };
  }

  #context(): StrategyContext {
    const { name } = this;
    const port = this.#port;
    const { state } = port;
    const clock = this.#guardedClock();
    return {
      name,
      clock,
      now: () => clock.now(),
      random: seededRandom(`${port.seed}:${name}`),
      available: (token) => state.portfolio.available(name, token.mint),
      openIntents: () => [...state.intents.values()].filter(({ intent }) => intent.strategy === name).length,
      outcomes$: this.#outcomes,
      denials$: this.#denials,
      log: (message) => { port.log(name, message); },
      buy: (pair, size, reason, options) => swapProposal(pair.quote, pair.base, size, reason, options),
      sell: (pair, size, reason, options) => swapProposal(pair.base, pair.quote, size, reason, options),
      swap: swapProposal,
      alert: (level, message, data): AlertProposal => ({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
    };
  }
}

function swapProposal(
  from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string, options: SwapOptions = {},
): SwapProposal {
  return { kind: 'swap', inputMint: from.mint, outputMint: to.mint, amount: sizeOf(from, size), reason, ...options };
}

function sizeOf(from: Token, size: TokenAmount | Exclude<Size, Amount>): Size {
  if (size === 'all' || 'fraction' in size) return size;
  if (size.token.mint !== from.mint) throw new TypeError(`expected an amount of ${from.symbol} to spend, got ${size.token.symbol}`);
  return amount(size.amount);
}
