import type { Subscription } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { symbolOf } from '../market/market-text.ts';
import type { Mint } from '../market/token.ts';
import type { ExitOrder } from '../trading/exit-orders.ts';
import { limitOfPart } from '../trading/exit-orders.ts';
import { EXIT_FAILURES_MAX, endedTransiently, isTooLarge, isTransientCode } from '../trading/exit-progress.ts';
import type { ExitPart } from '../trading/exit-sizing.ts';
import { exitPart, leastPart } from '../trading/exit-sizing.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { AlertProposal, Proposal, SwapProposal } from '../trading/proposal.ts';
import { spendable } from '../trading/risk/swap-candidate.ts';
import { effectiveTrading } from '../trading/risk/trading-state-rules.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { Input, Ruling } from '../trading/step.ts';
import {
  PAUSE_MAX_MS, capWaitAlert, capWaitReason, exitDelayedAlert, exitGivenUpAlert, exitMadeAlert, flatAlert,
  holdingGivenUpAlert,
} from './exit-alerts.ts';
import type { UnsoldHolding } from './unsold-holdings.ts';
import { budgetMint, unsoldHoldings } from './unsold-holdings.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The part of the engine that the exit runner uses. */
interface ExitRunnerPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  /** Hands in a proposal under a strategy's name; it is ruled on in its turn. */
  propose(strategy: string, proposal: Proposal, continues?: boolean): void;
}

/** The pause after the first failure; each further failure doubles it. */
const PAUSE_MIN_MS = 5_000;

/** A holding that is to be sold: of one token, into one, at most `amount`. */
interface Target {
  readonly mint: Mint;
  readonly into: Mint;
  readonly amount: Amount;
  /** Undefined where the strategy flattens. */
  readonly order: ExitOrder | undefined;
}

/** A token that waits for a cap. */
interface CapWait {
  readonly until: Millis;
  readonly timer: Subscription;
  readonly reason: string;
}

/** An exit swap that is under way. */
interface OpenExit {
  readonly strategy: string;
  readonly mint: Mint;
  readonly amount: Amount;
}

/** The exits of one strategy. */
interface Job {
  /** Proposed, and not yet ruled on. */
  pending: SwapProposal | undefined;
  pause: { readonly timer: Subscription; readonly until: Millis; readonly code: string } | undefined;
  failures: number;
  /** Tries in a row that ended for a transient cause. */
  transientFailures: number;
  readonly waits: Map<Mint, CapWait>;
  /** The tokens that are given up, with the code of the last try. */
  readonly givenUp: Map<Mint, string>;
  /** The exits in parts that were seen under way. */
  readonly orders: Map<Mint, ExitOrder>;
  /** The most that was to be sold of each token. */
  readonly wholes: Map<Mint, Amount>;
  isFlatReported: boolean;
}

/**
 * Carries out exits of two kinds: it sells what flattening strategies hold back into their budgets' tokens, and
 * continues exits that are too large for one swap. Each strategy has one such swap at a time, as an ordinary proposal
 * no larger than caps, `max_trade` and the known depth allow. The next one follows each outcome, after a growing pause
 * where the swap failed; where a cap is used up, as soon as the cap has room. The amounts that remain are in the state;
 * everything else depends on the engine's clock and inputs alone, so a replay repeats it.
 */
export class ExitRunner {
  readonly #port: ExitRunnerPort;
  readonly #jobs = new Map<string, Job>();
  /** Exit swaps under way, by intent. */
  readonly #open = new Map<string, OpenExit>();
  #isStarted = false;

  constructor(port: ExitRunnerPort) {
    this.#port = port;
  }

  start(): void {
    this.#isStarted = true;
    this.#review();
  }

