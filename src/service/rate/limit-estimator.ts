import type { Millis } from '../../core/time.ts';
import type { BucketLimits } from './rate-plan.ts';
import { createSlidingWindow } from './sliding-window.ts';

/**
 * The spans over which admitted requests are counted, shorter first: the windows that services were seen and are said
 * to count over, each a little longer than theirs, because two requests may arrive closer together than they left.
 */
export const SPANS_MS = [10_500, 63_000] as const;

const [SHORT_SPAN_MS, LONG_SPAN_MS] = SPANS_MS;
/** The counts of two refusals are the same limit where they differ by no more than this share. */
const SAME_COUNT = 0.15;
/** Refusals further apart than this are separate events, and no repetition. */
const REPEAT_WITHIN_MS = 10 * 60_000;
const LEAST_REPEATS = 2;
const MOST_REPEATS = 64;
/**
 * Fixed windows admit up to twice their limit within one span, so a count below half of what was admitted is no limit.
 */
const CONTRADICTION = 0.5;
/** Of a few requests, one or two more or less mean nothing. */
const ODD_REQUESTS = 2;
/** The search ends where the refused rate is at most this much above the admitted one. */
const CLOSE_ENOUGH = 1.08;
/** A search grows quickly, on shorter trials, while the refused rate is this much above the admitted one. */
const FAR_APART = 4;
const STEP_DOWN = 0.93;
const HEADERS_STEP_DOWN = 0.8;
/** A settled rate is too high by a few steps at most; refusals that go on do not come from the rate. */
const MOST_STEPS_DOWN = 4;
/** Where more than this many times a full bucket was admitted, the limit has risen. */
const SURELY_RISEN = 1.5;
const FIRST_STEP_UP = 1.08;
/** A pace counts as tried where this share of it was really used. */
const USED = 0.9;
const FEWEST_TRIED = 4;
/** How long a rate is held before a higher one is tried: at most one refusal an hour. */
const HOLD_MS = 65 * 60_000;
/** So many refusals in one trial make the next trial as many times rarer. */
const MOST_COUNTED = 4;
/** After a refused trial, the lower rate runs this many times as long as the trial did, so that the windows drain. */
const DRAIN_FACTOR = 2.5;
const LEAST_DRAIN_MS = 15_000;
/** The share of a held rate that watching uses; the rest is for orders. Trials use all of it. */
const HELD_WATCH_SHARE = 0.94;
/** Requests further ahead of an even pace than this came in a burst. */
const EVEN_DEPTH = 1.5;

/** What refusals taught. */
export interface RateLesson {
  readonly at: Millis;
  /** The share of the plan's rate that is held to. */
  readonly share: number;
  /** The least share that was refused, while the search between the two goes on; undefined once it is settled. */
  readonly refusedShare: number | undefined;
  /** How far ahead of an even pace requests may be; undefined where that was never refused. */
  readonly burst: number | undefined;
  /** How many refusals the last trial took. */
  readonly refusals: number;
}

/** A pace above the held one that is being tried. */
interface Trial {
  readonly share: number;
  readonly since: Millis;
  /** Set where the trial is part of an ascent from a settled rate. */
  readonly ascent?: { readonly since: Millis; readonly admittedBefore: number; readonly step: number } | undefined;
}

interface Learnt {
  readonly lesson: RateLesson | undefined;
  readonly trial: Trial | undefined;
  /** When the present pace began. */
  readonly paceSince: Millis;
  /** No trial before then: the windows still hold what a refused trial sent. */
  readonly drainUntil: Millis;
}

/**
 * What a service allows where that is less than its plan says, as a rate and a burst on top of it. It learns from
 * refusals that do not say how long to wait, and only where a refusal repeats at the same count of admitted requests:
 * one alone may be the service's own trouble. Then it searches: the rate that was admitted, and trials between it and
 * the refused one. A settled rate is held for an hour before a higher one is tried. Reads no clock.
 */
