import type { ChunkedWork } from '../core/chunked-work.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { QuoteRun } from '../market/quote.ts';
import { takesSample } from '../market/sample-windows.ts';
import type { Input } from '../trading/step.ts';
import type { HostedInput } from './host/watched-feeds.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A cursor over recorded rows. `next` moves to the next row; the other members are of the present row. */
export interface RecordedRows {
  next(): boolean;
  readonly at: Millis;
  readonly input: Input;
  /**
   * Returns at most `most` quotes from the present row on, where they can be read without being made; `skip` moves on
   * within them.
   */
  quotes?(most: number): QuoteRun | undefined;
  skip?(rows: number): void;
}

/** A strategy that can be warmed up. */
interface WarmedHost {
  readonly warmupMs: Millis;
  readonly inputs: readonly HostedInput[];
  warmUp(): void;
}

/**
 * Shows each strategy the last `warmupMs` of recorded events before the present, at the recorded times: timers fire at
 * their own instants, and proposals are discarded. State and market cache do not change, because rulings must not use
 * past prices. Returns whether `rows` is at a row after the present. In the middle of a run, the rows of the present
 * count too (`isLater`). Each chunk is one row.
 */
export function* warmUp(
  clock: VirtualClock, hosts: readonly WarmedHost[], rows: RecordedRows, isLater = isNotBefore,
): ChunkedWork<boolean> {
  const until = clock.now();
  const waiting = hosts.filter(({ warmupMs }) => warmupMs > 0).sort((a, b) => b.warmupMs - a.warmupMs);
  const routes = new Map<FeedKey, readonly HostedInput[]>();
  const beginUntil = (at: Millis): void => {
    for (let host = waiting[0]; host !== undefined && until - host.warmupMs <= at; host = waiting[0]) {
      waiting.shift();
      clock.advanceTo(until - host.warmupMs);
      host.warmUp();
      for (const input of host.inputs) routes.set(input.feed, [...(routes.get(input.feed) ?? []), input]);
    }
  };
  if (waiting.length > 0) clock.restartAt(until - waiting[0]!.warmupMs);
  let isPastDue = false;
  while (!isPastDue && rows.next()) {
    const { at } = rows;
    isPastDue = isLater(at, until);
    // Where the clock was set back between two runs, rows may be older than rows that were shown already.
    if (isPastDue || at < clock.now()) continue;
    beginUntil(at);
    clock.advanceTo(at);
    show(rows.input, at, routes);
    yield;
  }
  beginUntil(until);
  clock.advanceTo(until);
  return isPastDue;
}

function isNotBefore(at: Millis, until: Millis): boolean {
  return at >= until;
}

function show(input: Input, at: Millis, routes: ReadonlyMap<FeedKey, readonly HostedInput[]>): void {
  if (input.kind === 'outcome' || input.kind === 'command' || input.kind === 'feed-health') return;
  for (const { source, adapt, fail, windows } of routes.get(input.feed) ?? []) {
    if (windows !== undefined && !takesSample(windows, at)) continue;
    try {
      source.emit(adapt(input));
    } catch (error) {
      fail(error);
    }
  }
}
