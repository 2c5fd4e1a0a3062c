import type { Subscription } from 'rxjs';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import { createAllowance } from './allowance.ts';
import type { CallOptions, Priority } from './priority.ts';
import { isMoreUrgent, PRIORITIES } from './priority.ts';
import type { BucketLimits } from './rate-plan.ts';
import type { ServerLimits } from './server-limits.ts';

/** An answer together with what its headers say of the rate. */
export interface Governed<T> {
  readonly value: T;
  readonly limits?: ServerLimits | undefined;
}

/** A request that waits for its turn. */
export interface Turn<T> extends CallOptions {
  /**
   * Names what is asked. Requests of one name in flight at the same time share one answer, so it may be given only
   * where sharing does no harm: two orders with a transaction must never be one.
   */
  readonly coalesceKey?: string | undefined;
  /** Sends the request. Rejects with SERVICE_RATE_LIMITED (details: resetInMs) when the service refuses for its rate. */
  readonly send: (signal: AbortSignal) => Promise<Governed<T>>;
}

export interface GovernorStats {
  readonly sent: number;
  /** Calls that shared the answer of another. */
  readonly coalesced: number;
  /** Answers of 429. */
  readonly refused: number;
  readonly queued: number;
  readonly inFlight: number;
  /** Undefined where nothing was refused lately. */
  readonly coolDownUntil: Millis | undefined;
}

/** The one choke point of a bucket. */
export interface RateGovernor {
  /**
   * Sends when the rate allows, the most urgent first. Rejects as `send` does, with the signal's reason once it is
   * aborted, and with SERVICE_RATE_LIMITED where the wait for a turn would make the answer useless.
   */
  run<T>(turn: Turn<T>): Promise<T>;
  stats(): GovernorStats;
  /** Rejects everything that waits or is in flight, and everything that comes later. */
  close(): void;
}

export interface RateGovernorOptions {
  readonly limits: BucketLimits;
  readonly clock: Clock;
  /** Requests in flight at once; watching may use three quarters of them. */
  readonly maxInFlight: number;
}

/** How long a call may wait for its turn: an order for a price of long ago is worse than none. Watching waits as long as it takes. */
const LONGEST_WAIT_MS: Readonly<Record<Priority, Millis | undefined>> = {
  execute: 30_000, exit: 15_000, entry: 15_000, watch: undefined,
};

/** One caller of a job. */
interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onAbort?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  patience?: Subscription | undefined;
}

/** One request and everybody who waits for it. */
interface Job {
  priority: Priority;
  readonly coalesceKey?: string | undefined;
  readonly send: (signal: AbortSignal) => Promise<Governed<unknown>>;
  readonly waiters: Set<Waiter>;
  readonly abort: AbortController;
  state: 'queued' | 'in-flight' | 'done';
}

