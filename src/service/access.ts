import type { Observable } from 'rxjs';
import { concat, defer, of, Subject } from 'rxjs';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Priority } from './rate/rate-plan.ts';

const FIRST_PROBE_MS = 30_000;
const LONGEST_PROBE_MS = 600_000;
/** A signed transaction expires within a minute or so: it may not wait for the next probe. */
const EXECUTE_PROBE_MS = 2_000;
/** A firewall in front of the service refuses single requests now and then. */
const FORBIDDEN_AFTER = 2;
/**
 * Statuses that say nothing of the key: the service, or a host in front of it, gives them before it checks the key.
 */
const KEY_UNKNOWN_STATUSES = new Set([402, 403, 407, 408, 429, 451]);

/** An outage is this many requests in a row without a proper answer, over at least this time. One answer ends it. */
const OUTAGE_FAILURES = 3;
const OUTAGE_AFTER_MS = 2_000;

/** Whether the service accepts the key, lets swaps be asked for, and answers at all. */
export type ServiceAccess =
  | { readonly state: 'granted' }
  /** `message` is safe to show and names no key; `at` is when the refusal came. */
  | { readonly state: 'refused'; readonly message: string; readonly at: Millis }
  /** The same of the region, the address or the permissions of the key: it concerns swaps, other groups may be open. */
  | { readonly state: 'forbidden'; readonly message: string; readonly at: Millis }
  /** An outage: `message` is the last fault, safe to show. */
  | { readonly state: 'silent'; readonly message: string; readonly at: Millis };

const GRANTED: ServiceAccess = { state: 'granted' };
/** The group that trading needs. */
const SWAPS = 'swap';

/** Who sends a request. */
export interface AccessCaller {
  readonly priority: Priority;
  /** A 403 may concern one product of the service, as a permission of the key does. */
  readonly group: string;
}

/** What a request reports of its answer. */
interface RequestReport {
  answered(): void;
  failed(thrown: unknown): void;
}

/** Returns the group of a path from the service's root: `swap` of `/swap/v2/order`. */
export function groupOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/**
 * The gate in front of the service. A key is taken for good until the service refuses it, and a group is open until the
 * service refuses two requests to it in a row. From then on, only a probe is sent now and then.
 */
export class Access {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #changes = new Subject<ServiceAccess>();
  readonly #key: Gate;
  readonly #groups = new Map<string, Gate>();
  #outage: ServiceAccess | undefined;
  #published: ServiceAccess = GRANTED;
  #failures = 0;
  #failingSince: Millis = Infinity;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#key = new Gate(clock, 1);
  }

  /** Every change; a late subscriber first receives the refusal or the outage that holds. Completes on close. */
  readonly changes$: Observable<ServiceAccess> = defer(() =>
    (this.#published === GRANTED ? this.#changes : concat(of(this.#published), this.#changes)));

  /** Throws SERVICE_UNAUTHORIZED or SERVICE_FORBIDDEN where a request would not be let through now. */
  check({ priority, group }: AccessCaller): void {
    const keyWaitMs = this.#key.waitMs(priority);
    if (keyWaitMs > 0) {
      throw notSent('SERVICE_UNAUTHORIZED', keyWaitMs, 'the service refuses the API key',
        'check service.api_key and its plan');
    }
    const waitMs = this.#gateOf(group).waitMs(priority);
    if (waitMs > 0) {
      throw notSent('SERVICE_FORBIDDEN', waitMs, `the service refuses your region, address or key for /${group}`,
        'check the permissions of service.api_key, and from which address Gannet reaches the service');
    }
  }

  /** Lets a request through, as the probe where one is due. Throws as `check` does. */
  enter(caller: AccessCaller): RequestReport {
    this.check(caller);
    const gate = this.#gateOf(caller.group);
    const passed = { key: this.#key.pass(caller.priority), group: gate.pass(caller.priority) };
    return {
      answered: () => {
        this.#key.accepted(passed.key);
        gate.accepted(passed.group);
        this.#serviceAnswered();
      },
      failed: (thrown) => {
        if (isGannetError(thrown)) this.#failed(thrown, gate, passed);
      },
    };
  }

  close(): void {
    this.#changes.complete();
  }

  #gateOf(group: string): Gate {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const gate = new Gate(this.#clock, FORBIDDEN_AFTER);
    this.#groups.set(group, gate);
    return gate;
  }

  #failed(fault: GannetError, gate: Gate, passed: { readonly key: Pass; readonly group: Pass }): void {
    const { code, message, details: { status } } = fault;
    if (code === 'SERVICE_UNAUTHORIZED') {
      this.#key.refused(passed.key, message);
    } else if (code === 'SERVICE_FORBIDDEN') {
      gate.refused(passed.group, message);
    } else if (typeof status === 'number' && status >= 400 && status < 500 && !KEY_UNKNOWN_STATUSES.has(status)) {
      this.#key.accepted(passed.key);
      gate.accepted(passed.group);
    }
    if (isUnanswered(fault)) this.#unanswered(message);
    else if (typeof status === 'number') this.#serviceAnswered();
  }

  /** Any answer, also one that refuses, says that the service is there. */
  #serviceAnswered(): void {
    this.#failures = 0;
    this.#failingSince = Infinity;
    this.#outage = undefined;
    this.#publish();
  }

  #unanswered(message: string): void {
    const at = this.#clock.now();
    this.#failures += 1;
    this.#failingSince = Math.min(this.#failingSince, at);
    if (this.#published !== GRANTED || this.#failures < OUTAGE_FAILURES || at - this.#failingSince < OUTAGE_AFTER_MS)
      return;
    this.#outage = { state: 'silent', message, at };
    this.#publish();
  }

  #publish(): void {
    const { refusal } = this.#key;
    const { refusal: ofSwaps } = this.#gateOf(SWAPS);
    const now: ServiceAccess = refusal !== undefined ? this.#known({ state: 'refused', ...refusal })
      : ofSwaps !== undefined ? this.#known({ state: 'forbidden', ...ofSwaps }) : this.#outage ?? GRANTED;
    if (now === this.#published) return;
    this.#published = now;
    this.#changes.next(now);
  }

  /** One refusal is one state, whatever later requests say. */
  #known(now: ServiceAccess): ServiceAccess {
    return now.state === this.#published.state ? this.#published : now;
  }
}

