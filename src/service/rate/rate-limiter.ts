import type { Millis } from '../../core/time.ts';
import type { Priority } from './priority.ts';
import { createRateCeiling } from './limit-estimator.ts';
import type { BucketMemory } from './rate-memory.ts';
import type { BucketLimits } from './rate-plan.ts';
import { scaledLimits, shareOf } from './rate-plan.ts';
import type { ServerLimits } from './limit-headers.ts';
import { createSlidingWindow } from './sliding-window.ts';

const SHORTEST_COOL_DOWN_MS = 2_000;
const LONGEST_COOL_DOWN_MS = 60_000;
/** Where the service says how long to wait, that counts; one that always says "at once" is asked this seldom. */
const LONGEST_TOLD_COOL_DOWN_MS = 8_000;
/** The last slots of a window may be all that was too much: the first cool-down sees them out. */
const COOL_DOWN_SLOTS = 4;
/**
 * Trying early costs a refusal and nothing else; an exit is worth one soon. An order that waited longer than its own
 * limit would be given up without one try.
 */
const LONGEST_ORDER_COOL_DOWN_MS: Readonly<Record<Exclude<Priority, 'watch'>, Millis>> =
  { execute: 2_000, exit: 2_000, entry: 10_000 };
const ORDERS = ['execute', 'exit', 'entry'] as const;
/** The service tells instants in whole seconds, and not how it rounds them. */
const RESET_ROUNDING_MS = 1_000;
/** Timers fire late: watching may catch up on this much, and no more. */
const CATCH_UP_MS = 50;
/** A pause of watching, for the headers' sake, that is more than their rounding. */
const LONGEST_PAUSE_MS = 5_000;
/** A rate is at least about one request a minute; rounding makes the window of a low one longer. */
const LONGEST_WINDOW_MS = 150_000;
/** How coarsely sends are remembered beyond the process. */
const SLICE_MS = 1_000;

/** A refused trial of a higher rate waits at least this long, so that the service's window has ended by then. */
const TRIAL_COOL_DOWN_MS = 8_000;

/** A request that has left, and how it left. */
export interface Sent {
  /** Its place in the order of sending, from 1. */
  readonly number: number;
  /** How many requests it was ahead of an even pace, itself included: 1 where it came evenly. */
  readonly depth: number;
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
  requestsPerSecond(): number;
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
  const lesson = earlier?.lesson;
  const ceiling = createRateCeiling(limits, now, lesson === undefined ? undefined
    : { ...lesson, at: Math.min(lesson.at, now) });
  const planSpacingMs = limits.windowMs / shareOf(limits, 'watch');
  // A small share of a small plan is one request within a longer window than the plan's.
  const window = createSlidingWindow(Math.max(limits.windowMs, LONGEST_WINDOW_MS));
  let sends = 0;
  /** Half of the watching share may leave in a burst, once, so that a start is quick. */
  let quickLeft = Math.ceil(shareOf(limits, 'watch') / 2);
  let nextWatchAt = Number.NEGATIVE_INFINITY;
  /** When the next request would leave at an even pace of the whole rate. */
  let evenAt = Number.NEGATIVE_INFINITY;
  let view: ServerView | undefined;
  let coolDownUntil = Number.NEGATIVE_INFINITY;
  const orderCoolDownUntil =
    { execute: Number.NEGATIVE_INFINITY, exit: Number.NEGATIVE_INFINITY, entry: Number.NEGATIVE_INFINITY };
  let refusals = 0;
  /** Requests up to this one left before the last refusal was known: theirs is no new one. */
  let lastBeforeRefusal = 0;

  function restore({ sends: slices, coolDownUntil: until }: BucketMemory): void {
    for (const { at, count } of [...slices].sort((a, b) => a.at - b.at)) {
      // What was sent at a time yet to come was sent by a clock that has been set back since.
      window.record(Math.min(at, now), Math.min(count, limits.limit));
      nextWatchAt = Math.min(at, now) + spacingMs();
    }
    if (until === undefined || until <= now) return;
    coolDownUntil = Math.min(until, now + LONGEST_COOL_DOWN_MS);
    for (const priority of ORDERS)
      orderCoolDownUntil[priority] = Math.min(until, now + LONGEST_ORDER_COOL_DOWN_MS[priority]);
    refusals = 1;
  }

  function currentLimits(): BucketLimits {
    return scaledLimits(limits, ceiling.share());
  }

  function evenMs(): Millis {
    return slotMs / ceiling.share();
  }

  /** Watching never uses more of the plan than its own share; below the plan it uses nearly all of what is left. */
  function spacingMs(): Millis {
    return ceiling.share() < 1 ? Math.max(planSpacingMs, evenMs() / ceiling.watchShare()) : planSpacingMs;
  }

  /**
   * What the window may hold for one more to leave. A rate that was learnt is spaced evenly, which leaves orders their
   * room.
   */
  function capOf(priority: Priority, current: BucketLimits): number {
    return ceiling.share() < 1 ? current.limit : shareOf(current, priority);
  }