  stop(): void {
    this.#isStarted = false;
    for (const job of this.#jobs.values()) cancelTimers(job);
    this.#jobs.clear();
  }

  /** Whether nothing is to be sold, so that a price has no effect. */
  get isIdle(): boolean {
    const { flattening, exits } = this.#port.state;
    return flattening.size === 0 && exits.size === 0 && this.#jobs.size === 0;
  }

  /** Takes an input that the state already holds, and proposes the exits that it allows. */
  observe(input: Input): void {
    const { isIdle } = this;
    if (input.kind === 'outcome' && isTerminal(input.state) && this.#open.size > 0) {
      const exit = this.#open.get(input.intentId);
      this.#open.delete(input.intentId);
      if (this.#isStarted && !isIdle && exit !== undefined) this.#ended(exit, input);
    } else if (input.kind === 'command' && input.name === 'flatten') {
      // A repeated flatten tries again what was given up.
      this.#drop(input.strategy);
    }
    if (this.#isStarted && !isIdle) this.#review();
  }

  /** Proposes the exits that the state allows, after it changed without an input. */
  review(): void {
    if (this.#isStarted && !this.isIdle) this.#review();
  }

  /** Takes the ruling on a proposal; returns whether the strategy must not see the ruling, since it is the runner's. */
  ruled(strategy: string, proposal: Proposal, { effect, denial }: Ruling): boolean {
    if (effect?.kind === 'execute' && effect.intent.purpose === 'exit') {
      const { id, inputMint, amountIn } = effect.intent;
      this.#open.set(id, { strategy, mint: inputMint, amount: amountIn });
    }
    const job = this.#jobs.get(strategy);
    if (job === undefined || job.pending !== proposal) {
      // The proposal may have started an exit in parts.
      if (this.#isStarted && this.#port.state.exits.size > 0) this.#review();
      return false;
    }
    const { inputMint } = job.pending;
    job.pending = undefined;
    if (denial === undefined) return true;
    const isOver = this.#reportIfOver(strategy, job, inputMint, denial.code);
    if (!isOver)
      this.#failed(strategy, job, inputMint, { code: denial.code, isTransient: isTransientCode(denial.code) });
    return !isOver;
  }

  /** Returns what flattening strategies still hold, each holding with the reason why it is not sold. */
  unsold(): UnsoldHolding[] {
    return unsoldHoldings(this.#port.state, this.#jobs, this.#port.clock.now());
  }

  #review(): void {
    const { state } = this.#port;
    for (const [name, job] of this.#jobs) {
      if (state.flattening.has(name)) continue;
      for (const mint of job.orders.keys()) this.#reportIfOver(name, job, mint);
      if (state.exits.of(name).length === 0) this.#drop(name);
    }
    for (const name of state.flattening) this.#proposeNext(name);
    if (state.exits.size === 0) return;
    for (const name of state.exits.strategies()) if (!state.flattening.has(name)) this.#proposeNext(name);
  }

  /** Drops the job of a strategy, or all jobs. */
  #drop(strategy: string | undefined): void {
    for (const [name, job] of this.#jobs) {
      if (strategy !== undefined && strategy !== name) continue;
      cancelTimers(job);
      this.#jobs.delete(name);
    }
  }

  #ended({ strategy, mint, amount }: OpenExit, outcome: Outcome): void {
    const { state } = this.#port;
    const { state: end, code } = outcome;
    const order = state.exits.get(strategy, mint);
    if (!state.flattening.has(strategy) && order === undefined && !this.#jobs.has(strategy)) return;
    const job = this.#jobOf(strategy);
    if (end === 'confirmed') {
      job.failures = job.transientFailures = 0;
    } else if (!this.#reportIfOver(strategy, job, mint, code ?? end)) {
      const isSmaller = isTooLarge(outcome) && this.#isSmallerNow(strategy, mint, amount);
      if (!isSmaller) this.#failed(strategy, job, mint, { code: code ?? end, isTransient: endedTransiently(outcome) });
    }
  }

  /** Returns whether the next part is smaller than the refused one: a smaller part needs no pause. */
  #isSmallerNow(strategy: string, mint: Mint, amount: Amount): boolean {
    const target = this.#targets(strategy).find((one) => one.mint === mint);
    return target !== undefined && this.#partOf(strategy, target).amount < amount && target.amount >= amount;
  }

  #proposeNext(name: string): void {
    const { state } = this.#port;
    const into = budgetMint(state, name);
    if (into === undefined) return;
    const job = this.#jobOf(name);
    const isFlattening = state.flattening.has(name);
    for (const order of state.exits.of(name)) job.orders.set(order.inputMint, order);
    // A swap whose outcome is unknown locks its input alone.
    const isSwapping = (): boolean => state.intents.values()
      .some(({ intent, state: reached }) => intent.strategy === name && reached !== 'unknown');
    const isBusy = job.pending !== undefined || job.pause !== undefined || (isFlattening && isSwapping());
    // While trading is halted every proposal would be refused; the input that ends the halt leads back here.
    if (isBusy || effectiveTrading(state, name) === 'halted') return;
    const targets = this.#targets(name);
    // Another swap of the same input comes first; its outcome leads back here.
    const free = targets.filter(({ mint }) => !state.intents.values().some(({ intent }) => intent.inputMint === mint));
    for (const target of free) {
      if (job.waits.has(target.mint)) continue;
      const part = this.#partOf(name, target);
      if (part.waits === undefined) {
        this.#sell(name, job, target, part.amount);
        return;
      }
      this.#waitForCap(name, job, target, part.waits);
    }
    if (isFlattening && targets.length === 0) this.#reportFlat(name, job, into);
  }

  /** Returns what a strategy is to sell. An exit in parts is tried even where nothing is free: the refusal ends it. */
  #targets(name: string): Target[] {
    const { state } = this.#port;
    const into = budgetMint(state, name);
    if (into === undefined) return [];
    if (!state.flattening.has(name)) {
      return state.exits.of(name).map((order) => {
        const free = spendable(state, name, order.inputMint);
        return { mint: order.inputMint, into: order.outputMint, amount: free < order.left ? free : order.left, order };
      });
    }
    const givenUp = this.#jobs.get(name)?.givenUp;
    return [...state.portfolio.book(name).balances.keys()]
      .filter((mint) => mint !== into && givenUp?.has(mint) !== true)
      .map((mint) => ({ mint, into, amount: spendable(state, name, mint), order: undefined }))
      .filter(({ amount }) => amount > 0n);
  }

  #partOf(name: string, { mint, into, amount, order }: Target): ExitPart {
    const { wholes } = this.#jobOf(name);
    const left = order?.left ?? amount;
    const known = wholes.get(mint) ?? left;
    const whole = known > left ? known : left;
    wholes.set(mint, whole);
    const exit = { inputMint: mint, outputMint: into, amount, least: leastPart(whole) };
    return exitPart(this.#port.state, exit, this.#port.clock.now());
  }

  #jobOf(name: string): Job {
    const known = this.#jobs.get(name);
    if (known !== undefined) return known;
    const job: Job = {
      pending: undefined, pause: undefined, failures: 0, transientFailures: 0, isFlatReported: false,
      waits: new Map(), givenUp: new Map(), orders: new Map(), wholes: new Map(),
    };
    this.#jobs.set(name, job);
    return job;
  }

