import type { ChunkedWork } from '../core/chunked-work.ts';
import { runToEnd, EVENTS_PER_CHUNK } from '../core/chunked-work.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineListener } from '../engine/engine-listener.ts';
import type { VersionOf } from '../engine/prepared-version.ts';
import { timersDueBefore } from '../engine/engine-orders.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';
import type { FeedKey } from '../market/event.ts';
import type { StopStrategy } from '../trading/engine-command.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { RestoredStates } from '../trading/strategy-state.ts';
import type { Divergence, Occasion, RecordedHash, RecordedRow, Split } from './divergence.ts';
import { decidedNothing, decidedOtherwise, rowOutOfPlace } from './divergence.ts';
import type { InputCursor } from './driver.ts';
import { announced } from './driver.ts';

/** A cursor over a recording that knows the sequence number of each row in its run. */
interface RunCursor extends InputCursor {
  readonly seq: number;
}

/** A moment in a run: after this many stamped inputs, at this time. */
interface Moment {
  readonly after_seq: number;
  readonly at: Millis;
}

export interface ReplayResult {
  readonly match: boolean;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly events: number;
  readonly firstDivergence: Divergence | undefined;
}

interface ReplayOptions {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly started: Moment | null;
  readonly stopped: Moment | null;
  /** The states of strategies that an earlier run left. */
  readonly restored?: RestoredStates | undefined;
  /** The intervals between events of each feed, where the run showed each input events at its own interval. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
  /** The orders by which the run stopped strategies in the middle of a call. */
  readonly stops?: readonly StopStrategy[] | undefined;
  /** Returns the versions that the run's reloads have started. */
  readonly versionOf?: VersionOf | undefined;
  /** The rows that warmed strategies up before they started. */
  readonly warmup?: InputCursor | undefined;
  readonly cursor: RunCursor;
  readonly recorded: readonly RecordedHash[];
  /** Whether the run ended in a crash: its decisions after the last line on disk are not known. */
  readonly cutOff?: boolean;
  /** Called before every row; no decision depends on it. */
  readonly goesOn?: (() => void) | undefined;
  /** Receives every ruling as the run did, with the state behind it. */
  readonly onRuling?: EngineListener['onRuling'];
}

/**
 * Repeats a run: the same inputs with the same stamps through the same code. No executor is needed, since the outcomes
 * are among the inputs. Each decision is compared by its chained hash, so the first difference is the first different
 * decision.
 */
export function* replayInChunks(options: ReplayOptions): ChunkedWork<ReplayResult> {
  const {
    state, strategies, startAt, seed, restored, intervals, stops, versionOf, started, stopped, cursor, recorded,
    goesOn,
  } = options;
  const warmup = options.warmup && announced(options.warmup, goesOn);
  const here: Here = { occasion: 'timer', row: undefined };
  const comparison = createComparison(options, here);
  const engine = new Engine({
    state, strategies, startAt, seed, restored, intervals, stops, versionOf,
    listener: {
      onRuling: (ruling, logged) => {
        options.onRuling?.(ruling, logged);
        comparison.compare(logged);
      },
    },
  });
  const moments = momentsOf(engine, here, { started, stopped, warmup });

  let events = 0;
  let row: RecordedRow | undefined;
  while ((row = nextRow(cursor)) !== undefined) {
    goesOn?.();
    moments.before(row.seq);
    // Decisions of timers come first. Then the row must be the next stamped input; otherwise a row is missing or added.
    engine.advanceTo(timersDueBefore(row.input, row.at));
    if (comparison.hasSplit() || engine.seq + 1 !== row.seq) break;
    here.row = row;
    here.occasion = 'row';
    engine.accept(row.input, row.at);
    here.occasion = 'timer';
    events += 1;
    if (events % EVENTS_PER_CHUNK === 0) yield;
    if (comparison.hasSplit()) {
      row = nextRow(cursor);
      break;
    }
  }
  if (!comparison.hasSplit() && row === undefined) {
    moments.before(Infinity);
    // A run that a crash cut off may have made decisions after its last recorded input.
    const last = recorded.at(-1);
    if (stopped === null && last !== undefined) engine.advanceTo(last.at);
  }
  const firstDivergence = comparison.divergence(engine.seq, row);
  const { decisions, decisionHash } = firstDivergence === undefined ? comparison.agreed(engine) : engine;
  return { match: firstDivergence === undefined, decisions, decisionHash, events, firstDivergence };
}

/** Repeats a run as `replayInChunks` does, without a pause. */
export function replayRun(options: ReplayOptions): ReplayResult {
  return runToEnd(replayInChunks(options));
}

/** The hash of an empty chain. */
const NO_DECISIONS = '0'.repeat(64);

function nextRow(cursor: RunCursor): RecordedRow | undefined {
  return cursor.next() ? { seq: cursor.seq, at: cursor.at, input: cursor.input } : undefined;
}

/** What the engine is doing, and the last row that it accepted. */
interface Here {
  occasion: Occasion;
  row: RecordedRow | undefined;
}

/** Compares the decisions of a replay with those of its run. */
interface Comparison {
  compare(logged: LoggedDecision): void;
  /** Returns whether a decision differed. */
  hasSplit(): boolean;
  /** Returns the first divergence after `stamps` inputs; `row` is the next row, undefined at the end. */
  divergence(stamps: number, row: RecordedRow | undefined): Divergence | undefined;
  /** Returns the decisions that both sides are known to share. */
  agreed(engine: Pick<Engine, 'decisions' | 'decisionHash'>): Pick<Engine, 'decisions' | 'decisionHash'>;
}

function createComparison({ recorded, cutOff = false, started }: ReplayOptions, here: Here): Comparison {
  let compared = 0;
  let last: LoggedDecision | undefined;
  let split: Split | undefined;
  return {
    compare(logged) {
      const expected = recorded[compared];
      if (split !== undefined || (expected === undefined && cutOff)) return;
      if (expected?.h !== logged.h) {
        split = { expected, found: logged, place: { ...here } };
        return;
      }
      compared += 1;
      last = logged;
    },
    hasSplit: () => split !== undefined,
    divergence(stamps, row) {
      if (split !== undefined) return decidedOtherwise(split, row, started);
      const missing = recorded[compared];
      if (missing !== undefined && (row === undefined || missing.seq === stamps + 1)) {
        return decidedNothing(missing, { before: here.row, next: row, started });
      }
      return row === undefined ? undefined : rowOutOfPlace(row, stamps);
    },
    agreed: (engine) => (cutOff ? { decisions: compared, decisionHash: last?.h ?? NO_DECISIONS } : engine),
  };
}

/** Starts and stops the strategies at the moments of the run: before the first row that came after each moment. */
function momentsOf(engine: Engine, here: Here, { started, stopped, warmup }: {
  readonly started: Moment | null; readonly stopped: Moment | null; readonly warmup: InputCursor | undefined;
}): { before(seq: number): void } {
  let begun = false;
  let ended = false;
  return {
    before: (seq) => {
      if (!begun && started !== null && seq > started.after_seq) {
        begun = true;
        engine.advanceTo(started.at);
        if (warmup !== undefined) engine.warmUp(warmup);
        here.occasion = 'start';
        engine.start();
        here.occasion = 'timer';
      }
      if (!ended && stopped !== null && seq > stopped.after_seq) {
        ended = true;
        engine.advanceTo(stopped.at);
        engine.stop();
      }
    },
  };
}
