import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { Input } from '../trading/step.ts';

/** A decision of a run by its place in the chain. */
export interface RecordedHash {
  readonly seq: number;
  readonly at: Millis;
  readonly h: string;
}

/** A row of a recording, as it came in. */
export interface RecordedRow {
  readonly seq: number;
  readonly at: Millis;
  readonly input: Input;
}

/** What the engine was doing: starting the strategies, waking a timer, or taking a row in. */
export type Occasion = 'start' | 'timer' | 'row';

/** One side of a divergence: what was decided there, and on what. */
export interface DivergentSide<Decision> {
  /** Undefined where this side decided nothing. */
  readonly decision: Decision | undefined;
  /** Undefined where nothing decided, nor anything came in. */
  readonly occasion: Occasion | undefined;
  /** The row that was taken in there, or the last one before a timer or the start; undefined where there is none. */
  readonly row: RecordedRow | undefined;
}

/** Where a replay first did otherwise than its run. */
export interface Divergence {
  /** The number that the two sides do not agree on. */
  readonly seq: number;
  readonly expected: string;
  readonly found: string;
  readonly recorded: DivergentSide<RecordedHash>;
  readonly replayed: DivergentSide<LoggedDecision>;
}

/** What a decision is made on. */
export interface Place {
  readonly occasion: Occasion;
  readonly row: RecordedRow | undefined;
}

const NOTHING = { decision: undefined, occasion: undefined, row: undefined } as const;

/** A decision of a replay that is not the one that comes next in the run. */
export interface Split {
  readonly expected: RecordedHash | undefined;
  readonly found: LoggedDecision;
  readonly place: Place;
}

/** When the strategies started: after so many stamps, at this time. */
type Start = { readonly after_seq: number; readonly at: Millis } | null;

function placeOf({ at }: RecordedHash, row: RecordedRow | undefined, started: Start): Place {
  const isStart = started !== null && started.after_seq === (row?.seq ?? 0) && started.at === at;
  return { occasion: isStart ? 'start' : row?.at === at ? 'row' : 'timer', row };
}

/**
 * Returns the divergence of a replay that decided otherwise, or where the run decided nothing; `next` is the row that
 * came after.
 */
export function decidedOtherwise(
  { expected, found, place }: Split, next: RecordedRow | undefined, started: Start,
): Divergence {
  return {
    seq: found.seq,
    expected: expected === undefined ? 'no further decision' : `hash ${expected.h} at seq ${expected.seq}`,
    found: `hash ${found.h}: ${found.strategy} ${found.verdict}${found.code === null ? '' : ` ${found.code}`} `
      + `at ${found.at}`,
    // The rows until then are the same: else its number would not have fitted.
    recorded: expected?.seq === found.seq ? { decision: expected, ...placeOf(expected, place.row, started) }
      : sideOf(next?.seq === found.seq ? next : undefined),
    replayed: { decision: found, ...place },
  };
}

/** Returns the divergence of a replay that decides nothing where the run decided something, between two rows. */
export function decidedNothing(expected: RecordedHash, { before, next, started }: {
  readonly before: RecordedRow | undefined; readonly next: RecordedRow | undefined; readonly started: Start;
}): Divergence {
  return {
    seq: expected.seq,
    expected: `a decision with hash ${expected.h}`,
    found: 'none',
    recorded: { decision: expected, ...placeOf(expected, before, started) },
    replayed: sideOf(next),
  };
}

/**
 * Returns the divergence of a recording whose next row has not the number that is due, where no decision of the run has
 * it either.
 */
export function rowOutOfPlace(row: RecordedRow, stamps: number): Divergence {
  return {
    seq: stamps + 1,
    expected: `row ${row.seq} of the recording next`,
    found: `${stamps} stamps so far`,
    recorded: sideOf(row),
    replayed: NOTHING,
  };
}

function sideOf(row: RecordedRow | undefined): DivergentSide<never> {
  return row === undefined ? NOTHING : { decision: undefined, occasion: 'row', row };
}
