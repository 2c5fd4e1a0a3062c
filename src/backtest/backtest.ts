import type { Unsubscribable } from 'rxjs';
import type { Amount, Lamports } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { Engine } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import { VirtualClock } from '../engine/virtual-clock.ts';
import type { Steps } from '../core/steps.ts';
import { atOnce, STEP_EVENTS } from '../core/steps.ts';
import type { Fill, Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import { MarketCache } from '../trading/market-cache.ts';
import type { EngineState } from '../trading/state.ts';
import { step } from '../trading/step.ts';
import type { InputCursor } from './driver.ts';
import { drive, driveSampled, settle } from './driver.ts';
import type { EquitySampler } from './record/equity-sampler.ts';
import type { RecordedChecks } from './recorded-checks.ts';
import type { RecordedIntervals, Sampler } from './sampling.ts';
import { createSampler, sampledRows } from './sampling.ts';
import type { SimulationModel } from './simulated-executor.ts';
import { createSimulatedExecutor } from './simulated-executor.ts';
import type { FillNotes, SimulationNotes } from './simulation-notes.ts';
import { waitedByMachineClock, refuseAsyncDecisions, withoutMachineClock } from './async-guard.ts';

/** What one strategy did in a backtest, and what it ended with. */
export interface StrategyResult {
  readonly name: string;
  readonly swaps: number;
  readonly feesLamports: bigint;
  readonly balances: ReadonlyMap<string, Amount>;
}

/** How strategies are shown a recording, which may hold more than a live run would poll. */
export interface Sampling {
  readonly recorded: RecordedIntervals;
  /** How far apart the rows of each feed are that the engine receives. */
  readonly intervals: RecordedIntervals;
  /** Where the engine does not receive every row. */
  readonly polled?: PolledRows | undefined;
}

interface PolledRows {
  readonly sampler: Sampler;
  /** Learns of every row: swaps are filled from it, and equity is valued by it. */
  readonly market: MarketCache;
}

export interface SimulatedFill {
  readonly at: Millis;
  readonly intent: Intent;
  readonly fill: Fill;
  /** What it cost, by what for, and how sure its price is. */
  readonly notes: FillNotes;
}

export interface BacktestResult {
  readonly events: number;
  readonly seconds: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly denials: Readonly<Record<string, number>>;
  readonly intents: Readonly<Record<string, number>>;
  readonly fills: readonly SimulatedFill[];
  readonly alerts: number;
  readonly strategies: readonly StrategyResult[];
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** What could not be simulated, what is less sure, and what it all cost. */
  readonly simulation: SimulationNotes;
  /** Laid down for token accounts: back at the end for those that are empty, else still there. No cost. */
  readonly deposits: { readonly returnedLamports: Lamports; readonly lockedLamports: Lamports };
}

/** Times of records are whole milliseconds. */
const JUST_AFTER_MS: Millis = 0.5;

/** A strategy may take a while for each event, which nobody knows before it has. */
const FIRST_STEP_EVENTS = 64;
const STEP_MS: Millis = 50;

/** Returns how many events make the next step, after one of so many that took so long. */
function nextStep(events: number, tookMs: Millis): number {
  return tookMs <= STEP_MS ? Math.min(STEP_EVENTS, events * 2) : Math.max(1, Math.floor(events * STEP_MS / tookMs));
}

/** Returns how much of a recording's beginning is for warming up: trading begins for all of them after the longest. */
export function longestWarmup(strategies: readonly Pick<StrategyInstance, 'warmupMs'>[]): Millis {
  return Math.max(0, ...strategies.map(({ warmupMs = 0 }) => warmupMs));
}

/**
 * Returns how strategies are shown a recording with rows so far apart; undefined where the intervals were not measured.
 */
export function samplingOf(
  strategies: readonly StrategyInstance[], intervals: RecordedIntervals | undefined,
): Sampling | undefined {
  if (intervals === undefined) return undefined;
  const sampler = createSampler(Engine.feedsOf(strategies), intervals);
  return sampler === undefined ? { recorded: intervals, intervals }
    : { recorded: intervals, intervals: sampler.intervals, polled: { sampler, market: new MarketCache() } };
}

/**
 * Runs strategies over a recording with simulated fills. Where any of them is warmed up, the first part of the
 * recording is for that, and the backtest begins after it. Nothing but `stopwatch` reads a clock. Throws
 * STRATEGY_INVALID where a strategy waits by the machine's clock, or decides in promises or timers, as far as whoever
 * does the steps lets those have their turn.
 */
export function* backtestSteps(options: {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  /** Where the recording begins. */
  readonly startAt: Millis;
  readonly cursor: InputCursor;
  /** What was found out about tokens, as far as it was recorded. */
  readonly checks?: RecordedChecks | undefined;
  readonly model: SimulationModel;
  readonly stopwatch: () => Millis;
  readonly onDecision?: (decision: LoggedDecision) => void;
  /** Looks on, for figures: nothing that is decided depends on it. */
  readonly meter?: EquitySampler | undefined;
  /**
   * Hears after each step how many events there were. Where somebody does, steps stay short however slow strategies
   * are.
   */
  readonly onEvents?: ((events: number) => void) | undefined;
  /** Left out, the engine receives every row. */
  readonly sampling?: Sampling | undefined;
}): Steps<BacktestResult> {
  const { state, strategies, cursor, meter, sampling } = options;
  const polled = sampling?.polled;
  const warmupMs = longestWarmup(strategies);
  const startAt = options.startAt + warmupMs;
  const world = new VirtualClock(startAt);
  const executor = createSimulatedExecutor({
    clock: world, market: polled?.market ?? state.market, model: options.model, intervals: sampling?.recorded,
    seed: options.seed, tokenAccounts: state.portfolio.wallet.keys(),
  });
  const denials: Record<string, number> = {};
  const intents: Record<string, number> = {};
  const fills: SimulatedFill[] = [];
  const waiting: string[] = [];
  let alerts = 0;

  const engine: Engine = new Engine({
    state,
    strategies,
    startAt,
    seed: options.seed,
    intervals: sampling?.intervals,
    listener: {
      onRuling: ({ denial }, logged) => {
        if (denial !== undefined) denials[denial.code] = (denials[denial.code] ?? 0) + 1;
        if (waitedByMachineClock(logged)) waiting.push(logged.strategy);
        options.onDecision?.(logged);
      },
      onEffect: (effect) => {
        if (effect.kind === 'alert') alerts += 1;
        else executor.carryOut(effect.intent, (outcome, notes) => { take(effect.intent, outcome, notes); });
      },
    },
  });
  const take = (intent: Intent, outcome: Outcome, notes: FillNotes | undefined): void => {
    if (isTerminal(outcome.state)) intents[outcome.state] = (intents[outcome.state] ?? 0) + 1;
    if (outcome.fill !== undefined) {
      assert(notes, () => `${intent.id} is filled without notes`);
      fills.push({ at: world.now(), intent, fill: outcome.fill, notes });
    }
    engine.accept(outcome, world.now());
    meter?.observe(intent, outcome, world.now());
  };

  // Warming up shows strategies what was; what was found out about tokens holds on.
  for (const { at, look } of options.checks?.before(startAt) ?? []) step(state, 0, at, look);

  const startedAt = options.stopwatch();
  polled?.sampler.join(options.startAt);
  const earlier = polled === undefined ? cursor : sampledRows(cursor, { ...polled, until: startAt });
  const stands = withoutMachineClock(() => warmupMs > 0 && engine.warmUp(earlier));
  polled?.sampler.restart();
  const go = (given: { readonly stands?: boolean; readonly most: number }): number => (
    polled === undefined ? drive(engine, world, cursor, given)
      : driveSampled(engine, world, cursor, { ...given, ...polled }));
  meter?.sample(startAt);
  withoutMachineClock(() => { engine.start(); });
  const looking = meter === undefined ? [] : lookSteadily(world, meter);
  let most = options.onEvents === undefined ? STEP_EVENTS : FIRST_STEP_EVENTS;
  let events = withoutMachineClock(() => go({ stands, most }));
  let steppedAt = startedAt;
  for (let last = events; last === most; events += last) {
    yield;
    refuseAsyncDecisions({ late: engine.untimely, waiting });
    if (options.onEvents !== undefined) {
      options.onEvents(events);
      const now = options.stopwatch();
      most = nextStep(most, now - steppedAt);
      steppedAt = now;
    }
    last = withoutMachineClock(() => go({ most }));
  }
  // What strategies left to promises and timers comes now, or is never heard of: they are stopped next.
  yield;
  refuseAsyncDecisions({ late: engine.untimely, waiting });
  // Rows that the engine did not receive moved this clock alone.
  const endAt = Math.max(engine.clock.now(), world.now());
  for (const beat of looking) beat.unsubscribe();
  settle(engine, world);
  const empty = state.tokens.all.map(({ mint }) => mint).filter((mint) => !state.portfolio.wallet.has(mint));
  const returnedLamports = executor.closeAccounts(empty);
  meter?.returnDeposits(empty);
  meter?.sample(world.now());
  const seconds = (options.stopwatch() - startedAt) / 1_000;

  return {
    events, seconds, decisions: engine.decisions, decisionHash: engine.decisionHash, denials, intents, fills, alerts,
    strategies: strategies.map(({ name }) => strategyResult(state, name)),
    startAt, endAt, simulation: executor.notes(),
    deposits: { returnedLamports, lockedLamports: executor.lockedLamports() },
  };
}

/** Runs a backtest as `backtestSteps` does, all at once. */
export function runBacktest(options: Parameters<typeof backtestSteps>[0]): BacktestResult {
  return atOnce(backtestSteps(options));
}

function lookSteadily(world: VirtualClock, meter: EquitySampler): Unsubscribable[] {
  const { everyMs, extremesEveryMs } = meter;
  return [
    ...(extremesEveryMs === undefined ? [] : [steadily(world, extremesEveryMs, (at) => {
      meter.sampleExtremes(at);
      // Benchmarks buy at their own instants: between two glances the market may be another one.
      const wait = meter.nextPurchaseAt() - world.now();
      if (wait < extremesEveryMs) world.schedule(() => { meter.purchase(world.now()); }, Math.max(0, wait));
    })]),
    steadily(world, everyMs, (at) => { meter.sampleIfPriced(at); }),
  ];
}

/** At whole multiples of the step, as bars close: just after them, so that what came at that very instant counts. */
function steadily(world: VirtualClock, everyMs: Millis, look: (at: Millis) => void): Unsubscribable {
  return world.schedule<undefined>(function again() {
    look(world.now() - JUST_AFTER_MS);
    this.schedule(undefined, everyMs);
  }, everyMs - (world.now() % everyMs) + JUST_AFTER_MS);
}

function strategyResult({ portfolio }: EngineState, name: string): StrategyResult {
  const { swaps, feesLamports, balances } = portfolio.book(name);
  return { name, swaps, feesLamports, balances };
}
