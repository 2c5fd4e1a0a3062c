import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import { feedKey, sharedFeeds } from '../market/feed.ts';
import { takesSample } from '../market/sample-windows.ts';
import { beginRun } from '../trading/begin-run.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import { takeChanges } from '../trading/protections/look.ts';
import type { ProtectionChange } from '../trading/protections/protection-change.ts';
import type { Denial } from '../trading/risk/denial.ts';
import type { Effect, Input, ProposalInput, Ruling } from '../trading/step.ts';
import { step } from '../trading/step.ts';
import type { EngineState } from '../trading/state.ts';
import type { StrategyLegacy, StrategyState } from '../trading/strategy-state.ts';
import { NO_LEGACY } from '../trading/strategy-state.ts';
import type { LoggedDecision } from './decision-log.ts';
import { DecisionLog } from './decision-log.ts';
import type { UnsoldHolding } from './flatten.ts';
import { Flattener } from './flatten.ts';
import type { HostedInput, StrategyInstance } from './host.ts';
import { Host } from './host.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { RecordedRows } from './warm-up.ts';
import { warmUp } from './warm-up.ts';

/** Who looks on and acts on it. Called synchronously, in order; it must not throw. */
export interface EngineListener {
  /** Every stamped input, after the state holds it: what a recording keeps. */
  readonly onInput?: (seq: number, at: Millis, input: Input) => void;
  /** Every ruling with its place in the hash chain, before its effect. */
  readonly onRuling?: (ruling: Ruling, logged: LoggedDecision) => void;
  /** A protection that came on or let go with the stamp `seq`; it stands in the state already. */
  readonly onProtection?: (seq: number, at: Millis, change: ProtectionChange) => void;
  /** Exits in parts have changed: they must outlive the process, and are written down before what is to be done. */
  readonly onExits?: (seq: number, at: Millis) => void;
  /** What is to be done. */
  readonly onEffect?: (effect: Effect) => void;
  readonly onLog?: (strategy: string, message: string) => void;
}

type Leap = Extract<Input, { readonly name: 'leap-time' }>;

function isLeap(input: Input): input is Leap {
  return input.kind === 'command' && input.name === 'leap-time';
}

/**
 * Returns up to where timers fire at their own instants before an input stamped `at`: a leap fires those after `from`
 * at its end.
 */
export function timersDueBefore(input: Input, at: Millis): Millis {
  return isLeap(input) ? input.from : at;
}

/**
 * The pipeline in every mode: one queue, one order, one clock that moves only by stamps.
 *
 * Advancing to a stamp first fires the timers due until then at their own instants, then the input is applied, then the
 * strategies see it, then what they propose is ruled on, all before the next input. So live and replay agree even when
 * a timer is woken late.
 */
export class Engine {
  readonly clock: VirtualClock;
  /** By how much the run whose state this one goes on from was ahead of its beginning, 0 where it was not. */
  readonly clockSetBackMs: Millis;
  readonly #state: EngineState;
  readonly #listener: EngineListener;
  readonly #hosts: ReadonlyMap<string, Host>;
  /** By feed slot: who gets the feed's events. */
  readonly #routes: (readonly HostedInput[])[] = [];
  readonly #log = new DecisionLog();
  readonly #flattener: Flattener;
  readonly #waiting: { input: Input; at: Millis }[] = [];
  readonly #proposals: ProposalInput[] = [];
  /** Last outcomes that came before the strategies ran; undefined once they do. */
  #missed: Outcome[] | undefined;
  readonly #drain = (): void => { this.#ruleOnProposals(); };
  #seq = 0;
  #busy = false;

