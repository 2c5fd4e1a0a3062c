import type { Millis } from '../../core/time.ts';
import type { BucketLimits } from './rate-plan.ts';
import { createSlidingWindow } from './sliding-window.ts';

/**
 * The spans over which admitted requests are counted, shorter first. Services count over such windows. Each span is a
 * little longer than the service's, because two requests may arrive closer together than they left.
 */
const SPANS_MS = [10_500, 63_000] as const;

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
/** One or two more or less of a few requests mean nothing. */
const ODD_REQUESTS = 2;
/** The search ends where the refused rate is at most this much above the admitted one. */
const CLOSE_ENOUGH = 1.08;
/** A search grows quickly, on shorter trials, while the refused rate is this much above the admitted one. */
const FAR_APART = 4;
const STEP_DOWN = 0.93;
const HEADERS_STEP_DOWN = 0.8;
/** A settled rate is too high by a few steps at most; refusals that continue do not come from the rate. */
const MOST_STEPS_DOWN = 4;
/** Where more than this many times a full bucket was admitted, the limit has risen. */
const SURELY_RISEN = 1.5;
const FIRST_STEP_UP = 1.08;
/** A pace counts as tried where this share of it was used. */
const USED = 0.9;
const FEWEST_TRIED = 4;
/** How long a rate is held before a higher one is tried: at most one refusal an hour. */
const HOLD_MS = 65 * 60_000;
/** This many refusals in one trial make the next trial as many times rarer. */
const MOST_COUNTED = 4;
/** After a refused trial, the lower rate runs this many times as long as the trial did, so that the windows drain. */
const DRAIN_FACTOR = 2.5;
const LEAST_DRAIN_MS = 15_000;
/** The share of a held rate that watching uses; the rest is for orders. Trials use all of it. */
const HELD_WATCH_SHARE = 0.94;
/** Requests further ahead of an even pace than this came in a burst. */
const EVEN_DEPTH = 1.5;

/** The limit that refusals revealed. Its member names are also those of the file that keeps it. */
export interface LearnedLimit {
  readonly at: Millis;
  /** The share of the plan's rate that is used at most. */
  readonly share: number;
  /** The least share that was refused, while the search between the two continues; undefined once it is settled. */
  readonly refusedShare: number | undefined;
  /** How far ahead of an even pace requests may be; undefined where that was never refused. */
  readonly burst: number | undefined;
  /** How many refusals the last trial took. */
  readonly refusals: number;
}

/** A rate above the held one that is being tried. */
interface Trial {
  readonly share: number;
  readonly since: Millis;
  /** Set where the trial is part of an increase from a settled rate. Each step up is the square of the one before. */
  readonly increase?: { readonly since: Millis; readonly admittedBefore: number; readonly step: number } | undefined;
}

interface EstimatorState {
  readonly learned: LearnedLimit | undefined;
  readonly trial: Trial | undefined;
  /** When the present pace began. */
  readonly paceSince: Millis;
  /** No trial before then: the windows still hold what a refused trial sent. */
  readonly drainUntil: Millis;
}

/**
 * Estimates what a service allows where that is less than its plan says, as a rate and a burst on top of it.
 *
 * It learns from refusals that do not say how long to wait, and only where a refusal repeats at the same count of
 * admitted requests: a single refusal may have another cause. It then searches between the admitted and the refused
 * rate with trials (bisection), holds a settled rate for an hour, and then increases it multiplicatively until the
 * next refusal. A settled rate that is refused decreases multiplicatively. It reads no clock.
 */
export class LimitEstimator {
  readonly #limit: number;
  readonly #planRate: number;
  readonly #leastShare: number;
  readonly #admitted = createSlidingWindow(LONG_SPAN_MS);
  #admittedInAll = 0;
  #firstAdmittedAt = Infinity;
  /** The most that was ever admitted, by span. */
  #mostAdmitted: readonly number[] = SPANS_MS.map(() => 0);
  #state: EstimatorState;
  /** The latest refusal that may be a limit, and how often it repeated. */
  #suspicion: { readonly at: Millis; readonly counts: readonly number[]; readonly repeats: number } | undefined;
  #repeatsNeeded = LEAST_REPEATS;
  #stepsDown = 0;
  /** When the service began to refuse, and what was known before; undefined while it admits. */
  #refusalPhase: { readonly at: Millis; readonly before: EstimatorState } | undefined;
  #lastRefusalPhaseAt = Number.NEGATIVE_INFINITY;
  /** For how long the service refused single requests. A time longer than its window is not caused by the rate. */
  #longestSilenceMs: Millis = 0;

