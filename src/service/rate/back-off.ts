import type { Millis } from '../../core/time.ts';
import { LimitEstimator } from './limit-estimator.ts';
import type { ServerLimits } from './limit-headers.ts';
import type { BucketMemory } from './rate-memory.ts';
import type { BucketLimits, Priority } from './rate-plan.ts';
import { scaledLimits, shareOf } from './rate-plan.ts';
import type { SlidingWindow } from './sliding-window.ts';
import { createSlidingWindow } from './sliding-window.ts';

const SHORTEST_COOL_DOWN_MS = 2_000;
const LONGEST_COOL_DOWN_MS = 60_000;
/** Where the service says how long to wait, that counts. This bound is for a service that always says "at once". */
const LONGEST_TOLD_COOL_DOWN_MS = 8_000;
/** The last slots of a window may have exceeded the limit: the first cool-down lasts until they are over. */
const COOL_DOWN_SLOTS = 4;
/**
 * Trying early costs one refusal, which an exit is worth. An order that waited longer than its own limit would be
 * given up without one try.
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
export interface SentRequest {
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

/** What the service said last, and the request that it answered. */
interface ServerView {
  readonly request: number;
  readonly remaining: number;
  readonly limit: number | undefined;
  readonly nextSlotAt: Millis;
}

/** Decides when requests of one bucket may leave. Reads no clock: every instant is an argument. */
export class RateLimiter {
  readonly #limits: BucketLimits;
  readonly #slotMs: Millis;
  readonly #planSpacingMs: Millis;
  readonly #estimator: LimitEstimator;
  // A small share of a small plan is one request within a longer window than the plan's.
  readonly #window: SlidingWindow;
  #sends = 0;
  /** Half of the watching share may leave in a burst, once, so that a start is quick. */
  #quickLeft: number;
  #nextWatchAt = Number.NEGATIVE_INFINITY;
  /** When the next request would leave at an even pace of the whole rate. */
  #evenAt = Number.NEGATIVE_INFINITY;
  #view: ServerView | undefined;
  #coolDownUntil = Number.NEGATIVE_INFINITY;
  readonly #orderCoolDownUntil =
    { execute: Number.NEGATIVE_INFINITY, exit: Number.NEGATIVE_INFINITY, entry: Number.NEGATIVE_INFINITY };
  #refusals = 0;
  /** Requests up to this one left before the last refusal was known: theirs is no new one. */
  #lastBeforeRefusal = 0;