/** A request's way through a gate. */
interface Pass {
  readonly isProbe: boolean;
  /** A request that was sent before a change does not cause another. */
  readonly since: number;
}

/** Lets requests through until so many in a row are refused, and then a probe now and then. */
class Gate {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #after: number;
  #refusal: { readonly message: string; readonly at: Millis } | undefined;
  #refusals = 0;
  #probeMs = FIRST_PROBE_MS;
  #probeAt = Number.POSITIVE_INFINITY;
  #executeAt = Number.NEGATIVE_INFINITY;
  /** Counts the changes of its state. */
  #epoch = 0;

  constructor(clock: Pick<Clock, 'now'>, after: number) {
    this.#clock = clock;
    this.#after = after;
  }

  /** The first refusal, while it is closed. */
  get refusal(): { readonly message: string; readonly at: Millis } | undefined {
    return this.#refusal;
  }

  /** Returns how long a request would have to wait; at most 0 where it may leave. */
  waitMs(priority: Priority): Millis {
    if (this.#refusal === undefined) return 0;
    return (priority === 'execute' ? Math.min(this.#probeAt, this.#executeAt) : this.#probeAt) - this.#clock.now();
  }

  pass(priority: Priority): Pass {
    const now = this.#clock.now();
    const isProbe = this.#refusal !== undefined && now >= this.#probeAt;
    // Until its answer is there, and where none comes, the next one waits as long again.
    if (isProbe) this.#probeAt = now + this.#probeMs;
    if (priority === 'execute') this.#executeAt = now + EXECUTE_PROBE_MS;
    return { isProbe, since: this.#epoch };
  }

  accepted({ since }: Pass): void {
    if (since !== this.#epoch) return;
    this.#refusals = 0;
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#epoch += 1;
  }

  refused({ isProbe, since }: Pass, message: string): void {
    if (since !== this.#epoch) return;
    const at = this.#clock.now();
    this.#refusals += 1;
    if (this.#refusal === undefined) {
      if (this.#refusals < this.#after) return;
      this.#refusal = { message, at };
      this.#epoch += 1;
      this.#probeMs = FIRST_PROBE_MS;
      this.#probeAt = at + this.#probeMs;
    } else if (isProbe) {
      this.#probeMs = Math.min(LONGEST_PROBE_MS, this.#probeMs * 2);
      this.#probeAt = at + this.#probeMs;
    }
  }
}

/** The status of a proxy that wants a login: the request never came to the service. */
const PROXY_LOGIN = 407;

/**
 * Returns whether a fault is the lack of a proper answer: no connection, none in time, an answer 5xx, or one of a proxy
 * on the way.
 */
export function isUnanswered({ code, details: { status } }: GannetError): boolean {
  return code === 'SERVICE_UNREACHABLE' || code === 'SERVICE_TIMEOUT'
    || (typeof status === 'number' && (status >= 500 || status === PROXY_LOGIN));
}

function notSent(
  code: 'SERVICE_UNAUTHORIZED' | 'SERVICE_FORBIDDEN', waitMs: Millis, why: string, advice: string,
): GannetError {
  return new GannetError(
    code, `not sent: ${why}, the next attempt is due in ${Math.ceil(waitMs / 1_000)} s; ${advice}`,
  );
}
