import type { Observable, SchedulerAction, Subscription } from 'rxjs';
import { messageOf } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { SampleWindows } from '../market/sample-windows.ts';
import { isFinerThan, joinSampling, restartSampling } from '../market/sample-windows.ts';
import type { DeniedSwap, StrategyContext } from '../strategy/context.ts';
import { swapProposal } from '../strategy/context.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Input } from '../strategy/input.ts';
import { StateParts } from '../strategy/stateful.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import type { AlertProposal, Proposal } from '../trading/proposal.ts';
import { proposalFault } from '../trading/proposal.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
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
  /** The span of recorded events that it sees before its start. */
  readonly warmupMs?: Millis | undefined;
}

/** The part of the engine that a host uses. */
interface HostPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  readonly seed: number | string;
  propose(strategy: string, proposal: Proposal): void;
  /** Whether the engine is handling an input: a proposal at another time could not be replayed. */
  inTurn(): boolean;
  log(strategy: string, message: string): void;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
}

/** A declared input with the stream that feeds it. */
export interface HostedInput {
  readonly feed: FeedKey;
  readonly slot: FeedSlot;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: HotSource<unknown>;
  /** Undefined where it sees every event. */
  readonly windows: SampleWindows | undefined;
  /** Takes an error of `adapt`, which is a fault of this strategy alone. */
  readonly fail: (error: unknown) => void;
}

/**
 * Runs one strategy: provides its streams, takes its proposals, and isolates its failures. A strategy that throws is
 * stopped with an alert; the others continue.
 */
export class Host {
  readonly name: string;
  readonly warmupMs: Millis;
  readonly inputs: readonly HostedInput[];
  readonly #outcomes = new HotSource<Outcome>();
  readonly #denials = new HotSource<DeniedSwap>();
  readonly #port: HostPort;
  readonly #instance: StrategyInstance;
  readonly #streams: Readonly<Record<string, Observable<unknown>>>;
  readonly #parts: StateParts;
  #seen: string[] = [];
  #subscription: Subscription | undefined;
  #failed = false;
  #warming = false;
  #outOfTurn = false;
  #burst = 0;
  #burstAt: Millis = -Infinity;

