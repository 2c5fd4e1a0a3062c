import type { Millis } from '../core/time.ts';
import type { Priority } from './priority.ts';
import { isMoreUrgent } from './priority.ts';
import type { Footprint } from './rate-ceiling.ts';
import { createRateCeiling, SPANS_MS } from './rate-ceiling.ts';
import type { BucketMemory } from './rate-memory.ts';
import type { BucketLimits } from './rate-plan.ts';
import { scaledLimits, shareOf } from './rate-plan.ts';
import type { ServerLimits } from './server-limits.ts';
import { createSlidingWindow } from './sliding-window.ts';

const SHORTEST_COOL_DOWN_MS = 2_000;
const LONGEST_COOL_DOWN_MS = 60_000;
/** The last slots of a window may be all that was too much: the first cool-down sees them out. */
const COOL_DOWN_SLOTS = 4;
/** Trying early costs a refusal and nothing else; an exit may well be worth one. */
const LONGEST_EXIT_COOL_DOWN_MS = 2_000;
/** The service tells instants in whole seconds, and not how it rounds them. */
const RESET_ROUNDING_MS = 1_000;
/** Timers fire late: watching may catch up on this much, and no more. */
const CATCH_UP_MS = 50;
/** A pause of watching, for the headers' sake, that is more than their rounding. */
const LONGEST_PAUSE_MS = 5_000;
/** How coarsely sends are remembered beyond the process. */
const SLICE_MS = 1_000;

/** A request that has left, and what it added to. */
export interface Sent extends Footprint {
  /** Its place in the order of sending, from 1. */
  readonly number: number;
  /** Whether it left earlier than the pace of watching says, for a quick start. */
  readonly isQuick: boolean;
}

/** How fast watching may go. */
export interface WatchPace {
  /** How long a request would have to wait now. */
  readonly waitMs: Millis;
  /** How far apart requests may leave in the long run. */
  readonly turnMs: Millis;
}

/** When requests of one bucket may leave. Reads no clock: every instant is an argument. */
export interface Allowance {
  /** Returns the earliest instant at which a request may leave. */
  readyAt(priority: Priority, now: Millis): Millis;
  watchPace(now: Millis): WatchPace;
  /** Counts a request that leaves now. */
  sent(priority: Priority, now: Millis): Sent;
  /** Learns from an answer of any kind but 429. */
  answered(request: Sent, limits: ServerLimits | undefined, now: Millis): void;
  /** Learns from a 429. */
  refused(request: Sent, resetInMs: Millis | undefined, now: Millis): void;
  /** Whether the last word was a refusal, so that one request alone may try whether it still holds. */
  isProbing(): boolean;
  coolDownUntil(): Millis;
  /** Returns the requests per second that are held to now, headroom included. */
  requestsPerSecond(now: Millis): number;
  /** Returns what the next process has to know. */
  memory(now: Millis): BucketMemory;
}

/** What the service said last, and which request it said it to. */
interface ServerView {
  readonly request: number;
  readonly remaining: number;
  readonly limit: number | undefined;
  readonly nextSlotAt: Millis;
}

