import type { Observable, SchedulerAction, Subscription } from 'rxjs';
import { messageOf } from '../core/errors.ts';
import { placeOf } from '../core/throw-place.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { FeedOrigin } from '../market/feeds/feed-kind.ts';
import { feedKey, originOf } from '../market/feed.ts';
import type { SampleWindows } from '../market/sample-windows.ts';
import { isFinerThan, joinSampling, restartSampling } from '../market/sample-windows.ts';
import type { DeniedSwap, StrategyContext } from '../strategy/context.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Input } from '../strategy/input.ts';
import { deliverer, specsOf } from '../strategy/input.ts';
import { StateParts } from '../strategy/stateful.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { FeedSlot } from '../trading/market-cache.ts';
import type { StopStrategy } from '../trading/engine-command.ts';
import type { ExitPlan } from '../trading/positions/exit-plan.ts';
import { budgetAmount, equityOf, holdingOf } from '../trading/positions/holding.ts';
import type { AlertProposal, Proposal } from '../trading/proposal.ts';
import { readProposal } from '../trading/proposal.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { CallNumber } from './host/apart-run.ts';
import { ApartRun, KeptText } from './host/apart-run.ts';
import { runOnStreams } from './host/named-streams.ts';
import { createContext, faultyCallOf } from './host/strategy-context.ts';
import type { ApartStrategy, Ending, PortfolioView } from './host/strategy-call.ts';
import { HotSource } from './hot-source.ts';
import { createUsage } from './strategy-usage.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The longest text of an error in an alert. */
const MESSAGE_MAX = 1_000;

/** How many feeds a strategy may watch at once beside its inputs, in runs from before there was a limit. */
const WATCHES_MAX = 20;

/** A strategy as the configuration uses it. */
export interface StrategyInstance {
  /** Unique within the run: two instances of one strategy have two names. */
  readonly name: string;
  readonly strategy: Strategy;
  /** Already read by the strategy's own schema. */
  readonly params: unknown;
  /** The span of recorded events that it sees before its start. */
  readonly warmupMs?: Millis | undefined;
  /** Its exit rules, whose sales are quoted beside what it watches. */
  readonly exits?: ExitPlan | undefined;
  readonly limits?: { readonly exits?: ExitPlan | undefined } | undefined;
  /** Where its code runs apart from the engine; `strategy` then only declares what it watches. */
  readonly apart?: ApartStrategy | undefined;
}

/** A strategy that no longer runs, and why. */
export interface StoppedStrategy {
  readonly name: string;
  /** `STRATEGY_FAILED` where it threw or passed a bound of the engine, else why its process was ended. */
  readonly code: StopStrategy['code'] | 'STRATEGY_FAILED';
  readonly reason: string;
  /** The author's line, "dip.ts:12:5", where it is known. */
  readonly place: string | undefined;
  readonly at: Millis;
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
  /** A strategy runs no longer. */
  stopped(stopped: StoppedStrategy): void;
  /** The process of a strategy ended during a call; `start` and `call` say which. */
  ended(strategy: string, occasion: CallNumber, ending: Ending): void;
  /** Whether a run that is replayed was ended by this call. */
  endedAt(strategy: string, occasion: CallNumber): boolean;
  /** Begins or ends to hand the events of feeds to watches of a strategy; `inputs` are all that it watches now. */
  watched(strategy: string, changed: readonly HostedInput[], inputs: readonly HostedInput[]): void;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
}

/** A feed of an input with the stream that it feeds. */
export interface HostedInput {
  readonly spec: FeedSpec;
  readonly feed: FeedKey;
  readonly slot: FeedSlot;
  /** What makes its events. */
  readonly origin: FeedOrigin;
  readonly adapt: (event: MarketEvent) => unknown;
  readonly source: { emit(value: unknown): void };
  /** Undefined where it sees every event. A watch of the same feed may change that. */
  windows: SampleWindows | undefined;
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
  readonly #parts: StateParts | KeptText;
  readonly #usage = createUsage();
  readonly #declared: number;
  /** The feeds of each watch that is under way, by its id. */
  readonly #watches = new Map<number, readonly HostedInput[]>();
  #lastWatch = 0;
  /** Last outcomes that arrived while it was stopped and waited for its next start. */
  #missed: Outcome[] = [];
  #seen: string[] = [];
  #subscription: Subscription | undefined;
  #apart: ApartRun | undefined;
  #starts = 0;
  #failed = false;
  #warming = false;
  #outOfTurn = false;
  #stopped: StoppedStrategy | undefined;

