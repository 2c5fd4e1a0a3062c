import type { Subscription } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration, roughDuration, timeOfDay } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { EXIT_FAILURES_MAX, endedPassing, isPassing, isTooLarge } from '../trading/exit-course.ts';
import type { ExitOrder } from '../trading/exit-orders.ts';
import { limitOfPart } from '../trading/exit-orders.ts';
import type { ExitPart } from '../trading/exit-part.ts';
import { exitEndsAt, exitPart, leastPart } from '../trading/exit-part.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { AlertProposal, Proposal, SwapProposal } from '../trading/proposal.ts';
import { effectiveTrading } from '../trading/protections/effective-trading.ts';
import { showAmount } from '../trading/risk/amount-text.ts';
import { spendable } from '../trading/risk/spendable.ts';
import type { EngineState } from '../trading/state.ts';
import type { Input, Ruling } from '../trading/step.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What the flattener may do to the engine. */
export interface FlattenPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  /** Hands in a proposal under a strategy's name; it is ruled on in its turn. */
  propose(strategy: string, proposal: Proposal, continues?: boolean): void;
}

/** A holding of a flattening strategy that is not sold. */
export interface UnsoldHolding {
  readonly strategy: string;
  readonly mint: Mint;
  readonly amount: Amount;
  /** A stable code: of a refusal of ours, of the last try, or of what it waits for. */
  readonly code: string;
  /** For people. */
  readonly reason: string;
  /** When it is tried again, where time alone decides that. */
  readonly until: Millis | undefined;
  /** Whether a swap of it is under way. */
  readonly isMoving: boolean;
}

/** After a failure, then twice as long after each further one. */
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 60_000;

/** What of a strategy is to be sold: of one token, into one, at most so much. */
interface Target {
  readonly mint: Mint;
  readonly into: Mint;
  readonly amount: Amount;
  /** Undefined where the strategy flattens. */
  readonly order: ExitOrder | undefined;
}

/** A token that waits for a cap. */
interface Wait {
  readonly until: Millis;
  readonly timer: Subscription;
  readonly reason: string;
}

/** An exit that is being carried out. */
interface ExitUnderWay {
  readonly strategy: string;
  readonly mint: Mint;
  readonly amount: Amount;
}

/** One strategy on its way out. */
interface Job {
  /** Proposed, and not yet ruled on. */
  pending: SwapProposal | undefined;
  pause: { readonly timer: Subscription; readonly until: Millis; readonly code: string } | undefined;
  failures: number;
  passing: number;
  /** The tokens that a cap holds back. */
  readonly waits: Map<Mint, Wait>;
  /** The tokens that are given up, with the code of the last try. */
  readonly givenUp: Map<Mint, string>;
  /** The exits in parts that were seen under way. */
  readonly orders: Map<Mint, ExitOrder>;
  /** The most that was to be sold of each token. */
  readonly wholes: Map<Mint, Amount>;
  told: boolean;
}

/**
 * Sells what flattening strategies hold back into their budgets' tokens, and goes on with exits that are too large for
 * one swap: one swap of a strategy at a time, as proposals like any other, each no larger than caps, `max_trade` and
 * the known depth allow, and again after each outcome, with a growing pause after a failure. What a cap holds back goes
 * on when the cap leaves room. What is to be sold stands in the state; the rest lives on the engine's clock and on what
 * the engine takes in alone, so a replay repeats it.
 */
export class Flattener {
  readonly #port: FlattenPort;
  readonly #jobs = new Map<string, Job>();
  /** Exits under way, by intent. */
  readonly #underWay = new Map<string, ExitUnderWay>();
  #started = false;

  constructor(port: FlattenPort) {
    this.#port = port;
  }

  start(): void {
    this.#started = true;
    this.#review();
  }

