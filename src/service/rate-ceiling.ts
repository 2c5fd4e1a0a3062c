import type { Millis } from '../core/time.ts';
import type { BucketLimits } from './rate-plan.ts';

/**
 * The spans over which requests are counted, shorter first: the windows that services were seen and are said to count
 * over, each a little longer than theirs, because two requests may arrive closer together than they left.
 */
export const SPANS_MS = [10_500, 63_000] as const;

/** What a request added to when it left. */
export interface Footprint {
  /** How many requests each span held, this one included. */
  readonly counts: readonly number[];
  /** How many requests it was ahead of an even pace, itself included: 1 where it came evenly. */
  readonly depth: number;
}

const LONGEST_SPAN_MS = SPANS_MS[1];
/** A refusal takes the rate down to this share of what was being sent. */
const STEP_DOWN = 0.85;
/** After so long, the rate is back where it was refused: a refusal an hour at most. */
const RECOVERY_MS = 65 * 60_000;
/** So many refusals of one excess make the next attempt as many times rarer. */
const MOST_COUNTED = 4;
/** What is deeper did not come evenly. */
const EVEN_DEPTH = 1.5;
/** Of what came evenly, a window frees a place after one interval; so many leave no doubt. */
const STORM_INTERVALS = 8;

/** What refusals taught. */
export interface RateLesson {
  readonly at: Millis;
  /** The share of the plan's rate that was refused. */
  readonly peak: number;
  /** How far ahead of an even pace requests may be; undefined where that was never refused. */
  readonly burst: number | undefined;
  /** How many refusals it took. */
  readonly refusals: number;
}

/**
 * What a service allows where that is less than its plan says, as a rate and a burst on top of it, learnt from refusals
 * alone: a multiplicative decrease at each excess, and an increase that takes an hour to come back to where it was refused
 * and then gains speed, so that a limit that has gone is forgotten within a day. Reads no clock.
 */
export interface RateCeiling {
  /** Returns the share of the plan's rate that may be used, above 0, at most 1. */
  share(now: Millis): number;
  /** Returns how deep a burst may go; Infinity where nothing is known against more. */
  burst(now: Millis): number;
  accepted(request: Footprint): void;
  /** Learns from a refusal; `isProbe` where the request was sent alone to see whether an earlier one still holds. */
  refused(request: Footprint, now: Millis, isProbe: boolean): void;
  /** Counts a refusal of what had left before the first one came. */
  refusedToo(): void;
  /** Learns from headers that make watching pause, so that it goes on evenly instead; nothing was refused. */
  held(counts: readonly number[], now: Millis): void;
  lesson(): RateLesson | undefined;
}

/** Returns the ceiling of a bucket of these limits, with what an earlier process learnt. */
export function createRateCeiling({ limit, windowMs }: BucketLimits, earlier?: RateLesson): RateCeiling {
  const planRate = limit / windowMs;
  // Less than one request within the longest span is no rate that anybody limits to.
  const leastShare = Math.min(1, 1 / (LONGEST_SPAN_MS * planRate));
  /** The most that was ever accepted, by span. */
  const accepted: number[] = SPANS_MS.map(() => 0);
  let lesson = earlier;
  let lessonBefore = earlier;
  /** How long a service that refuses for the rate may refuse one request alone. */
  let silenceMs: Millis = LONGEST_SPAN_MS;
  let takenBackAt = Number.NEGATIVE_INFINITY;

  const elapsed = ({ at, refusals }: RateLesson, now: Millis): number => Math.max(0, now - at) / (RECOVERY_MS * refusals);
  const usedIn = (span: number, count: number): number => count / SPANS_MS[span]! / planRate;

  function share(now: Millis): number {
    if (lesson === undefined) return 1;
    return Math.min(1, Math.max(leastShare, lesson.peak * (STEP_DOWN + (1 - STEP_DOWN) * elapsed(lesson, now) ** 3)));
  }

  function burst(now: Millis): number {
    const known = lesson?.burst === undefined ? Infinity : lesson.burst * 2 ** Math.floor(elapsed(lesson, now));
    return known < limit ? known : Infinity;
  }

  /** Sooner than the attempt that the last lesson put off, it was no attempt: the next is put off for longer. */
  function lessonOf(now: Millis, { peak, burst: depth }: { readonly peak: number; readonly burst: number }): RateLesson {
    const refusals = lesson !== undefined && elapsed(lesson, now) < 1 ? Math.min(MOST_COUNTED, lesson.refusals + 1) : 1;
    return { at: now, peak, burst: depth === Infinity ? undefined : depth, refusals };
  }

  /**
   * The shorter span that held more than it ever held before is what was too much. Where none did, what did not come evenly
   * was a burst too deep, and what did was too much for the fuller span. One that held nothing else was no span too full.
   */
  function learn({ counts, depth }: Footprint, now: Millis): RateLesson | undefined {
    const beyond = SPANS_MS.findIndex((_, index) => counts[index]! > Math.max(1, accepted[index]!));
    // The peak is such that the share stays what it is.
    if (beyond < 0 && depth > EVEN_DEPTH) return lessonOf(now, { peak: share(now) / STEP_DOWN, burst: Math.max(1, Math.ceil(depth) - 1) });
    const span = beyond >= 0 ? beyond : Number(counts[0] === 1 || counts[1]! / accepted[1]! >= counts[0]! / accepted[0]!);
    accepted[span] = counts[span]! - 1;
    const used = usedIn(span, counts[span]! - 1);
    // Refused before anything was sent: the window is full of what others sent, or of what is forgotten.
    if (used === 0) return lesson;
    return lessonOf(now, { peak: Math.min(share(now), Math.max(share(now) / 2, used)), burst: burst(now) });
  }

  /**
   * A service that refuses one request alone, after we have been silent for long, refuses whatever comes. One that counts by
   * the minute may do so too until the minute is over: it will refuse again soon, and then it is believed for longer.
   */
  function isStorm({ at }: RateLesson, now: Millis): boolean {
    return now - at >= (at - takenBackAt < 2 * LONGEST_SPAN_MS ? LONGEST_SPAN_MS : silenceMs);
  }

  function again(): void {
    if (lesson !== undefined) lesson = { ...lesson, refusals: Math.min(MOST_COUNTED, lesson.refusals + 1) };
  }

  return {
    share,
    burst,
    accepted({ counts }) {
      for (const [index, count] of counts.entries()) accepted[index] = Math.max(accepted[index]!, count);
    },
    refused(request, now, isProbe) {
      if (isProbe && (lesson === undefined || isStorm(lesson, now))) {
        // This is no matter of our rate, and teaches nothing about it.
        lesson = lessonBefore;
        takenBackAt = now;
      } else if (lesson !== undefined && now - lesson.at < LONGEST_SPAN_MS) {
        // What was too much is still within the service's window.
        again();
      } else {
        lessonBefore = lesson;
        lesson = learn(request, now);
        silenceMs = Math.min(LONGEST_SPAN_MS, Math.max(SPANS_MS[0], (STORM_INTERVALS * LONGEST_SPAN_MS) / request.counts[1]!));
      }
    },
    refusedToo: again,
    held(counts, now) {
      const used = Math.max(usedIn(0, counts[0]!), usedIn(1, counts[1]!));
      // Where we use little ourselves, somebody else uses the rest: the headers say enough of that.
      if (used < share(now) / 2 || (lesson !== undefined && now - lesson.at < LONGEST_SPAN_MS)) return;
      lesson = lessonOf(now, { peak: Math.min(share(now), used), burst: burst(now) });
    },
    lesson: () => lesson,
  };
}
