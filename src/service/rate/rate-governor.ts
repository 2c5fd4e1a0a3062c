import type { Subscription } from 'rxjs';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { SentRequest, WatchPace } from './back-off.ts';
import { RateLimiter } from './back-off.ts';
import type { RateClaims, StoredBucket } from './rate-memory.ts';
import { createRateClaims } from './rate-memory.ts';
import type { BucketLimits, Priority } from './rate-plan.ts';
import { isMoreUrgent } from './rate-plan.ts';
import type { QueuedCall, QueuedRequest } from './request-queue.ts';
import { RequestQueue } from './request-queue.ts';

export interface GovernorStats {
  readonly sent: number;
  /** Calls that shared the answer of another. */
  readonly coalesced: number;
  /** Answers of 429. */
  readonly refused: number;
  /** Without an answer, or with one of another fault. */
  readonly failed: number;
  readonly queued: number;
  readonly inFlight: number;
  /** Undefined where nothing was refused lately. */
  readonly coolDownUntil: Millis | undefined;
  /** The rate that is allowed now, headroom included: below the plan where refusals taught it. */
  readonly requestsPerSecond: number;
}

/** How one bucket is governed. */
interface RateGovernorOptions {
  readonly limits: BucketLimits;
  readonly clock: Clock;
  /** Requests in flight at once; watching may use three quarters of them. */
  readonly maxInFlight: number;
  readonly memory?: StoredBucket | undefined;
}

/** Sends the requests of one bucket within its rate. */
export class RateGovernor {
  readonly #clock: Clock;
  readonly #maxInFlight: number;
  readonly #limiter: RateLimiter;
  readonly #claims: RateClaims | undefined;
  readonly #queue: RequestQueue;
  #sent = 0;
  #refused = 0;
  #failed = 0;
  #wakeUp: Subscription | undefined;
  #isClosed = false;

  constructor({ limits, clock, maxInFlight, memory }: RateGovernorOptions) {
    this.#clock = clock;
    this.#maxInFlight = maxInFlight;
    this.#limiter = new RateLimiter(limits, clock.now(), memory?.earlier);
    this.#claims = memory === undefined ? undefined
      : createRateClaims({ limits, memory: (now) => this.#limiter.memory(now), save: memory.save });
    this.#queue = new RequestQueue({ clock, onChange: () => this.#sendReady() });
  }

  /**
   * Sends when the rate allows, the most urgent first. Rejects as `send` does, with the signal's reason once it is
   * aborted, and with SERVICE_RATE_LIMITED where the wait for a turn would make the answer useless.
   */
  run<T>(call: QueuedCall<T>): Promise<T> {
    return this.#isClosed ? Promise.reject(closedError()) : this.#queue.enqueue(call) as Promise<T>;
  }

  watchPace(): WatchPace {
    return this.#limiter.watchPace(this.#clock.now());
  }

  stats(): GovernorStats {
    const coolDownUntil = this.#limiter.coolDownUntil();
    return {
      sent: this.#sent,
      refused: this.#refused,
      failed: this.#failed,
      coalesced: this.#queue.coalesced(),
      queued: this.#queue.queued(),
      inFlight: this.#queue.inFlight().size,
      coolDownUntil: coolDownUntil > this.#clock.now() ? coolDownUntil : undefined,
      requestsPerSecond: this.#limiter.requestsPerSecond(),
    };
  }

  /** Rejects every call that waits or is in flight, and every later call. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wakeUp?.unsubscribe();
    this.#claims?.close(this.#clock.now());
    this.#queue.clear(closedError());
  }

  #sendReady(): void {
    this.#wakeUp?.unsubscribe();
    this.#wakeUp = undefined;
    if (this.#isClosed) return;
    for (;;) {
      const request = this.#queue.head();
      if (request === undefined || !this.#hasRoom(request.priority)) return;
      const now = this.#clock.now();
      const readyAt = this.#limiter.readyAt(request.priority, now);
      if (readyAt > now) {
        this.#wakeUp = this.#clock.schedule(() => this.#sendReady(), readyAt - now);
        return;
      }
      void this.#start(request, now);
    }
  }

  #hasRoom(priority: Priority): boolean {
    const inFlight = this.#queue.inFlight();
    // A signed transaction does not wait for the answer to another request; trying early costs one refusal at most.
    if (priority === 'execute') return inFlight.size < this.#maxInFlight;
    if (this.#limiter.isProbing()) return [...inFlight].every((request) => isMoreUrgent(priority, request.priority));
    const isWatch = priority === 'watch';
    return inFlight.size < (isWatch ? Math.max(1, Math.floor(this.#maxInFlight * 0.75)) : this.#maxInFlight);
  }

  async #start(request: QueuedRequest, now: Millis): Promise<void> {
    this.#sent += 1;
    const sent = this.#limiter.sent(request.priority, now);
    this.#claims?.beforeSend(now);
    try {
      const { value, limits: told } = await this.#queue.start(request);
      if (!request.isElsewhere) this.#limiter.answered(sent, told, this.#clock.now());
      this.#queue.settle(request, { value });
    } catch (reason) {
      this.#learnFromFault(sent, reason);
      this.#queue.settle(request, { reason });
    }
    this.#sendReady();
  }

  #learnFromFault(sent: SentRequest, thrown: unknown): void {
    if (!isGannetError(thrown) || thrown.code !== 'SERVICE_RATE_LIMITED') this.#failed += 1;
    if (!isGannetError(thrown)) return;
    const now = this.#clock.now();
    if (thrown.code === 'SERVICE_RATE_LIMITED') {
      const resetInMs = thrown.details['resetInMs'];
      this.#refused += 1;
      this.#limiter.refused(sent, typeof resetInMs === 'number' ? resetInMs : undefined, now);
      this.#claims?.refused(now);
    } else if (thrown.details['status'] !== undefined) {
      // The service counts a request before it reads it: any other status means that the rate was in order.
      this.#limiter.answered(sent, undefined, now);
    }
  }
}

function closedError(): GannetError {
  return new GannetError('SERVICE_UNREACHABLE', 'the connection to the service was closed on our side');
}
