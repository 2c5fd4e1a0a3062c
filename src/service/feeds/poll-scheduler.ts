import type { Subscription } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import { isUnanswered } from '../access.ts';
import type { WatchPace } from '../rate/back-off.ts';
import type { Poll } from './polls.ts';

/** The share of an interval by which a poll may come sooner or later, so that polls do not leave together. */
const JITTER = 0.1;
const LONGEST_BACK_OFF_MS = 60_000;
/**
 * In the first minutes of an outage each poll is sent again this soon, and all together at most twice a second.
 */
const OUTAGE_EAGER_MS = 600_000;
const OUTAGE_BACK_OFF_MS = 5_000;
const OUTAGE_TURN_MS = 500;
/** The age of data that was never asked for: older than any other, while the larger weight still goes first. */
const NEVER_ASKED_MS = 1e13;
/** A hurried poll comes at the soonest this long after the last one, or this share of its interval. */
const HURRIED_MS: Millis = 1_000;
const HURRIED_SHARE = 0.2;
/** The wait where the service refuses for the rate and gives no time. */
const LEAST_HOLD_MS = 1_000;

interface SchedulerOptions {
  readonly polls: readonly Poll[];
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: () => WatchPace;
  /** Called for every feed after every poll, with its event or with the reason why there is none. */
  readonly onResult: (feed: FeedKey, result: MarketEvent | GannetError) => void;
}

/** One poll and its state. */
interface PollState {
  readonly poll: Poll;
  readonly backOff: BackOff;
  readonly longestMs: Millis;
  sentAt: Millis;
  /** Not before then, even where the rate has room. */
  dueAt: Millis;
  /** Queued or in flight. */
  isAsked: boolean;
  isFirst: boolean;
  /** Whether news came while it was in flight, which its answer may lack. */
  isHurried: boolean;
  isUnauthorized: boolean;
  /** Since when no request got a proper answer: the service may be out. Undefined where the last one did. */
  unansweredSince: Millis | undefined;
}

/**
 * Repeats the polls until it is stopped, each first at once. Of the polls that are due, the one with the largest
 * weight × age² is sent next, where age is the time since it was last sent. Under a rate too small for all, each poll
 * is then sent when its weight × age² has reached one level common to all. Its interval is proportional to
 * 1 / √weight: the optimum of `optimalIntervals`, reached without knowing the rate and kept while the rate changes.
 * Polls that are due less often than that are sent when they are due.
 *
 * A poll is chosen when the rate has room for it and not before, so that the poll that was sent last may be the most
 * pressing again. Where a more urgent request takes its turn, this poll waits, and no other with it. Polls in flight
 * delay no other poll, and missed polls are not made up for.
 */
export function startScheduler(options: SchedulerOptions): PollScheduler {
  const scheduler = new RunningScheduler(options);
  scheduler.proceed();
  return scheduler;
}

/** Repeats polls until it is stopped. */
export interface PollScheduler {
  /** Repeats these polls in place of the present ones; one that serves new feeds is sent as soon as it is its turn. */
  replace(polls: readonly Poll[]): void;
  /** Sends the poll of a feed soon, because there seems to be news; however often, within a bound. */
  hurry(feed: FeedKey): void;
  stop(): void;
}

class RunningScheduler implements PollScheduler {
  readonly #options: SchedulerOptions;
  readonly #abort = new AbortController();
  #polls: readonly PollState[];
  #timer: Subscription | undefined;
  #heldUntil: Millis;
  #isWaiting = false;
  #isChoosing = false;

  constructor(options: SchedulerOptions) {
    const { polls, clock } = options;
    this.#options = options;
    this.#heldUntil = clock.now();
    this.#polls = polls.map((poll) => this.#begun(poll, NEVER_ASKED_MS));
  }

