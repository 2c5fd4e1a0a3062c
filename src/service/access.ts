import type { Observable } from 'rxjs';
import { concat, defer, of, Subject } from 'rxjs';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Priority } from './rate/rate-plan.ts';

const FIRST_PROBE_MS = 30_000;
const LONGEST_PROBE_MS = 600_000;
/** A signed transaction expires within a minute or so: it may not wait for the next probe. */
const EXECUTE_PROBE_MS = 2_000;
/** Statuses that say nothing of the key: the service, or a host in front of it, gives them before it checks the key. */
const KEY_UNKNOWN_STATUSES = new Set([403, 408, 429]);

/** An outage is this many requests in a row without a proper answer, over at least this time. One answer ends it. */
const OUTAGE_FAILURES = 3;
const OUTAGE_AFTER_MS = 2_000;

/** Whether the service accepts the key, and answers at all. */
export type ServiceAccess =
  | { readonly state: 'granted' }
  /** `message` is safe to show and names no key; `at` is when the refusal came. */
  | { readonly state: 'refused'; readonly message: string; readonly at: Millis }
  /** An outage: `message` is the last fault, safe to show. */
  | { readonly state: 'silent'; readonly message: string; readonly at: Millis };

/** What a request reports of its answer. */
interface RequestReport {
  answered(): void;
  failed(thrown: unknown): void;
}

type Refused = Extract<ServiceAccess, { readonly state: 'refused' }>;
type Silent = Extract<ServiceAccess, { readonly state: 'silent' }>;

/**
 * The gate in front of the service. A key is taken for good until the service refuses it. From then on, only a probe
 * is sent with it now and then.
 */
export class Access {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #changes = new Subject<ServiceAccess>();
  #refusal: Refused | undefined;
  #outage: Silent | undefined;
  #failures = 0;
  #failingSince: Millis = Infinity;
  #probeMs = FIRST_PROBE_MS;
  #probeAt = Number.POSITIVE_INFINITY;
  #executeAt = Number.NEGATIVE_INFINITY;
  /** Counts the changes of the key's state. A request that was sent before a change does not cause another. */
  #epoch = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Every change; a late subscriber first receives the refusal or the outage that holds. Completes on close. */
  readonly changes$: Observable<ServiceAccess> = defer(() => {
    const now = this.#refusal ?? this.#outage;
    return now === undefined ? this.#changes : concat(of(now), this.#changes);
  });

  /** Throws SERVICE_UNAUTHORIZED where a request of this priority would not be let through now. */
  check(priority: Priority): void {
    const waitMs = this.#openAt(priority) - this.#clock.now();
    if (waitMs > 0) throw notSent(waitMs);
  }

  /** Lets a request through, as the probe where one is due. Throws as `check` does. */
  enter(priority: Priority): RequestReport {
    this.check(priority);
    const now = this.#clock.now();
    const since = this.#epoch;
    const isProbe = this.#refusal !== undefined && now >= this.#probeAt;
    // Until its answer is there, and where none comes, the next one waits as long again.
    if (isProbe) this.#probeAt = now + this.#probeMs;
    if (priority === 'execute') this.#executeAt = now + EXECUTE_PROBE_MS;
    return {
      answered: () => {
        if (since === this.#epoch) this.#keyAccepted();
        this.#serviceAnswered();
      },
      failed: (thrown) => {
        if (isGannetError(thrown)) this.#failed(thrown, { isProbe, since });
      },
    };
  }

  close(): void {
    this.#changes.complete();
  }

  #openAt(priority: Priority): Millis {
    if (this.#refusal === undefined) return Number.NEGATIVE_INFINITY;
    return priority === 'execute' ? Math.min(this.#probeAt, this.#executeAt) : this.#probeAt;
  }

  #failed(fault: GannetError, { isProbe, since }: { readonly isProbe: boolean; readonly since: number }): void {
    const { code, message, details: { status } } = fault;
    const isUnauthorized = code === 'SERVICE_UNAUTHORIZED';
    if (isUnanswered(fault)) this.#unanswered(message);
    else if (typeof status === 'number' && !isUnauthorized) this.#serviceAnswered();
    if (since !== this.#epoch) return;
    if (isUnauthorized) this.#keyRefused(message, isProbe);
    else if (typeof status === 'number' && status >= 400 && status < 500 && !KEY_UNKNOWN_STATUSES.has(status))
      this.#keyAccepted();
  }

  #keyRefused(message: string, isProbe: boolean): void {
    const at = this.#clock.now();
    if (this.#refusal === undefined) {
      // A service that refuses a key answers.
      this.#outage = undefined;
      this.#refusal = { state: 'refused', message, at };
      this.#epoch += 1;
      this.#probeMs = FIRST_PROBE_MS;
      this.#probeAt = at + this.#probeMs;
      this.#changes.next(this.#refusal);
    } else if (isProbe) {
      this.#probeMs = Math.min(LONGEST_PROBE_MS, this.#probeMs * 2);
      this.#probeAt = at + this.#probeMs;
    }
  }

  #keyAccepted(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#epoch += 1;
    this.#changes.next({ state: 'granted' });
  }

  /** Any answer, also one that refuses, says that the service is there. */
  #serviceAnswered(): void {
    this.#failures = 0;
    this.#failingSince = Infinity;
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#changes.next({ state: 'granted' });
  }

  #unanswered(message: string): void {
    const at = this.#clock.now();
    this.#failures += 1;
    this.#failingSince = Math.min(this.#failingSince, at);
    if (this.#refusal !== undefined || this.#outage !== undefined || this.#failures < OUTAGE_FAILURES
        || at - this.#failingSince < OUTAGE_AFTER_MS) return;
    this.#outage = { state: 'silent', message, at };
    this.#changes.next(this.#outage);
  }
}

/** Returns whether a fault is the lack of a proper answer: no connection, none in time, or an answer 5xx. */
export function isUnanswered({ code, details: { status } }: GannetError): boolean {
  return code === 'SERVICE_UNREACHABLE' || code === 'SERVICE_TIMEOUT' || (typeof status === 'number' && status >= 500);
}

function notSent(waitMs: Millis): GannetError {
  return new GannetError('SERVICE_UNAUTHORIZED', 'not sent: the service refuses the API key, the next attempt is due '
    + `in ${Math.ceil(waitMs / 1_000)} s; check service.api_key and its plan`);
}