  /** `earlier` is what an earlier process learned. */
  constructor({ limit, windowMs }: BucketLimits, startedAt: Millis, earlier?: LearnedLimit) {
    this.#limit = limit;
    this.#planRate = limit / windowMs;
    // Services do not limit to less than one request within the longest span.
    this.#leastShare = Math.min(1, 1 / (LONG_SPAN_MS * this.#planRate));
    this.#state = { learned: earlier, trial: undefined, paceSince: startedAt, drainUntil: startedAt };
  }

  /** Returns the share of the plan's rate that may be used, above 0, at most 1. */
  share(): number {
    return this.#state.trial?.share ?? this.#state.learned?.share ?? 1;
  }

  /** Returns the part of that rate that watching may use. */
  watchShare(): number {
    return this.#state.trial !== undefined || this.#isSearching() ? 1 : HELD_WATCH_SHARE;
  }

  /** Returns how deep a burst may go; Infinity where no burst was refused. */
  burst(now: Millis): number {
    const { learned } = this.#state;
    if (learned?.burst === undefined) return Infinity;
    const known = learned.burst * 2 ** Math.floor(Math.max(0, now - learned.at) / (HOLD_MS * learned.refusals));
    return known < this.#limit ? known : Infinity;
  }

  /** Returns whether a rate above the held one is being tried. */
  isTrying(): boolean {
    return this.#state.trial !== undefined;
  }

  learned(): LearnedLimit | undefined {
    return this.#state.learned;
  }

  accepted(now: Millis): void {
    this.#admitted.record(now);
    this.#admittedInAll += 1;
    this.#firstAdmittedAt = Math.min(this.#firstAdmittedAt, now);
    if (this.#refusalPhase !== undefined) this.#lastRefusalPhaseAt = now;
    this.#refusalPhase = undefined;
    this.#mostAdmitted = this.#countsAt(now).map((count, span) => Math.max(count, this.#mostAdmitted[span]!));
    const { learned, trial } = this.#state;
    if (learned === undefined) return;
    if (trial === undefined && !this.#isSearching()) this.#beginIncrease(now, learned);
    else if (this.#isPaceAccepted(now)) this.#paceAccepted(now, learned);
  }

  /** Learns from a refusal; `depth` is how many requests it was ahead of an even pace, itself included. */
  refused(depth: number, now: Millis): void {
    this.#refusalPhase = { at: now, before: this.#state };
    const { learned, trial } = this.#state;
    if (trial !== undefined && learned !== undefined) this.#trialRefused(now, trial, learned);
    else this.#suspectLimit(this.#countsAt(now), depth, now);
    this.#lastRefusalPhaseAt = now;
  }

  /** Learns from the refusal of a request that was sent alone to see whether an earlier refusal still holds. */
  probeRefused(now: Millis): void {
    if (this.#refusalPhase === undefined) return;
    const silenceMs = now - this.#refusalPhase.at;
    if (silenceMs <= LONG_SPAN_MS) {
      this.#longestSilenceMs = Math.max(this.#longestSilenceMs, silenceMs);
      return;
    }
    // No window is longer: the service refuses everything, and that teaches nothing about our rate.
    this.#state = { ...this.#refusalPhase.before, paceSince: now };
    this.#suspicion = undefined;
  }

  /** Counts a refusal of a request that had left before the first refusal came. */
  alsoRefused(): void {
    const { learned } = this.#state;
    if (learned === undefined) return;
    this.#state = { ...this.#state, learned: { ...learned, refusals: Math.min(MOST_COUNTED, learned.refusals + 1) } };
  }

  /** Lowers the rate where headers make watching pause, so that requests leave evenly instead; nothing was refused. */
  pausedByHeaders(now: Millis): void {
    const { learned } = this.#state;
    const used = Math.max(...this.#countsAt(now).map((count, span) => count / SPANS_MS[span]! / this.#planRate));
    // Where we use little ourselves, others use the rest: the headers say enough of that.
    if (used < this.share() / 2 || (learned !== undefined && now - learned.at < LONG_SPAN_MS)) return;
    this.#hold(now, { share: Math.max(this.#leastShare, HEADERS_STEP_DOWN * Math.min(this.share(), used)) });
  }

  #countsAt(now: Millis): number[] {
    return SPANS_MS.map((spanMs) => this.#admitted.count(now, spanMs));
  }

  #isSearching(): boolean {
    return this.#state.learned?.refusedShare !== undefined;
  }

  #isSettled(): boolean {
    const { learned } = this.#state;
    return learned !== undefined && learned.share < 1 && !this.#isSearching();
  }

  #hold(now: Millis, limit: Pick<LearnedLimit, 'share'> & Partial<LearnedLimit>, drainMs: Millis = 0): void {
    const depth = this.burst(now);
    const known =
      { at: now, refusedShare: undefined, burst: depth === Infinity ? undefined : depth, refusals: 1, ...limit };
    const isClose = known.refusedShare !== undefined && known.refusedShare / known.share <= CLOSE_ENOUGH;
    this.#state = {
      learned: isClose ? { ...known, refusedShare: undefined } : known, trial: undefined, paceSince: now,
      drainUntil: now + drainMs,
    };
  }

  #beginTrial(now: Millis, trial: Omit<Trial, 'since'>): void {
    this.#state = { ...this.#state, trial: { ...trial, since: now }, paceSince: now };
  }

