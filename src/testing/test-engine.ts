import { catchError } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { advanceBoth } from '../backtest/driver.ts';
import { Engine } from '../engine/engine.ts';
import { VirtualClock } from '../engine/virtual-clock.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { MarketEvent } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { Strategy } from '../strategy/define.ts';
import type { Command } from '../trading/engine-command.ts';
import type { EngineState, StateSnapshot } from '../trading/engine-state.ts';
import { createState, freshSnapshot, snapshotState } from '../trading/engine-state.ts';
import type { OpenIntent } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal, toldOutcome } from '../trading/intent.ts';
import { MarketCache } from '../trading/market-cache.ts';
import type { Effect, Input } from '../trading/step.ts';
import type { RestoredStates, StrategyState } from '../trading/strategy-state.ts';
import type { RunRecord, SwapRecord } from './run-records.ts';
import { RecordWriter } from './run-records.ts';
import { SwapExecutor } from './swap-answers.ts';
import type { SwapAnswers } from './swap-answers.ts';
import type { TestSetup } from './test-setup.ts';
import { timeText } from './timeline.ts';

/** A daemon saves the states of strategies at least this often. */
const SAVE_EVERY_MS: Millis = 60_000;

/** An event at its time. */
interface MarketRow {
  readonly at: Millis;
  readonly input: MarketEvent;
}

