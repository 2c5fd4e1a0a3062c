import type { Millis } from '../../core/time.ts';
import type { BucketMemory } from './rate-memory.ts';
import type { BucketLimits } from './rate-plan.ts';
import { shareOf } from './rate-plan.ts';

/** How long a claim holds, and so about how often a steady stream of requests is written down. */
const CLAIM_MS = 1_000;

/** Writes down what leaves before it leaves, several requests at a time. */
export interface RateKeeper {
  /** To be called for each request before it is sent. */
  leaving(now: Millis): void;
  /** Writes down what a refusal taught; of several at once the first alone. */
  refused(now: Millis): void;
  /** Writes down that nothing more will leave. */
  close(now: Millis): void;
}

/**
 * Returns the keeper of a bucket. What it writes claims the requests of the next second too, so that whenever the
 * process dies nothing left that is not written down, and nothing is written per request: bursts double the claim each
 * time.
 */
export function createRateKeeper({ limits, memory, save }: {
  readonly limits: BucketLimits;
  readonly memory: (now: Millis) => BucketMemory;
  readonly save: (memory: BucketMemory) => void;
}): RateKeeper {
  const steady = Math.max(1, Math.round((limits.limit / limits.windowMs) * CLAIM_MS));
  let savedAt = Number.NEGATIVE_INFINITY;
  let size = Math.max(steady, Math.ceil(shareOf(limits, 'watch') / 2));
  let left = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;

  function write(now: Millis, claimed: number): void {
    const known = memory(now);
    savedAt = now;
    left = claimed;
    save(claimed === 0 ? known : { ...known, sends: [...known.sends, { at: now + CLAIM_MS, count: claimed }] });
  }

  return {
    leaving(now) {
      const isFresh = now - savedAt < CLAIM_MS;
      if (isFresh && left > 0) {
        left -= 1;
        return;
      }
      if (savedAt !== Number.NEGATIVE_INFINITY) size = isFresh ? Math.min(limits.limit, size * 2) : steady;
      write(now, size - 1);
    },
    refused(now) {
      if (now - refusedAt < CLAIM_MS) return;
      refusedAt = now;
      write(now, left);
    },
    close: (now) => write(now, 0),
  };
}
