import type { Subscription } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import { isSilence } from '../access.ts';
import type { WatchPace } from '../rate/rate-limiter.ts';
import type { BackOff } from './back-off.ts';
import { createBackOff } from './back-off.ts';
import type { Poll } from './polls.ts';

/** The share of an interval by which a poll may come sooner or later, so that polls do not march in step. */
const JITTER = 0.1;
const LONGEST_BACK_OFF_MS = 60_000;
/**
 * In the first minutes of an outage each poll asks again so soon, and all together no more often than twice a second.
 */
const SILENT_EAGER_MS = 600_000;
const SILENT_BACK_OFF_MS = 5_000;
const SILENT_TURN_MS = 500;
/** The age of what was never asked for: older than anything, while the heavier still goes first. */
const NEVER_ASKED_MS = 1e13;
/** Where the service refuses for the rate and gives no time. */
const LEAST_HOLD_MS = 1_000;

export interface SchedulerOptions {
  readonly polls: readonly Poll[];
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: () => WatchPace;
  /** Told of every feed after every poll: its event, or why there is none. */
  readonly onResult: (feed: FeedKey, result: MarketEvent | GannetError) => void;
}

/** One poll, and where it stands. */
interface Line {
  readonly poll: Poll;
  readonly backOff: BackOff;
  readonly longestMs: Millis;
  sentAt: Millis;
  /** Not before then, however much there is room for. */
  dueAt: Millis;
  /** Queued or in flight. */
  isAsked: boolean;
  isFirst: boolean;
  isUnauthorized: boolean;
  /** Since when no request got a proper answer: the service may be out. Undefined where the last one did. */
  unheardSince: Millis | undefined;
}

/**
 * Repeats the polls until it is stopped, each first at once. Of those that are due, the one with the largest
 * weight × age² goes next, where age is the time since it was last sent. Under a rate too small for all, each poll then
 * goes out when its weight × age² has come up to one level common to all, so that its interval is proportional to 1 /
 * √weight: the optimum of `optimalIntervals`, reached without knowing the rate and kept while the rate changes. Those
 * that are due less often than that are sent when they are due.
 *
 * A poll is chosen when the rate has room for it and not before, so that the one that left last may be the most
 * pressing again. Where something more urgent takes its turn, it waits, and no other with it. Polls in flight hold
 * nobody up; what was missed is not made up for.
 *
 * Returns the function that stops it.
 */
