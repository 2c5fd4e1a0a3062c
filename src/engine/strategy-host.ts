import type { Observable, Subscription } from 'rxjs';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { messageOf } from '../core/errors.ts';
import { placeOf } from '../core/throw-place.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { joinSampling } from '../market/sample-windows.ts';
import type { DeniedSwap, StrategyContext } from '../strategy/context.ts';
import type { Input } from '../strategy/input.ts';
import { deliverer, specsOf } from '../strategy/input.ts';
import { StateParts } from '../strategy/stateful.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { StopStrategy } from '../trading/engine-command.ts';
import type { Denial } from '../trading/limits.ts';
import type { AlertProposal, Proposal, SwapProposal } from '../trading/proposal.ts';
import { readProposal } from '../trading/proposal.ts';
import { isPassing } from '../trading/retries.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import { ApartRun, KeptText } from './host/apart-run.ts';
import { ClockInPlace, guardedClock } from './host/guarded-clock.ts';
import type { Handover, HostPort, StoppedStrategy, StrategyInstance } from './host/host-port.ts';
import { portfolioView } from './host/portfolio-view.ts';
import { runOnStreams } from './host/named-streams.ts';
import { createContext, faultyCallOf } from './host/strategy-context.ts';
import type { ApartStrategy, Ending, PortfolioView } from './host/strategy-call.ts';
import type { HostedInput } from './host/watched-feeds.ts';
import { continueWindows, hostedFeed, restartAll, streamOf, unchanged, WatchedFeeds } from './host/watched-feeds.ts';
import { HotSource } from './hot-source.ts';
import { createUsage } from './strategy-usage.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { RecordedRows } from './warm-up.ts';
import { warmUp } from './warm-up.ts';

export type { StrategyInstance } from './host/host-port.ts';

