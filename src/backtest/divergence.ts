import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { Input } from '../trading/step.ts';

/** A decision of a run with its place in the hash chain. */
export interface RecordedHash {
  readonly seq: number;
  readonly at: Millis;
  readonly h: string;
}

/** A row of a recording, as it arrived. */
export interface RecordedRow {
  readonly seq: number;
  readonly at: Millis;
  readonly input: Input;
}

/** What the engine did: it started the strategies, fired a timer, or accepted a row. */
export type Occasion = 'start' | 'timer' | 'row';

/** One side of a divergence: the decision, and what it was based on. */
export interface DivergentSide<Decision> {
  /** Undefined where this side made no decision. */
  readonly decision: Decision | undefined;
  /** Undefined where this side made no decision and received no row. */
  readonly occasion: Occasion | undefined;
  /** The row that was accepted, or the last one before a timer or the start; undefined where there is none. */
  readonly row: RecordedRow | undefined;
}

/** The first difference between a replay and its run. */
export interface Divergence {
  /** The sequence number at which both sides differ. */
  readonly seq: number;
  readonly expected: string;
  readonly found: string;
  readonly recorded: DivergentSide<RecordedHash>;
  readonly replayed: DivergentSide<LoggedDecision>;
}

/** What a decision is based on. */
interface Place {
  readonly occasion: Occasion;
  readonly row: RecordedRow | undefined;
}

const NOTHING = { decision: undefined, occasion: undefined, row: undefined } as const;

/** A decision of a replay that differs from the next one of the run. */
export interface Split {
  readonly expected: RecordedHash | undefined;
  readonly found: LoggedDecision;
  readonly place: Place;
}

/** The start of the strategies: after this many stamped inputs, at this time. */
type Start = { readonly after_seq: number; readonly at: Millis } | null;

function placeOf({ at }: RecordedHash, row: RecordedRow | undefined, started: Start): Place {
  const isStart = started !== null && started.after_seq === (row?.seq ?? 0) && started.at === at;
  return { occasion: isStart ? 'start' : row?.at === at ? 'row' : 'timer', row };
}

/**
 * Returns the divergence of a replay that made another decision, or one where the run made none; `next` is the next
 * row.
 */
export function decidedOtherwise(
  { expected, found, place }: Split, next: RecordedRow | undefined, started: Start,
): Divergence {
  return {
    seq: found.seq,
    expected: expected === undefined ? 'no further decision' : `hash ${expected.h} at seq ${expected.seq}`,
    found: `hash ${found.h}: ${found.strategy} ${found.verdict}${found.code === null ? '' : ` ${found.code}`} `
      + `at ${found.at}`,
    // The rows before it are equal, or its sequence number would differ.
    recorded: expected?.seq === found.seq ? { decision: expected, ...placeOf(expected, place.row, started) }
      : sideOf(next?.seq === found.seq ? next : undefined),
    replayed: { decision: found, ...place },
  };
}

/** Returns the divergence of a replay that makes no decision where the run made one, between two rows. */
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
 * Returns the divergence of a recording whose next row has an unexpected sequence number, and no decision has that
 * number.
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
