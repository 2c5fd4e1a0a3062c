import type { Millis } from '../core/time.ts';
import type { Priority } from './priority.ts';
import type { BucketLimits } from './rate-plan.ts';
import type { ServerLimits } from './server-limits.ts';
import { createSlidingWindow } from './sliding-window.ts';

/** The share of a bucket that each priority may fill: what is left above it is headroom for the more urgent. */
const SHARES: Readonly<Record<Priority, number>> = { execute: 1, exit: 1, entry: 0.9, watch: 0.8 };
const SHORTEST_COOL_DOWN_MS = 250;
const LONGEST_COOL_DOWN_MS = 60_000;

/** A request's place in the order of sending, from 1. */
export type SendNumber = number;

/** When requests of one bucket may leave. Reads no clock: every instant is an argument. */
export interface Allowance {
  /** Returns the earliest instant at which a request may leave. */
  readyAt(priority: Priority, now: Millis): Millis;
  /** Counts a request that leaves now. */
  sent(priority: Priority, now: Millis): SendNumber;
  /** Learns from an answer of any kind but 429. */
  answered(request: SendNumber, limits: ServerLimits | undefined, now: Millis): void;
  /** Learns from a 429. */
  refused(request: SendNumber, resetInMs: Millis | undefined, now: Millis): void;
  /** Whether the last word was a refusal, so that one request alone may try whether it still holds. */
  isProbing(): boolean;
  coolDownUntil(): Millis;
}

/** What the service said last, and which request it said it to. */
interface ServerView {
  readonly request: SendNumber;
  readonly remaining: number;
  readonly nextSlotAt: Millis;
}

/** Returns the allowance of an unused bucket. */
export function createAllowance({ limit, windowMs }: BucketLimits): Allowance {
  const window = createSlidingWindow(windowMs);
  const slotMs = windowMs / limit;
  let sends: SendNumber = 0;
  let lastWatchAt = Number.NEGATIVE_INFINITY;
  let view: ServerView | undefined;
  let coolDownUntil = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** Requests up to this one left before the last refusal was known: theirs is no new one. */
  let lastBeforeRefusal: SendNumber = 0;

  const share = (priority: Priority): number => Math.max(1, Math.floor(limit * SHARES[priority]));

  /** Half of the watching share may leave in a burst, so that a start is quick; the rest is spread, so that it stays even. */
  function spacedAt(now: Millis): Millis {
    const allowed = share('watch');
    if (window.count(now) < allowed / 2) return now;
    return lastWatchAt + windowMs / allowed;
  }

  /** Slots free one at a time: the first when the service says, the others at the plan's pace. */
  function serverReadyAt(priority: Priority, now: Millis): Millis {
    if (view === undefined) return now;
    const sentSince = sends - view.request;
    const missing = limit - share(priority) + 1 - (view.remaining - sentSince);
    return missing <= 0 ? now : view.nextSlotAt + (missing - 1) * slotMs;
  }

  return {
    readyAt(priority, now) {
      const paced = priority === 'watch' ? spacedAt(now) : now;
      return Math.ceil(Math.max(now, coolDownUntil, window.freeAt(now, share(priority)), paced, serverReadyAt(priority, now)));
    },

    sent(priority, now) {
      window.record(now);
      if (priority === 'watch') lastWatchAt = now;
      sends += 1;
      return sends;
    },

    answered(request, limits, now) {
      if (request > lastBeforeRefusal) refusals = 0;
      if (limits?.remaining === undefined || (view !== undefined && request < view.request)) return;
      view = { request, remaining: Math.max(0, limits.remaining), nextSlotAt: now + (limits.resetInMs ?? slotMs) };
    },

    refused(request, resetInMs, now) {
      if (request > lastBeforeRefusal) {
        refusals += 1;
        lastBeforeRefusal = sends;
      }
      const backOffMs = Math.min(LONGEST_COOL_DOWN_MS, Math.max(slotMs, SHORTEST_COOL_DOWN_MS) * 2 ** (refusals - 1));
      coolDownUntil = Math.max(coolDownUntil, now + Math.max(resetInMs ?? 0, backOffMs));
    },

    isProbing: () => refusals > 0,
    coolDownUntil: () => coolDownUntil,
  };
}