  /** `kept` is the state that an earlier run saved. */
  constructor(instance: StrategyInstance, port: HostPort, kept: string | undefined) {
    this.name = instance.name;
    this.warmupMs = instance.warmupMs ?? 0;
    this.#instance = instance;
    this.#port = port;
    this.#parts = instance.apart === undefined
      ? new StateParts(kept, (warning) => { this.#tell('warning', warning); }) : new KeptText(kept);
    const declared = Object.entries(instance.strategy.inputs(instance.params));
    this.#declared = declared.length;
    const hosted = declared.map(([name, input], index) => ({ name, stream: new HotSource<unknown>(), input, index }));
    this.inputs = hosted.flatMap(({ stream, input, index }) => this.#hostInput(input, index, stream));
    this.#streams = Object.fromEntries(hosted.map(({ name, stream }) => [name, stream]));
  }

  get running(): boolean {
    return this.#apart?.running ?? this.#subscription?.closed === false;
  }

  /** Whether it proposed while the engine was not handling an input, as promises and timers of its own do. */
  get outOfTurn(): boolean {
    return this.#outOfTurn;
  }

  /** Why it runs no longer; undefined while it runs, and where it was stopped with the run. */
  get stopped(): StoppedStrategy | undefined {
    return this.#stopped;
  }

  /** Whether it sees the last outcome of each intent exactly once, over all restarts. */
  get remembers(): boolean {
    return this.#parts.isUsed && this.running;
  }

  /** Starts its warm-up: its proposals are discarded, and its kept state, which is younger, does not change. */
  warmUp(): void {
    this.#warming = true;
    if (this.#parts instanceof StateParts) this.#parts.hold();
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
    if (this.#parts instanceof StateParts) this.#parts.release();
    else this.#apart?.release();
  }

  stop(): void {
    // First, so that no watch ends between two inputs because its subscriber is gone.
    this.#endWatches();
    this.#subscription?.unsubscribe();
    this.#apart?.stop();
  }

  /** Returns the order to stop it between two calls; undefined where it does not run, or not apart. */
  stopOrder({ code, reason, place }: Ending): StopStrategy | undefined {
    if (this.#apart === undefined || this.#apart.isOver) return undefined;
    const occasion = { start: this.#starts, call: 0 };
    return { kind: 'command', name: 'stop-strategy', strategy: this.name, code, reason, place, ...occasion };
  }

  /** Carries out an order to stop it, which a call that was ended has led to. */
  stoppedBy({ code, reason, place }: StopStrategy): void {
    if (this.#failed) return;
    this.#apart?.abandon();
    this.#endWatches();
    this.#markStopped({ code, reason, place }, code === 'STRATEGY_NEIGHBOUR' ? 'warning' : 'critical');
  }

  /** Starts it again with the state that it kept, and shows it the outcomes that it has missed. */
  startAgain(): void {
    if (this.#stopped === undefined || this.#failed || this.#apart === undefined) return;
    this.#stopped = undefined;
    this.#warming = false;
    for (const { windows } of this.inputs) if (windows !== undefined) restartSampling(windows);
    this.#run();
    const missed = this.#missed;
    this.#missed = [];
    for (const outcome of missed) if (this.remembers) this.publishOutcome(outcome);
  }

  publishOutcome(outcome: Outcome): void {
    const { remembers } = this;
    if (this.#apart === undefined) this.#outcomes.emit(outcome);
    else this.#apart.outcome(outcome);
    if (!isTerminal(outcome.state)) return;
    // While it waits for its next start, and where this call ended it, it has not seen the outcome.
    if (this.#apart?.isOver === true && this.#parts.isUsed && !this.#failed) this.#missed.push(outcome);
    else if (remembers) this.#seen.push(outcome.intentId);
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
    if (this.#apart === undefined) this.#denials.emit(denial);
    else this.#apart.denial(denial);
  }

  #run(): void {
    this.#starts += 1;
    const parts = this.#parts;
    if (parts instanceof StateParts) this.#runHere(parts);
    else this.#runApart(parts, this.#instance.apart!);
  }

  #runApart(parts: KeptText, strategy: ApartStrategy): void {
    const { name } = this;
    const port = this.#port;
    this.#apart = new ApartRun({
      strategy, clock: port.clock, start: this.#starts,
      portfolio: this.#portfolio(),
      propose: (proposal) => { this.#accept(proposal); },
      watch: (id, specs, place) => { this.#watchApart(id, specs, place); },
      unwatch: (id) => { this.#endWatch(id); },
      log: (message) => { this.#log(message); },
      warn: (message) => { this.#tell('warning', message); },
      state: (text) => { parts.put(text); },
      fail: (message, place) => { this.#fail(message, place); },
      mayFire: () => this.#mayFire(),
      ended: (occasion, ending) => { port.ended(name, occasion, ending); },
      endedAt: (occasion) => port.endedAt(name, occasion),
    });
    this.#apart.begin({ warming: this.#warming, kept: parts.text });
  }

  #runHere(parts: StateParts): void {
    const { strategy, params } = this.#instance;
    try {
      const proposals$ = runOnStreams(this.#streams, (streams) => strategy.run(streams, params, this.#context(parts)));
      parts.seal();
      this.#subscription = proposals$.subscribe({
        next: (proposal) => { this.#propose(proposal); },
        error: (error: unknown) => { this.#fail(messageOf(error)); },
      });
      // It passed a bound before `subscribe` returned.
      if (this.#failed) this.#subscription.unsubscribe();
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  /** Takes back a state that could not be saved, so that it is taken again. */
  returnState({ seen }: StrategyState): void {
    this.#seen = [...seen, ...this.#seen];
    this.#parts.markChanged();
  }

  #propose(value: Proposal): void {
    if (this.#isLate('proposed')) return;
    const proposal = readProposal(value);
    if (typeof proposal === 'string') this.#fail(proposal, placeOf(faultyCallOf(value)));
    else this.#accept(proposal);
  }

  /** Fails it where it does something while the engine is not handling an input. */
  #isLate(what: string): boolean {
    this.#outOfTurn ||= !this.#port.inTurn();
    if (this.#outOfTurn) {
      this.#fail(
        `it ${what} outside the engine’s time: use the time operators of src/strategy, no timers or promises`,
      );
    }
    return this.#outOfTurn;
  }

  #accept(proposal: Proposal): void {
    const fault = this.#usage.proposal(proposal, this.#port.clock.now());
    if (fault !== undefined) this.#fail(fault);
    else if (!this.#warming) this.#port.propose(this.name, proposal);
  }

  #log(message: string): void {
    const fault = this.#usage.logLine(this.#port.clock.now());
    if (fault !== undefined) this.#fail(fault);
    else if (!this.#warming) this.#port.log(this.name, message);
  }

  /** Returns whether a timer may fire; it stops a strategy whose timers let no time go on. */
  #mayFire(): boolean {
    const fault = this.#usage.timer(this.#port.clock.now());
    if (fault !== undefined) this.#fail(fault);
    return fault === undefined;
  }

  #fail(message: string, place?: string): void {
    if (this.#failed) return;
    this.#failed = true;
    this.stop();
    this.#markStopped({ code: 'STRATEGY_FAILED', reason: message.slice(0, MESSAGE_MAX), place }, 'critical');
  }

  #markStopped(
    { code, reason, place }: Pick<StoppedStrategy, 'code' | 'reason'> & { readonly place?: string | undefined },
    level: AlertProposal['level'],
  ): void {
    this.#stopped = { name: this.name, code, reason, place, at: this.#port.clock.now() };
    this.#tell(level, `stopped: ${reason}`);
    this.#port.stopped(this.#stopped);
  }

  /** Proposes an alert; during the warm-up, it is ruled on at the start. */
  #tell(level: AlertProposal['level'], message: string): void {
    this.#port.propose(this.name, { kind: 'alert', level, message: `strategy ${this.name} ${message}` });
  }

  #watchHere(input: Input<unknown>, emit: (value: unknown) => void, asked: Error): () => void {
    const id = this.#declared + ++this.#lastWatch;
    if (!this.#isLate('began a watch')) {
      const deliver = deliverer(input, emit);
      this.#beginWatch(id, specsOf(input), deliver, () => placeOf(asked));
    }
    return () => { if (this.#watches.has(id) && !this.#isLate('ended a watch')) this.#endWatch(id); };
  }

  #watchApart(id: number, specs: readonly FeedSpec[], place: string | undefined): void {
    if (id <= this.#declared || this.#watches.has(id)) this.#fail(`it began the watch ${id} a second time`);
    else this.#beginWatch(id, specs, (event) => { this.#apart?.event(id, event); }, () => place);
  }

  #beginWatch(
    id: number, specs: readonly FeedSpec[], deliver: (event: MarketEvent) => void, place: () => string | undefined,
  ): void {
    const fault = this.#watchFault(specs);
    if (fault !== undefined) {
      this.#fail(fault, place());
      return;
    }
    // An event that is on its way when the watch ends is not delivered.
    const source = { emit: (event: unknown) => { if (this.#watches.has(id)) deliver(event as MarketEvent); } };
    const hosted = specs.map((spec) => this.#hostFeed(spec, same, source));
    this.#watches.set(id, hosted);
    this.#port.watched(this.name, hosted, this.#watched());
  }

  #watchFault(specs: readonly FeedSpec[]): string | undefined {
    if (specs.some((spec) => originOf(spec) === 'engine'))
      return 'it watches its portfolio with ctx.watch: declare portfolio() among its inputs';
    const { maxWatches = WATCHES_MAX } = this.#port.state.limits;
    const count = this.#watched().length + specs.length;
    if (count > maxWatches)
      return `it watches ${count} feeds at once with ctx.watch, and risk.max_watches allows ${maxWatches}`;
    return specs.map(() => this.#usage.watch(this.#port.clock.now())).find((fault) => fault !== undefined);
  }

  #endWatch(id: number): void {
    const ended = this.#watches.get(id);
    if (ended === undefined) return;
    this.#watches.delete(id);
    this.#port.watched(this.name, ended, this.#watched());
  }

  #endWatches(): void {
    for (const id of this.#watches.keys()) this.#endWatch(id);
  }

  #watched(): readonly HostedInput[] {
    return [...this.#watches.values()].flat();
  }

  /** Returns an entry for each feed of an input. */
  #hostInput(input: Input<unknown>, index: number, stream: HotSource<unknown>): HostedInput[] {
    const isApart = this.#instance.apart !== undefined;
    const [adapt, source] = isApart
      ? [same, { emit: (event: unknown) => { this.#apart?.event(index, event as MarketEvent); } }]
      : streamOf(input, stream);
    return specsOf(input).map((spec) => this.#hostFeed(spec, adapt, source));
  }

  #hostFeed(spec: FeedSpec, adapt: HostedInput['adapt'], source: HostedInput['source']): HostedInput {
    const feed = feedKey(spec);
    return {
      spec, feed, adapt, source,
      origin: originOf(spec),
      windows: isFinerThan(this.#port.intervals?.get(feed), spec)
        ? { everyMs: spec.everyMs, window: -Infinity } : undefined,
      slot: this.#port.state.market.slotOf(feed),
      fail: (error) => { this.#fail(messageOf(error)); },
    };
  }

  /** Returns the engine's clock, with errors of this strategy's timers as failures of this strategy. */
  #guardedClock(): Clock {
    const { clock } = this.#port;
    const mayFire = (): boolean => this.#mayFire();
    const fail = (error: unknown): void => { this.#fail(messageOf(error)); };
    return {
      now: () => clock.now(),
      schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T) =>
        clock.schedule<T>(function guarded(given) {
          if (!mayFire()) return;
          try {
            work.call(this, given);
          } catch (error) {
            fail(error);
          }
        }, delay, state),
    };
  }

  #portfolio(): PortfolioView {
    const { name } = this;
    const { state, clock } = this.#port;
    return {
      available: (mint) => state.portfolio.available(name, mint),
      openIntents: () => openSwaps(state, name),
      holding: (mint) => holdingOf(state, name, mint, clock.now()),
      equity: () => equityOf(state, name, clock.now()),
      budget: () => budgetAmount(state, name),
    };
  }

  #context(parts: StateParts): StrategyContext {
    return createContext({
      name: this.name, seed: this.#port.seed, clock: this.#guardedClock(), parts,
      outcomes$: this.#outcomes, denials$: this.#denials, portfolio: this.#portfolio(),
      log: (message) => { this.#log(message); },
      watch: (input, emit, asked) => this.#watchHere(input, emit, asked),
    });
  }
}

/** Returns the number of open intents, plus exits in parts without an open intent. */
function openSwaps({ intents, exits }: EngineState, name: string): number {
  const open = intents.values().filter(({ intent }) => intent.strategy === name);
  const waiting = exits.size === 0 ? []
    : exits.of(name).filter(({ inputMint }) => !open.some(({ intent }) => intent.inputMint === inputMint));
  return open.length + waiting.length;
}

/** Returns how the events of an input reach its stream: most are converted one by one, without a further call. */
function streamOf(
  input: Input<unknown>, stream: HotSource<unknown>,
): readonly [HostedInput['adapt'], HostedInput['source']] {
  if (input.assemble === undefined) return [input.adapt, stream];
  const deliver = deliverer(input, (value) => { stream.emit(value); });
  return [same, { emit: (event) => { deliver(event as MarketEvent); } }];
}

function same(event: MarketEvent): unknown {
  return event;
}