  /** Watching is spread, so that it stays even and leaves room at any time. */
  function spacedAt(at: Millis): Millis {
    const current = currentLimits();
    const isQuick = quickLeft > 0 && window.count(at, current.windowMs) < shareOf(current, 'watch') / 2;
    return isQuick ? at : nextWatchAt;
  }

  function ownReadyAt(priority: Priority, at: Millis): Millis {
    const current = currentLimits();
    return Math.max(
      window.freeAt(at, current.windowMs, capOf(priority, current)),
      evenAt - (ceiling.burst(at) - 1) * evenMs(),
      priority === 'watch' ? spacedAt(at) : at,
    );
  }

  /** Slots free one at a time: the first when the service says, the others at the plan's pace. */
  function serverReadyAt(priority: Priority, at: Millis): Millis {
    // What is signed expires, and the headers may be wrong or another bucket's: trying costs a refusal at most.
    if (view === undefined || priority === 'execute') return at;
    const sentSince = sends - view.request;
    const headroom = Math.min(...[limits.limit, view.limit ?? limits.limit].map((limit) =>
      limit - shareOf({ limit }, priority)));
    const missing = headroom + 1 - (view.remaining - sentSince);
    return missing <= 0 ? at : view.nextSlotAt + (missing - 1) * slotMs;
  }

  function readyAt(priority: Priority, at: Millis): Millis {
    const coolUntil = priority === 'watch' ? coolDownUntil : orderCoolDownUntil[priority];
    const ready = Math.max(at, coolUntil, ownReadyAt(priority, at), serverReadyAt(priority, at));
    return ready === at ? at : Math.ceil(ready);
  }

  if (earlier !== undefined) restore(earlier);

  return {
    readyAt,
    watchPace: (at) => ({ waitMs: readyAt('watch', at) - at, turnMs: spacingMs() }),

    sent(priority, at) {
      window.record(at);
      const isQuick = priority === 'watch' && at < nextWatchAt;
      if (priority === 'watch') {
        quickLeft = Math.max(0, quickLeft - 1);
        nextWatchAt = Math.max(nextWatchAt, at - CATCH_UP_MS) + spacingMs();
      }
      sends += 1;
      evenAt = Math.max(evenAt, at) + evenMs();
      return { number: sends, depth: (evenAt - at) / evenMs(), isQuick };
    },

    answered(request, told, at) {
      const { number } = request;
      ceiling.accepted(at);
      if (number > lastBeforeRefusal) refusals = 0;
      if (told?.remaining === undefined || (view !== undefined && number < view.request)) return;
      view = { request: number, remaining: Math.max(0, told.remaining), limit: told.limit, nextSlotAt: at
        + (told.resetInMs ?? slotMs) };
      const ownAt = Math.max(at, ownReadyAt('watch', at));
      if (serverReadyAt('watch', at) - ownAt > Math.max(LONGEST_PAUSE_MS, 2 * spacingMs())) ceiling.held(at);
    },

    refused(request, resetInMs, at) {
      const { number, isQuick, depth } = request;
      const isTrial = ceiling.isTrying();
      if (isQuick) quickLeft = 0;
      // The start was too quick: that says nothing of what comes evenly. What says how long to wait is obeyed, and is
      // no evidence of a lower rate.
      const isEvidence = !isQuick && resetInMs === undefined;
      if (number > lastBeforeRefusal) {
        if (isEvidence && refusals > 0) ceiling.probeRefused(at);
        else if (isEvidence) ceiling.refused(depth, at);
        refusals += 1;
        lastBeforeRefusal = sends;
      } else if (isEvidence) {
        ceiling.refusedToo();
      }
      const toldMs = resetInMs === undefined ? 0 : resetInMs + RESET_ROUNDING_MS;
      const shortestMs = Math.max(evenMs() * COOL_DOWN_SLOTS, isTrial ? TRIAL_COOL_DOWN_MS : SHORTEST_COOL_DOWN_MS);
      const backOffMs = Math.min(resetInMs === undefined ? LONGEST_COOL_DOWN_MS : LONGEST_TOLD_COOL_DOWN_MS, shortestMs
        * 2 ** (refusals - 1));
      coolDownUntil = Math.max(coolDownUntil, at + Math.max(toldMs, backOffMs));
      for (const priority of ORDERS) {
        const ownMs = Math.max(toldMs, Math.min(backOffMs, LONGEST_ORDER_COOL_DOWN_MS[priority]));
        orderCoolDownUntil[priority] = Math.max(orderCoolDownUntil[priority], at + ownMs);
      }
    },

    isProbing: () => refusals > 0,
    coolDownUntil: () => coolDownUntil,

    requestsPerSecond() {
      const { limit, windowMs } = currentLimits();
      return (limit / windowMs) * 1_000;
    },

    memory(at) {
      const slices = Map.groupBy(window.within(at, currentLimits().windowMs), (sentAt) =>
        Math.floor(sentAt / SLICE_MS));
      return {
        sends: [...slices.values()].map((sentAt) => ({ at: sentAt.at(-1)!, count: sentAt.length })),
        coolDownUntil: coolDownUntil > at ? coolDownUntil : undefined,
        lesson: ceiling.lesson(),
      };
    },
  };
}
