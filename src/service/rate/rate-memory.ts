import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { RateLesson } from './limit-estimator.ts';
import type { Bucket } from './rate-plan.ts';

/** What the governor of a bucket has to know of the process before. */
export interface BucketMemory {
  /** When requests left, coarsely and no earlier than they did. */
  readonly sends: readonly { readonly at: Millis; readonly count: number }[];
  readonly coolDownUntil?: Millis | undefined;
  readonly lesson?: RateLesson | undefined;
}

/** What is kept of the rate between two processes. */
export interface RateMemoryState {
  /** Whom it was learnt of: the service's address and the plan. State of another scope is not believed. */
  readonly scope: string;
  readonly buckets: { readonly [bucket in Bucket]?: BucketMemory | undefined };
}

/** Keeps the state of the rate beyond the process, so that one that keeps crashing does not burst at every start. */
export interface RateMemory {
  /** Returns undefined where nothing was ever kept, and a state of no scope where what was kept cannot be read. */
  load(): RateMemoryState | undefined;
  /** Keeps a state, in place of any before. Called about once a second at most while requests leave steadily. */
  save(state: RateMemoryState): void;
}

/** One bucket's part of it: what an earlier process left behind, and where this one leaves its own. */
export interface KeptBucket {
  readonly earlier: BucketMemory | undefined;
  readonly save: (memory: BucketMemory) => void;
}

const UNREADABLE: RateMemoryState = { scope: '', buckets: {} };
const MOST_BYTES = 64 * 1024;

/** Returns the parts of a memory, bucket by bucket. State of another scope says only that its window may be full. */
export function keptBuckets(
  memory: RateMemory, { scope, clock }: { readonly scope: string; readonly clock: Pick<Clock, 'now'> },
): (bucket: Bucket) => KeptBucket {
  const loaded = memory.load();
  const isOurs = loaded?.scope === scope;
  const full: BucketMemory = { sends: [{ at: clock.now(), count: Number.MAX_SAFE_INTEGER }] };
  let state: RateMemoryState = { scope, buckets: isOurs ? loaded.buckets : {} };
  return (bucket) => ({
    earlier: loaded === undefined || isOurs ? state.buckets[bucket] : full,
    save(kept) {
      state = { scope, buckets: { ...state.buckets, [bucket]: kept } };
      memory.save(state);
    },
  });
}

const EARLIER_STEP_DOWN = 0.85;
const instant = z.number().nonnegative();
const LessonShape = z.object({
  at: instant, share: z.number().positive().max(1), refusedShare: z.number().positive().max(1).optional(),
  burst: z.number().positive().optional(), refusals: z.int().positive().max(100),
}).transform((lesson) => ({ burst: undefined, refusedShare: undefined, ...lesson }));
/** Earlier versions kept the refused share, and held to a part of it. */
const EarlierLessonShape = z.object({
  at: instant, peak: z.number().positive().max(2), burst: z.number().positive().optional(),
  refusals: z.int().positive().max(100),
}).transform(({ peak, ...lesson }) =>
  ({ burst: undefined, refusedShare: undefined, ...lesson, share: Math.min(1, EARLIER_STEP_DOWN * peak) }));
const BucketShape = z.object({
  sends: z.array(z.object({ at: instant, count: z.int().positive() })).max(1_000),
  coolDownUntil: instant.optional(),
  lesson: z.union([LessonShape, EarlierLessonShape]).optional(),
});
const StateShape = z.object({
  format: z.literal('gannet-rate-memory-1'),
  scope: z.string(),
  buckets: z.object({ main: BucketShape.optional(), execute: BucketShape.optional() }),
});

/**
 * Returns a memory in a file of its own; its directory must exist. A file that is missing is an empty memory; one that
 * is broken or something else is one that cannot be read, and is written over. A fault of the disk is told to `onFault`
 * once, and again after a success: the rate is held without a memory too, except across restarts.
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
        writeFileSync(
          `${path}.new`, `${JSON.stringify({ format: 'gannet-rate-memory-1', ...state })}\n`, { mode: 0o600 },
        );
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

function parse(text: string): RateMemoryState | undefined {
  try {
    const { data } = StateShape.safeParse(JSON.parse(text));
    return data;
  } catch {
    // Torn or something else's: the same as unreadable.
    return undefined;
  }
}