/** Returns the allowance of a bucket: unused, or used as an earlier process left it. */
export function createAllowance(limits: BucketLimits, now: Millis, earlier?: BucketMemory): Allowance {
  const slotMs = limits.windowMs / limits.limit;
  const ceiling = createRateCeiling(limits, earlier?.lesson === undefined ? undefined : { ...earlier.lesson, at: Math.min(earlier.lesson.at, now) });
  const window = createSlidingWindow(Math.max(limits.windowMs, ...SPANS_MS));
  let sends = 0;
  /** Half of the watching share may leave in a burst, once, so that a start is quick. */
  let quickLeft = Math.ceil(shareOf(limits, 'watch') / 2);
  let nextWatchAt = Number.NEGATIVE_INFINITY;
  /** When the next request would leave at an even pace of the whole rate. */
  let evenAt = Number.NEGATIVE_INFINITY;
  let view: ServerView | undefined;
  let coolDownUntil = Number.NEGATIVE_INFINITY;
  let exitCoolDownUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** Requests up to this one left before the last refusal was known: theirs is no new one. */
  let lastBeforeRefusal = 0;

  function restore({ sends: slices, coolDownUntil: until }: BucketMemory): void {
    for (const { at, count } of [...slices].sort((a, b) => a.at - b.at)) {
      // What was sent at a time yet to come was sent by a clock that has been set back since.
      window.record(Math.min(at, now), Math.min(count, limits.limit));
      nextWatchAt = Math.min(at, now) + spacingMs(now);
    }
    if (until === undefined || until <= now) return;
    coolDownUntil = Math.min(until, now + LONGEST_COOL_DOWN_MS);
    exitCoolDownUntil = Math.min(until, now + LONGEST_EXIT_COOL_DOWN_MS);
    refusals = 1;
  }

  function limitsAt(at: Millis): BucketLimits {
    return scaledLimits(limits, ceiling.share(at));
  }

  function evenMs(at: Millis): Millis {
    return slotMs / ceiling.share(at);
  }

  function spacingMs(at: Millis): Millis {
    const current = limitsAt(at);
    return current.windowMs / shareOf(current, 'watch');
  }

  /** Watching is spread, so that it stays even and leaves room at any time. */
  function spacedAt(at: Millis): Millis {
    const current = limitsAt(at);
    const isQuick = quickLeft > 0 && window.count(at, current.windowMs) < shareOf(current, 'watch') / 2;
    return isQuick ? at : nextWatchAt;
  }

  function ownReadyAt(priority: Priority, at: Millis): Millis {
    const current = limitsAt(at);
    return Math.max(
      window.freeAt(at, current.windowMs, shareOf(current, priority)),
      evenAt - (ceiling.burst(at) - 1) * evenMs(at),
      priority === 'watch' ? spacedAt(at) : at,
    );
  }

  function countsAt(at: Millis): readonly number[] {
    return SPANS_MS.map((spanMs) => window.count(at, spanMs));
  }

  /** Slots free one at a time: the first when the service says, the others at the plan's pace. */
  function serverReadyAt(priority: Priority, at: Millis): Millis {
    // What is signed expires, and the headers may be wrong or another bucket's: trying costs a refusal at most.
    if (view === undefined || priority === 'execute') return at;
    const sentSince = sends - view.request;
    const headroom = Math.min(...[limits.limit, view.limit ?? limits.limit].map((limit) => limit - shareOf({ limit }, priority)));
    const missing = headroom + 1 - (view.remaining - sentSince);
    return missing <= 0 ? at : view.nextSlotAt + (missing - 1) * slotMs;
  }

  function readyAt(priority: Priority, at: Millis): Millis {
    const coolUntil = isMoreUrgent(priority, 'entry') ? exitCoolDownUntil : coolDownUntil;
    const ready = Math.max(at, coolUntil, ownReadyAt(priority, at), serverReadyAt(priority, at));
    return ready === at ? at : Math.ceil(ready);
  }

  if (earlier !== undefined) restore(earlier);

  return {
    readyAt,
    watchPace: (at) => ({ waitMs: readyAt('watch', at) - at, turnMs: spacingMs(at) }),

    sent(priority, at) {
      window.record(at);
      const isQuick = priority === 'watch' && at < nextWatchAt;
      if (priority === 'watch') {
        quickLeft = Math.max(0, quickLeft - 1);
        nextWatchAt = Math.max(nextWatchAt, at - CATCH_UP_MS) + spacingMs(at);
      }
      sends += 1;
      evenAt = Math.max(evenAt, at) + evenMs(at);
      return { number: sends, counts: countsAt(at), depth: (evenAt - at) / evenMs(at), isQuick };
    },

    answered(request, told, at) {
      const { number } = request;
      ceiling.accepted(request);
      if (number > lastBeforeRefusal) refusals = 0;
      if (told?.remaining === undefined || (view !== undefined && number < view.request)) return;
      view = { request: number, remaining: Math.max(0, told.remaining), limit: told.limit, nextSlotAt: at + (told.resetInMs ?? slotMs) };
      const ownAt = Math.max(at, ownReadyAt('watch', at));
      if (serverReadyAt('watch', at) - ownAt > Math.max(LONGEST_PAUSE_MS, 2 * spacingMs(at))) ceiling.held(countsAt(at), at);
    },

    refused(request, resetInMs, at) {
      const { number, isQuick } = request;
      if (isQuick) quickLeft = 0;
      if (number > lastBeforeRefusal) {
        // The start was too quick: that says nothing of what comes evenly.
        if (!isQuick) ceiling.refused(request, at, refusals > 0);
        refusals += 1;
        lastBeforeRefusal = sends;
      } else if (!isQuick) {
        ceiling.refusedToo();
      }
      const toldMs = resetInMs === undefined ? 0 : resetInMs + RESET_ROUNDING_MS;
      const backOffMs = Math.min(LONGEST_COOL_DOWN_MS, Math.max(slotMs * COOL_DOWN_SLOTS, SHORTEST_COOL_DOWN_MS) * 2 ** (refusals - 1));
      coolDownUntil = Math.max(coolDownUntil, at + Math.max(toldMs, backOffMs));
      exitCoolDownUntil = Math.max(exitCoolDownUntil, at + Math.max(toldMs, Math.min(backOffMs, LONGEST_EXIT_COOL_DOWN_MS)));
    },

    isProbing: () => refusals > 0,
    coolDownUntil: () => coolDownUntil,

    requestsPerSecond(at) {
      const { limit, windowMs } = limitsAt(at);
      return (limit / windowMs) * 1_000;
    },

    memory(at) {
      const slices = Map.groupBy(window.within(at, limitsAt(at).windowMs), (sentAt) => Math.floor(sentAt / SLICE_MS));
      return {
        sends: [...slices.values()].map((sentAt) => ({ at: sentAt.at(-1)!, count: sentAt.length })),
        coolDownUntil: coolDownUntil > at ? coolDownUntil : undefined,
        lesson: ceiling.lesson(),
      };
    },
  };
}
