import type { Subscription } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import { createBackOff } from './back-off.ts';
import type { Poll } from './poll.ts';

/** The share of an interval by which a poll may come sooner or later, so that pollers do not march in step. */
const JITTER = 0.1;
const LONGEST_BACK_OFF_MS = 60_000;

export interface PollerOptions {
  readonly poll: Poll;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every feed after every poll: its event, or why there is none. */
  readonly onResult: (feed: FeedKey, result: MarketEvent | GannetError) => void;
}

/**
 * Repeats one request until it is stopped, the first time at once. The next poll is set only when the last one is
 * settled, so polls never stack; those missed meanwhile are not made up for. Returns the function that stops it.
 */
export function startPoller({ poll, clock, random, onResult }: PollerOptions): () => void {
  const abort = new AbortController();
  const longestMs = Math.max(LONGEST_BACK_OFF_MS, poll.everyMs);
  const backOff = createBackOff({ baseMs: poll.everyMs, capMs: longestMs, random });
  let timer: Subscription | undefined;
  let isFirst = true;

  async function run(): Promise<void> {
    const startedAt = clock.now();
    const fault = await attempt();
    if (abort.signal.aborted) return;
    const now = clock.now();
    const delayMs = fault === undefined ? startedAt + gapMs() - now : retryMs(fault);
    timer = clock.schedule(() => void run(), Math.max(0, Math.round(delayMs)));
  }

  /** Returns the fault where the request as a whole failed. */
  async function attempt(): Promise<GannetError | undefined> {
    try {
      const results = await poll.request(abort.signal);
      if (!abort.signal.aborted) for (const [feed, result] of results) onResult(feed, result);
      backOff.reset();
      return undefined;
    } catch (thrown) {
      if (abort.signal.aborted) return undefined;
      // Anything else is a bug of ours, and no feed is to survive it unnoticed.
      if (!isGannetError(thrown)) throw thrown;
      for (const feed of poll.feeds) onResult(feed, thrown);
      return thrown;
    }
  }

  /** The first gap is any part of the interval's second half: what began together goes apart at once. */
  function gapMs(): Millis {
    const factor = isFirst ? 0.5 + random() / 2 : 1 + JITTER * (2 * random() - 1);
    isFirst = false;
    return poll.everyMs * factor;
  }

  function retryMs(fault: GannetError): Millis {
    // A refused key will not be accepted by asking oftener.
    if (fault.code === 'SERVICE_UNAUTHORIZED') return longestMs;
    const resetInMs = fault.details['resetInMs'];
    return Math.max(backOff.next(), typeof resetInMs === 'number' ? resetInMs : 0);
  }

  void run();
  return () => {
    abort.abort();
    timer?.unsubscribe();
  };
}
