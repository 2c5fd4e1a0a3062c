import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { Input } from '../trading/step.ts';
import type { Host, HostedInput } from './host.ts';
import { takesSample } from './host.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A place in what was recorded. `next` moves on; the members then speak of the row arrived at. */
export interface RecordedRows {
  next(): boolean;
  readonly at: Millis;
  readonly input: Input;
}

/**
 * Shows strategies what was recorded before the present, each of them the last `warmupMs` of it, at the recorded times:
 * timers fire at their own instants, what is proposed is discarded. Neither state nor market cache learn of it, for
 * prices of the past are nothing to rule by. Returns whether `rows` stands at a row that comes after.
 */
export function warmUp(clock: VirtualClock, hosts: readonly Host[], rows: RecordedRows): boolean {
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
    isPastDue = at >= until;
    // A clock that was set back between two runs stamped rows that are older than what was shown already.
    if (isPastDue || at < clock.now()) continue;
    beginUntil(at);
    clock.advanceTo(at);
    show(rows.input, at, routes);
  }
  beginUntil(until);
  clock.advanceTo(until);
  return isPastDue;
}

function show(input: Input, at: Millis, routes: ReadonlyMap<FeedKey, readonly HostedInput[]>): void {
  if (input.kind === 'outcome' || input.kind === 'command' || input.kind === 'feed-health') return;
  for (const hosted of routes.get(input.feed) ?? []) {
    const { source, adapt, fail, sampleMs } = hosted;
    if (sampleMs > 0 && !takesSample(hosted, at)) continue;
    try {
      source.emit(adapt(input));
    } catch (error) {
      fail(error);
    }
  }
}
