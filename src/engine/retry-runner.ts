import type { Unsubscribable } from 'rxjs';
import type { EngineState } from '../trading/engine-state.ts';
import type { Proposal } from '../trading/proposal.ts';
import { isPassing } from '../trading/retries.ts';
import { firstDenial } from '../trading/risk/rules.ts';
import { candidateOf } from '../trading/risk/swap-candidate.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The part of the engine that the retry runner uses. */
interface RetryRunnerPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  /** Whether a strategy was not stopped: one that was proposes nothing. */
  isRunning(strategy: string): boolean;
  propose(strategy: string, proposal: Proposal): void;
}

/**
 * Proposes refused proposals with a retry policy again, under their keys. At each interval it checks whether the limits
 * would still refuse the swap for a cause that passes; only where they would not, or the time is over, it proposes. So
 * a wait adds no decisions. What waits is in the state; the rest depends on the engine's clock alone.
 */
export class RetryRunner {
  readonly #port: RetryRunnerPort;
  readonly #timers = new Map<string, Unsubscribable>();
  #version = -1;
  #isStarted = false;

  constructor(port: RetryRunnerPort) {
    this.#port = port;
  }

  start(): void {
    this.#isStarted = true;
    this.review();
  }

  stop(): void {
    this.#isStarted = false;
    for (const timer of this.#timers.values()) timer.unsubscribe();
    this.#timers.clear();
  }

  /** Schedules what began to wait, and forgets what no longer does. */
  review(): void {
    const { retries } = this.#port.state;
    if (!this.#isStarted || retries.version === this.#version) return;
    this.#version = retries.version;
    for (const [name, timer] of this.#timers) {
      if (retries.get(name) !== undefined) continue;
      timer.unsubscribe();
      this.#timers.delete(name);
    }
    for (const [name] of retries.entries()) if (!this.#timers.has(name)) this.#schedule(name);
  }

  #schedule(name: string): void {
    const { state, clock } = this.#port;
    const waiting = state.retries.get(name);
    if (waiting === undefined) return;
    const { everyMs, until } = waiting.proposal.retry;
    const due = Math.min(clock.now() + everyMs, Math.max(until, clock.now()));
    this.#timers.set(name, clock.schedule(() => {
      this.#timers.delete(name);
      this.#tryAgain(name);
    }, due - clock.now()));
  }

  #tryAgain(name: string): void {
    const { state, clock } = this.#port;
    const waiting = state.retries.get(name);
    const record = waiting === undefined ? undefined : state.strategies.get(waiting.strategy);
    if (waiting === undefined || record === undefined) return;
    const at = clock.now();
    const { strategy, proposal } = waiting;
    if (!this.#port.isRunning(strategy)) {
      if (at < proposal.retry.until) this.#schedule(name);
      return;
    }
    const denial = firstDenial(state, candidateOf(state, record, proposal, at));
    if (at < proposal.retry.until && denial !== undefined && isPassing(denial.code)) this.#schedule(name);
    else this.#port.propose(strategy, proposal);
  }
}