  stop(): void {
    this.#started = false;
    for (const job of this.#jobs.values()) release(job);
    this.#jobs.clear();
  }

  /** Takes what came in, after the state holds it, and looks whether there is something to do. */
  observe(input: Input): void {
    const { flattening, exits } = this.#port.state;
    const isIdle = flattening.size === 0 && exits.size === 0 && this.#jobs.size === 0;
    if (input.kind === 'outcome' && isTerminal(input.state) && this.#underWay.size > 0) {
      const exit = this.#underWay.get(input.intentId);
      this.#underWay.delete(input.intentId);
      if (this.#started && !isIdle && exit !== undefined) this.#ended(exit, input);
    } else if (input.kind === 'command' && input.name === 'flatten') {
      this.#forget(input.strategy);
    }
    if (this.#started && !isIdle) this.#review();
  }

  /** Takes the ruling on a proposal; returns whether it was one of its own that is not the strategy's concern. */
  ruled(strategy: string, proposal: Proposal, ruling: Ruling): boolean {
    const { effect, denial } = ruling;
    if (effect?.kind === 'execute' && effect.intent.purpose === 'exit') {
      const { id, inputMint, amountIn } = effect.intent;
      this.#underWay.set(id, { strategy, mint: inputMint, amount: amountIn });
    }
    const job = this.#jobs.get(strategy);
    if (job === undefined || job.pending !== proposal) {
      // An exit that was taken over, or goes in parts: the waiting begins now.
      if (this.#started && this.#port.state.exits.size > 0) this.#review();
      return false;
    }
    const { inputMint } = job.pending;
    job.pending = undefined;
    if (denial === undefined) return true;
    const isOver = this.#toldOver(strategy, job, inputMint, denial.code);
    if (!isOver) this.#failed(strategy, job, inputMint, { code: denial.code, passes: isPassing(denial.code) });
    return !isOver;
  }

  /** Returns what flattening strategies still hold, each with what keeps it from being sold. */
  unsold(): UnsoldHolding[] {
    const { state } = this.#port;
    return [...state.flattening].flatMap((strategy) => {
      const budget = this.#budgetOf(strategy);
      if (budget === undefined) return [];
      return [...state.portfolio.book(strategy).balances].filter(([mint]) => mint !== budget)
        .map(([mint, amount]): UnsoldHolding => (
          { strategy, mint, amount, until: undefined, isMoving: false, ...this.#whyUnsold(strategy, mint) }));
    });
  }

  #whyUnsold(strategy: string, mint: Mint): Pick<UnsoldHolding, 'code' | 'reason'> & Partial<UnsoldHolding> {
    const { state, clock } = this.#port;
    const job = this.#jobs.get(strategy);
    const open = state.intents.values().find(({ intent }) => intent.inputMint === mint);
    if (open?.state === 'unknown') {
      return {
        code: 'INTENT_UNKNOWN', reason: `locked by ${open.intent.id}: what became of that swap is not known yet`,
      };
    }
    if (open !== undefined) {
      return { code: 'INTENT_OPEN_FOR_MINT', reason: `${open.intent.id} sells it now (${open.state})`, isMoving: true };
    }
    if (effectiveTrading(state, strategy) === 'halted') return { code: 'TRADING_HALTED', reason: 'trading is halted' };
    const givenUp = job?.givenUp.get(mint);
    if (givenUp !== undefined) {
      return { code: givenUp, reason: `given up after ${EXIT_FAILURES_MAX} tries, the last one ${givenUp}` };
    }
    if (spendable(state, strategy, mint) === 0n) {
      const reason = 'nothing of it may be spent: the wallet has no more of it than is kept for fees';
      return { code: 'SOL_RESERVE', reason };
    }
    const wait = job?.waits.get(mint);
    if (wait !== undefined) return { code: 'CAP_USED_UP', reason: wait.reason, until: wait.until };
    if (job?.pause !== undefined) {
      const { until, code } = job.pause;
      const inMs = roughDuration(Math.max(0, until - clock.now()));
      return {
        code, reason: `the last try ended with ${code}; the next one is made in ${inMs}`, until, isMoving: true,
      };
    }
    return { code: 'QUEUED', reason: 'its swap begins next', isMoving: true };
  }

  #review(): void {
    const { state } = this.#port;
    for (const [name, job] of this.#jobs) {
      if (state.flattening.has(name)) continue;
      for (const mint of job.orders.keys()) this.#toldOver(name, job, mint);
      if (state.exits.of(name).length === 0) this.#forget(name);
    }
    for (const name of state.flattening) this.#goOn(name);
    if (state.exits.size === 0) return;
    for (const name of state.exits.strategies()) if (!state.flattening.has(name)) this.#goOn(name);
  }

  /** Said again, it begins anew: what was given up is tried once more. */
  #forget(strategy: string | undefined): void {
    for (const [name, job] of this.#jobs) {
      if (strategy !== undefined && strategy !== name) continue;
      release(job);
      this.#jobs.delete(name);
    }
  }

  #ended({ strategy, mint, amount }: ExitUnderWay, outcome: Outcome): void {
    const { state } = this.#port;
    const { state: end, code } = outcome;
    const order = state.exits.get(strategy, mint);
    if (!state.flattening.has(strategy) && order === undefined && !this.#jobs.has(strategy)) return;
    const job = this.#jobOf(strategy);
    if (end === 'confirmed') {
      job.failures = job.passing = 0;
    } else if (!this.#toldOver(strategy, job, mint, code ?? end)) {
      const goesOnSmaller = isTooLarge(outcome) && this.#isSmallerNow(strategy, mint, amount);
      if (!goesOnSmaller) this.#failed(strategy, job, mint, { code: code ?? end, passes: endedPassing(outcome) });
    }
  }

  /** Whether less is sold at once now than was refused: a smaller part goes out without a pause. */
  #isSmallerNow(strategy: string, mint: Mint, amount: Amount): boolean {
    const target = this.#targets(strategy).find((one) => one.mint === mint);
    return target !== undefined && this.#partOf(strategy, target).amount < amount && target.amount >= amount;
  }

  #goOn(name: string): void {
    const { state } = this.#port;
    const into = this.#budgetOf(name);
    if (into === undefined) return;
    const job = this.#jobOf(name);
    const isFlattening = state.flattening.has(name);
    for (const order of state.exits.of(name)) job.orders.set(order.inputMint, order);
    // A swap of which nothing is known locks its input alone.
    const isSwapping = (): boolean => state.intents.values()
      .some(({ intent, state: reached }) => intent.strategy === name && reached !== 'unknown');
    const isBusy = job.pending !== undefined || job.pause !== undefined || (isFlattening && isSwapping());
    // Nothing is proposed that could only be refused; what lets it go is an input, or a look that one brings about.
    if (isBusy || effectiveTrading(state, name) === 'halted') return;
    const targets = this.#targets(name);
    // Another's swap of the same input comes first; its outcome has it looked at again.
    const free = targets.filter(({ mint }) => !state.intents.values().some(({ intent }) => intent.inputMint === mint));
    for (const target of free) {
      if (job.waits.has(target.mint)) continue;
      const part = this.#partOf(name, target);
      if (part.waits === undefined) {
        this.#sell(name, job, target, part.amount);
        return;
      }
      this.#wait(name, job, target, part.waits);
    }
    if (isFlattening && targets.length === 0) this.#done(name, job, into);
  }

  #budgetOf(name: string): Mint | undefined {
    const { strategies, portfolio } = this.#port.state;
    return strategies.has(name) ? portfolio.book(name).budget?.mint : undefined;
  }

  /** What there is to sell of a strategy. An exit in parts is tried even where nothing is free: the refusal ends it. */
  #targets(name: string): Target[] {
    const { state } = this.#port;
    const into = this.#budgetOf(name);
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
      pending: undefined, pause: undefined, failures: 0, passing: 0, told: false,
      waits: new Map(), givenUp: new Map(), orders: new Map(), wholes: new Map(),
    };
    this.#jobs.set(name, job);
    return job;
  }

  #sell(name: string, job: Job, { mint, into, amount, order }: Target, part: Amount): void {
    job.told = false;
    const isAll = part >= amount;
    if (order === undefined) {
      job.pending = {
        kind: 'swap', inputMint: mint, outputMint: into, amount: isAll ? 'all' : part,
        reason:
          `flatten: ${isAll ? 'all' : 'a part of the'} ${this.#symbol(mint)} goes back into ${this.#symbol(into)}`,
      };
    } else {
      const { left, slippageBps, route, reason } = order;
      const limit = limitOfPart(order.limit, part, left);
      job.pending = {
        kind: 'swap', inputMint: mint, outputMint: into, amount: part, reason: `${reason} (the exit goes on in parts)`,
        ...(limit === undefined ? {} : { limit }),
        ...(slippageBps === undefined ? {} : { slippageBps }),
        ...(route === undefined ? {} : { route }),
      };
    }
    this.#port.propose(name, job.pending, true);
  }

  /** A cap holds it back: that is said once for each wait, with what remains and until when. */
  #wait(name: string, job: Job, { mint, amount }: Target, { until, span }: NonNullable<ExitPart['waits']>): void {
    const { state, clock } = this.#port;
    const now = clock.now();
    const cap = state.limits.caps?.get(mint);
    const spent = state.spends.counted(mint, 'day', now);
    const endsAt = exitEndsAt({ amount, cap, at: now, spent });
    const last = endsAt === undefined ? 'the last one in a day or later' : `the last one at about ${when(endsAt, now)}`;
    const used = `signer.caps.${this.#symbol(mint)}.per_${span} is used up`;
    const reason = `${used}; the next part goes at ${when(until, now)}, ${last}`;
    job.waits.set(mint, {
      until, reason,
      timer: clock.schedule(() => {
        job.waits.delete(mint);
        this.#review();
      }, until - now),
    });
    this.#tell(name, {
      kind: 'alert', level: 'critical',
      message: `${showAmount(state, mint, amount)} of ${name} remain to be sold: ${reason}`,
      data: { mint, remaining: amount, until },
    });
  }

  /** Says that an exit in parts is over, where it is; `code` is how its last part ended. Returns whether it is. */
  #toldOver(name: string, job: Job, mint: Mint, code?: string): boolean {
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
    const exit = `the exit of ${name} from ${this.#symbol(mint)}`;
    if (code === undefined) {
      if (!state.flattening.has(name))
        this.#tell(name, { kind: 'alert', level: 'info', message: `${exit} is made, in parts` });
      return true;
    }
    this.#tell(name, {
      kind: 'alert', level: 'critical',
      message:
        `${exit} is given up with ${showAmount(state, mint, order.left)} unsold; the last try ended with ${code}. `
        + `"gannet flatten --strategy ${name}" sells what it holds`,
      data: { mint, code, remaining: order.left },
    });
    return true;
  }

  /** Said once; what comes in later, of a swap that landed after all, is sold as well. */
  #done(name: string, job: Job, into: Mint): void {
    if (job.told) return;
    job.told = true;
    const left = [...this.#port.state.portfolio.book(name).balances.keys()].filter((mint) => mint !== into)
      .map((mint) => this.#symbol(mint));
    this.#tell(name, left.length === 0
      ? {
        kind: 'alert', level: 'info',
        message: `flat: ${name} holds nothing but ${this.#symbol(into)} and enters nothing while it is flattening`,
      }
      : { kind: 'alert', level: 'warning', message: `flat but for its ${left.join(', ')}: what could not be sold, or `
        + `is kept for fees; ${name} enters nothing while it is flattening` });
  }

  #failed(
    name: string, job: Job, mint: Mint, { code, passes }: { readonly code: string; readonly passes: boolean },
  ): void {
    const { state, clock } = this.#port;
    if (passes) {
      job.passing += 1;
      if (job.passing === EXIT_FAILURES_MAX) this.#tellDelay(name, mint, code);
    } else {
      job.failures += 1;
      if (job.failures >= EXIT_FAILURES_MAX && state.flattening.has(name)) this.#giveUp(name, job, mint, code);
    }
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.max(0, job.failures + job.passing - 1));
    job.pause?.timer.unsubscribe();
    job.pause = {
      until: clock.now() + pauseMs, code,
      timer: clock.schedule(() => {
        job.pause = undefined;
        this.#review();
      }, pauseMs),
    };
  }

  /** Said once in a row of tries that came to nothing for a cause that passes. */
  #tellDelay(name: string, mint: Mint, code: string): void {
    const target = this.#targets(name).find((one) => one.mint === mint);
    const amount = target?.order?.left ?? target?.amount;
    const what = amount === undefined ? this.#symbol(mint) : showAmount(this.#port.state, mint, amount);
    const again = `it is tried again every ${formatDuration(PAUSE_MAX_MS)} until it is sold`;
    this.#tell(name, {
      kind: 'alert', level: 'critical',
      message: `${what} of ${name} remain to be sold: ${EXIT_FAILURES_MAX} tries in a row failed, the last one `
        + `${code}; ${again}`,
      data: { mint, code, ...(amount === undefined ? {} : { remaining: amount }) },
    });
  }

  #giveUp(name: string, job: Job, mint: Mint, code: string): void {
    job.givenUp.set(mint, code);
    job.failures = 0;
    this.#tell(name, {
      kind: 'alert', level: 'critical',
      message: `could not sell its ${this.#symbol(mint)}: ${EXIT_FAILURES_MAX} tries, ${formatDuration(PAUSE_MAX_MS)} `
        + `apart in the end, the last one ${code}. It is left where it is; "gannet flatten" tries anew`,
      data: { mint, code },
    });
  }

  #tell(name: string, alert: AlertProposal): void {
    this.#port.propose(name, alert);
  }

  #symbol(mint: Mint): string {
    return this.#port.state.tokens.byMint(mint)?.symbol ?? mint;
  }
}

function release(job: Job): void {
  job.pause?.timer.unsubscribe();
  for (const { timer } of job.waits.values()) timer.unsubscribe();
}

function when(at: Millis, now: Millis): string {
  return `${timeOfDay(at)} (in ${roughDuration(Math.max(0, at - now))})`;
}