export function startScheduler({ polls, clock, random, pace, onResult }: SchedulerOptions): () => void {
  const abort = new AbortController();
  const startedAt = clock.now();
  const lines = polls.map((poll): Line => {
    const longestMs = Math.max(LONGEST_BACK_OFF_MS, poll.everyMs);
    return {
      poll, longestMs, backOff: createBackOff({ baseMs: poll.everyMs, capMs: longestMs, random }),
      sentAt: startedAt - NEVER_ASKED_MS, dueAt: startedAt, isAsked: false, isFirst: true, isUnauthorized: false,
      unheardSince: undefined,
    };
  });
  let timer: Subscription | undefined;
  let heldUntil = startedAt;
  let isWaiting = false;
  let isChoosing = false;

  /** Hands polls on while they leave at once; else comes back when one has left, is due or has room. */
  function proceed(): void {
    if (isChoosing) return;
    isChoosing = true;
    timer?.unsubscribe();
    while (!isWaiting && !abort.signal.aborted) {
      const now = clock.now();
      const { waitMs, turnMs } = pace();
      const openAt = Math.max(heldUntil, now + waitMs);
      const line = openAt > now ? undefined : mostPressing(now);
      const nextAt = line === undefined ? Math.max(openAt, soonestDue()) : worthWaitingUntil(line, now, turnMs);
      if (line === undefined || nextAt > now) {
        if (nextAt < Infinity) timer = clock.schedule(proceed, Math.ceil(nextAt - now));
        break;
      }
      void ask(line);
    }
    isChoosing = false;
  }

  function mostPressing(now: Millis): Line | undefined {
    let most: Line | undefined;
    let pressure = -1;
    for (const line of lines) {
      if (line.isAsked || line.dueAt > now) continue;
      const itsPressure = pressureOf(line.poll, now - line.sentAt);
      if (itsPressure > pressure) [most, pressure] = [line, itsPressure];
    }
    return most;
  }

  /**
   * Returns when a more pressing line is due for which this one had better wait; now where there is none. Data that is
   * renewed late costs its weight × age for each ms. Where this one goes, the other is late by a turn, less what it
   * would have waited anyway; where this one waits, it is late by that and a turn, and that part of a turn is lost, of
   * which a whole one is worth the weight × age² / 2 that it renews.
   */
  function worthWaitingUntil(line: Line, now: Millis, turnMs: Millis): Millis {
    const { poll: { weight }, sentAt } = line;
    const ageMs = now - sentAt;
    const other = lines.find(({ poll, sentAt: otherSentAt, dueAt, isAsked }) => {
      const waitMs = dueAt - now;
      if (isAsked || waitMs <= 0 || waitMs >= turnMs
          || pressureOf(poll, dueAt - otherSentAt) <= pressureOf(line.poll, dueAt - sentAt)) return false;
      const saved = poll.weight * (now - otherSentAt) * (turnMs - waitMs);
      return saved > weight * ageMs * (turnMs + waitMs + (ageMs / 2) * (waitMs / turnMs));
    });
    return other?.dueAt ?? now;
  }

  function soonestDue(): Millis {
    return lines.reduce((soonest, { isAsked, dueAt }) => (isAsked ? soonest : Math.min(soonest, dueAt)), Infinity);
  }

  async function ask(line: Line): Promise<void> {
    let hasLeft = false;
    const onStart = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      isWaiting = false;
      line.sentAt = clock.now();
      proceed();
    };
    isWaiting = true;
    line.isAsked = true;
    line.sentAt = clock.now();
    const fault = await attempt(line.poll, onStart);
    // What was refused before it left waits no longer either.
    if (!hasLeft) isWaiting = false;
    if (abort.signal.aborted) return;
    line.isAsked = false;
    if (fault === undefined) succeeded(line);
    else failed(line, fault);
    proceed();
  }

  /** Returns the fault where the request as a whole failed. */
  async function attempt(poll: Poll, onStart: () => void): Promise<GannetError | undefined> {
    try {
      const results = await poll.request({ priority: 'watch', signal: abort.signal, onStart });
      if (!abort.signal.aborted) for (const [feed, result] of results) onResult(feed, result);
      return undefined;
    } catch (thrown) {
      if (abort.signal.aborted) return undefined;
      // Anything else is a bug of ours, and no feed is to survive it unnoticed.
      if (!isGannetError(thrown)) throw thrown;
      for (const feed of poll.feeds) onResult(feed, thrown);
      return thrown;
    }
  }

  function succeeded(line: Line): void {
    line.backOff.reset();
    line.dueAt = line.sentAt + gapMs(line);
    if (line.unheardSince !== undefined) {
      // The service answers again, all of them.
      for (const other of lines) {
        if (other.unheardSince !== undefined && other !== line) other.dueAt = Math.min(other.dueAt, clock.now());
        other.unheardSince = undefined;
      }
    }
    if (!line.isUnauthorized) return;
    // The key is accepted again, for all.
    for (const other of lines) {
      if (other.isUnauthorized) other.dueAt = Math.min(other.dueAt, other.sentAt + other.poll.everyMs);
      other.isUnauthorized = false;
    }
  }

  function failed(line: Line, fault: GannetError): void {
    const now = clock.now();
    line.isUnauthorized = fault.code === 'SERVICE_UNAUTHORIZED';
    line.unheardSince = isSilence(fault) ? line.unheardSince ?? now : undefined;
    if (fault.code === 'SERVICE_RATE_LIMITED') {
      // A matter of all, not of this one: everything waits, and this one is put off no longer than that.
      const resetInMs = fault.details['resetInMs'];
      heldUntil = Math.max(heldUntil, now + Math.max(LEAST_HOLD_MS, typeof resetInMs === 'number' ? resetInMs : 0));
      line.dueAt = line.sentAt + gapMs(line);
    } else {
      // A refused key will not be accepted by asking oftener.
      const delayMs = line.isUnauthorized ? line.longestMs : line.backOff.next();
      const isEager = line.unheardSince !== undefined && now - line.unheardSince < SILENT_EAGER_MS;
      line.dueAt = now
        + (isEager ? Math.min(delayMs, Math.max(SILENT_BACK_OFF_MS, lines.length * SILENT_TURN_MS)) : delayMs);
    }
  }

  /** The first gap is any part of the interval's second half: what began together goes apart at once. */
  function gapMs(line: Line): Millis {
    const factor = line.isFirst ? 0.5 + random() / 2 : 1 + JITTER * (2 * random() - 1);
    line.isFirst = false;
    return line.poll.everyMs * factor;
  }

  proceed();
  return () => {
    abort.abort();
    timer?.unsubscribe();
  };
}

function pressureOf({ weight }: Poll, ageMs: Millis): number {
  return weight * ageMs ** 2;
}
