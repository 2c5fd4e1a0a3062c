import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event-base.ts';
import type { Input } from '../../trading/step.ts';
import type { InputCursor } from '../driver.ts';
import { movedTo, noisy } from './poisoned-input.ts';

/**
 * What becomes of the future. `noise`: the same rows at the same times with other values. `truncation`: there is none.
 * `reversal`: the values of each feed backwards over the same times.
 */
export const POISONS = ['noise', 'truncation', 'reversal'] as const;
export type PoisonKind = (typeof POISONS)[number];

/** What was spoiled from an instant on. */
export interface Poison {
  readonly kind: PoisonKind;
  /** The first instant of the future. */
  readonly from: Millis;
  readonly seed: number;
}

/** A longer future is reversed piece by piece, so that it need not be in memory as a whole. */
const REVERSED_MAX = 500_000;

interface Row {
  readonly at: Millis;
  readonly input: Input;
}

/** Returns a cursor over the same rows up to the poison's instant, and over a spoiled future from there on. */
export function poisoned(cursor: InputCursor, poison: Poison): InputCursor {
  const rows = rowsOf(cursor, poison);
  let row: Row | undefined;
  return {
    next: () => {
      const { done, value } = rows.next();
      if (done !== true) row = value;
      return done !== true;
    },
    get at() { return row!.at; },
    get input() { return row!.input; },
  };
}

function* rowsOf(cursor: InputCursor, { kind, from, seed }: Poison): Generator<Row> {
  const random = seededRandom(`${seed}:${kind}:${from}`);
  const future: Row[] = [];
  let feed: FeedKey | undefined;
  while (cursor.next()) {
    const { at, input } = cursor;
    if ('feed' in input) feed ??= input.feed;
    if (at < from) yield { at, input };
    else if (kind === 'noise') yield { at, input: noisy(input, random) };
    else if (kind === 'reversal') {
      future.push({ at, input });
      if (future.length === REVERSED_MAX) yield* reversed(future.splice(0));
    } else break;
  }
  // A row that nobody sees moves time on: timers of before the end are not lost with it.
  if (kind === 'truncation' && feed !== undefined) {
    yield { at: from, input: { kind: 'feed-health', feed, receivedAt: from, status: 'healthy', consecutiveFailures: 0 } };
  }
  yield* reversed(future);
}

/** Each feed keeps its places, so that no row comes twice or at a new time. */
function* reversed(future: readonly Row[]): Generator<Row> {
  const byFeed = new Map<string, Input[]>();
  for (const { input } of future) {
    const own = byFeed.get(feedOf(input));
    if (own === undefined) byFeed.set(feedOf(input), [input]);
    else own.push(input);
  }
  for (const { at, input } of future) yield { at, input: movedTo(byFeed.get(feedOf(input))!.pop()!, input) };
}

function feedOf(input: Input): string {
  return 'feed' in input ? `${input.kind} ${input.feed}` : input.kind;
}
