import { assert } from '../core/assert.ts';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { runToEnd } from '../core/chunked-work.ts';
import type { Millis } from '../core/time.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { QuoteRun } from '../market/quote.ts';
import type { ReloadStrategy, StopStrategy } from '../trading/engine-command.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal, toldOutcome } from '../trading/intent.ts';
import { guardPositions } from '../trading/positions/position-watch.ts';
import { takeChanges } from '../trading/protections/check-protections.ts';
import type { EngineState } from '../trading/engine-state.ts';
import { beginRun } from '../trading/engine-state.ts';
import type { Effect, Input, ProposalInput } from '../trading/step.ts';
import { step } from '../trading/step.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import { NO_RESTORED_STATES } from '../trading/strategy-state.ts';
import { DecisionLog } from './decision-log.ts';
import type { EngineListener, EngineOptions } from './engine-listener.ts';
import type { EngineOrder } from './engine-orders.ts';
import { endingsOf, isEngineOrder, isJump, isManualOrder, manualProposal, timersDueBefore } from './engine-orders.ts';
import { ExitRunner } from './exit-runner.ts';
import { FeedRoutes, feedsOf, intervalsOf } from './feed-routes.ts';
import { PortfolioInputs } from './portfolio-inputs.ts';
import type { StrategyVersion, VersionOf } from './prepared-version.ts';
import { PreparedVersion } from './prepared-version.ts';
import { RetryRunner } from './retry-runner.ts';
import { RuleExits } from './rule-exits.ts';
import type { CallNumber } from './host/apart-run.ts';
import type { Ending } from './host/strategy-call.ts';
import type { HostPort, StoppedStrategy, StrategyInstance } from './host/host-port.ts';
import type { HostedInput } from './host/watched-feeds.ts';
import { Host } from './strategy-host.ts';
import type { UnsoldHolding } from './unsold-holdings.ts';
import { VirtualClock } from './virtual-clock.ts';
import { QuotePass } from './quote-pass.ts';
import type { RecordedRows } from './warm-up.ts';
import { warmUp } from './warm-up.ts';

/**
 * The pipeline in every mode: one queue, one order, one clock that moves only by stamps.
 *
 * For each stamped input, the engine first fires the timers due until then at their own instants. Then it applies the
 * input, publishes it to the strategies, and rules on their proposals. So live and replay agree even where a timer is
 * woken late.
 */
export class Engine {
  readonly clock: VirtualClock;
  /** How far the clock of the earlier run was ahead of this run's start in milliseconds, 0 where it was not. */
  readonly clockSetBackMs: Millis;
  readonly #state: EngineState;
  readonly #listener: EngineListener;
  readonly #hosts: Map<string, Host>;
  readonly #port: HostPort;
  readonly #versionOf: VersionOf | undefined;
  readonly #feeds: FeedRoutes;
  readonly #quotes: QuotePass;
  readonly #log = new DecisionLog();
  readonly #exits: ExitRunner;
  readonly #retries: RetryRunner;
  readonly #rules: RuleExits;
  readonly #portfolios: PortfolioInputs;
  /** The version of the guarded positions that was handed out to be saved. */
  #guardedVersion = 0;
  readonly #waiting: { input: Input; at: Millis }[] = [];
  readonly #proposals: ProposalInput[] = [];
  /** Last outcomes from before the start of the strategies; undefined after it. */
  #missed: Outcome[] | undefined;
  readonly #drain = (): void => { this.#ruleOnProposals(); };
  #seq = 0;
  #busy = false;