/** Returns the governor of one bucket. */
export function createRateGovernor({ limits, clock, maxInFlight }: RateGovernorOptions): RateGovernor {
  const allowance = createAllowance(limits);
  const queues: Readonly<Record<Priority, Job[]>> = { execute: [], exit: [], entry: [], watch: [] };
  const shared = new Map<string, Job>();
  const inFlight = new Set<Job>();
  const counts = { sent: 0, coalesced: 0, refused: 0 };
  let wakeUp: Subscription | undefined;
  let closed = false;

  /** Strictly by priority: whoever waits at the head is never overtaken by someone less urgent. */
  function pump(): void {
    wakeUp?.unsubscribe();
    wakeUp = undefined;
    if (closed) return;
    for (;;) {
      const job = PRIORITIES.map((priority) => queues[priority][0]).find((head) => head !== undefined);
      if (job === undefined || !hasRoom(job.priority)) return;
      const now = clock.now();
      const readyAt = allowance.readyAt(job.priority, now);
      if (readyAt > now) {
        wakeUp = clock.schedule(pump, readyAt - now);
        return;
      }
      queues[job.priority].shift();
      void start(job, now);
    }
  }

  function hasRoom(priority: Priority): boolean {
    if (allowance.isProbing()) return inFlight.size === 0;
    return inFlight.size < (priority === 'watch' ? Math.max(1, Math.floor(maxInFlight * 0.75)) : maxInFlight);
  }

  async function start(job: Job, now: Millis): Promise<void> {
    job.state = 'in-flight';
    inFlight.add(job);
    counts.sent += 1;
    for (const waiter of job.waiters) waiter.patience?.unsubscribe();
    const number = allowance.sent(job.priority, now);
    try {
      const { value, limits: told } = await job.send(job.abort.signal);
      allowance.answered(number, told, clock.now());
      settle(job, (waiter) => waiter.resolve(value));
    } catch (thrown) {
      learnFromFault(number, thrown);
      settle(job, (waiter) => waiter.reject(thrown));
    }
    pump();
  }

  function learnFromFault(number: number, thrown: unknown): void {
    if (!isGannetError(thrown)) return;
    if (thrown.code === 'SERVICE_RATE_LIMITED') {
      counts.refused += 1;
      const resetInMs = thrown.details['resetInMs'];
      allowance.refused(number, typeof resetInMs === 'number' ? resetInMs : undefined, clock.now());
    } else if (thrown.details['status'] !== undefined) {
      // The service counts before it looks: any other status means that the rate was in order.
      allowance.answered(number, undefined, clock.now());
    }
  }

  function settle(job: Job, tell: (waiter: Waiter) => void): void {
    job.state = 'done';
    inFlight.delete(job);
    if (job.coalesceKey !== undefined && shared.get(job.coalesceKey) === job) shared.delete(job.coalesceKey);
    for (const waiter of job.waiters) {
      release(waiter);
      tell(waiter);
    }
    job.waiters.clear();
  }

  /** A caller gives up; the request itself is given up with the last of them. */
  function leave(job: Job, waiter: Waiter, reason: unknown): void {
    if (!job.waiters.delete(waiter)) return;
    release(waiter);
    waiter.reject(reason);
    if (job.waiters.size > 0) return;
    if (job.coalesceKey !== undefined && shared.get(job.coalesceKey) === job) shared.delete(job.coalesceKey);
    if (job.state === 'queued') {
      unqueue(job);
      pump();
    } else {
      job.abort.abort(reason);
    }
  }

  function unqueue(job: Job): void {
    const queue = queues[job.priority];
    const place = queue.indexOf(job);
    if (place >= 0) queue.splice(place, 1);
  }

  function join(job: Job, { priority = 'entry', signal }: CallOptions): Promise<unknown> {
    if (job.state === 'queued' && isMoreUrgent(priority, job.priority)) {
      unqueue(job);
      job.priority = priority;
      queues[priority].push(job);
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiter: Waiter = {
      resolve, reject, signal,
      onAbort: signal === undefined ? undefined : () => leave(job, waiter, signal.reason),
    };
    job.waiters.add(waiter);
    if (waiter.onAbort !== undefined) signal?.addEventListener('abort', waiter.onAbort);
    pump();
    const patienceMs = LONGEST_WAIT_MS[priority];
    if (job.state === 'queued' && patienceMs !== undefined) {
      waiter.patience = clock.schedule(() => leave(job, waiter, waitedTooLong(patienceMs)), patienceMs);
    }
    return promise;
  }

  function jobFor(turn: Turn<unknown>): Job {
    const known = turn.coalesceKey === undefined ? undefined : shared.get(turn.coalesceKey);
    if (known !== undefined) {
      counts.coalesced += 1;
      return known;
    }
    const job: Job = {
      priority: turn.priority ?? 'entry',
      coalesceKey: turn.coalesceKey,
      send: turn.send,
      waiters: new Set(),
      abort: new AbortController(),
      state: 'queued',
    };
    queues[job.priority].push(job);
    if (job.coalesceKey !== undefined) shared.set(job.coalesceKey, job);
    return job;
  }

  return {
    run<T>(turn: Turn<T>): Promise<T> {
      if (closed) return Promise.reject(closedError());
      if (turn.signal?.aborted === true) return Promise.reject(turn.signal.reason as Error);
      return join(jobFor(turn), turn) as Promise<T>;
    },

    stats() {
      const coolDownUntil = allowance.coolDownUntil();
      return {
        ...counts,
        queued: PRIORITIES.reduce((sum, priority) => sum + queues[priority].length, 0),
        inFlight: inFlight.size,
        coolDownUntil: coolDownUntil > clock.now() ? coolDownUntil : undefined,
      };
    },

    close() {
      closed = true;
      wakeUp?.unsubscribe();
      const jobs = [...inFlight, ...PRIORITIES.flatMap((priority) => [...queues[priority]])];
      for (const job of jobs) {
        for (const waiter of job.waiters) leave(job, waiter, closedError());
      }
    },
  };
}

function release(waiter: Waiter): void {
  waiter.patience?.unsubscribe();
  if (waiter.onAbort !== undefined) waiter.signal?.removeEventListener('abort', waiter.onAbort);
}

function waitedTooLong(patienceMs: Millis): GannetError {
  return new GannetError('SERVICE_RATE_LIMITED', `no request could leave for ${patienceMs} ms within the plan's rate; watch less, or less often, or use a larger plan`);
}

function closedError(): GannetError {
  return new GannetError('SERVICE_UNREACHABLE', 'the connection to the service was closed on our side');
}