  /** Returns a poll that is due now, and as pressing as if it was sent `ageMs` ago. */
  #begun(poll: Poll, ageMs: Millis): PollState {
    const { clock, random } = this.#options;
    const longestMs = Math.max(LONGEST_BACK_OFF_MS, poll.everyMs);
    const now = clock.now();
    return {
      poll, longestMs, backOff: createBackOff({ baseMs: poll.everyMs, capMs: longestMs, random }),
      sentAt: now - ageMs, dueAt: now, isAsked: false, isFirst: true, isHurried: false,
      isUnauthorized: false,
      unansweredSince: undefined,
    };
  }

  replace(polls: readonly Poll[]): void {
    const known = this.#polls;
    this.#polls = polls.map((poll) => {
      const place = nameOf(poll);
      const same = known.find((state) => nameOf(state.poll) === place);
      if (same !== undefined) return same;
      // A poll that joins later takes its turn like one that is due: changing polls must not hold up the others.
      const joined = this.#begun(poll, Math.min(poll.everyMs, LONGEST_BACK_OFF_MS));
      const larger = known.find((state) => isPartOf(poll, state.poll));
      if (larger === undefined) return joined;
      const { sentAt, isFirst, isAsked } = larger;
      return { ...joined, sentAt, isFirst, dueAt: isAsked ? sentAt + poll.everyMs : larger.dueAt };
    });
    this.proceed();
  }

  hurry(feed: FeedKey): void {
    for (const state of this.#polls) {
      if (!state.poll.feeds.includes(feed)) continue;
      state.isHurried = state.isAsked;
      this.#hurry(state);
    }
    this.proceed();
  }

  #hurry(state: PollState): void {
    const soonest = state.sentAt + Math.max(HURRIED_MS, state.poll.everyMs * HURRIED_SHARE);
    state.dueAt = Math.min(state.dueAt, soonest);
  }

  stop(): void {
    this.#abort.abort();
    this.#timer?.unsubscribe();
  }

  /** Sends polls while they leave at once; else continues when one has left, is due or has room. */
  proceed(): void {
    if (this.#isChoosing) return;
    this.#isChoosing = true;
    this.#timer?.unsubscribe();
    const { clock, pace } = this.#options;
    while (!this.#isWaiting && !this.#abort.signal.aborted) {
      const now = clock.now();
      const { waitMs, turnMs } = pace();
      const openAt = Math.max(this.#heldUntil, now + waitMs);
      const next = openAt > now ? undefined : this.#mostPressing(now);
      const nextAt = next === undefined ? Math.max(openAt, this.#soonestDue())
        : this.#worthWaitingUntil(next, now, turnMs);
      if (next === undefined || nextAt > now) {
        if (nextAt < Infinity) this.#timer = clock.schedule(() => this.proceed(), Math.ceil(nextAt - now));
        break;
      }
      void this.#ask(next);
    }
    this.#isChoosing = false;
  }

  #mostPressing(now: Millis): PollState | undefined {
    let most: PollState | undefined;
    let pressure = -1;
    for (const state of this.#polls) {
      if (state.isAsked || state.dueAt > now) continue;
      const itsPressure = pressureOf(state.poll, now - state.sentAt);
      if (itsPressure > pressure) [most, pressure] = [state, itsPressure];
    }
    return most;
  }

  /**
   * Returns when a more pressing poll is due for which this one had better wait; now where there is none. Data that is
   * renewed late costs its weight × age for each ms. If this poll is sent, the other is late by a turn, less the time
   * that it would have waited anyway. If this poll waits, it is late by that time and a turn, and that part of a turn
   * is lost. A whole turn is worth the weight × age² / 2 that it renews.
   */
  #worthWaitingUntil({ poll: { weight }, sentAt }: PollState, now: Millis, turnMs: Millis): Millis {
    const ageMs = now - sentAt;
    const other = this.#polls.find((candidate) => {
      const waitMs = candidate.dueAt - now;
      if (candidate.isAsked || waitMs <= 0 || waitMs >= turnMs
          || pressureOf(candidate.poll, candidate.dueAt - candidate.sentAt)
            <= pressureOf({ weight }, candidate.dueAt - sentAt)) return false;
      const saved = candidate.poll.weight * (now - candidate.sentAt) * (turnMs - waitMs);
      return saved > weight * ageMs * (turnMs + waitMs + (ageMs / 2) * (waitMs / turnMs));
    });
    return other?.dueAt ?? now;
  }

  #soonestDue(): Millis {
    return this.#polls.reduce(
      (soonest, { isAsked, dueAt }) => (isAsked ? soonest : Math.min(soonest, dueAt)), Infinity,
    );
  }

  async #ask(state: PollState): Promise<void> {
    const { clock } = this.#options;
    let hasLeft = false;
    const onStart = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      this.#isWaiting = false;
      state.sentAt = clock.now();
      this.proceed();
    };
    this.#isWaiting = true;
    state.isAsked = true;
    state.sentAt = clock.now();
    const fault = await this.#attempt(state.poll, onStart);
    // A request that was refused before it left waits no longer either.
    if (!hasLeft) this.#isWaiting = false;
    if (this.#abort.signal.aborted) return;
    state.isAsked = false;
    if (fault === undefined) this.#succeeded(state);
    else this.#failed(state, fault);
    this.proceed();
  }

  /** Returns the fault where the request as a whole failed. */
  async #attempt(poll: Poll, onStart: () => void): Promise<GannetError | undefined> {
    const { signal } = this.#abort;
    const { onResult } = this.#options;
    try {
      const results = await poll.request({ priority: 'watch', signal, onStart });
      if (!signal.aborted) for (const [feed, result] of results) onResult(feed, result);
      return undefined;
    } catch (thrown) {
      if (signal.aborted) return undefined;
      // Anything else is a bug of ours, and no feed is to survive it unnoticed.
      if (!isGannetError(thrown)) throw thrown;
      for (const feed of poll.feeds) onResult(feed, thrown);
      return thrown;
    }
  }

  #succeeded(state: PollState): void {
    state.backOff.reset();
    state.dueAt = state.sentAt + this.#gapMs(state);
    if (state.isHurried) this.#hurry(state);
    state.isHurried = false;
    if (state.unansweredSince !== undefined) {
      // The service answers again, all polls.
      const now = this.#options.clock.now();
      for (const other of this.#polls) {
        if (other.unansweredSince !== undefined && other !== state) other.dueAt = Math.min(other.dueAt, now);
        other.unansweredSince = undefined;
      }
    }
    if (!state.isUnauthorized) return;
    // The key is accepted again, for all.
    for (const other of this.#polls) {
      if (other.isUnauthorized) other.dueAt = Math.min(other.dueAt, other.sentAt + other.poll.everyMs);
      other.isUnauthorized = false;
    }
  }

  #failed(state: PollState, fault: GannetError): void {
    const now = this.#options.clock.now();
    state.isUnauthorized = fault.code === 'SERVICE_UNAUTHORIZED';
    state.unansweredSince = isUnanswered(fault) ? state.unansweredSince ?? now : undefined;
    if (fault.code === 'SERVICE_RATE_LIMITED') {
      // It concerns all polls, not this one alone: everything waits, and this poll is delayed no longer than that.
      const resetInMs = fault.details['resetInMs'];
      const holdMs = Math.max(LEAST_HOLD_MS, typeof resetInMs === 'number' ? resetInMs : 0);
      this.#heldUntil = Math.max(this.#heldUntil, now + holdMs);
      state.dueAt = state.sentAt + this.#gapMs(state);
      return;
    }
    // More frequent requests do not make a refused key accepted.
    const delayMs = state.isUnauthorized ? state.longestMs : state.backOff.next();
    const isEager = state.unansweredSince !== undefined && now - state.unansweredSince < OUTAGE_EAGER_MS;
    const eagerMs = Math.max(OUTAGE_BACK_OFF_MS, this.#polls.length * OUTAGE_TURN_MS);
    state.dueAt = now + (isEager ? Math.min(delayMs, eagerMs) : delayMs);
  }

  /** The first gap is any part of the interval's second half, so that polls that began together separate at once. */
  #gapMs(state: PollState): Millis {
    const { random } = this.#options;
    const factor = state.isFirst ? 0.5 + random() / 2 : 1 + JITTER * (2 * random() - 1);
    state.isFirst = false;
    return state.poll.everyMs * factor;
  }
}

function nameOf({ everyMs, weight, feeds }: Poll): string {
  return [everyMs, weight, ...feeds].join(' ');
}

/** Returns whether a poll serves only feeds that another one serves as often. */
function isPartOf(poll: Poll, other: Poll): boolean {
  return poll.everyMs === other.everyMs && poll.weight === other.weight
    && poll.feeds.every((feed) => other.feeds.includes(feed));
}

function pressureOf({ weight }: Pick<Poll, 'weight'>, ageMs: Millis): number {
  return weight * ageMs ** 2;
}

/** Delays that grow while something keeps failing. */
interface BackOff {
  next(): Millis;
  reset(): void;
}

/**
 * Returns a back-off with decorrelated jitter: each delay is drawn from the base to three times the last one, so that
 * polls that failed together are not repeated together (M. Brooker, "Exponential Backoff And Jitter", 2015).
 */
function createBackOff(
  { baseMs, capMs, random }: { readonly baseMs: Millis; readonly capMs: Millis; readonly random: Random },
): BackOff {
  let lastMs = baseMs;
  return {
    next() {
      lastMs = Math.min(capMs, baseMs + random() * (lastMs * 3 - baseMs));
      return lastMs;
    },
    reset() {
      lastMs = baseMs;
    },
  };
}