  constructor(options: EngineOptions) {
    const { states, unseen } = options.restored ?? NO_RESTORED_STATES;
    this.#missed = [...unseen];
    this.#state = options.state;
    this.#listener = options.listener;
    this.#feeds = new FeedRoutes({
      state: options.state, intervals: options.intervals, isRecorded: options.isRecorded === true,
      onWatched: (specs) => options.listener.onWatched?.(specs),
    });
    this.clock = new VirtualClock(options.startAt);
    this.clockSetBackMs = beginRun(options.state, options.startAt);
    if (options.state.hasExitRules) guardPositions(options.state, options.startAt);
    const feeds = this.#feeds;
    const port: HostPort & ConstructorParameters<typeof ExitRunner>[0] = {
      state: options.state,
      clock: this.clock,
      seed: options.seed,
      get intervals() { return feeds.intervals; },
      propose: (strategy: string, proposal: ProposalInput['proposal'], continues?: boolean) => {
        this.#proposals.push({ kind: 'proposal', strategy, proposal, continues });
      },
      inTurn: () => this.#busy,
      log: (strategy: string, message: string) => this.#listener.onLog?.(strategy, message),
      completed: (strategy: string) => this.#listener.onCompleted?.(strategy, this.clock.now()),
      stopped: (stopped: StoppedStrategy) => this.#listener.onStopped?.(stopped),
      ended: (strategy: string, occasion: CallNumber, ending: Ending) => {
        this.accept({ kind: 'command', name: 'stop-strategy', strategy, ...ending, ...occasion }, this.clock.now());
      },
      endedAt: endingsOf(options.stops),
      watched: (strategy: string, changed: readonly HostedInput[], inputs: readonly HostedInput[]) => {
        this.#feeds.rewatch(strategy, changed, inputs);
      },
    };
    this.#port = port;
    this.#quotes = new QuotePass(port, feeds);
    this.#versionOf = options.versionOf;
    this.#exits = new ExitRunner(port);
    this.#retries = new RetryRunner({
      ...port, isRunning: (strategy) => this.#hosts.get(strategy)?.stopped === undefined,
    });
    this.#rules = new RuleExits({
      state: options.state, clock: this.clock, propose: (exit) => { this.#proposals.push(exit); },
    });
    this.#hosts = new Map(options.strategies.map((instance) =>
      [instance.name, new Host(instance, port, { kept: states[instance.name] })]));
    this.#portfolios = new PortfolioInputs(options.state);
    for (const host of this.#hosts.values()) {
      this.#feeds.connect(host);
      this.#portfolios.connect(host);
    }
  }

  static readonly feedsOf = feedsOf;
  static readonly intervalsOf = intervalsOf;

  /** The feeds of the strategies as they run now, without those that strategies watch beside their inputs. */
  get declaredFeeds(): FeedSpec[] {
    return feedsOf([...this.#hosts.values()].map(({ instance }) => instance));
  }

  /** The number of the last stamped input or proposal. */
  get seq(): number {
    return this.#seq;
  }

  get decisionHash(): string {
    return this.#log.hash;
  }

  get decisions(): number {
    return this.#log.count;
  }

  /** Returns the strategies that are still running. */
  get running(): string[] {
    return [...this.#hosts.values()].filter((host) => host.running).map(({ name }) => name);
  }

  /** Returns the strategies that were stopped, and why. */
  get stopped(): StoppedStrategy[] {
    return [...this.#hosts.values()].map(({ stopped }) => stopped).filter((stopped) => stopped !== undefined);
  }

  /**
   * Returns the order to stop a strategy between two calls; the caller hands it to `accept`. Undefined where it does
   * not run, or does not run apart.
   */
  stopOrder(strategy: string, ending: Ending): StopStrategy | undefined {
    return this.#hosts.get(strategy)?.stopOrder(ending);
  }

  /** Returns the state that a strategy keeps, as text; or why no other version can go on in its place. */
  stateToHandOver(strategy: string): { readonly kept: string | undefined } | { readonly refused: string } {
    const host = this.#hosts.get(strategy);
    if (host?.mayHandOver === true) return { kept: host.keptText };
    return { refused: host?.stopped === undefined ? 'it does not run' : `it was stopped: ${host.stopped.reason}` };
  }

  /** Warms another version up beside the running one. No input may come before the order that switches them. */
  *prepare(strategy: string, version: StrategyVersion): ChunkedWork<PreparedVersion> {
    const old = this.#hosts.get(strategy)!;
    const intervals = intervalsOf(this.#instancesWith(version.instance));
    const prepared = new PreparedVersion(old, version, { port: this.#port, intervals });
    yield* prepared.warmUp(version);
    return prepared;
  }

  /** Returns what flattening strategies still hold, each holding with the reason why it is not sold. */
  get unsold(): readonly UnsoldHolding[] {
    return this.#exits.unsold();
  }

  /** Returns the strategies that were stopped because they proposed outside the engine's time. */
  get outOfTurn(): string[] {
    return [...this.#hosts.values()].filter((host) => host.outOfTurn).map(({ name }) => name);
  }

  /**
   * Shows recorded events before the present to the strategies with a warm-up, before their start. Returns whether
   * `rows` is at a row after the present.
   */
  warmUp(rows: RecordedRows): boolean {
    return this.#exclusively(() => runToEnd(warmUp(this.clock, [...this.#hosts.values()], rows)));
  }

  /**
   * Starts the strategies and rules on their first proposals. Strategies that keep a state then see the outcomes of
   * swaps that ended before.
   */
  start(): void {
    this.#exclusively(() => {
      const missed = this.#missed ?? [];
      this.#missed = undefined;
      for (const host of this.#hosts.values()) host.start();
      this.#exits.start();
      this.#retries.start();
      this.#rules.start();
      this.#portfolios.publish(this.clock.now());
      this.#ruleOnProposals();
      for (const outcome of missed) {
        const host = this.#hostOf(outcome);
        if (host?.remembers === true) host.publishOutcome(outcome);
        this.#ruleOnProposals();
      }
    });
  }

  /** Stops the strategies; inputs are still applied. */
  stop(): void {
    for (const host of this.#hosts.values()) host.stop();
    this.#exits.stop();
    this.#retries.stop();
    this.#rules.stop();
  }

  /** Returns the states of strategies that changed since they were last taken. */
  takeStrategyStates(): StrategyState[] {
    return [...this.#hosts.values()].map((host) => host.takeChangedState()).filter((state) => state !== undefined);
  }

  /** Takes back states that could not be saved, so that they are taken again. */
  returnStrategyStates(states: Iterable<StrategyState>): void {
    for (const state of states) this.#hosts.get(state.strategy)?.returnState(state);
  }

  /** Stamps and handles one input. An input that arrives during the handling of another waits in the queue. */
  accept(input: Input, at: Millis): void {
    if (this.#busy) {
      this.#waiting.push({ input, at });
      return;
    }
    this.#busy = true;
    try {
      this.#handle(input, at);
      if (this.#waiting.length > 0) this.#handleWaiting();
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Takes recorded quotes that change prices and nothing else, and returns how many it took, from the first one on: all
   * before its next timer and that of `simulated`, a clock that moves along. The next row is offered again or accepted.
   */
  pass(run: QuoteRun, simulated: VirtualClock): number {
    if (this.#listener.onInput !== undefined || this.#portfolios.isWatched || !this.#exits.isIdle) return 0;
    const passed = this.#quotes.pass(run, simulated, this.#seq + 1);
    this.#seq += passed;
    if (this.#state.protections.changes.length > 0) this.#exclusively(() => {
      this.#announceProtections();
      this.#exits.review();
      this.#ruleOnProposals();
    });
    return passed;
  }

  /** Moves the clock without an input: fires the timers due until `at`. */
  advanceTo(at: Millis): void {
    this.#exclusively(() => { this.clock.advanceTo(at, this.#drain); });
  }

  #exclusively<T>(work: () => T): T {
    assert(!this.#busy, 'the engine is moved from outside only');
    this.#busy = true;
    try {
      const result = work();
      this.#handleWaiting();
      return result;
    } finally {
      this.#busy = false;
    }
  }

  #handleWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      // An input that the engine made itself arrived at an instant of a timer that may lie before the last one.
      this.#handle(next.input, Math.max(next.at, this.clock.now()));
  }

  #handle(input: Input, at: Millis): void {
    this.clock.advanceTo(timersDueBefore(input, at), this.#drain);
    if (this.#feeds.isRewatched) this.#feeds.sampleRewatched();
    const { kind } = input;
    // A terminal outcome removes the intent from the state, so the host is determined first.
    const proposed = kind === 'outcome' ? this.#state.intents.get(input.intentId)?.intent : undefined;
    const host = kind === 'outcome' ? this.#hostOf(input) : undefined;
    const seq = ++this.#seq;
    step(this.#state, seq, at, input);
    this.#listener.onInput?.(seq, at, input);
    if (this.#state.protections.changes.length > 0) this.#announceProtections();
    // The rules of the configuration come before what strategies propose at the same event.
    this.#rules.observe(input);
    if (this.#state.guarded.version !== this.#guardedVersion) this.#keepGuarded();
    if (kind === 'outcome') this.#publishOutcome(toldOutcome(input, proposed), host);
    else if (kind !== 'command' && kind !== 'feed-health') this.#feeds.publish(input, at);
    else if (isJump(input)) this.clock.jumpTo(at, this.#drain);
    else if (isManualOrder(input)) this.#proposals.push(manualProposal(input));
    else if (isEngineOrder(input)) this.#carryOut(input);
    this.#portfolios.publish(at);
    this.#exits.observe(input);
    if (this.#proposals.length > 0) this.#ruleOnProposals();
  }

  #carryOut(order: EngineOrder): void {
    const host = this.#hosts.get(order.strategy);
    if (order.name === 'stop-strategy') host?.stoppedBy(order);
    else if (order.name === 'reload-strategy') this.#reload(order, host);
    else {
      this.#portfolios.forget(order.strategy);
      host?.startAgain();
    }
  }

  /** Puts another version of a strategy into its place, between two events. */
  #reload(order: ReloadStrategy, old: Host | undefined): void {
    if (old?.mayHandOver !== true) return;
    const version = this.#versionOf?.(order, this.#seq);
    assert(version, () => `there is no version of strategy ${order.strategy} to reload`);
    const prepared = version.prepared ?? runToEnd(this.prepare(old.name, version));
    const instances = this.#instancesWith(version.instance);
    this.#listener.onInputs?.(feedsOf(instances));
    this.#feeds.replace(old.inputs, intervalsOf(instances), () => {
      old.stop();
      this.#hosts.set(old.name, prepared.host);
      this.#portfolios.replace(prepared.host);
      prepared.takeOver();
      return prepared.host;
    });
  }

  #instancesWith(version: StrategyInstance): StrategyInstance[] {
    return [...this.#hosts.values()].map(({ instance }) => (instance.name === version.name ? version : instance));
  }

  #publishOutcome(outcome: Outcome, host: Host | undefined): void {
    if (this.#missed === undefined) host?.publishOutcome(outcome);
    else if (isTerminal(outcome.state)) this.#missed.push(outcome);
  }

  /** Returns the host of an outcome's strategy; by the id where the intent is no longer in the state. */
  #hostOf({ intentId }: Outcome): Host | undefined {
    const strategy = this.#state.intents.get(intentId)?.intent.strategy ?? intentId.slice(0, intentId.lastIndexOf('-'));
    return this.#hosts.get(strategy);
  }

  /** Hands out an effect. A swap includes its strategy's state, so that the journal saves both together. */
  #perform(effect: Effect): void {
    const strategyState = effect.kind === 'execute' ? this.#hosts.get(effect.intent.strategy)?.takeState() : undefined;
    this.#listener.onEffect?.(effect.kind === 'alert' || strategyState === undefined ? effect
      : { ...effect, strategyState });
  }

  #keepGuarded(): void {
    this.#guardedVersion = this.#state.guarded.version;
    this.#listener.onExits?.(this.#seq, this.clock.now());
  }

  #announceProtections(): void {
    for (const change of takeChanges(this.#state.protections))
      this.#listener.onProtection?.(this.#seq, this.clock.now(), change);
  }

  #ruleOnProposals(): void {
    for (let next = this.#proposals.shift(); next !== undefined; next = this.#proposals.shift()) {
      const exits = this.#standing();
      const ruling = step(this.#state, ++this.#seq, this.clock.now(), next);
      assert(ruling, 'a proposal is ruled on');
      const logged = this.#log.append(ruling.decision);
      this.#listener.onRuling?.(ruling, logged);
      // The order matters: an exit in parts that is saved without its first swap starts with that swap after a restart.
      // The swap comes before the protection, whose listener may save the state that already contains the swap.
      if (this.#standing() !== exits) this.#listener.onExits?.(this.#seq, this.clock.now());
      if (ruling.effect !== undefined) this.#perform(ruling.effect);
      if (this.#state.protections.changes.length > 0) this.#announceProtections();
      const isOwn = this.#exits.ruled(next.strategy, next.proposal, ruling);
      // A strategy does not see the refusal of a proposal that the engine or a person made.
      this.#retries.review();
      if (ruling.denial !== undefined && next.proposal.kind === 'swap' && !isOwn && ruling.isRetried !== true
          && next.begins === undefined && next.byHand !== true)
        this.#hosts.get(next.strategy)?.publishDenial(next.proposal, ruling.denial);
    }
  }

  /** Changes with everything that the engine goes on with by itself and that must outlive the process. */
  #standing(): number {
    return this.#state.exits.version + this.#state.retries.version;
  }
}
