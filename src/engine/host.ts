import type { Observable, Subscription } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import { messageOf } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import type { MarketEvent } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import type { StrategyContext, SwapOptions } from '../strategy/context.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Input } from '../strategy/input.ts';
import type { Outcome } from '../trading/intent.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import type { AlertProposal, Proposal, Size, SwapProposal } from '../trading/proposal.ts';
import type { EngineState } from '../trading/state.ts';
import { HotSource } from './hot-source.ts';
import type { VirtualClock } from './virtual-clock.ts';

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
  log(strategy: string, message: string): void;
}

/** A declared input with the stream that feeds it. */
export interface HostedInput {
  readonly slot: FeedSlot;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: HotSource<unknown>;
}

/**
 * Runs one strategy: gives it its streams, takes its proposals, and keeps its failures to itself.
 * A strategy that throws is stopped and says so in an alert; its neighbours go on.
 */
export class Host {
  readonly name: string;
  readonly inputs: readonly HostedInput[];
  readonly #outcomes = new HotSource<Outcome>();
  readonly #port: HostPort;
  readonly #instance: StrategyInstance;
  readonly #streams: Readonly<Record<string, Observable<unknown>>>;
  #subscription: Subscription | undefined;

  constructor(instance: StrategyInstance, port: HostPort) {
    this.name = instance.name;
    this.#instance = instance;
    this.#port = port;
    const declared = Object.entries(instance.strategy.inputs(instance.params));
    const hosted = declared.map(([name, input]) => [name, hostInput(input, port.state)] as const);
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
        next: (proposal) => { this.#port.propose(this.name, proposal); },
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

  #fail(error: unknown): void {
    this.#subscription?.unsubscribe();
    this.#port.propose(this.name, {
      kind: 'alert', level: 'critical', message: `strategy ${this.name} stopped: ${messageOf(error)}`,
    });
  }

  #context(): StrategyContext {
    const { name } = this;
    const port = this.#port;
    const { state, clock } = port;
    return {
      name,
      clock,
      now: () => clock.now(),
      random: seededRandom(`${port.seed}:${name}`),
      available: (token) => state.portfolio.available(name, token.mint),
      openIntents: () => [...state.intents.values()].filter(({ intent }) => intent.strategy === name).length,
      outcomes$: this.#outcomes,
      log: (message) => { port.log(name, message); },
      buy: (pair, size, reason, options) => swapProposal(pair.quote, pair.base, size, reason, options),
      sell: (pair, size, reason, options) => swapProposal(pair.base, pair.quote, size, reason, options),
      swap: swapProposal,
      alert: (level, message, data): AlertProposal => ({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
    };
  }
}

function hostInput(input: Input<unknown>, state: EngineState): HostedInput {
  return { slot: state.market.slotOf(feedKey(input.spec)), adapt: input.adapt, source: new HotSource() };
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