/** The longest text of an error in an alert. */
const MESSAGE_MAX = 1_000;

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
  readonly instance: StrategyInstance;
  readonly #port: HostPort;
  readonly #clock: ClockInPlace;
  readonly #handed: Handover;
  readonly #streams: Readonly<Record<string, Observable<unknown>>>;
  readonly #parts: StateParts | KeptText;
  readonly #usage = createUsage();
  readonly #declared: number;
  readonly #watches: WatchedFeeds;
  #lastWatch = 0;
  #ownClock: VirtualClock | undefined;
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

  /** `handed` is the state that an earlier run saved, or what an earlier version leaves. */
  constructor(instance: StrategyInstance, port: HostPort, handed: Handover) {
    const { kept, starts = 0, seen = [] } = handed;
    this.name = instance.name;
    this.warmupMs = instance.warmupMs ?? 0;
    this.instance = instance;
    this.#port = port;
    this.#clock = new ClockInPlace(port.clock);
    this.#handed = handed;
    this.#starts = starts;
    this.#seen = [...seen];
    this.#parts = instance.apart === undefined
      ? new StateParts(kept, (warning) => { this.#tell('warning', warning); }) : new KeptText(kept);
    this.#watches = new WatchedFeeds({
      places: port, countFeed: () => this.#usage.watch(this.#clock.now()),
      changed: (changed, inputs) => { port.watched(this.name, changed, inputs); },
      fail: (message, place) => { this.#fail(message, place); },
    });
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
    for (const { windows } of this.inputs) if (windows !== undefined) joinSampling(windows, this.#clock.now());
    this.#run();
  }

  /** Starts it; after a warm-up, it continues with its proposals taken. */
  start(): void {
    restartAll(this.inputs);
    if (!this.#warming) {
      this.#run();
      return;
    }
    this.#warming = false;
    if (this.#parts instanceof StateParts) this.#parts.release();
    else this.#apart?.release();
  }

  /** Whether another version may go on in its place; one that failed leaves no state that is whole. */
  get mayHandOver(): boolean {
    return this.running && this.#stopped === undefined && !this.#failed;
  }

  /** The state that it keeps, as text; undefined without one. */
  get keptText(): string | undefined {
    return this.#parts.text;
  }

  /** What another version goes on with in its place. */
  get handover(): Handover {
    const feeds = this.#hosted().map(({ feed, spec, windows }) => ({ feed, spec, windows }));
    return { kept: this.keptText, starts: this.#starts, seen: this.#seen, feeds };
  }

  /** Warms it up in the middle of a run, on a clock of its own: the engine's does not go back. */
  *warmUpBeside(rows: RecordedRows): ChunkedWork<void> {
    this.#ownClock = new VirtualClock(this.#port.clock.now());
    this.#clock.standFor(this.#ownClock);
    yield* warmUp(this.#ownClock, [this], rows, (at, until) => at > until);
  }

  /** Starts it in place of the version that has ended. The timers of its warm-up then wait on the engine's clock. */
  takeOver(): void {
    const { clock } = this.#port;
    this.#clock.standFor(clock);
    if (this.#ownClock !== undefined) clock.adopt(this.#ownClock);
    this.start();
    continueWindows(this.#hosted(), this.#handed.feeds ?? []);
  }

  #hosted(): readonly HostedInput[] {
    return [...this.inputs, ...this.#watches.feeds()];
  }

  stop(): void {
    // First, so that no watch ends between two inputs because its subscriber is gone.
    this.#watches.endAll();
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
    this.#watches.endAll();
    this.#markStopped({ code, reason, place }, code === 'STRATEGY_NEIGHBOUR' ? 'warning' : 'critical');
  }

  /** Starts it again with the state that it kept, and shows it the outcomes that it has missed. */
  startAgain(): void {
    if (this.#stopped === undefined || this.#failed || this.#apart === undefined) return;
    this.#stopped = undefined;
    this.#warming = false;
    restartAll(this.inputs);
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

  publishDenial(proposal: SwapProposal, { code, reason }: Denial): void {
    const { key, tag } = proposal;
    const denial: DeniedSwap = {
      proposal, code, reason, isPassing: isPassing(code), ...(key === undefined ? {} : { key }),
      ...(tag === undefined ? {} : { tag }),
    };
    if (this.#apart === undefined) this.#denials.emit(denial);
    else this.#apart.denial(denial);
  }

  #run(): void {
    this.#starts += 1;
    const parts = this.#parts;
    if (parts instanceof StateParts) this.#runHere(parts);
    else this.#runApart(parts, this.instance.apart!);
  }

  #runApart(parts: KeptText, strategy: ApartStrategy): void {
    const { name } = this;
    const port = this.#port;
    this.#apart = new ApartRun({
      strategy, clock: this.#clock, start: this.#starts,
      portfolio: this.#view(),
      propose: (proposal) => { this.#accept(proposal); },
      watch: (id, specs, place) => { this.#watchApart(id, specs, place); },
      unwatch: (id) => { this.#watches.end(id); },
      log: (message) => { this.#log(message); },
      warn: (message) => { this.#tell('warning', message); },
      state: (text) => { parts.put(text); },
      fail: (message, place) => { this.#fail(message, place); },
      completed: () => { port.completed(name); },
      mayFire: () => this.#mayFire(),
      ended: (occasion, ending) => { port.ended(name, occasion, ending); },
      endedAt: (occasion) => port.endedAt(name, occasion),
    });
    this.#apart.begin({ warming: this.#warming, kept: parts.text });
  }

  #runHere(parts: StateParts): void {
    const { strategy, params } = this.instance;
    try {
      const proposals$ = runOnStreams(this.#streams, (streams) => strategy.run(streams, params, this.#context(parts)));
      parts.seal();
      this.#subscription = proposals$.subscribe({
        next: (proposal) => { this.#propose(proposal); },
        error: (error: unknown) => { this.#fail(messageOf(error)); },
        complete: () => { this.#port.completed(this.name); },
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
    const fault = this.#usage.proposal(proposal, this.#clock.now());
    if (fault !== undefined) this.#fail(fault);
    else if (!this.#warming) this.#port.propose(this.name, proposal);
  }

  #log(message: string): void {
    const fault = this.#usage.logLine(this.#clock.now());
    if (fault !== undefined) this.#fail(fault);
    else if (!this.#warming) this.#port.log(this.name, message);
  }

  /** Returns whether a timer may fire; it stops a strategy whose timers let no time go on. */
  #mayFire(): boolean {
    const fault = this.#usage.timer(this.#clock.now());
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
    this.#stopped = { name: this.name, code, reason, place, at: this.#clock.now() };
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
      this.#watches.begin(id, specsOf(input), deliver, () => placeOf(asked));
    }
    return () => { if (this.#watches.has(id) && !this.#isLate('ended a watch')) this.#watches.end(id); };
  }

  #watchApart(id: number, specs: readonly FeedSpec[], place: string | undefined): void {
    if (id <= this.#declared || this.#watches.has(id)) this.#fail(`it began the watch ${id} a second time`);
    else this.#watches.begin(id, specs, (event) => { this.#apart?.event(id, event); }, () => place);
  }

  /** Returns an entry for each feed of an input. */
  #hostInput(input: Input<unknown>, index: number, stream: HotSource<unknown>): HostedInput[] {
    const emit = (event: unknown): void => { this.#apart?.event(index, event as MarketEvent); };
    const arrival = this.instance.apart === undefined ? streamOf(input, stream)
      : { adapt: unchanged, source: { emit } };
    const fail = (error: unknown): void => { this.#fail(messageOf(error)); };
    return specsOf(input).map((spec) => hostedFeed(spec, { places: this.#port, ...arrival, fail }));
  }

  #view(): PortfolioView {
    return portfolioView({ state: this.#port.state, clock: this.#clock }, this.name);
  }

  #context(parts: StateParts): StrategyContext {
    return createContext({
      name: this.name, seed: this.#port.seed, parts,
      clock: guardedClock({
        clock: this.#clock, mayFire: () => this.#mayFire(), fail: (error) => { this.#fail(messageOf(error)); },
      }),
      outcomes$: this.#outcomes, denials$: this.#denials, portfolio: this.#view(),
      log: (message) => { this.#log(message); },
      watch: (input, emit, asked) => this.#watchHere(input, emit, asked),
    });
  }
}
