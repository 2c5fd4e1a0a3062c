import type { Subscription } from 'rxjs';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Sent, WatchPace } from './rate-limiter.ts';
import { createAllowance } from './rate-limiter.ts';
import type { Priority } from './priority.ts';
import { isMoreUrgent } from './priority.ts';
import { createRateKeeper } from './rate-keeper.ts';
import type { KeptBucket } from './rate-memory.ts';
import type { BucketLimits } from './rate-plan.ts';
import type { Job, Turn } from './request-queue.ts';
import { createTurnQueue } from './request-queue.ts';

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
  /** What is held to now, headroom included: below the plan where refusals taught it. */
  readonly requestsPerSecond: number;
}

/** The one choke point of a bucket. */
export interface RateGovernor {
  /**
   * Sends when the rate allows, the most urgent first. Rejects as `send` does, with the signal's reason once it is
   * aborted, and with SERVICE_RATE_LIMITED where the wait for a turn would make the answer useless.
   */
  run<T>(turn: Turn<T>): Promise<T>;
  watchPace(): WatchPace;
  stats(): GovernorStats;
  /** Rejects everything that waits or is in flight, and everything that comes later. */
  close(): void;
}

export interface RateGovernorOptions {
  readonly limits: BucketLimits;
  readonly clock: Clock;
  /** Requests in flight at once; watching may use three quarters of them. */
  readonly maxInFlight: number;
  readonly memory?: KeptBucket | undefined;
}

/** Returns the governor of one bucket. */
export function createRateGovernor({ limits, clock, maxInFlight, memory }: RateGovernorOptions): RateGovernor {
  const allowance = createAllowance(limits, clock.now(), memory?.earlier);
  const keeper = memory === undefined ? undefined
    : createRateKeeper({ limits, memory: (now) => allowance.memory(now), save: memory.save });
  const queue = createTurnQueue({ clock, onChange: pump });
  const counts = { sent: 0, refused: 0 };
  let wakeUp: Subscription | undefined;
  let closed = false;

  function pump(): void {
    wakeUp?.unsubscribe();
    wakeUp = undefined;
    if (closed) return;
    for (;;) {
      const job = queue.head();
      if (job === undefined || !hasRoom(job.priority)) return;
      const now = clock.now();
      const readyAt = allowance.readyAt(job.priority, now);
      if (readyAt > now) {
        wakeUp = clock.schedule(pump, readyAt - now);
        return;
      }
      void start(job, now);
    }
  }

  function hasRoom(priority: Priority): boolean {
    const flying = queue.inFlight();
    // Nothing that is signed waits for somebody else's answer; trying early costs no more than a refusal.
    if (priority === 'execute') return flying.size < maxInFlight;
    if (allowance.isProbing()) return [...flying].every((job) => isMoreUrgent(priority, job.priority));
    return flying.size < (priority === 'watch' ? Math.max(1, Math.floor(maxInFlight * 0.75)) : maxInFlight);
  }

  async function start(job: Job, now: Millis): Promise<void> {
    counts.sent += 1;
    const sent = allowance.sent(job.priority, now);
    keeper?.leaving(now);
    try {
      const { value, limits: told } = await queue.start(job);
      allowance.answered(sent, told, clock.now());
      queue.settle(job, { value });
    } catch (reason) {
      learnFromFault(sent, reason);
      queue.settle(job, { reason });
    }
    pump();
  }

  function learnFromFault(sent: Sent, thrown: unknown): void {
    if (!isGannetError(thrown)) return;
    const now = clock.now();
    if (thrown.code === 'SERVICE_RATE_LIMITED') {
      const resetInMs = thrown.details['resetInMs'];
      counts.refused += 1;
      allowance.refused(sent, typeof resetInMs === 'number' ? resetInMs : undefined, now);
      keeper?.refused(now);
    } else if (thrown.details['status'] !== undefined) {
      // The service counts before it looks: any other status means that the rate was in order.
      allowance.answered(sent, undefined, now);
    }
  }

  return {
    run<T>(turn: Turn<T>): Promise<T> {
      return closed ? Promise.reject(closedError()) : queue.ask(turn) as Promise<T>;
    },

    watchPace: () => allowance.watchPace(clock.now()),

    stats() {
      const now = clock.now();
      const coolDownUntil = allowance.coolDownUntil();
      return {
        ...counts,
        coalesced: queue.coalesced(),
        queued: queue.queued(),
        inFlight: queue.inFlight().size,
        coolDownUntil: coolDownUntil > now ? coolDownUntil : undefined,
        requestsPerSecond: allowance.requestsPerSecond(),
      };
    },

    close() {
      if (closed) return;
      closed = true;
      wakeUp?.unsubscribe();
      keeper?.close(clock.now());
      queue.clear(closedError());
    },
  };
}

function closedError(): GannetError {
  return new GannetError('SERVICE_UNREACHABLE', 'the connection to the service was closed on our side');
}