export interface RateCeiling {
  /** Returns the share of the plan's rate that may be used, above 0, at most 1. */
  share(): number;
  /** Returns the part of that rate that watching may use. */
  watchShare(): number;
  /** Returns how deep a burst may go; Infinity where nothing is known against more. */
  burst(now: Millis): number;
  /** Whether a rate above the held one is being tried. */
  isTrying(): boolean;
  accepted(now: Millis): void;
  /** Learns from a refusal; `depth` is how many requests it was ahead of an even pace, itself included. */
  refused(depth: number, now: Millis): void;
  /** Learns from the refusal of a request that was sent alone to see whether an earlier refusal still holds. */
  probeRefused(now: Millis): void;
  /** Counts a refusal of a request that had left before the first refusal came. */
  refusedToo(): void;
  /** Learns from headers that make watching pause, so that it goes on evenly instead; nothing was refused. */
  held(now: Millis): void;
  lesson(): RateLesson | undefined;
}

/** Returns the ceiling of a bucket of these limits at an instant, with what an earlier process learnt. */
export function createRateCeiling(
  { limit, windowMs }: BucketLimits, startedAt: Millis, earlier?: RateLesson,
): RateCeiling {
  const planRate = limit / windowMs;
  // Less than one request within the longest span is no rate that a service limits to.
  const leastShare = Math.min(1, 1 / (LONG_SPAN_MS * planRate));
  const admitted = createSlidingWindow(LONG_SPAN_MS);
  let admittedInAll = 0;
  let firstAdmittedAt = Infinity;
  /** The most that was ever admitted, by span. */
  let most: readonly number[] = SPANS_MS.map(() => 0);
  let learnt: Learnt = { lesson: earlier, trial: undefined, paceSince: startedAt, drainUntil: startedAt };
  /** The latest refusal that may be a limit, and how often it repeated. */
  let suspicion: { readonly at: Millis; readonly counts: readonly number[]; readonly repeats: number } | undefined;
  let repeatsNeeded = LEAST_REPEATS;
  let stepsDown = 0;
  /** When the service began to refuse, and what was known before; undefined while it admits. */
  let episode: { readonly at: Millis; readonly before: Learnt } | undefined;
  let lastEpisodeAt = Number.NEGATIVE_INFINITY;
  /** For how long the service refused one request alone: longer than its window is no matter of our rate. */
  let longestSilenceMs: Millis = 0;

  const countsAt = (now: Millis): number[] => SPANS_MS.map((spanMs) => admitted.count(now, spanMs));
  const share = (): number => learnt.trial?.share ?? learnt.lesson?.share ?? 1;
  const isSearching = (): boolean => learnt.lesson?.refusedShare !== undefined;
  const isSettled = (): boolean => learnt.lesson !== undefined && learnt.lesson.share < 1 && !isSearching();

  function burst(now: Millis): number {
    const { lesson } = learnt;
    if (lesson?.burst === undefined) return Infinity;
    const known = lesson.burst * 2 ** Math.floor(Math.max(0, now - lesson.at) / (HOLD_MS * lesson.refusals));
    return known < limit ? known : Infinity;
  }

  function hold(now: Millis, lesson: Pick<RateLesson, 'share'> & Partial<RateLesson>, drainMs: Millis = 0): void {
    const depth = burst(now);
    const known =
      { at: now, refusedShare: undefined, burst: depth === Infinity ? undefined : depth, refusals: 1, ...lesson };
    const isClose = known.refusedShare !== undefined && known.refusedShare / known.share <= CLOSE_ENOUGH;
    learnt = {
      lesson: isClose ? { ...known, refusedShare: undefined } : known, trial: undefined, paceSince: now,
      drainUntil: now + drainMs,
    };
  }

  function begin(now: Millis, trial: Omit<Trial, 'since'>): void {
    learnt = { ...learnt, trial: { ...trial, since: now }, paceSince: now };
  }

  /**
   * Whether the present pace was really used for as long as the longest window, or less while far from a refused one.
   */
  function isProven(now: Millis): boolean {
    const pace = share() * planRate;
    const refusedShare = learnt.lesson?.refusedShare ?? share();
    const isFar = refusedShare / share() > FAR_APART;
    const span = isFar ? 0 : 1;
    const longEnough = Math.max(isFar ? 2 * SHORT_SPAN_MS : LONG_SPAN_MS, FEWEST_TRIED / pace);
    if (now < learnt.drainUntil || now - learnt.paceSince < longEnough) return false;
    return admitted.count(now, SPANS_MS[span]) >= Math.floor(USED * pace * SPANS_MS[span]);
  }

  function proven(now: Millis, lesson: RateLesson): void {
    const { trial } = learnt;
    if (trial?.ascent !== undefined) {
      const { since, admittedBefore, step } = trial.ascent;
      if (trial.share >= 1) learnt =
        { ...learnt, lesson: lesson.burst === undefined ? undefined : { ...lesson, share: 1 }, trial: undefined };
      else begin(now, { share: Math.min(1, trial.share * step), ascent: { since, admittedBefore, step: step ** 2 } });
      return;
    }
    hold(now, { ...lesson, at: now, share: share() });
    searchOn(now);
  }

  /** Tries the middle between what was admitted and what was refused, and no more than double. */
  function searchOn(now: Millis): void {
    const { lesson } = learnt;
    if (lesson?.refusedShare === undefined) return;
    begin(now, { share: Math.min(lesson.share * 2, Math.sqrt(lesson.share * lesson.refusedShare)) });
  }

  function ascend(now: Millis, lesson: RateLesson): void {
    if (lesson.share >= 1 || now - lesson.at < HOLD_MS * lesson.refusals) return;
    repeatsNeeded = LEAST_REPEATS;
    stepsDown = 0;
    begin(now, {
      share: Math.min(1, lesson.share * FIRST_STEP_UP),
      ascent: { since: now, admittedBefore: admittedInAll, step: FIRST_STEP_UP },
    });
  }

  /**
   * A refused search narrows. A refused ascent goes back. Where more was admitted than a bucket can have saved up in
   * the longest window, the limit has risen, and the search goes on from what was admitted on average.
   */
  function trialRefused(now: Millis, trial: Trial, lesson: RateLesson): void {
    const drainMs = Math.min(LONG_SPAN_MS, Math.max(LEAST_DRAIN_MS, DRAIN_FACTOR * (now - trial.since)));
    if (trial.ascent === undefined)
      return hold(now, { ...lesson, at: now, refusedShare: trial.share, refusals: 1 }, drainMs);
    const { since, admittedBefore } = trial.ascent;
    const beyond = admittedInAll - admittedBefore - lesson.share * planRate * (now - since);
    const saved = lesson.share * planRate * LONG_SPAN_MS;
    if (beyond <= SURELY_RISEN * saved) return hold(now, { share: lesson.share });
    hold(now, {
      share: Math.min(trial.share, lesson.share + (beyond - saved) / (now - since) / planRate),
      refusedShare: trial.share,
    });
  }

  /**
   * Returns the share that was admitted: over a minute where the service seems to count over one, else over ten
   * seconds.
   */
  function admittedShare(counts: readonly number[], now: Millis): number {
    const isSteady = now - firstAdmittedAt >= LONG_SPAN_MS && now - lastEpisodeAt >= LONG_SPAN_MS;
    const [short, long] = counts.map((count, span) => count / SPANS_MS[span]! / planRate);
    return isSteady || longestSilenceMs > SHORT_SPAN_MS ? Math.min(short!, long!) : short!;
  }

  function learn(counts: readonly number[], depth: number, now: Millis): void {
    const current = share();
    const wasFuller = counts.every((count, span) => count + 1 <= most[span]!);
    // More was admitted before, so what was too much is how the requests came and not how many.
    if (wasFuller && depth > EVEN_DEPTH) {
      return hold(now, {
        share: current, refusedShare: learnt.lesson?.refusedShare, burst: Math.max(1, Math.ceil(depth) - 1),
      });
    }
    const found = Math.max(leastShare, Math.min(current * STEP_DOWN, admittedShare(counts, now)));
    // A settled rate that is refused was a little too high, unless far less is admitted now.
    if (isSettled() && found > current * STEP_DOWN ** MOST_STEPS_DOWN) {
      stepsDown += 1;
      if (stepsDown > MOST_STEPS_DOWN) return disbelieve(counts, now);
      return hold(now, { share: Math.max(leastShare, current * STEP_DOWN) });
    }
    hold(now, { share: found, refusedShare: current });
  }

  /** Far fewer requests than were admitted before, sent evenly: no constant limit refuses them. */
  function contradicts(counts: readonly number[], depth: number): boolean {
    return depth <= EVEN_DEPTH && counts.every((count, span) => count + ODD_REQUESTS < CONTRADICTION * most[span]!);
  }

  /** Forgets what was learnt, and wants more repetitions before it learns again. */
  function disbelieve(counts: readonly number[], now: Millis): void {
    if (learnt.lesson !== undefined) repeatsNeeded = Math.min(MOST_REPEATS, repeatsNeeded * 2);
    learnt = { lesson: undefined, trial: undefined, paceSince: now, drainUntil: now };
    most = counts;
    suspicion = undefined;
    stepsDown = 0;
  }

  function repeatsOf(counts: readonly number[], now: Millis): number {
    if (suspicion === undefined || now - suspicion.at > REPEAT_WITHIN_MS) return 1;
    const earlierCounts = suspicion.counts;
    const isSame = counts.some((count, span) =>
      Math.abs(count - earlierCounts[span]!) <= SAME_COUNT * Math.max(count, earlierCounts[span]!));
    return isSame ? suspicion.repeats + 1 : 1;
  }

  function suspect(counts: readonly number[], depth: number, now: Millis): void {
    // Nothing was admitted lately: the window is full of what others sent, or of what is forgotten.
    if (counts.at(-1) === 0) return;
    if (contradicts(counts, depth)) return disbelieve(counts, now);
    const repeats = repeatsOf(counts, now);
    // A settled rate was refused just above: one more refusal is the repetition.
    const isEnough = isSettled() || repeats >= repeatsNeeded;
    suspicion = isEnough ? undefined : { at: now, counts, repeats };
    if (isEnough) learn(counts, depth, now);
  }

  return {
    share,
    watchShare: () => (learnt.trial !== undefined || isSearching() ? 1 : HELD_WATCH_SHARE),
    burst,
    isTrying: () => learnt.trial !== undefined,

    accepted(now) {
      admitted.record(now);
      admittedInAll += 1;
      firstAdmittedAt = Math.min(firstAdmittedAt, now);
      if (episode !== undefined) lastEpisodeAt = now;
      episode = undefined;
      most = countsAt(now).map((count, span) => Math.max(count, most[span]!));
      const { lesson, trial } = learnt;
      if (lesson === undefined) return;
      if (trial === undefined && !isSearching()) ascend(now, lesson);
      else if (isProven(now)) proven(now, lesson);
    },

    refused(depth, now) {
      episode = { at: now, before: learnt };
      const { lesson, trial } = learnt;
      if (trial !== undefined && lesson !== undefined) trialRefused(now, trial, lesson);
      else suspect(countsAt(now), depth, now);
      lastEpisodeAt = now;
    },

    probeRefused(now) {
      if (episode === undefined) return;
      const silenceMs = now - episode.at;
      if (silenceMs <= LONG_SPAN_MS) {
        longestSilenceMs = Math.max(longestSilenceMs, silenceMs);
        return;
      }
      // No window is longer: the service refuses everything, and that teaches nothing about our rate.
      learnt = { ...episode.before, paceSince: now };
      suspicion = undefined;
    },

    refusedToo() {
      const { lesson } = learnt;
      if (lesson !== undefined)
        learnt = { ...learnt, lesson: { ...lesson, refusals: Math.min(MOST_COUNTED, lesson.refusals + 1) } };
    },

    held(now) {
      const { lesson } = learnt;
      const used = Math.max(...countsAt(now).map((count, span) => count / SPANS_MS[span]! / planRate));
      // Where we use little ourselves, others use the rest: the headers say enough of that.
      if (used < share() / 2 || (lesson !== undefined && now - lesson.at < LONG_SPAN_MS)) return;
      hold(now, { share: Math.max(leastShare, HEADERS_STEP_DOWN * Math.min(share(), used)) });
    },

    lesson: () => learnt.lesson,
  };
}