  /** `kept` is the state that an earlier run saved. */
  constructor(instance: StrategyInstance, port: HostPort, kept: string | undefined) {
    this.name = instance.name;
    this.warmupMs = instance.warmupMs ?? 0;
    this.#instance = instance;
    this.#port = port;
    this.#parts = new StateParts(kept, (warning) => { this.#tell('warning', warning); });
    const declared = Object.entries(instance.strategy.inputs(instance.params));
    const hosted = declared.map(([name, input]) => [name, this.#hostInput(input)] as const);
    this.inputs = hosted.map(([, input]) => input);
    this.#streams = Object.fromEntries(hosted.map(([name, input]) => [name, input.source]));
  }

  get running(): boolean {
    return this.#subscription?.closed === false;
  }

  /** Whether it proposed while the engine was not handling an input, as promises and timers of its own do. */
  get outOfTurn(): boolean {
    return this.#outOfTurn;
  }

  /** Whether it sees the last outcome of each intent exactly once, over all restarts. */
  get remembers(): boolean {
    return this.#parts.isUsed && this.running;
  }

  /** Starts its warm-up: its proposals are discarded, and its kept state, which is younger, does not change. */
  warmUp(): void {
    this.#warming = true;
    this.#parts.hold();
    for (const { windows } of this.inputs) if (windows !== undefined) joinSampling(windows, this.#port.clock.now());
    this.#run();
  }

  /** Starts it; after a warm-up, it continues with its proposals taken. */
  start(): void {
    for (const { windows } of this.inputs) if (windows !== undefined) restartSampling(windows);
    if (!this.#warming) {
      this.#run();
      return;
    }
    this.#warming = false;
    this.#parts.release();
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }

  publishOutcome(outcome: Outcome): void {
    const { remembers } = this;
    this.#outcomes.emit(outcome);
    if (remembers && isTerminal(outcome.state)) this.#seen.push(outcome.intentId);
  }

  /**
   * Returns its state with the outcomes it has seen since the last call. Undefined where it keeps no state, and where
   * it failed, because it may have folded only a part of an event.
   */
  takeState(): StrategyState | undefined {
    if (!this.#parts.isUsed || this.#failed) return undefined;
    const seen = this.#seen;
    this.#seen = [];
    return { strategy: this.name, text: this.#parts.take(), seen };
  }

  /** Returns the same where the state has changed since the last call. */
  takeChangedState(): StrategyState | undefined {
    return this.#parts.isChanged || this.#seen.length > 0 ? this.takeState() : undefined;
  }

  publishDenial(denial: DeniedSwap): void {
    this.#denials.emit(denial);
  }

  #run(): void {
    const { strategy, params } = this.#instance;
    try {
      const proposals$ = strategy.run(this.#streams, params, this.#context());
      this.#parts.seal();
      this.#subscription = proposals$.subscribe({
        next: (proposal) => { this.#propose(proposal); },
        error: (error: unknown) => { this.#fail(error); },
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Takes back a state that could not be saved, so that it is taken again. */
  returnState({ seen }: StrategyState): void {
    this.#seen = [...seen, ...this.#seen];
    this.#parts.markChanged();
  }

  #propose(proposal: Proposal): void {
    const now = this.#port.clock.now();
    this.#burst = now === this.#burstAt ? this.#burst + 1 : 1;
    this.#burstAt = now;
    this.#outOfTurn ||= !this.#port.inTurn();
    const fault = this.#faultOf(proposal);
    if (fault !== undefined) this.#fail(new TypeError(fault));
    else if (!this.#warming) this.#port.propose(this.name, proposal);
  }

  #faultOf(proposal: Proposal): string | undefined {
    if (this.#outOfTurn)
      return 'it proposed outside the engine’s time: use the time operators of src/strategy, no timers or promises';
    if (this.#burst > PROPOSALS_PER_INSTANT_MAX) return 'it keeps proposing at one instant';
    return proposalFault(proposal);
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#subscription?.unsubscribe();
    this.#tell('critical', `stopped: ${messageOf(error)}`);
  }

  /** Proposes an alert; during the warm-up, it is ruled on at the start. */
  #tell(level: AlertProposal['level'], message: string): void {
    this.#port.propose(this.name, { kind: 'alert', level, message: `strategy ${this.name} ${message}` });
  }

  #hostInput(input: Input<unknown>): HostedInput {
    const { spec } = input;
    const feed = feedKey(spec);
    return {
      feed,
      windows: isFinerThan(this.#port.intervals?.get(feed), spec.everyMs)
        ? { everyMs: spec.everyMs, window: -Infinity } : undefined,
      slot: this.#port.state.market.slotOf(feed),
      adapt: input.adapt,
      source: new HotSource(),
      fail: (error) => { this.#fail(error); },
    };
  }

  /** Returns the engine's clock, with errors of this strategy's timers as failures of this strategy. */
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
      openIntents: () => openSwaps(state, name),
      outcomes$: this.#outcomes,
      denials$: this.#denials,
      stateful: (part, initial, reducer, options) => this.#parts.open(part, initial, reducer, options),
      log: (message) => { if (!this.#warming) port.log(name, message); },
      buy: (pair, size, reason, options) => swapProposal(pair.quote, pair.base, size, reason, options),
      sell: (pair, size, reason, options) => swapProposal(pair.base, pair.quote, size, reason, options),
      swap: swapProposal,
      alert: (level, message, data): AlertProposal =>
        ({ kind: 'alert', level, message, ...(data === undefined ? {} : { data }) }),
    };
  }
}

/** Returns the number of open intents, plus exits in parts without an open intent. */
function openSwaps({ intents, exits }: EngineState, name: string): number {
  const open = intents.values().filter(({ intent }) => intent.strategy === name);
  const waiting = exits.size === 0 ? []
    : exits.of(name).filter(({ inputMint }) => !open.some(({ intent }) => intent.inputMint === inputMint));
  return open.length + waiting.length;
}
