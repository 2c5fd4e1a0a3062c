import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { EngineListener } from '../engine/engine.ts';
import { Engine, timersDueBefore } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { EngineState } from '../trading/state.ts';
import type { StrategyLegacy } from '../trading/strategy-state.ts';
import type { InputCursor } from './driver.ts';

/** A recording's cursor that says the number each row had in its run. */
export interface RunCursor extends InputCursor {
  readonly seq: number;
}

/** A moment in a run: after this many stamps, at this time. */
export interface Moment {
  readonly after_seq: number;
  readonly at: Millis;
}

export interface RecordedHash {
  readonly seq: number;
  readonly at: Millis;
  readonly h: string;
}

/** Where a replay first did otherwise than its run. */
export interface Divergence {
  readonly seq: number;
  readonly expected: string;
  readonly found: string;
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
export function replayRun(options: {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly started: Moment | null;
  readonly stopped: Moment | null;
  /** What strategies began with that an earlier run left. */
  readonly legacy?: StrategyLegacy | undefined;
  /** What they were shown before they started. */
  readonly warmup?: InputCursor | undefined;
  readonly cursor: RunCursor;
  readonly recorded: readonly RecordedHash[];
  /** Whether the run ended in a crash: what it decided after the last line on disk, nobody knows. */
  readonly cutOff?: boolean;
  /** Sees every ruling as the run did, with the state that it was made on. */
  readonly onRuling?: EngineListener['onRuling'];
}): ReplayResult {
  const { started, stopped, cursor, recorded, cutOff = false } = options;
  const first: { divergence?: Divergence } = {};
  let compared = 0;
  const diverged = (found: Divergence): void => { first.divergence ??= found; };

  const engine = new Engine({
    state: options.state,
    strategies: options.strategies,
    startAt: options.startAt,
    seed: options.seed,
    legacy: options.legacy,
    listener: {
      onRuling: (ruling, logged) => {
        options.onRuling?.(ruling, logged);
        const expected = recorded[compared++];
        if (expected === undefined && cutOff) return;
        if (expected?.h !== logged.h) diverged(differs(expected, logged));
      },
    },
  });
  const moments = momentsOf(engine, { started, stopped, warmup: options.warmup });

  let events = 0;
  while (first.divergence === undefined && cursor.next()) {
    moments.before(cursor.seq);
    // Decisions of timers come first; then the row must be the next thing stamped, or something is missing or too much.
    engine.advanceTo(timersDueBefore(cursor.input, cursor.at));
    if (engine.seq + 1 !== cursor.seq) {
      diverged({ seq: engine.seq + 1, expected: `row ${cursor.seq} of the recording next`, found: `${engine.seq} stamps so far` });
      break;
    }
    engine.accept(cursor.input, cursor.at);
    events += 1;
  }
  moments.before(Infinity);
  // A run that was cut off by a crash may have decided something after its last recorded input.
  const last = recorded.at(-1);
  if (stopped === null && last !== undefined && first.divergence === undefined) engine.advanceTo(last.at);
  const missing = recorded[compared];
  if (missing !== undefined) diverged({ seq: missing.seq, expected: `a decision with hash ${missing.h}`, found: 'none' });
  return {
    match: first.divergence === undefined, decisions: engine.decisions, decisionHash: engine.decisionHash, events, firstDivergence: first.divergence,
  };
}

/** Starts and stops the strategies where the run did: before the first row that came after. */
function momentsOf(engine: Engine, { started, stopped, warmup }: {
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
        engine.start();
      }
      if (!ended && stopped !== null && seq > stopped.after_seq) {
        ended = true;
        engine.advanceTo(stopped.at);
        engine.stop();
      }
    },
  };
}

function differs(expected: RecordedHash | undefined, logged: LoggedDecision): Divergence {
  return {
    seq: logged.seq,
    expected: expected === undefined ? 'no further decision' : `hash ${expected.h} at seq ${expected.seq}`,
    found: `hash ${logged.h}: ${logged.strategy} ${logged.verdict}${logged.code === null ? '' : ` ${logged.code}`} at ${logged.at}`,
  };
}