  /** Starts unused, or as an earlier process left the bucket. */
  constructor(limits: BucketLimits, now: Millis, earlier?: BucketMemory) {
    this.#limits = limits;
    this.#slotMs = limits.windowMs / limits.limit;
    this.#planSpacingMs = limits.windowMs / shareOf(limits, 'watch');
    this.#quickLeft = Math.ceil(shareOf(limits, 'watch') / 2);
    this.#window = createSlidingWindow(Math.max(limits.windowMs, LONGEST_WINDOW_MS));
    const learned = earlier?.learned;
    this.#estimator = new LimitEstimator(limits, now, learned === undefined ? undefined
      : { ...learned, at: Math.min(learned.at, now) });
    if (earlier !== undefined) this.#restore(earlier, now);
  }

  /** Returns the earliest instant at which a request may leave. */
  readyAt(priority: Priority, at: Millis): Millis {
    const coolUntil = priority === 'watch' ? this.#coolDownUntil : this.#orderCoolDownUntil[priority];
    const ready = Math.max(at, coolUntil, this.#ownReadyAt(priority, at), this.#serverReadyAt(priority, at));
    return ready === at ? at : Math.ceil(ready);
  }

  watchPace(at: Millis): WatchPace {
    return { waitMs: this.readyAt('watch', at) - at, turnMs: this.#spacingMs() };
  }

  /** Counts a request that leaves now. */
  sent(priority: Priority, at: Millis): SentRequest {
    this.#window.record(at);
    const isQuick = priority === 'watch' && at < this.#nextWatchAt;
    if (priority === 'watch') {
      this.#quickLeft = Math.max(0, this.#quickLeft - 1);
      this.#nextWatchAt = Math.max(this.#nextWatchAt, at - CATCH_UP_MS) + this.#spacingMs();
    }
    this.#sends += 1;
    this.#evenAt = Math.max(this.#evenAt, at) + this.#evenMs();
    return { number: this.#sends, depth: (this.#evenAt - at) / this.#evenMs(), isQuick };
  }

  /** Learns from an answer of any kind but 429. */
  answered({ number }: SentRequest, told: ServerLimits | undefined, at: Millis): void {
    this.#estimator.accepted(at);
    if (number > this.#lastBeforeRefusal) this.#refusals = 0;
    if (told?.remaining === undefined || (this.#view !== undefined && number < this.#view.request)) return;
    this.#view = {
      request: number, remaining: Math.max(0, told.remaining), limit: told.limit,
      nextSlotAt: at + (told.resetInMs ?? this.#slotMs),
    };
    const pauseMs = this.#serverReadyAt('watch', at) - Math.max(at, this.#ownReadyAt('watch', at));
    if (pauseMs > Math.max(LONGEST_PAUSE_MS, 2 * this.#spacingMs())) this.#estimator.pausedByHeaders(at);
  }

  /** Learns from a 429. */
  refused({ number, isQuick, depth }: SentRequest, resetInMs: Millis | undefined, at: Millis): void {
    const isTrial = this.#estimator.isTrying();
    if (isQuick) this.#quickLeft = 0;
    // A start that was too quick says nothing about an even pace. A refusal that says how long to wait is obeyed, and
    // is no evidence of a lower rate.
    const isEvidence = !isQuick && resetInMs === undefined;
    if (number > this.#lastBeforeRefusal) {
      if (isEvidence && this.#refusals > 0) this.#estimator.probeRefused(at);
      else if (isEvidence) this.#estimator.refused(depth, at);
      this.#refusals += 1;
      this.#lastBeforeRefusal = this.#sends;
    } else if (isEvidence) {
      this.#estimator.alsoRefused();
    }
    this.#coolDown(resetInMs, { at, shortestMs: isTrial ? TRIAL_COOL_DOWN_MS : SHORTEST_COOL_DOWN_MS });
  }

  /** Returns whether the last answer was a refusal, so that one request alone may try whether it still holds. */
  isProbing(): boolean {
    return this.#refusals > 0;
  }

  coolDownUntil(): Millis {
    return this.#coolDownUntil;
  }

  /** Returns the requests per second that are allowed now, headroom included. */
  requestsPerSecond(): number {
    const { limit, windowMs } = this.#currentLimits();
    return (limit / windowMs) * 1_000;
  }

  /** Returns what the next process has to know. */
  memory(at: Millis): BucketMemory {
    const slices = Map.groupBy(this.#window.within(at, this.#currentLimits().windowMs), (sentAt) =>
      Math.floor(sentAt / SLICE_MS));
    return {
      sends: [...slices.values()].map((sentAt) => ({ at: sentAt.at(-1)!, count: sentAt.length })),
      coolDownUntil: this.#coolDownUntil > at ? this.#coolDownUntil : undefined,
      learned: this.#estimator.learned(),
    };
  }

  #restore({ sends, coolDownUntil: until }: BucketMemory, now: Millis): void {
    for (const { at, count } of [...sends].sort((a, b) => a.at - b.at)) {
      // Requests of a time yet to come were sent by a clock that has been set back since.
      this.#window.record(Math.min(at, now), Math.min(count, this.#limits.limit));
      this.#nextWatchAt = Math.min(at, now) + this.#spacingMs();
    }
    if (until === undefined || until <= now) return;
    this.#coolDownUntil = Math.min(until, now + LONGEST_COOL_DOWN_MS);
    for (const priority of ORDERS)
      this.#orderCoolDownUntil[priority] = Math.min(until, now + LONGEST_ORDER_COOL_DOWN_MS[priority]);
    this.#refusals = 1;
  }

  #currentLimits(): BucketLimits {
    return scaledLimits(this.#limits, this.#estimator.share());
  }

  #evenMs(): Millis {
    return this.#slotMs / this.#estimator.share();
  }

  /** Watching never uses more of the plan than its own share; below the plan it uses nearly all of the rest. */
  #spacingMs(): Millis {
    return this.#estimator.share() < 1
      ? Math.max(this.#planSpacingMs, this.#evenMs() / this.#estimator.watchShare()) : this.#planSpacingMs;
  }

  #ownReadyAt(priority: Priority, at: Millis): Millis {
    const current = this.#currentLimits();
    // A rate that was learned is spaced evenly, which leaves orders their room.
    const allowed = this.#estimator.share() < 1 ? current.limit : shareOf(current, priority);
    return Math.max(
      this.#window.freeAt(at, current.windowMs, allowed),
      this.#evenAt - (this.#estimator.burst(at) - 1) * this.#evenMs(),
      priority === 'watch' ? this.#spacedAt(at) : at,
    );
  }

  /** Watching is spread, so that it stays even and leaves room at any time. */
  #spacedAt(at: Millis): Millis {
    const current = this.#currentLimits();
    const isQuick = this.#quickLeft > 0
      && this.#window.count(at, current.windowMs) < shareOf(current, 'watch') / 2;
    return isQuick ? at : this.#nextWatchAt;
  }

  /** Slots free one at a time: the first when the service says, the others at the plan's pace. */
  #serverReadyAt(priority: Priority, at: Millis): Millis {
    const view = this.#view;
    // A signed transaction expires, and the headers may be wrong or another bucket's: trying costs one refusal at most.
    if (view === undefined || priority === 'execute') return at;
    const sentSince = this.#sends - view.request;
    const headroom = Math.min(...[this.#limits.limit, view.limit ?? this.#limits.limit].map((limit) =>
      limit - shareOf({ limit }, priority)));
    const missing = headroom + 1 - (view.remaining - sentSince);
    return missing <= 0 ? at : view.nextSlotAt + (missing - 1) * this.#slotMs;
  }

  #coolDown(
    resetInMs: Millis | undefined, { at, shortestMs }: { readonly at: Millis; readonly shortestMs: Millis },
  ): void {
    const toldMs = resetInMs === undefined ? 0 : resetInMs + RESET_ROUNDING_MS;
    const longestMs = resetInMs === undefined ? LONGEST_COOL_DOWN_MS : LONGEST_TOLD_COOL_DOWN_MS;
    const leastMs = Math.max(this.#evenMs() * COOL_DOWN_SLOTS, shortestMs);
    const backOffMs = Math.min(longestMs, leastMs * 2 ** (this.#refusals - 1));
    this.#coolDownUntil = Math.max(this.#coolDownUntil, at + Math.max(toldMs, backOffMs));
    for (const priority of ORDERS) {
      const ownMs = Math.max(toldMs, Math.min(backOffMs, LONGEST_ORDER_COOL_DOWN_MS[priority]));
      this.#orderCoolDownUntil[priority] = Math.max(this.#orderCoolDownUntil[priority], at + ownMs);
    }
  }
}
