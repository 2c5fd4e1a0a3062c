import type { Subscription } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import { formatDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { DenialCategory, DenialCode } from '../trading/denials.ts';
import { DENIALS } from '../trading/denials.ts';
import type { Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { AlertProposal, Proposal, SwapProposal } from '../trading/proposal.ts';
import { effectiveTrading } from '../trading/protections/effective-trading.ts';
import { spendable } from '../trading/risk/spendable.ts';
import type { EngineState } from '../trading/state.ts';
import type { Input, Ruling } from '../trading/step.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What the flattener may do to the engine. */
export interface FlattenPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  /** Hands in a proposal under a strategy's name; it is ruled on in its turn. */
  propose(strategy: string, proposal: Proposal): void;
}

/** After a failure, then twice as long after each further one. */
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 60_000;
/** So often a holding is tried in vain before it is left to the operator: dust that nobody quotes, a token that nobody buys. */
const FAILURES_MAX = 8;

/** Refusals that say nothing of the holding: they pass by themselves. */
const PASSING: ReadonlySet<string> = new Set<DenialCategory>(['state', 'protection', 'freshness', 'count']);
/** Nor does a service or a node that is out of reach; one that calls the request bad may never have a price for it. */
const OUT_OF_REACH = /^(?:SERVICE_(?!BAD_REQUEST$)|CHAIN_UNREACHABLE$|CHAIN_RPC_ERROR$|RESTARTED$)/;

/** One strategy on its way out. */
interface Job {
  /** Proposed, and not yet ruled on. */
  pending: SwapProposal | undefined;
  underWay: { readonly intentId: string; readonly mint: Mint } | undefined;
  pause: Subscription | undefined;
  failures: number;
  passing: number;
  /** The most that is sold at a time, where the limits refused more. */
  readonly slices: Map<Mint, Amount>;
  readonly givenUp: Set<Mint>;
  told: boolean;
}

/**
 * Sells what flattening strategies hold back into their budgets' tokens: one swap of each at a time, as proposals like
 * any other, and again after each outcome, with a growing pause after a failure. It lives on the engine's clock and
 * what the engine takes in alone, so a replay repeats it.
 */
export class Flattener {
  readonly #port: FlattenPort;
  readonly #jobs = new Map<string, Job>();
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
    for (const job of this.#jobs.values()) job.pause?.unsubscribe();
    this.#jobs.clear();
  }

  /** Takes what came in, after the state holds it, and looks whether there is something to do. */
  observe(input: Input): void {
    if (!this.#started || (this.#port.state.flattening.size === 0 && this.#jobs.size === 0)) return;
    if (input.kind === 'outcome') this.#outcome(input);
    else if (input.kind === 'command' && input.name === 'flatten') this.#forget(input.strategy);
    this.#review();
  }

  /** Takes the ruling on a proposal; returns whether it was one of its own. */
  ruled(strategy: string, proposal: Proposal, ruling: Ruling): boolean {
    const job = this.#jobs.get(strategy);
    if (job === undefined || job.pending !== proposal) return false;
    job.pending = undefined;
    if (ruling.effect?.kind === 'execute') job.underWay = { intentId: ruling.effect.intent.id, mint: ruling.effect.intent.inputMint };
    else if (ruling.denial !== undefined) this.#refused(strategy, job, proposal, ruling.denial.code);
    return true;
  }

  #review(): void {
    for (const name of this.#jobs.keys()) {
      if (!this.#port.state.flattening.has(name)) this.#forget(name);
    }
    for (const name of this.#port.state.flattening) this.#goOn(name);
  }

  /** Said again, it begins anew: what was given up is tried once more. */
  #forget(strategy: string | undefined): void {
    for (const [name, job] of this.#jobs) {
      if (strategy !== undefined && strategy !== name) continue;
      job.pause?.unsubscribe();
      this.#jobs.delete(name);
    }
  }

  #outcome({ intentId, state, code }: Outcome): void {
    if (!isTerminal(state)) return;
    for (const [name, job] of this.#jobs) {
      if (job.underWay?.intentId !== intentId) continue;
      const { mint } = job.underWay;
      job.underWay = undefined;
      if (state === 'confirmed') job.failures = job.passing = 0;
      else this.#failed(name, job, mint, code ?? state);
    }
  }

  #goOn(name: string): void {
    const { state } = this.#port;
    const budget = state.strategies.has(name) ? state.portfolio.book(name).budget : undefined;
    if (budget === undefined) return;
    const job = this.#jobOf(name);
    const isBusy = job.pending !== undefined || job.pause?.closed === false
      || state.intents.values().some(({ intent }) => intent.strategy === name);
    // Nothing is proposed that could only be refused; what lets it go is an input, or a look that one brings about.
    if (isBusy || effectiveTrading(state, name) === 'halted') return;
    const mint = [...state.portfolio.book(name).balances.keys()]
      .find((held) => held !== budget.mint && !job.givenUp.has(held) && spendable(state, name, held) > 0n);
    if (mint === undefined) this.#done(name, job, budget.mint);
    // Another's swap of the same input comes first; its outcome has it looked at again.
    else if (!state.intents.values().some(({ intent }) => intent.inputMint === mint)) this.#sell(name, job, mint, budget.mint);
  }

  #jobOf(name: string): Job {
    const known = this.#jobs.get(name);
    if (known !== undefined) return known;
    const job: Job = { pending: undefined, underWay: undefined, pause: undefined, failures: 0, passing: 0, slices: new Map(), givenUp: new Set(), told: false };
    this.#jobs.set(name, job);
    return job;
  }

  #sell(name: string, job: Job, mint: Mint, into: Mint): void {
    const available = spendable(this.#port.state, name, mint);
    const slice = job.slices.get(mint) ?? available;
    job.told = false;
    job.pending = {
      kind: 'swap', inputMint: mint, outputMint: into, amount: available <= slice ? 'all' : slice,
      reason: `flatten: ${available <= slice ? 'all' : 'a part of the'} ${this.#symbol(mint)} goes back into ${this.#symbol(into)}`,
    };
    this.#port.propose(name, job.pending);
  }

  /** Said once; what comes in later, of a swap that landed after all, is sold as well. */
  #done(name: string, job: Job, into: Mint): void {
    if (job.told) return;
    job.told = true;
    const left = [...this.#port.state.portfolio.book(name).balances.keys()].filter((mint) => mint !== into).map((mint) => this.#symbol(mint));
    this.#tell(name, left.length === 0
      ? { kind: 'alert', level: 'info', message: `flat: ${name} holds nothing but ${this.#symbol(into)} and enters nothing while it is flattening` }
      : { kind: 'alert', level: 'warning', message: `flat but for its ${left.join(', ')}: what could not be sold, or is kept for fees; ${name} enters nothing while it is flattening` });
  }

  #refused(name: string, job: Job, { inputMint, amount }: SwapProposal, code: string): void {
    const size = typeof amount === 'bigint' ? amount : spendable(this.#port.state, name, inputMint);
    if (code === 'TRADE_EXCEEDS_MAX' && size > 1n) {
      // In parts then: each is held against the limit by itself.
      job.slices.set(inputMint, size / 2n as Amount);
      this.#goOn(name);
      return;
    }
    this.#failed(name, job, inputMint, code);
  }

  #failed(name: string, job: Job, mint: Mint, code: string): void {
    if (isPassing(code)) {
      job.passing += 1;
    } else {
      job.failures += 1;
      if (job.failures >= FAILURES_MAX) this.#giveUp(name, job, mint, code);
    }
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.max(0, job.failures + job.passing - 1));
    job.pause = this.#port.clock.schedule(() => {
      job.pause = undefined;
      this.#review();
    }, pauseMs);
  }

  #giveUp(name: string, job: Job, mint: Mint, code: string): void {
    job.givenUp.add(mint);
    job.failures = 0;
    this.#tell(name, {
      kind: 'alert', level: 'critical',
      message: `could not sell its ${this.#symbol(mint)}: ${FAILURES_MAX} tries, ${formatDuration(PAUSE_MAX_MS)} apart in the end, the last one ${code}. It is left where it is; "gannet flatten" tries anew`,
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

function isPassing(code: string): boolean {
  return OUT_OF_REACH.test(code) || (Object.hasOwn(DENIALS, code) && PASSING.has(DENIALS[code as DenialCode].category));
}
