import type { Subscription } from 'rxjs';
import type { HeartbeatConfig } from '../../config/operations/alerts-config.ts';
import { urlOrigin } from '../../config/schema-fields.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Log } from '../reporting/log.ts';
import { guardedInterval } from '../watch/guarded-interval.ts';
import type { HttpSender } from './http-request.ts';

interface HeartbeatOptions {
  readonly config: HeartbeatConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly http: Pick<HttpSender, 'send'>;
  /** Why the run is not well; undefined while it is. */
  readonly fault: () => string | undefined;
}

const TICK_MS: Millis = 5_000;
/** A call that failed is repeated after this time, or after the interval where that is shorter. */
const RETRY_MS: Millis = 15_000;
const ANSWER_MS: Millis = 10_000;

/** Calls an uptime service while a run is well, so that an operator learns when the daemon or its machine is gone. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: Subscription | undefined;
  /** Whether a call waits for its answer. */
  isCalling = false;
  #dueAt: Millis = -Infinity;
  #hasFailed = false;
  /** Why the calls have stopped; undefined while they go on, and before the first. */
  #stopped: string | undefined;
  #hasBegun = false;
  /** The failure is told once. */
  #owesFailure = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = guardedInterval({ ...this.#options, name: 'the heartbeat', everyMs: TICK_MS }, () => {
      this.#tick();
    });
  }

  close(): void {
    this.#timer?.unsubscribe();
  }

  #tick(): void {
    const { config: { url, failUrl, everyMs }, clock, log, fault } = this.#options;
    if (this.isCalling) return;
    const why = fault();
    if (why === undefined) {
      if (this.#stopped !== undefined) {
        log('info', 'the heartbeat goes on');
        this.#dueAt = -Infinity;
      }
      this.#stopped = undefined;
      this.#owesFailure = false;
      if (clock.now() >= this.#dueAt) {
        this.#hasBegun = true;
        void this.#call(url, everyMs);
      }
      return;
    }
    // A run that never was well has nothing to take back.
    if (!this.#hasBegun) return;
    if (this.#stopped === undefined) {
      log('warn', `the heartbeat has stopped: ${why}`);
      this.#owesFailure = failUrl !== undefined;
      this.#dueAt = -Infinity;
    }
    this.#stopped = why;
    if (failUrl !== undefined && this.#owesFailure && clock.now() >= this.#dueAt) void this.#call(failUrl, everyMs);
  }

  /** Never rejects. */
  async #call(address: string, everyMs: Millis): Promise<void> {
    const { config: { url, method }, clock, log, http } = this.#options;
    const startedAt = clock.now();
    this.isCalling = true;
    const result = await http.send(address, {
      method: method === 'get' ? 'GET' : 'POST', timeoutMs: ANSWER_MS, headers: { 'user-agent': 'gannet' },
    });
    this.isCalling = false;
    if (result.kind === 'answer' && result.status >= 200 && result.status < 300) {
      if (address !== url) this.#owesFailure = false;
      this.#dueAt = startedAt + everyMs;
      if (this.#hasFailed) log('info', 'the heartbeat arrives again');
      this.#hasFailed = false;
      return;
    }
    const wait = Math.max(Math.min(RETRY_MS, everyMs), result.kind === 'answer' ? result.retryAfterMs ?? 0 : 0);
    this.#dueAt = clock.now() + Math.min(wait, 60 * everyMs);
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const what = result.kind === 'answer' ? `it answered with status ${result.status}` : result.fault;
    log('warn', `the heartbeat to ${urlOrigin(address)} failed: ${what}. It is tried again every `
      + `${formatDuration(wait)}; trading is not affected. Check alerts.heartbeat`);
  }
}