  #sell(name: string, job: Job, { mint, into, amount, order }: Target, part: Amount): void {
    job.isFlatReported = false;
    const isAll = part >= amount;
    if (order === undefined) {
      const { tokens } = this.#port.state;
      job.pending = {
        kind: 'swap', inputMint: mint, outputMint: into, amount: isAll ? 'all' : part,
        reason: `flatten: ${isAll ? 'all' : 'a part of the'} ${symbolOf(tokens, mint)} goes back into `
          + symbolOf(tokens, into),
      };
    } else {
      const { left, slippageBps, route, reason, tag, rule } = order;
      const limit = limitOfPart(order.limit, part, left);
      job.pending = {
        kind: 'swap', inputMint: mint, outputMint: into, amount: part,
        reason: rule !== undefined && part === this.#jobOf(name).wholes.get(mint) ? reason
          : `${reason} (the exit goes on in parts)`,
        ...(limit === undefined ? {} : { limit }),
        ...(slippageBps === undefined ? {} : { slippageBps }),
        ...(route === undefined ? {} : { route }),
        ...(tag === undefined ? {} : { tag }),
      };
    }
    this.#port.propose(name, job.pending, true);
  }

  /** Waits until the cap has room, and reports each wait once. */
  #waitForCap(name: string, job: Job, target: Target, capWait: NonNullable<ExitPart['waits']>): void {
    const { state, clock } = this.#port;
    const now = clock.now();
    const { until } = capWait;
    const remaining = { strategy: name, mint: target.mint, amount: target.amount };
    const reason = capWaitReason(state, remaining, capWait, now);
    job.waits.set(target.mint, {
      until, reason,
      timer: clock.schedule(() => {
        job.waits.delete(target.mint);
        this.#review();
      }, until - now),
    });
    this.#alert(name, capWaitAlert(state, remaining, until, reason));
  }

  /** Returns whether an exit in parts has ended, and reports it if so; `code` is how its last part ended. */
  #reportIfOver(name: string, job: Job, mint: Mint, code?: string): boolean {
    const { state } = this.#port;
    const order = job.orders.get(mint);
    const now = state.exits.get(name, mint);
    if (order === undefined || now !== undefined) {
      if (now !== undefined) job.orders.set(mint, now);
      return false;
    }
    job.orders.delete(mint);
    job.wholes.delete(mint);
    job.waits.get(mint)?.timer.unsubscribe();
    job.waits.delete(mint);
    if (code !== undefined)
      this.#alert(name, exitGivenUpAlert(state, { strategy: name, mint, amount: order.left }, code));
    else if (!state.flattening.has(name)) this.#alert(name, exitMadeAlert(state, name, order));
    return true;
  }

  /** Reports once that a strategy is flat. A swap that lands later is sold as well. */
  #reportFlat(name: string, job: Job, into: Mint): void {
    if (job.isFlatReported) return;
    job.isFlatReported = true;
    const { state } = this.#port;
    const left = [...state.portfolio.book(name).balances.keys()].filter((mint) => mint !== into);
    this.#alert(name, flatAlert(state, name, into, left));
  }

  #failed(name: string, job: Job, mint: Mint, { code, isTransient }: {
    readonly code: string; readonly isTransient: boolean;
  }): void {
    const { state, clock } = this.#port;
    if (isTransient) {
      job.transientFailures += 1;
      if (job.transientFailures === EXIT_FAILURES_MAX) this.#reportDelay(name, mint, code);
    } else {
      job.failures += 1;
      if (job.failures >= EXIT_FAILURES_MAX && state.flattening.has(name)) {
        job.givenUp.set(mint, code);
        job.failures = 0;
        this.#alert(name, holdingGivenUpAlert(state, mint, code));
      }
    }
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.max(0, job.failures + job.transientFailures - 1));
    job.pause?.timer.unsubscribe();
    job.pause = {
      until: clock.now() + pauseMs, code,
      timer: clock.schedule(() => {
        job.pause = undefined;
        this.#review();
      }, pauseMs),
    };
  }

  #reportDelay(name: string, mint: Mint, code: string): void {
    const target = this.#targets(name).find((one) => one.mint === mint);
    const amount = target?.order?.left ?? target?.amount;
    this.#alert(name, exitDelayedAlert(this.#port.state, { strategy: name, mint, amount }, code));
  }

  #alert(name: string, alert: AlertProposal): void {
    this.#port.propose(name, alert);
  }
}

function cancelTimers(job: Job): void {
  job.pause?.timer.unsubscribe();
  for (const { timer } of job.waits.values()) timer.unsubscribe();
}
