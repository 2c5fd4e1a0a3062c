import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';

/** Sustained requests per second by plan; `/execute` is counted apart from everything else. */
const PLANS = {
  keyless: { main: 0.5, execute: 20 },
  free: { main: 1, execute: 50 },
  developer: { main: 10, execute: 100 },
  launch: { main: 50, execute: 100 },
  pro: { main: 150, execute: 100 },
} as const;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as readonly PlanName[];

/** The rate that the key allows: a published plan, or a figure of the operator (the embedded service: a large one). */
export type RatePlan = PlanName | { readonly requestsPerSecond: number };

/** The two separate rates of one key. */
export type Bucket = 'main' | 'execute';

/**
 * Priorities in their order where requests are scarce: `execute` (landing and reconciling a signed swap) before `exit`
 * before `entry` before `watch`.
 */
export const PRIORITIES = ['execute', 'exit', 'entry', 'watch'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Returns whether `a` goes before `b`. */
export function isMoreUrgent(a: Priority, b: Priority): boolean {
  return PRIORITIES.indexOf(a) < PRIORITIES.indexOf(b);
}

/** The options of one call. */
export interface CallOptions {
  readonly priority?: Priority | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the request leaves, or joins one that has left: from then on it waits for its answer alone. */
  readonly onStart?: (() => void) | undefined;
}

/** At most `limit` requests within any `windowMs`. */
export interface BucketLimits {
  readonly limit: number;
  readonly windowMs: Millis;
}

// A plan is said to count over 60 s and was seen to count over 10 s: the shorter window keeps within both.
const WINDOW_SECONDS = 10;
// Two requests that leave one window apart may arrive closer together.
const SAFETY = 1.05;
const LEAST_EXECUTE_PER_SECOND = 50;
/** The share of a bucket that each priority may fill; the rest is headroom for more urgent requests. */
const SHARES: Readonly<Record<Priority, number>> = { execute: 1, exit: 1, entry: 0.9, watch: 0.8 };

/** Returns the sustained requests per second of a bucket. Throws CONFIG_INVALID unless the figure is positive. */
export function requestsPerSecond(plan: RatePlan, bucket: Bucket): number {
  if (typeof plan === 'string') return PLANS[plan][bucket];
  const rate = plan.requestsPerSecond;
  if (!Number.isFinite(rate) || rate <= 0) {
    throw new GannetError('CONFIG_INVALID', `expected requests_per_second to be a positive number, got ${rate}`);
  }
  return bucket === 'main' ? rate : Math.max(rate, LEAST_EXECUTE_PER_SECOND);
}

/** Returns the limits that keep a bucket just below its plan. */
export function bucketLimits(plan: RatePlan, bucket: Bucket): BucketLimits {
  const rate = requestsPerSecond(plan, bucket);
  const limit = Math.max(1, Math.floor(rate * WINDOW_SECONDS));
  return { limit, windowMs: Math.ceil((limit / rate) * 1_000 * SAFETY) };
}

/**
 * Returns the limits of a part of the rate: fewer requests in a window that is adjusted to what is left by rounding,
 * rounded to whichever side leaves watching the larger share.
 */
export function scaledLimits({ limit, windowMs }: BucketLimits, share: number): BucketLimits {
  const exact = limit * share;
  const [less, more] = [Math.max(1, Math.floor(exact)), Math.ceil(exact)];
  const scaled = watchPart(more) > watchPart(less) ? more : less;
  return { limit: scaled, windowMs: (scaled / exact) * windowMs };
}

function watchPart(limit: number): number {
  return shareOf({ limit }, 'watch') / limit;
}

/**
 * Returns how many requests a window may hold for one more of a priority to leave, itself included; at least 1. An
 * order finds one place more than watching, wherever there is more than one.
 */
export function shareOf({ limit }: Pick<BucketLimits, 'limit'>, priority: Priority): number {
  const share = Math.max(1, Math.floor(limit * SHARES[priority]));
  return priority === 'watch' ? share : Math.max(share, Math.min(limit, shareOf({ limit }, 'watch') + 1));
}

/**
 * Returns the sustained requests per second that are left for watching, after the headroom for orders and the safety
 * below the plan. Throws CONFIG_INVALID as `requestsPerSecond` does.
 */
export function watchRequestsPerSecond(plan: RatePlan): number {
  const limits = bucketLimits(plan, 'main');
  return (shareOf(limits, 'watch') / limits.windowMs) * 1_000;
}