/** The engine of one test with its swaps, its saved state, and what it does after a restart. */
export class TestEngine {
  readonly records: RunRecord[] = [];
  readonly logs: string[] = [];
  readonly writer: RecordWriter;
  readonly executor: SwapExecutor;
  /** The feeds that the strategy watches beside its inputs. */
  watched: readonly FeedSpec[] = [];
  readonly #setup: TestSetup;
  /** The time outside the engine, in which swaps land. */
  readonly #chainClock: VirtualClock;
  /** The last prices, over restarts. */
  readonly #market = new MarketCache();
  readonly #history: MarketRow[] = [];
  #engine: Engine;
  #state: EngineState;
  /** The saved states of strategies, and the last outcomes that are not part of them. */
  readonly #kept: Map<string, string>;
  #keptAt: Millis;
  #unseen: Outcome[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(setup: TestSetup, answers: SwapAnswers | undefined) {
    this.#setup = setup;
    this.#chainClock = new VirtualClock(setup.startAt);
    const usdc = setup.tokens.bySymbol('USDC')!;
    this.writer = new RecordWriter(setup.tokens, new Map(setup.entries.map(({ name, budget }) =>
      [name, (budget?.token ?? usdc).mint])));
    this.executor = new SwapExecutor(this.#chainClock, this.#market, answers);
    this.#keptAt = setup.startAt;
    this.#kept = new Map(setup.entries.flatMap(({ name, savedState }) =>
      (savedState === undefined ? [] : [[name, savedState]])));
    [this.#engine, this.#state] = this.#build(setup.startAt, freshSnapshot(setup.balances), this.#restored());
  }

  get now(): Millis {
    return this.#engine.clock.now();
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Starts the strategy; `known` are the prices before. */
  start(known: readonly MarketEvent[] = []): void {
    for (const event of known) this.#engine.accept(event, this.now);
    this.#engine.start();
    this.#engine.advanceTo(this.now);
    this.check();
  }

  /** Shows an event at the present instant. */
  show(event: MarketEvent): void {
    this.#engine.accept(event, this.now);
    this.check();
  }

  /** Lets time go on: timers fire, and swaps land. */
  moveTo(at: Millis): void {
    if (at < this.now) throw new TypeError(`${this.text(at)} is over: the run is at ${this.text(this.now)}`);
    advanceBoth(this.#engine, this.#chainClock, at, () => { this.check(); });
    this.#chainClock.advanceTo(at);
    this.#engine.advanceTo(at);
    this.check();
  }

  /** Gives an order, or reports something that is not of the market. */
  command(command: Command, at = this.now): void {
    this.#engine.accept(command, at);
    this.#chainClock.advanceTo(at);
    this.check();
  }

  /** Ends the engine and builds another from what it saved, as a daemon does; `isKilled` saves nothing more. */
  restart(afterMs: Millis, isKilled: boolean): void {
    if (!isKilled) this.#save();
    const earlier = this.#state;
    const startAt = this.now + afterMs;
    this.#engine.stop();
    this.watched = [];
    const snapshot = JSON.parse(JSON.stringify(snapshotState(earlier))) as StateSnapshot;
    [this.#engine, this.#state] = this.#build(startAt, snapshot, this.#restored(),
      earlier.intents.values().map(({ intent, state }) => ({ intent, state })));
    // What landed meanwhile is known before the strategy starts.
    this.#chainClock.advanceTo(startAt);
    if (this.#setup.entries.some(({ warmupMs }) => warmupMs > 0)) this.#engine.warmUp(rowsOf(this.#history));
    this.start();
  }

  /** Returns what would be saved of a strategy now, as JSON; undefined where it keeps no state. */
  savedState(name: string): string | undefined {
    const states = this.#engine.takeStrategyStates();
    this.#engine.returnStrategyStates(states);
    return states.find(({ strategy }) => strategy === name)?.text ?? this.#kept.get(name);
  }

  /** Returns an instant as a test writes it. */
  text(at: Millis): string {
    return timeText(at, this.#setup.startAt);
  }

  /** Throws where the strategy was stopped, or the test cannot go on. Saves the state each minute. */
  check(): void {
    const [stopped] = this.#engine.stopped;
    if (stopped !== undefined) {
      const cause = this.#failure === undefined ? {} : { cause: this.#failure.error };
      throw new Error(`the strategy ${stopped.name} was stopped at ${this.text(stopped.at)}: ${stopped.reason}`, cause);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.now - this.#keptAt >= SAVE_EVERY_MS) this.#save();
  }

  #restored(): RestoredStates {
    return { states: Object.fromEntries(this.#kept), unseen: this.#unseen };
  }

  #build(
    startAt: Millis, snapshot: StateSnapshot, restored: RestoredStates, open: readonly OpenIntent[] = [],
  ): [Engine, EngineState] {
    const { entries, tokens, limits, seed } = this.#setup;
    const state = createState({
      tokens, limits, snapshot, open,
      strategies: entries.map(({ name, budget, maxAgeMs, exits }) => ({
        name, limits: { maxAgeMs, exits },
        budget: budget === undefined ? undefined : { mint: budget.token.mint, amount: budget.amount as Amount },
      })),
    });
    const engine = new Engine({
      state, startAt, seed, restored,
      strategies: entries.map(({ name, strategy, params, warmupMs }) =>
        ({ name, strategy: this.#observed(strategy), params, warmupMs })),
      listener: {
        onInput: (_seq, at, input) => { this.#observe(at, input); },
        onRuling: (ruling) => { this.records.push(this.writer.ruling(this.text(ruling.decision.at), ruling)); },
        onEffect: (effect) => { this.#carryOut(effect); },
        onWatched: (specs) => { this.watched = specs; },
        onLog: (strategy, message) => {
          this.logs.push(`${this.text(this.now)} ${entries.length > 1 ? `${strategy} ` : ''}${message}`);
        },
      },
    });
    return [engine, state];
  }

  /** Returns the strategy with its error kept: the engine's reason is text, and a test needs the author's line. */
  #observed(strategy: Strategy): Strategy {
    const keep = (error: unknown): never => {
      this.#failure ??= { error };
      throw error;
    };
    return {
      ...strategy,
      run: (...given) => {
        try {
          return strategy.run(...given).pipe(catchError(keep));
        } catch (error) {
          return keep(error);
        }
      },
    };
  }

  #observe(at: Millis, input: Input): void {
    if (input.kind === 'outcome' || input.kind === 'command') return;
    this.#history.push({ at, input });
    this.#market.observe(input);
  }

  /** The engine calls it in the middle of an input, so it does not throw. */
  #carryOut(effect: Effect): void {
    if (effect.kind === 'alert') return;
    const { intent, strategyState } = effect;
    if (strategyState !== undefined) this.#take(strategyState);
    // The ruling that led to the effect was recorded just before it.
    const swap = this.records.at(-1) as SwapRecord;
    try {
      this.executor.execute(intent, swap, (outcome) => { this.#passOn(intent, outcome); });
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #passOn(intent: Intent, outcome: Outcome): void {
    const record = this.writer.outcome(this.text(this.#chainClock.now()), intent, outcome);
    if (record !== undefined) this.records.push(record);
    if (isTerminal(outcome.state)) this.#unseen.push(toldOutcome(outcome, intent));
    this.#engine.accept(outcome, Math.max(this.#chainClock.now(), this.now));
  }

  #save(): void {
    this.#keptAt = this.now;
    for (const state of this.#engine.takeStrategyStates()) this.#take(state);
  }

  #take({ strategy, text, seen }: StrategyState): void {
    this.#kept.set(strategy, text);
    this.#unseen = this.#unseen.filter(({ intentId }) => !seen.includes(intentId));
  }
}

function rowsOf(rows: readonly MarketRow[]): RecordedRows {
  let index = -1;
  return {
    next: () => ++index < rows.length,
    get at() { return rows[index]!.at; },
    get input() { return rows[index]!.input; },
  };
}
