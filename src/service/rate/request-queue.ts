import type { Subscription } from 'rxjs';
import { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { ServerLimits } from './limit-headers.ts';
import type { CallOptions, Priority } from './rate-plan.ts';
import { isMoreUrgent, PRIORITIES } from './rate-plan.ts';

/** An answer together with what its headers say of the rate. */
export interface LimitedAnswer<T> {
  readonly value: T;
  readonly limits?: ServerLimits | undefined;
}

/** A call whose request waits for its turn. */
export interface QueuedCall<T> extends CallOptions {
  /**
   * Names the question. Requests of one name in flight at the same time share one answer, so it may be given only
   * where sharing does no harm: two orders with a transaction must never be one.
   */
  readonly coalesceKey?: string | undefined;
  /**
   * Sends the request. Rejects with SERVICE_RATE_LIMITED (details: resetInMs) when the service refuses for its rate.
   */
  readonly send: (signal: AbortSignal) => Promise<LimitedAnswer<T>>;
  /** Whether another process sends the request itself: it takes its turn, but its answer is not seen here. */
  readonly isElsewhere?: boolean | undefined;
}

/**
 * How long a call may wait for its turn: an order for a price of long ago is worse than none. Watching waits as long as
 * it takes.
 */
const LONGEST_WAIT_MS: Readonly<Record<Priority, Millis | undefined>> = {
  execute: 30_000, exit: 15_000, entry: 15_000, watch: undefined,
};

/** One caller of a request. */
interface Caller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onStart?: (() => void) | undefined;
  readonly onAbort?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  timeout?: Subscription | undefined;
}

/** One request, and all callers that wait for its answer. */
export interface QueuedRequest {
  priority: Priority;
  readonly coalesceKey?: string | undefined;
  readonly send: (signal: AbortSignal) => Promise<LimitedAnswer<unknown>>;
  readonly isElsewhere: boolean;
  readonly callers: Set<Caller>;
  readonly abort: AbortController;
  state: 'queued' | 'in-flight' | 'done';
}

/** Requests that wait for their turn or for their answer, with their callers. */
export class RequestQueue {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #queues: Readonly<Record<Priority, QueuedRequest[]>> = { execute: [], exit: [], entry: [], watch: [] };
  readonly #shared = new Map<string, QueuedRequest>();
  readonly #inFlight = new Set<QueuedRequest>();
  #coalesced = 0;

  /** `onChange` is called when a caller is added, and when a waiting request is given up. */
  constructor({ clock, onChange }: { readonly clock: Clock; readonly onChange: () => void }) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /**
   * Rejects with the signal's reason once it is aborted, and with SERVICE_RATE_LIMITED where the turn comes too late to
   * be of use.
   */
  enqueue(call: QueuedCall<unknown>): Promise<unknown> {
    const { priority = 'entry', signal, onStart } = call;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const request = this.#requestFor(call);
    if (request.state === 'queued' && isMoreUrgent(priority, request.priority)) {
      this.#remove(request);
      request.priority = priority;
      this.#queues[priority].push(request);
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const caller: Caller = {
      resolve, reject, signal, onStart,
      onAbort: signal === undefined ? undefined : () => this.#leave(request, caller, signal.reason),
    };
    request.callers.add(caller);
    if (caller.onAbort !== undefined) signal?.addEventListener('abort', caller.onAbort);
    if (request.state === 'in-flight') onStart?.();
    else this.#onChange();
    const timeoutMs = LONGEST_WAIT_MS[priority];
    if (request.state === 'queued' && timeoutMs !== undefined) {
      caller.timeout =
        this.#clock.schedule(() => this.#leave(request, caller, waitedTooLong(timeoutMs)), timeoutMs);
    }
    return promise;
  }

  /** Returns the most urgent request that waits. A less urgent request never overtakes it. */
  head(): QueuedRequest | undefined {
    return PRIORITIES.map((priority) => this.#queues[priority][0]).find((request) => request !== undefined);
  }

  /** Sends a request. */
  start(request: QueuedRequest): Promise<LimitedAnswer<unknown>> {
    this.#remove(request);
    request.state = 'in-flight';
    this.#inFlight.add(request);
    // A caller that is added from here on is told at once.
    const waiting = [...request.callers];
    const answer = request.send(request.abort.signal);
    for (const caller of waiting) {
      caller.timeout?.unsubscribe();
      caller.onStart?.();
    }
    return answer;
  }

  settle(request: QueuedRequest, outcome: { readonly value: unknown } | { readonly reason: unknown }): void {
    request.state = 'done';
    this.#inFlight.delete(request);
    this.#unshare(request);
    for (const caller of request.callers) {
      release(caller);
      if ('value' in outcome) caller.resolve(outcome.value);
      else caller.reject(outcome.reason);
    }
    request.callers.clear();
  }

  inFlight(): ReadonlySet<QueuedRequest> {
    return this.#inFlight;
  }

  /** Returns how many requests wait for their turn. */
  queued(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.#queues[priority].length, 0);
  }

  /** Returns how many calls shared the answer of another. */
  coalesced(): number {
    return this.#coalesced;
  }

  /** Rejects every call that waits or is in flight. */
  clear(reason: unknown): void {
    for (const request of [...this.#inFlight, ...PRIORITIES.flatMap((priority) => [...this.#queues[priority]])]) {
      for (const caller of request.callers) this.#leave(request, caller, reason);
    }
  }

  #requestFor(call: QueuedCall<unknown>): QueuedRequest {
    const known = call.coalesceKey === undefined ? undefined : this.#shared.get(call.coalesceKey);
    if (known !== undefined) {
      this.#coalesced += 1;
      return known;
    }
    const request: QueuedRequest = {
      priority: call.priority ?? 'entry', coalesceKey: call.coalesceKey, send: call.send,
      isElsewhere: call.isElsewhere === true, callers: new Set(), abort: new AbortController(), state: 'queued',
    };
    this.#queues[request.priority].push(request);
    if (request.coalesceKey !== undefined) this.#shared.set(request.coalesceKey, request);
    return request;
  }

  /** A caller gives up; the request itself is given up with the last of them. */
  #leave(request: QueuedRequest, caller: Caller, reason: unknown): void {
    if (!request.callers.delete(caller)) return;
    release(caller);
    caller.reject(reason);
    if (request.callers.size > 0) return;
    this.#unshare(request);
    if (request.state === 'queued') {
      this.#remove(request);
      this.#onChange();
    } else {
      request.abort.abort(reason);
    }
  }

  #unshare(request: QueuedRequest): void {
    const { coalesceKey } = request;
    if (coalesceKey !== undefined && this.#shared.get(coalesceKey) === request) this.#shared.delete(coalesceKey);
  }

  #remove(request: QueuedRequest): void {
    const queue = this.#queues[request.priority];
    const place = queue.indexOf(request);
    if (place >= 0) queue.splice(place, 1);
  }
}

function release(caller: Caller): void {
  caller.timeout?.unsubscribe();
  if (caller.onAbort !== undefined) caller.signal?.removeEventListener('abort', caller.onAbort);
}

function waitedTooLong(timeoutMs: Millis): GannetError {
  return new GannetError('SERVICE_RATE_LIMITED', `no request could leave for ${timeoutMs} ms within the plan's rate; `
    + 'watch less, or less often, or use a larger plan');
}
