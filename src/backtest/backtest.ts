import type { Unsubscribable } from 'rxjs';
import type { Amount, Lamports } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { Engine } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';
import { VirtualClock } from '../engine/virtual-clock.ts';
import type { ChunkedWork } from '../core/chunked-work.ts';
import { runToEnd, EVENTS_PER_CHUNK } from '../core/chunked-work.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
import type { Fill, Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import { MarketCache } from '../trading/market-cache.ts';
import type { EngineState } from '../trading/engine-state.ts';
import { step } from '../trading/step.ts';
import type { InputCursor } from './driver.ts';
import { announced, drive, driveSampled, settle } from './driver.ts';
import type { EquitySampler } from './record/equity-sampler.ts';
import type { RecordedChecks } from './recorded-checks.ts';
import type { RecordedIntervals, Sampler } from './sampling.ts';
import { createSampler, sampledRows } from './sampling.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { SimulatedExecutor } from './simulated-executor.ts';
import { createSimulatedExecutor } from './simulated-executor.ts';
import type { FillNotes, SimulationNotes } from './simulation-notes.ts';
import { waitedByMachineClock, refuseAsyncDecisions, withoutMachineClock } from './async-guard.ts';

/** What one strategy did in a backtest, and what it ended with. */
interface StrategyResult {
  readonly name: string;
  readonly swaps: number;
  readonly feesLamports: bigint;
  readonly balances: ReadonlyMap<string, Amount>;
}

/** How strategies see a recording that may hold more than a live run would poll. */
interface Sampling {
  readonly recorded: RecordedIntervals;
  /** The intervals between the rows of each feed that the engine receives. */
  readonly intervals: RecordedIntervals;
  /** Set where the engine does not receive every row. */
  readonly polled?: PolledRows | undefined;
}

interface PolledRows {
  readonly sampler: Sampler;
  /** Receives every row: it fills swaps and values the equity. */
  readonly market: MarketCache;
}

interface SimulatedFill {
  readonly at: Millis;
  readonly intent: Intent;
  readonly fill: Fill;
  /** The costs by their kinds, and how reliable the price is. */
  readonly notes: FillNotes;
}

export interface BacktestResult {
  readonly events: number;
  readonly seconds: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly denials: Readonly<Record<string, number>>;
  readonly intents: Readonly<Record<string, number>>;
  /** All fills in order, or the last one alone where the others are not kept. */
  readonly fills: readonly SimulatedFill[];
  readonly fillCount: number;
  readonly alerts: number;
  readonly strategies: readonly StrategyResult[];
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** What could not be simulated, what is less reliable, and the costs. */
  readonly simulation: SimulationNotes;
  /** The strategies whose streams of proposals were complete before the end, with the times of that. */
  readonly completed: readonly { readonly strategy: string; readonly at: Millis }[];
  /** What strategies watched beside their inputs, and the recording does not hold. */
  readonly unrecorded: readonly FeedKey[];
  /** Deposits of token accounts: returned at the end for empty accounts, else locked. They are no cost. */
  readonly deposits: { readonly returnedLamports: Lamports; readonly lockedLamports: Lamports };
}

interface BacktestOptions {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  /** The beginning of the recording. */
  readonly startAt: Millis;
  readonly cursor: InputCursor;
  /** The feeds of the recording, where they are known. */
  readonly feeds?: readonly FeedKey[] | undefined;
  /** The recorded checks of tokens. */
  readonly checks?: RecordedChecks | undefined;
  readonly model: SimulationModel;
  readonly stopwatch: () => Millis;
  readonly onDecision?: (decision: LoggedDecision) => void;
  /** Whether the result has all fills, true by default: many runs at once need the number alone. */
  readonly keepsFills?: boolean | undefined;
  /** Samples the equity; no decision depends on it. */
  readonly equity?: EquitySampler | undefined;
  /** Receives the number of events after each chunk. With it chunks stay short even where strategies are slow. */
  readonly onEvents?: ((events: number) => void) | undefined;
  /** Called before every row, every run of passed rows, and every timer; no decision depends on it. */
  readonly goesOn?: (() => void) | undefined;
  /** Left out, the engine receives every row. */
  readonly sampling?: Sampling | undefined;
}

/** An engine, the simulation that it trades in, and the counts of both. */
interface Simulation {
  readonly engine: Engine;
  /** The clock of the simulated executor and of the equity samples. */
  readonly clock: VirtualClock;
  readonly executor: SimulatedExecutor;
  readonly counts: {
    readonly denials: Record<string, number>; readonly intents: Record<string, number>;
    readonly fills: SimulatedFill[]; fillCount: number; alerts: number;
  };
  readonly unrecorded: ReadonlySet<FeedKey>;
  readonly completed: BacktestResult['completed'];
  /** Throws STRATEGY_ASYNC where a strategy waited by the machine's clock, or decided in a promise or a timer. */
  refuseAsync(): void;
}

/** Rows have whole milliseconds. */
const JUST_AFTER_MS: Millis = 0.5;

const FIRST_CHUNK_EVENTS = 64;
const CHUNK_MS: Millis = 50;

/** Returns the length of the next chunk, in events. How long a strategy takes for an event is known only afterwards. */
function nextChunk(events: number, tookMs: Millis): number {
  if (tookMs <= CHUNK_MS) return Math.min(EVENTS_PER_CHUNK, events * 2);
  return Math.max(1, Math.floor(events * CHUNK_MS / tookMs));
}

/** Returns how much of a recording's beginning warms strategies up: all of them trade after the longest warm-up. */
export function longestWarmup(strategies: readonly Pick<StrategyInstance, 'warmupMs'>[]): Millis {
  return Math.max(0, ...strategies.map(({ warmupMs = 0 }) => warmupMs));
}

/** Returns how strategies see a recording with such intervals; undefined where the intervals were not measured. */
export function samplingOf(
  strategies: readonly StrategyInstance[], intervals: RecordedIntervals | undefined,
): Sampling | undefined {
  if (intervals === undefined) return undefined;
  const sampler = createSampler(Engine.feedsOf(strategies), intervals);
  return sampler === undefined ? { recorded: intervals, intervals }
    : { recorded: intervals, intervals: sampler.intervals, polled: { sampler, market: new MarketCache() } };
}

/**
 * Runs strategies over a recording with simulated fills, in chunks. The first part of the recording warms strategies up
 * where one of them needs it, and the backtest begins after it. Only `stopwatch` reads a clock. Throws STRATEGY_ASYNC
 * where a strategy waits by the machine's clock, or decides in promises or timers that run between two chunks.
 */
export function* backtestInChunks(options: BacktestOptions): ChunkedWork<BacktestResult> {
  const { state, strategies, cursor, equity, stopwatch, onEvents, goesOn, sampling } = options;
  const polled = sampling?.polled;
  const warmupMs = longestWarmup(strategies);
  const startAt = options.startAt + warmupMs;
  const simulation = createSimulation(options, startAt);
  const { engine, clock, executor, counts } = simulation;

  // The warm-up shows strategies past prices. Checks of tokens from that time stay valid.
  for (const { at, check } of options.checks?.before(startAt) ?? []) step(state, 0, at, check);

  const startedAt = stopwatch();
  polled?.sampler.join(options.startAt);
  const shown = announced(cursor, goesOn);
  const warmup = polled === undefined ? shown : sampledRows(shown, { ...polled, until: startAt });
  const stands = withoutMachineClock(() => warmupMs > 0 && engine.warmUp(warmup));
  polled?.sampler.restart();
  const driveOn = (given: { readonly stands?: boolean; readonly most: number }): number => (
    polled === undefined ? drive(engine, clock, cursor, { ...given, goesOn })
      : driveSampled(engine, clock, cursor, { ...given, ...polled, goesOn }));
  equity?.sample(startAt);
  withoutMachineClock(() => { engine.start(); });
  const timers = equity === undefined ? [] : scheduleSamples(simulation, equity);

  let most = onEvents === undefined ? EVENTS_PER_CHUNK : FIRST_CHUNK_EVENTS;
  let events = withoutMachineClock(() => driveOn({ stands, most }));
  let chunkAt = startedAt;
  for (let last = events; last === most; events += last) {
    yield;
    simulation.refuseAsync();
    if (onEvents !== undefined) {
      onEvents(events);
      const now = stopwatch();
      most = nextChunk(most, now - chunkAt);
      chunkAt = now;
    }
    last = withoutMachineClock(() => driveOn({ most }));
  }
  // Promises and timers of strategies run now for the last time, before the strategies are stopped.
  yield;
  simulation.refuseAsync();
  // Rows that the engine did not receive advanced the simulation's clock alone.
  const endAt = Math.max(engine.clock.now(), clock.now());
  for (const timer of timers) timer.unsubscribe();
  settle(engine, clock, goesOn);
  const empty = state.tokens.all.map(({ mint }) => mint).filter((mint) => !state.portfolio.wallet.has(mint));
  const returnedLamports = executor.closeAccounts(empty);
  equity?.returnDeposits(empty);
  equity?.sample(clock.now());
  const seconds = (stopwatch() - startedAt) / 1_000;

  return {
    events, seconds, decisions: engine.decisions, decisionHash: engine.decisionHash, ...counts,
    strategies: strategies.map(({ name }) => strategyResult(state, name)),
    startAt, endAt, simulation: executor.notes(), unrecorded: [...simulation.unrecorded],
    completed: simulation.completed,
    deposits: { returnedLamports, lockedLamports: executor.lockedLamports() },
  };
}

/** Runs a backtest as `backtestInChunks` does, without a pause. */
export function runBacktest(options: BacktestOptions): BacktestResult {
  return runToEnd(backtestInChunks(options));
}

function createSimulation(
  { state, strategies, seed, model, sampling, equity, feeds, onDecision, keepsFills = true }: BacktestOptions,
  startAt: Millis,
): Simulation {
  const clock = new VirtualClock(startAt);
  const executor = createSimulatedExecutor({
    clock, market: sampling?.polled?.market ?? state.market, model, intervals: sampling?.recorded, seed,
    tokenAccounts: state.portfolio.wallet.keys(),
  });
  const counts: Simulation['counts'] = { denials: {}, intents: {}, fills: [], fillCount: 0, alerts: 0 };
  const waiting: string[] = [];
  const recorded = feeds && new Set(feeds);
  const unrecorded = new Set<FeedKey>();
  const completed: { readonly strategy: string; readonly at: Millis }[] = [];
  const engine: Engine = new Engine({
    state, strategies, startAt, seed, intervals: sampling?.intervals, isRecorded: true,
    listener: {
      onWatched: (specs) => {
        sampling?.polled?.sampler.watch(specs);
        for (const feed of specs.map(feedKey)) if (recorded?.has(feed) === false) unrecorded.add(feed);
      },
      onCompleted: (strategy, at) => { completed.push({ strategy, at }); },
      onRuling: ({ denial }, logged) => {
        if (denial !== undefined) countOne(counts.denials, denial.code);
        if (waitedByMachineClock(logged)) waiting.push(logged.strategy);
        onDecision?.(logged);
      },
      onEffect: (effect) => {
        if (effect.kind === 'alert') counts.alerts += 1;
        else executor.carryOut(effect.intent, (outcome, notes) => { accept(effect.intent, outcome, notes); });
      },
    },
  });
  const accept = (intent: Intent, outcome: Outcome, notes: FillNotes | undefined): void => {
    if (isTerminal(outcome.state)) countOne(counts.intents, outcome.state);
    if (outcome.fill !== undefined) {
      assert(notes, () => `${intent.id} is filled without notes`);
      counts.fillCount += 1;
      if (!keepsFills) counts.fills.pop();
      counts.fills.push({ at: clock.now(), intent, fill: outcome.fill, notes });
    }
    engine.accept(outcome, clock.now());
    equity?.observe(intent, outcome, clock.now());
  };
  return {
    engine, clock, executor, counts, unrecorded, completed,
    refuseAsync: () => { refuseAsyncDecisions({ late: engine.outOfTurn, waiting }); },
  };
}

function countOne(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function scheduleSamples({ clock, engine }: Simulation, equity: EquitySampler): Unsubscribable[] {
  const { everyMs, extremesEveryMs } = equity;
  return [
    ...(extremesEveryMs === undefined ? [] : [scheduleEach(clock, extremesEveryMs, (at) => {
      equity.checkExtremes(at, engine.seq);
      // Benchmarks buy at their own instants: the market may change between two checks.
      const wait = equity.nextPurchaseAt() - clock.now();
      if (wait < extremesEveryMs) clock.schedule(() => { equity.purchase(clock.now()); }, Math.max(0, wait));
    })]),
    scheduleEach(clock, everyMs, (at) => { equity.sampleIfNew(at); }),
  ];
}

/** Works at whole multiples of the step, as bars close: just after them, so that rows of that instant count. */
function scheduleEach(clock: VirtualClock, everyMs: Millis, work: (at: Millis) => void): Unsubscribable {
  return clock.schedule<undefined>(function again() {
    work(clock.now() - JUST_AFTER_MS);
    this.schedule(undefined, everyMs);
  }, everyMs - (clock.now() % everyMs) + JUST_AFTER_MS);
}

function strategyResult({ portfolio }: EngineState, name: string): StrategyResult {
  const { swaps, feesLamports, balances } = portfolio.book(name);
  return { name, swaps, feesLamports, balances };
}
