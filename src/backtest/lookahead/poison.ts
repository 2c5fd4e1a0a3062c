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

const NOTHING_YET: Input = { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'the cursor has not moved yet' };
/** A longer future is reversed piece by piece, so that it need not be in memory as a whole. */
const REVERSED_MAX = 500_000;

/** A row of a recording, as a cursor shows it. */
interface Row {
  readonly at: Millis;
  readonly input: Input;
}

/** Returns a cursor over the same rows up to the poison's instant, and over a spoiled future from there on: `most` rows of it at the most. */
export function poisoned(cursor: InputCursor, poison: Poison, most = Infinity): InputCursor {
  return new PoisonedCursor(cursor, poison, most);
}

/** Most passes see little but the rows before: those are handed through as they are. */
class PoisonedCursor implements InputCursor {
  at: Millis = 0;
  input: Input = NOTHING_YET;
  readonly #cursor: InputCursor;
  readonly #poison: Poison;
  readonly #most: number;
  #future: Iterator<Row> | undefined;
  #feed: FeedKey | undefined;

  constructor(cursor: InputCursor, poison: Poison, most: number) {
    this.#cursor = cursor;
    this.#poison = poison;
    this.#most = most;
  }

  next(): boolean {
    const cursor = this.#cursor;
    if (this.#future === undefined) {
      const stands = cursor.next();
      if (stands && cursor.at < this.#poison.from) {
        this.at = cursor.at;
        const input = this.input = cursor.input;
        if (this.#feed === undefined && 'feed' in input) this.#feed = input.feed;
        return true;
      }
      this.#future = futureOf(cursor, { ...this.#poison, stands, feed: this.#feed, most: this.#most });
    }
    const { done, value } = this.#future.next();
    if (done === true) return false;
    this.at = value.at;
    this.input = value.input;
    return true;
  }
}

/** The spoiled rows from the one on at which the cursor stands, if it does. */
function* futureOf(cursor: InputCursor, { kind, from, seed, stands, feed, most }: Poison & { readonly stands: boolean; readonly feed: FeedKey | undefined; readonly most: number }): Generator<Row> {
  if (kind === 'truncation') {
    // A row that nobody sees moves time on: timers of before the end are not lost with it.
    if (feed !== undefined) yield { at: from, input: { kind: 'feed-health', feed, receivedAt: from, status: 'healthy', consecutiveFailures: 0 } };
    return;
  }
  const random = seededRandom(`${seed}:${kind}:${from}`);
  const future: Row[] = [];
  let rows = 0;
  for (let more = stands; more && rows < most; more = cursor.next()) {
    rows += 1;
    const { at, input } = cursor;
    if (kind === 'noise') yield { at, input: noisy(input, random) };
    else if (future.push({ at, input }) === REVERSED_MAX) yield* reversed(future.splice(0));
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