  /**
   * Returns whether the present pace was used for as long as the longest window. A shorter time suffices while the pace
   * is far below a refused one.
   */
  #isPaceAccepted(now: Millis): boolean {
    const { learned, drainUntil, paceSince } = this.#state;
    const pace = this.share() * this.#planRate;
    const refusedShare = learned?.refusedShare ?? this.share();
    const isFar = refusedShare / this.share() > FAR_APART;
    const span = isFar ? 0 : 1;
    const longEnough = Math.max(isFar ? 2 * SHORT_SPAN_MS : LONG_SPAN_MS, FEWEST_TRIED / pace);
    if (now < drainUntil || now - paceSince < longEnough) return false;
    return this.#admitted.count(now, SPANS_MS[span]) >= Math.floor(USED * pace * SPANS_MS[span]);
  }

  #paceAccepted(now: Millis, learned: LearnedLimit): void {
    const { trial } = this.#state;
    if (trial?.increase === undefined) {
      this.#hold(now, { ...learned, at: now, share: this.share() });
      this.#continueSearch(now);
      return;
    }
    const { since, admittedBefore, step } = trial.increase;
    if (trial.share >= 1) {
      const isBurstKnown = learned.burst !== undefined;
      this.#state = { ...this.#state, learned: isBurstKnown ? { ...learned, share: 1 } : undefined, trial: undefined };
    } else {
      this.#beginTrial(now, {
        share: Math.min(1, trial.share * step), increase: { since, admittedBefore, step: step ** 2 },
      });
    }
  }

  /** Tries the middle between the admitted and the refused rate, and no more than double. */
  #continueSearch(now: Millis): void {
    const { learned } = this.#state;
    if (learned?.refusedShare === undefined) return;
    this.#beginTrial(now, { share: Math.min(learned.share * 2, Math.sqrt(learned.share * learned.refusedShare)) });
  }

  #beginIncrease(now: Millis, learned: LearnedLimit): void {
    if (learned.share >= 1 || now - learned.at < HOLD_MS * learned.refusals) return;
    this.#repeatsNeeded = LEAST_REPEATS;
    this.#stepsDown = 0;
    this.#beginTrial(now, {
      share: Math.min(1, learned.share * FIRST_STEP_UP),
      increase: { since: now, admittedBefore: this.#admittedInAll, step: FIRST_STEP_UP },
    });
  }

  /**
   * Narrows a refused search, and reverts a refused increase. Where more was admitted than a bucket can have saved up
   * in the longest window, the limit has risen, and the search continues from the average admitted rate.
   */
  #trialRefused(now: Millis, trial: Trial, learned: LearnedLimit): void {
    const drainMs = Math.min(LONG_SPAN_MS, Math.max(LEAST_DRAIN_MS, DRAIN_FACTOR * (now - trial.since)));
    if (trial.increase === undefined)
      return this.#hold(now, { ...learned, at: now, refusedShare: trial.share, refusals: 1 }, drainMs);
    const { since, admittedBefore } = trial.increase;
    const beyond = this.#admittedInAll - admittedBefore - learned.share * this.#planRate * (now - since);
    const saved = learned.share * this.#planRate * LONG_SPAN_MS;
    if (beyond <= SURELY_RISEN * saved) return this.#hold(now, { share: learned.share });
    this.#hold(now, {
      share: Math.min(trial.share, learned.share + (beyond - saved) / (now - since) / this.#planRate),
      refusedShare: trial.share,
    });
  }

  #suspectLimit(counts: readonly number[], depth: number, now: Millis): void {
    // Nothing was admitted lately: the window is full of requests of others, or of forgotten ones.
    if (counts.at(-1) === 0) return;
    if (this.#isContradicted(counts, depth)) return this.#forget(counts, now);
    const repeats = this.#repeatsOf(counts, now);
    // A settled rate was refused just above: one more refusal is the repetition.
    const isEnough = this.#isSettled() || repeats >= this.#repeatsNeeded;
    this.#suspicion = isEnough ? undefined : { at: now, counts, repeats };
    if (isEnough) this.#learn(counts, depth, now);
  }

  #learn(counts: readonly number[], depth: number, now: Millis): void {
    const current = this.share();
    const wasFuller = counts.every((count, span) => count + 1 <= this.#mostAdmitted[span]!);
    // More was admitted before, so the burst was too deep, and the count was not too high.
    if (wasFuller && depth > EVEN_DEPTH) {
      return this.#hold(now, {
        share: current, refusedShare: this.#state.learned?.refusedShare, burst: Math.max(1, Math.ceil(depth) - 1),
      });
    }
    const found = Math.max(this.#leastShare, Math.min(current * STEP_DOWN, this.#admittedShare(counts, now)));
    // A settled rate that is refused was a little too high, unless far less is admitted now.
    if (this.#isSettled() && found > current * STEP_DOWN ** MOST_STEPS_DOWN) {
      this.#stepsDown += 1;
      if (this.#stepsDown > MOST_STEPS_DOWN) return this.#forget(counts, now);
      return this.#hold(now, { share: Math.max(this.#leastShare, current * STEP_DOWN) });
    }
    this.#hold(now, { share: found, refusedShare: current });
  }

  /**
   * Returns the share that was admitted: over a minute where the service seems to count over one, else over ten
   * seconds.
   */
  #admittedShare(counts: readonly number[], now: Millis): number {
    const isUninterrupted =
      now - this.#firstAdmittedAt >= LONG_SPAN_MS && now - this.#lastRefusalPhaseAt >= LONG_SPAN_MS;
    const [short, long] = counts.map((count, span) => count / SPANS_MS[span]! / this.#planRate);
    return isUninterrupted || this.#longestSilenceMs > SHORT_SPAN_MS ? Math.min(short!, long!) : short!;
  }

  /** Returns whether far fewer requests than were admitted before were refused, though sent evenly. */
  #isContradicted(counts: readonly number[], depth: number): boolean {
    return depth <= EVEN_DEPTH
      && counts.every((count, span) => count + ODD_REQUESTS < CONTRADICTION * this.#mostAdmitted[span]!);
  }

  /** Forgets what was learned, and requires more repetitions before it learns again. */
  #forget(counts: readonly number[], now: Millis): void {
    if (this.#state.learned !== undefined) this.#repeatsNeeded = Math.min(MOST_REPEATS, this.#repeatsNeeded * 2);
    this.#state = { learned: undefined, trial: undefined, paceSince: now, drainUntil: now };
    this.#mostAdmitted = counts;
    this.#suspicion = undefined;
    this.#stepsDown = 0;
  }

  #repeatsOf(counts: readonly number[], now: Millis): number {
    if (this.#suspicion === undefined || now - this.#suspicion.at > REPEAT_WITHIN_MS) return 1;
    const earlierCounts = this.#suspicion.counts;
    const isSame = counts.some((count, span) =>
      Math.abs(count - earlierCounts[span]!) <= SAME_COUNT * Math.max(count, earlierCounts[span]!));
    return isSame ? this.#suspicion.repeats + 1 : 1;
  }
}
