import type { Steps } from '../core/steps.ts';
import { atOnce, STEP_EVENTS } from '../core/steps.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { EngineListener } from '../engine/engine.ts';
import { Engine, timersDueBefore } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { FeedKey } from '../market/event.ts';
import type { EngineState } from '../trading/state.ts';
import type { StrategyLegacy } from '../trading/strategy-state.ts';
import type { Divergence, Occasion, RecordedHash, RecordedRow, Split } from './divergence.ts';
import { decidedNothing, decidedOtherwise, rowOutOfPlace } from './divergence.ts';
import type { InputCursor } from './driver.ts';

export type { Divergence, RecordedHash } from './divergence.ts';

/** A recording's cursor that says the number each row had in its run. */
export interface RunCursor extends InputCursor {
  readonly seq: number;
}

/** A moment in a run: after this many stamps, at this time. */
export interface Moment {
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

/**
 * Repeats a run: the same inputs under the same stamps through the same code, with nobody to carry anything out, since
 * the outcomes are among the inputs. Every decision is compared by its chained hash, so the first difference is the
 * first different decision.
 */
export function* replaySteps(options: {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly started: Moment | null;
  readonly stopped: Moment | null;
  /** What strategies began with that an earlier run left. */
  readonly legacy?: StrategyLegacy | undefined;
  /** How far apart events of each feed come, where the run showed each input events at its own interval. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
  /** What they were shown before they started. */
  readonly warmup?: InputCursor | undefined;
  readonly cursor: RunCursor;
  readonly recorded: readonly RecordedHash[];
  /** Whether the run ended in a crash: what it decided after the last line on disk, nobody knows. */
  readonly cutOff?: boolean;
  /** Sees every ruling as the run did, with the state that it was made on. */
  readonly onRuling?: EngineListener['onRuling'];
}): Steps<ReplayResult> {
  const { started, stopped, cursor, recorded, cutOff = false } = options;
  const here: { occasion: Occasion; row: RecordedRow | undefined } = { occasion: 'timer', row: undefined };
  const first: { split?: Split; divergence?: Divergence } = {};
  let compared = 0;
  let agreed: LoggedDecision | undefined;

  const engine = new Engine({
    state: options.state,
    strategies: options.strategies,
    startAt: options.startAt,
    seed: options.seed,
    legacy: options.legacy,
    intervals: options.intervals,
    listener: {
      onRuling: (ruling, logged) => {
        options.onRuling?.(ruling, logged);
        const expected = recorded[compared];
        if (first.split !== undefined || (expected === undefined && cutOff)) return;
        if (expected?.h !== logged.h) {
          first.split = { expected, found: logged, place: { ...here } };
          return;
        }
        compared += 1;
        agreed = logged;
      },
    },
  });
  const moments = momentsOf(engine, here, { started, stopped, warmup: options.warmup });

  let events = 0;
  let row: RecordedRow | undefined;
  while ((row = nextRow(cursor)) !== undefined) {
    moments.before(row.seq);
    // Decisions of timers come first; then the row must be the next thing stamped, or something is missing or too much.
    engine.advanceTo(timersDueBefore(row.input, row.at));
    if (first.split !== undefined || engine.seq + 1 !== row.seq) break;
    here.row = row;
    here.occasion = 'row';
    engine.accept(row.input, row.at);
    here.occasion = 'timer';
    events += 1;
    if (events % STEP_EVENTS === 0) yield;
    if (first.split !== undefined) {
      row = nextRow(cursor);
      break;
    }
  }
  if (first.split === undefined && row === undefined) {
    moments.before(Infinity);
    // A run that was cut off by a crash may have decided something after its last recorded input.
    const last = recorded.at(-1);
    if (stopped === null && last !== undefined) engine.advanceTo(last.at);
  }
  const missing = recorded[compared];
  if (first.split !== undefined) first.divergence = decidedOtherwise(first.split, row, started);
  else if (missing !== undefined && (row === undefined || missing.seq === engine.seq + 1))
    first.divergence = decidedNothing(missing, { before: here.row, next: row, started });
  else if (row !== undefined) first.divergence = rowOutOfPlace(row, engine.seq);
  const known = first.divergence === undefined && cutOff
    ? { decisions: compared, decisionHash: agreed?.h ?? NO_DECISIONS } : engine;
  return {
    match: first.divergence === undefined, decisions: known.decisions, decisionHash: known.decisionHash, events,
    firstDivergence: first.divergence,
  };
}

/** Repeats a run as `replaySteps` does, all at once. */
export function replayRun(options: Parameters<typeof replaySteps>[0]): ReplayResult {
  return atOnce(replaySteps(options));
}

/** The hash of a chain without a link. */
const NO_DECISIONS = '0'.repeat(64);

function nextRow(cursor: RunCursor): RecordedRow | undefined {
  return cursor.next() ? { seq: cursor.seq, at: cursor.at, input: cursor.input } : undefined;
}

/** Starts and stops the strategies where the run did: before the first row that came after. */
function momentsOf(engine: Engine, here: { occasion: Occasion }, { started, stopped, warmup }: {
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
