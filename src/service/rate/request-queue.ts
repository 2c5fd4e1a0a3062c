import type { Subscription } from 'rxjs';
import { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { CallOptions, Priority } from './priority.ts';
import { isMoreUrgent, PRIORITIES } from './priority.ts';
import type { ServerLimits } from './limit-headers.ts';

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
  /**
   * Sends the request. Rejects with SERVICE_RATE_LIMITED (details: resetInMs) when the service refuses for its rate.
   */
  readonly send: (signal: AbortSignal) => Promise<Governed<T>>;
}

/**
 * How long a call may wait for its turn: an order for a price of long ago is worse than none. Watching waits as long as
 * it takes.
 */
const LONGEST_WAIT_MS: Readonly<Record<Priority, Millis | undefined>> = {
  execute: 30_000, exit: 15_000, entry: 15_000, watch: undefined,
};

/** One caller of a job. */
interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onStart?: (() => void) | undefined;
  readonly onAbort?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  patience?: Subscription | undefined;
}

/** One request and everybody who waits for it. */
export interface Job {
  priority: Priority;
  readonly coalesceKey?: string | undefined;
  readonly send: (signal: AbortSignal) => Promise<Governed<unknown>>;
  readonly waiters: Set<Waiter>;
  readonly abort: AbortController;
  state: 'queued' | 'in-flight' | 'done';
}

/** Requests that wait for their turn or for their answer, and who asked for them. */
export interface TurnQueue {
  /**
   * Rejects with the signal's reason once it is aborted, and with SERVICE_RATE_LIMITED where the turn comes too late to
   * be of use.
   */
  ask(turn: Turn<unknown>): Promise<unknown>;
  /**
   * Returns the most urgent that waits; strictly by priority: whoever is at the head is never overtaken by someone less
   * urgent.
   */
  head(): Job | undefined;
  /** Sends a job. */
  start(job: Job): Promise<Governed<unknown>>;
  settle(job: Job, outcome: { readonly value: unknown } | { readonly reason: unknown }): void;
  inFlight(): ReadonlySet<Job>;
  queued(): number;
  /** Calls that shared the answer of another. */
  coalesced(): number;
  /** Rejects everything that waits or is in flight. */
  clear(reason: unknown): void;
}

/** Returns an empty queue. `onChange` is told when somebody joins and when what waits is given up. */
export function createTurnQueue(
  { clock, onChange }: { readonly clock: Clock; readonly onChange: () => void },
): TurnQueue {
  const queues: Readonly<Record<Priority, Job[]>> = { execute: [], exit: [], entry: [], watch: [] };
  const shared = new Map<string, Job>();
  const inFlight = new Set<Job>();
  let coalesced = 0;

  function unshare(job: Job): void {
    if (job.coalesceKey !== undefined && shared.get(job.coalesceKey) === job) shared.delete(job.coalesceKey);
  }

  function unqueue(job: Job): void {
    const queue = queues[job.priority];
    const place = queue.indexOf(job);
    if (place >= 0) queue.splice(place, 1);
  }

  /** A caller gives up; the request itself is given up with the last of them. */
  function leave(job: Job, waiter: Waiter, reason: unknown): void {
    if (!job.waiters.delete(waiter)) return;
    release(waiter);
    waiter.reject(reason);
    if (job.waiters.size > 0) return;
    unshare(job);
    if (job.state === 'queued') {
      unqueue(job);
      onChange();
    } else {
      job.abort.abort(reason);
    }
  }

  function jobFor(turn: Turn<unknown>): Job {
    const known = turn.coalesceKey === undefined ? undefined : shared.get(turn.coalesceKey);
    if (known !== undefined) {
      coalesced += 1;
      return known;
    }
    const job: Job = {
      priority: turn.priority ?? 'entry', coalesceKey: turn.coalesceKey, send: turn.send,
      waiters: new Set(), abort: new AbortController(), state: 'queued',
    };
    queues[job.priority].push(job);
    if (job.coalesceKey !== undefined) shared.set(job.coalesceKey, job);
    return job;
  }

  return {
    ask(turn) {
      const { priority = 'entry', signal, onStart } = turn;
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      const job = jobFor(turn);
      if (job.state === 'queued' && isMoreUrgent(priority, job.priority)) {
        unqueue(job);
        job.priority = priority;
        queues[priority].push(job);
      }
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const waiter: Waiter = {
        resolve, reject, signal, onStart,
        onAbort: signal === undefined ? undefined : () => leave(job, waiter, signal.reason),
      };
      job.waiters.add(waiter);
      if (waiter.onAbort !== undefined) signal?.addEventListener('abort', waiter.onAbort);
      if (job.state === 'in-flight') onStart?.();
      else onChange();
      const patienceMs = LONGEST_WAIT_MS[priority];
      if (job.state === 'queued' && patienceMs !== undefined) {
        waiter.patience = clock.schedule(() => leave(job, waiter, waitedTooLong(patienceMs)), patienceMs);
      }
      return promise;
    },

    head: () => PRIORITIES.map((priority) => queues[priority][0]).find((job) => job !== undefined),

    start(job) {
      unqueue(job);
      job.state = 'in-flight';
      inFlight.add(job);
      // Whoever joins from here on is told at once.
      const waiting = [...job.waiters];
      const answer = job.send(job.abort.signal);
      for (const waiter of waiting) {
        waiter.patience?.unsubscribe();
        waiter.onStart?.();
      }
      return answer;
    },

    settle(job, outcome) {
      job.state = 'done';
      inFlight.delete(job);
      unshare(job);
      for (const waiter of job.waiters) {
        release(waiter);
        if ('value' in outcome) waiter.resolve(outcome.value);
        else waiter.reject(outcome.reason);
      }
      job.waiters.clear();
    },

    inFlight: () => inFlight,
    queued: () => PRIORITIES.reduce((sum, priority) => sum + queues[priority].length, 0),
    coalesced: () => coalesced,

    clear(reason) {
      for (const job of [...inFlight, ...PRIORITIES.flatMap((priority) => [...queues[priority]])]) {
        for (const waiter of job.waiters) leave(job, waiter, reason);
      }
    },
  };
}

function release(waiter: Waiter): void {
  waiter.patience?.unsubscribe();
  if (waiter.onAbort !== undefined) waiter.signal?.removeEventListener('abort', waiter.onAbort);
}

function waitedTooLong(patienceMs: Millis): GannetError {
  return new GannetError('SERVICE_RATE_LIMITED', `no request could leave for ${patienceMs} ms within the plan's rate; `
    + 'watch less, or less often, or use a larger plan');
}
