import type { Observable } from 'rxjs';
import { concat, defer, of, Subject } from 'rxjs';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Priority } from './rate/priority.ts';

const FIRST_PROBE_MS = 30_000;
const LONGEST_PROBE_MS = 600_000;
/** A signed transaction expires within a minute or so: it may not wait for the next probe. */
const EXECUTE_PROBE_MS = 2_000;
/** Answers that say nothing of the key: given before it is looked at, or by something in front of the service. */
const SILENT_STATUSES = new Set([403, 408, 429]);

/**
 * So many requests in a row, over at least so long, without a proper answer: the service is out. One that comes ends
 * it.
 */
const SILENT_FAILURES = 3;
const SILENT_AFTER_MS = 2_000;

/** Whether the service accepts the key, and answers at all. */
export type ServiceAccess =
  | { readonly state: 'granted' }
  /** `message` is safe to show and names no key; `at` is when the refusal came. */
  | { readonly state: 'refused'; readonly message: string; readonly at: Millis }
  /** An outage: `message` is the last fault, safe to show. */
  | { readonly state: 'silent'; readonly message: string; readonly at: Millis };

/** What a request reports of its answer. */
export interface Pass {
  answered(): void;
  failed(thrown: unknown): void;
}

/** The gate in front of the service: once a key is refused, nothing is sent with it but a probe now and then. */
export interface Access {
  /** Every change, to a late subscriber the refusal or the outage that holds; completes on close. */
  readonly changes$: Observable<ServiceAccess>;
  /** Throws SERVICE_UNAUTHORIZED where a request of this priority would not be let through now. */
  check(priority: Priority): void;
  /** Lets a request through, as the probe where one is due. Throws as `check` does. */
  enter(priority: Priority): Pass;
  close(): void;
}

type Refused = Extract<ServiceAccess, { readonly state: 'refused' }>;
type Silent = Extract<ServiceAccess, { readonly state: 'silent' }>;

/** Returns the gate of a key that is taken for good until the service refuses it. */
export function createAccess(clock: Pick<Clock, 'now'>): Access {
  const changes = new Subject<ServiceAccess>();
  let refusal: Refused | undefined;
  let silence: Silent | undefined;
  let failures = 0;
  let failingSince: Millis = Infinity;
  let probeMs = FIRST_PROBE_MS;
  let probeAt = Number.POSITIVE_INFINITY;
  let executeAt = Number.NEGATIVE_INFINITY;
  /** Counts the changes: what was sent before one says nothing against it. */
  let epoch = 0;

  function openAt(priority: Priority): Millis {
    if (refusal === undefined) return Number.NEGATIVE_INFINITY;
    return priority === 'execute' ? Math.min(probeAt, executeAt) : probeAt;
  }

  function check(priority: Priority): void {
    const waitMs = openAt(priority) - clock.now();
    if (waitMs > 0) throw notSent(waitMs);
  }

  function refused(message: string, isProbe: boolean): void {
    const at = clock.now();
    if (refusal === undefined) {
      // Who refuses a key answers.
      silence = undefined;
      refusal = { state: 'refused', message, at };
      epoch += 1;
      probeMs = FIRST_PROBE_MS;
      probeAt = at + probeMs;
      changes.next(refusal);
    } else if (isProbe) {
      probeMs = Math.min(LONGEST_PROBE_MS, probeMs * 2);
      probeAt = at + probeMs;
    }
  }

  function accepted(): void {
    if (refusal === undefined) return;
    refusal = undefined;
    epoch += 1;
    changes.next({ state: 'granted' });
  }

  /** Any answer, also one that refuses, says that the service is there. */
  function heard(): void {
    failures = 0;
    failingSince = Infinity;
    if (silence === undefined) return;
    silence = undefined;
    changes.next({ state: 'granted' });
  }

  function unheard(message: string): void {
    const at = clock.now();
    failures += 1;
    failingSince = Math.min(failingSince, at);
    if (refusal !== undefined || silence !== undefined || failures < SILENT_FAILURES
        || at - failingSince < SILENT_AFTER_MS) return;
    silence = { state: 'silent', message, at };
    changes.next(silence);
  }

  return {
    changes$: defer(() => {
      const now = refusal ?? silence;
      return now === undefined ? changes : concat(of(now), changes);
    }),
    check,

    enter(priority) {
      check(priority);
      const now = clock.now();
      const since = epoch;
      const isProbe = refusal !== undefined && now >= probeAt;
      // Until its answer is there, and where none comes, the next one waits as long again.
      if (isProbe) probeAt = now + probeMs;
      if (priority === 'execute') executeAt = now + EXECUTE_PROBE_MS;
      return {
        answered() {
          if (since === epoch) accepted();
          heard();
        },
        failed(thrown) {
          if (!isGannetError(thrown)) return;
          if (isSilence(thrown)) unheard(thrown.message);
          else if (typeof thrown.details['status'] === 'number' && thrown.code !== 'SERVICE_UNAUTHORIZED') heard();
          if (since !== epoch) return;
          const status = thrown.details['status'];
          if (thrown.code === 'SERVICE_UNAUTHORIZED') refused(thrown.message, isProbe);
          else if (typeof status === 'number' && status >= 400 && status < 500 && !SILENT_STATUSES.has(status))
            accepted();
        },
      };
    },

    close: () => changes.complete(),
  };
}

/** Whether a fault is the lack of a proper answer: no connection, none in time, or an answer 5xx. */
export function isSilence({ code, details: { status } }: GannetError): boolean {
  return code === 'SERVICE_UNREACHABLE' || code === 'SERVICE_TIMEOUT' || (typeof status === 'number' && status >= 500);
}

function notSent(waitMs: Millis): GannetError {
  return new GannetError('SERVICE_UNAUTHORIZED', 'not sent: the service refuses the API key, the next attempt is due '
    + `in ${Math.ceil(waitMs / 1_000)} s; check service.api_key and its plan`);
}