  constructor(options: {
    readonly state: EngineState;
    readonly strategies: readonly StrategyInstance[];
    readonly startAt: Millis;
    readonly seed: number | string;
    readonly listener: EngineListener;
    readonly legacy?: StrategyLegacy | undefined;
    /**
     * How far apart the events of each feed come. An input that asks for fewer is shown the first event of each window
     * of its own interval; windows begin at multiples of it since the epoch. Left out, every input is shown every event
     * of its feed.
     */
    readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
  }) {
    const { states, unseen } = options.legacy ?? NO_LEGACY;
    this.#missed = [...unseen];
    this.#state = options.state;
    this.#listener = options.listener;
    this.clock = new VirtualClock(options.startAt);
    this.clockSetBackMs = beginRun(options.state, options.startAt);
    const port = {
      state: options.state,
      clock: this.clock,
      seed: options.seed,
      intervals: options.intervals,
      propose: (strategy: string, proposal: ProposalInput['proposal'], continues?: boolean) => {
        this.#proposals.push({ kind: 'proposal', strategy, proposal, continues });
      },
      inTurn: () => this.#busy,
      log: (strategy: string, message: string) => this.#listener.onLog?.(strategy, message),
    };
    this.#flattener = new Flattener(port);
    this.#hosts = new Map(options.strategies.map((instance) =>
      [instance.name, new Host(instance, port, states[instance.name])]));
    for (const host of this.#hosts.values()) this.#connect(host);
  }

  /** Returns what the strategies want watched: each thing once, at the fastest rate anybody asked for. */
  static feedsOf(strategies: readonly StrategyInstance[]): FeedSpec[] {
    return sharedFeeds(strategies.flatMap(({ strategy, params }) =>
      Object.values(strategy.inputs(params)).map(({ spec }) => spec)));
  }

  /**
   * Returns how far apart events of each feed come where every feed is polled as often as the most demanding input
   * asks.
   */
  static intervalsOf(strategies: readonly StrategyInstance[]): ReadonlyMap<FeedKey, Millis> {
    return new Map(Engine.feedsOf(strategies).map((spec) => [feedKey(spec), spec.everyMs]));
  }

  /** The number of the last thing stamped. */
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

  /** Returns what flattening strategies still hold, each with what keeps it from being sold. */
  get unsold(): readonly UnsoldHolding[] {
    return this.#flattener.unsold();
  }

  /** Returns the strategies that were stopped since they proposed outside the engine's time. */
  get untimely(): string[] {
    return [...this.#hosts.values()].filter((host) => host.untimely).map(({ name }) => name);
  }

  /**
   * Shows what was recorded before the present to the strategies that want it; before they start. Returns whether
   * `rows` stands at a row that comes after.
   */
  warmUp(rows: RecordedRows): boolean {
    let stands = false;
    this.#exclusively(() => { stands = warmUp(this.clock, [...this.#hosts.values()], rows); });
    return stands;
  }

  /**
   * Starts the strategies; what they propose at once is ruled on. Those that keep a state then hear of the swaps that
   * ended before.
   */
  start(): void {
    this.#exclusively(() => {
      const missed = this.#missed ?? [];
      this.#missed = undefined;
      for (const host of this.#hosts.values()) host.start();
      this.#flattener.start();
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
    this.#flattener.stop();
  }

  /** Returns what strategies keep beyond a restart, of those where something changed since it was last taken. */
  takeStrategyStates(): StrategyState[] {
    return [...this.#hosts.values()].map((host) => host.takeChangedState()).filter((state) => state !== undefined);
  }

  /** Takes back states that could not be written down: they are handed out again. */
  returnStrategyStates(states: Iterable<StrategyState>): void {
    for (const state of states) this.#hosts.get(state.strategy)?.returnState(state);
  }

  /** Stamps and handles one input. Called from within the handling of another, it waits for its turn. */
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

  /** Moves the clock without an input: fires the timers due until `at`. */
  advanceTo(at: Millis): void {
    this.#exclusively(() => { this.clock.advanceTo(at, this.#drain); });
  }

  #exclusively(work: () => void): void {
    assert(!this.#busy, 'the engine is moved from outside only');
    this.#busy = true;
    try {
      work();
      this.#handleWaiting();
    } finally {
      this.#busy = false;
    }
  }

  #handleWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#handle(next.input, next.at);
  }

  #handle(input: Input, at: Millis): void {
    this.clock.advanceTo(timersDueBefore(input, at), this.#drain);
    const { kind } = input;
    // An intent that is over is not in the state any more once the outcome is applied.
    const host = kind === 'outcome' ? this.#hostOf(input) : undefined;
    const seq = ++this.#seq;
    step(this.#state, seq, at, input);
    this.#listener.onInput?.(seq, at, input);
    if (this.#state.protections.changes.length > 0) this.#announceProtections();
    if (kind === 'outcome') this.#publishOutcome(input, host);
    else if (kind !== 'command' && kind !== 'feed-health') this.#publish(input, at);
    else if (isLeap(input)) this.clock.leapTo(at, this.#drain);
    this.#flattener.observe(input);
    if (this.#proposals.length > 0) this.#ruleOnProposals();
  }

  /** Of an event that the market has just observed: its slot need not be looked up again. */
  #publish(event: MarketEvent, at: Millis): void {
    const route = this.#routes[this.#state.market.lastSlot];
    if (route === undefined) return;
    for (let i = 0; i < route.length; i++) {
      const { source, adapt, fail, windows } = route[i]!;
      if (windows !== undefined && !takesSample(windows, at)) continue;
      try {
        source.emit(adapt(event));
      } catch (error) {
        fail(error);
      }
    }
  }

  #publishOutcome(outcome: Outcome, host: Host | undefined): void {
    if (this.#missed === undefined) host?.publishOutcome(outcome);
    else if (isTerminal(outcome.state)) this.#missed.push(outcome);
  }

  /** An intent that is over is not in the state any more; its name tells. */
  #hostOf({ intentId }: Outcome): Host | undefined {
    const strategy = this.#state.intents.get(intentId)?.intent.strategy ?? intentId.slice(0, intentId.lastIndexOf('-'));
    return this.#hosts.get(strategy);
  }

  /** A swap takes with it what its strategy keeps: both are written down together. */
  #perform(effect: Effect): void {
    const strategyState = effect.kind === 'execute' ? this.#hosts.get(effect.intent.strategy)?.takeState() : undefined;
    this.#listener.onEffect?.(effect.kind === 'alert' || strategyState === undefined ? effect
      : { ...effect, strategyState });
  }

  #announceProtections(): void {
    for (const change of takeChanges(this.#state.protections))
      this.#listener.onProtection?.(this.#seq, this.clock.now(), change);
  }

  #publishDenial(strategy: string, proposal: SwapProposal, { code, reason }: Denial): void {
    this.#hosts.get(strategy)?.publishDenial({ proposal, code, reason });
  }

  #ruleOnProposals(): void {
    for (let next = this.#proposals.shift(); next !== undefined; next = this.#proposals.shift()) {
      const exits = this.#state.exits.version;
      const ruling = step(this.#state, ++this.#seq, this.clock.now(), next);
      assert(ruling, 'a proposal is ruled on');
      const logged = this.#log.append(ruling.decision);
      this.#listener.onRuling?.(ruling, logged);
      // An exit in parts that is kept without its first swap begins with that one.
      // Then the swap: whoever hears of a protection may keep the state, which holds this swap by now, and its row
      // comes before.
      if (this.#state.exits.version !== exits) this.#listener.onExits?.(this.#seq, this.clock.now());
      if (ruling.effect !== undefined) this.#perform(ruling.effect);
      if (this.#state.protections.changes.length > 0) this.#announceProtections();
      const isOwn = this.#flattener.ruled(next.strategy, next.proposal, ruling);
      // A strategy is not told of a refusal of what it never asked for.
      if (ruling.denial !== undefined && next.proposal.kind === 'swap' && !isOwn)
        this.#publishDenial(next.strategy, next.proposal, ruling.denial);
    }
  }

  #connect(host: Host): void {
    const record = this.#state.strategies.get(host.name);
    assert(record, () => `strategy ${host.name} has no record in the state`);
    this.#state.strategies.set(host.name, { ...record, inputs: host.inputs.map(({ slot }) => slot) });
    for (const input of host.inputs) this.#routes[input.slot] = [...(this.#routes[input.slot] ?? []), input];
  }
}
