import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { LearnedLimit } from './limit-estimator.ts';
import type { Bucket, BucketLimits } from './rate-plan.ts';
import { shareOf } from './rate-plan.ts';

/** What a process passes on about one bucket to the next process. */
export interface BucketMemory {
  /** When requests left, coarsely and no earlier than they did. */
  readonly sends: readonly { readonly at: Millis; readonly count: number }[];
  readonly coolDownUntil?: Millis | undefined;
  readonly learned?: LearnedLimit | undefined;
}

/** The state of the rate between two processes. */
interface RateMemoryState {
  /** The service's address and the plan. State of another scope is not used. */
  readonly scope: string;
  readonly buckets: { readonly [bucket in Bucket]?: BucketMemory | undefined };
}

/** Stores the state of the rate, so that a process that crashes repeatedly does not burst at every start. */
export interface RateMemory {
  /** Returns undefined where no state was ever stored, and a state without scope where it cannot be read. */
  load(): RateMemoryState | undefined;
  /** Replaces the stored state. Called about once a second at most while requests leave evenly. */
  save(state: RateMemoryState): void;
}

/** One bucket's part of a memory: the state of the process before, and where this process writes its own. */
export interface StoredBucket {
  readonly earlier: BucketMemory | undefined;
  readonly save: (memory: BucketMemory) => void;
}

const UNREADABLE: RateMemoryState = { scope: '', buckets: {} };
const MOST_BYTES = 64 * 1024;

/** Returns the parts of a memory, bucket by bucket. State of another scope says only that its window may be full. */
export function storedBuckets(
  memory: RateMemory, { scope, clock }: { readonly scope: string; readonly clock: Pick<Clock, 'now'> },
): (bucket: Bucket) => StoredBucket {
  const loaded = memory.load();
  const isOurs = loaded?.scope === scope;
  const full: BucketMemory = { sends: [{ at: clock.now(), count: Number.MAX_SAFE_INTEGER }] };
  let state: RateMemoryState = { scope, buckets: isOurs ? loaded.buckets : {} };
  return (bucket) => ({
    earlier: loaded === undefined || isOurs ? state.buckets[bucket] : full,
    save(bucketState) {
      state = { scope, buckets: { ...state.buckets, [bucket]: bucketState } };
      memory.save(state);
    },
  });
}

/** How long a claim holds, and so about how often an even stream of requests is written to the file. */
const CLAIM_MS = 1_000;

/** Records requests in the memory before they leave, several at a time. */
export interface RateClaims {
  /** Called for each request before it is sent. */
  beforeSend(now: Millis): void;
  /** Records what a refusal taught; of several at once the first alone. */
  refused(now: Millis): void;
  /** Records that no more requests will leave. */
  close(now: Millis): void;
}

/**
 * Returns the claims of a bucket. Each write also claims the requests of the next second. A crash therefore loses no
 * request that has left, and most requests cost no write. In a burst each claim is twice as large as the one before.
 */
export function createRateClaims({ limits, memory, save }: {
  readonly limits: BucketLimits;
  readonly memory: (now: Millis) => BucketMemory;
  readonly save: (memory: BucketMemory) => void;
}): RateClaims {
  const evenSize = Math.max(1, Math.round((limits.limit / limits.windowMs) * CLAIM_MS));
  let savedAt = Number.NEGATIVE_INFINITY;
  let size = Math.max(evenSize, Math.ceil(shareOf(limits, 'watch') / 2));
  let left = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;

  function write(now: Millis, claimed: number): void {
    const known = memory(now);
    savedAt = now;
    left = claimed;
    save(claimed === 0 ? known : { ...known, sends: [...known.sends, { at: now + CLAIM_MS, count: claimed }] });
  }

  return {
    beforeSend(now) {
      const isFresh = now - savedAt < CLAIM_MS;
      if (isFresh && left > 0) {
        left -= 1;
        return;
      }
      if (savedAt !== Number.NEGATIVE_INFINITY) size = isFresh ? Math.min(limits.limit, size * 2) : evenSize;
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

const instant = z.number().nonnegative();
const LearnedShape = z.object({
  at: instant, share: z.number().positive().max(1), refusedShare: z.number().positive().max(1).optional(),
  burst: z.number().positive().optional(), refusals: z.int().positive().max(100),
}).transform((learned) => ({ burst: undefined, refusedShare: undefined, ...learned }));
const EARLIER_STEP_DOWN = 0.85;
/** Earlier versions stored the refused share, and used a part of it. */
const EarlierLearnedShape = z.object({
  at: instant, peak: z.number().positive().max(2), burst: z.number().positive().optional(),
  refusals: z.int().positive().max(100),
}).transform(({ peak, ...learned }) =>
  ({ burst: undefined, refusedShare: undefined, ...learned, share: Math.min(1, EARLIER_STEP_DOWN * peak) }));
const BucketShape = z.object({
  sends: z.array(z.object({ at: instant, count: z.int().positive() })).max(1_000),
  coolDownUntil: instant.optional(),
  // The name in the file; it stays as earlier versions wrote it.
  lesson: z.union([LearnedShape, EarlierLearnedShape]).optional(),
}).transform(({ lesson: learned, ...bucket }): BucketMemory => ({ ...bucket, learned }));
const FORMAT = 'gannet-rate-memory-1';
const StateShape = z.object({
  format: z.literal(FORMAT),
  scope: z.string(),
  buckets: z.object({ main: BucketShape.optional(), execute: BucketShape.optional() }),
});

/**
 * Returns a memory in a file of its own; its directory must exist. A missing file is an empty memory. A file that is
 * broken, or something else, is an unreadable memory and is overwritten. A fault of the disk is reported to `onFault`
 * once, and again after a success: the rate is also kept without a memory, except across restarts.
 */
export function createFileRateMemory(
  path: string, { onFault }: { readonly onFault: (message: string) => void },
): RateMemory {
  let isFaulty = false;

  return {
    load() {
      try {
        const text = statSync(path).size > MOST_BYTES ? '' : readFileSync(path, 'utf8');
        return parse(text) ?? UNREADABLE;
      } catch (thrown) {
        if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
        onFault(`cannot read ${path}: ${messageOf(thrown)}; requests start as if the rate were used up`);
        return UNREADABLE;
      }
    },

    save(state) {
      try {
        writeFileSync(`${path}.new`, `${textOf(state)}\n`, { mode: 0o600 });
        renameSync(`${path}.new`, path);
        isFaulty = false;
      } catch (thrown) {
        if (!isFaulty)
          onFault(`cannot write ${path}: ${messageOf(thrown)}; after a crash, requests may exceed the rate`);
        isFaulty = true;
      }
    },
  };
}

function textOf({ scope, buckets }: RateMemoryState): string {
  const written = Object.entries(buckets).map(([name, bucket]) => {
    if (bucket === undefined) return [name, undefined];
    const { learned: lesson, ...rest } = bucket;
    return [name, { ...rest, lesson }];
  });
  return JSON.stringify({ format: FORMAT, scope, buckets: Object.fromEntries(written) as unknown });
}

function parse(text: string): RateMemoryState | undefined {
  try {
    const { data } = StateShape.safeParse(JSON.parse(text));
    return data;
  } catch {
    // Torn, or not ours: the same as unreadable.
    return undefined;
  }
}
