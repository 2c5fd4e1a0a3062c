import type { BacktestStrategy } from '../../backtest/setup.ts';
import type { Amount } from '../../core/amount.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Realm } from '../../engine/host/realm.ts';
import type { PortfolioView, StrategyCall, StrategyEffect } from '../../engine/host/strategy-call.ts';
import { originOf } from '../../market/feed.ts';
import { specsOf } from '../../strategy/input.ts';
import type { Holding } from '../../trading/positions/holding.ts';
import type { Proposal } from '../../trading/proposal.ts';
import { goesOn } from '../box/phases.ts';
import type { PortfolioAnswers, TracedCall } from './trace.ts';
import { realmOf } from './trace.ts';

const NOTHING = 0n as Amount;
const NO_HOLDING: Holding = { amount: NOTHING, available: NOTHING, cost: NOTHING, value: undefined };

/** A proposal with its time. */
export interface TimedProposal {
  readonly at: Millis;
  readonly proposal: Proposal;
}

interface DueTimer {
  readonly id: number;
  readonly at: Millis;
  readonly order: number;
}

/**
 * A strategy that gets the calls of a traced backtest again, without an engine: another start, another history, or the
 * same events over and over. Its portfolio answers as it did in the trace.
 */
export class ReplayedStrategy {
  readonly realm: Realm;
  /** What it proposed since the last `take`. */
  readonly #proposals: TimedProposal[] = [];
  readonly #answers = new Map<string, unknown>();
  readonly #timers = new Map<number, DueTimer>();
  readonly #watches = new Map<number, string>();
  #scheduled = 0;
  #failure: Extract<StrategyEffect, { kind: 'fail' }> | undefined;

  constructor(instance: BacktestStrategy, seed: number, answers: PortfolioAnswers) {
    this.realm = realmOf(instance, seed);
    this.learn(answers);
  }

  /** The error that it ended with. */
  get failure(): Extract<StrategyEffect, { kind: 'fail' }> | undefined {
    return this.#failure;
  }

  /** From now on its portfolio answers so. */
  learn(answers: PortfolioAnswers): void {
    for (const [question, answer] of answers) this.#answers.set(question, answer);
  }

  /** Hands a call over and returns what it proposed. */
  call(call: StrategyCall): readonly Proposal[] {
    goesOn();
    const proposals: Proposal[] = [];
    for (const effect of this.realm.handle(call, this.#portfolio)) {
      switch (effect.kind) {
        case 'propose':
          proposals.push(effect.proposal);
          this.#proposals.push({ at: call.at, proposal: effect.proposal });
          break;
        case 'schedule': this.#schedule(effect, call.at); break;
        case 'cancel': this.#timers.delete(effect.id); break;
        case 'watch': this.#watches.set(effect.id, canonicalJson(effect.specs)); break;
        case 'unwatch': this.#watches.delete(effect.id); break;
        case 'fail': this.#failure ??= effect; break;
        case 'complete': case 'log': case 'state': case 'warn': break;
      }
    }
    return proposals;
  }

  /** Fires the timers that are due until an instant, each at its own. `onFired` gets what it proposed then. */
  advanceTo(at: Millis, onFired?: (proposals: readonly Proposal[], at: Millis) => void): void {
    for (let next = this.#next(); next !== undefined && next.at <= at; next = this.#next()) {
      this.#timers.delete(next.id);
      const proposals = this.call({ kind: 'timer', id: next.id, at: next.at });
      onFired?.(proposals, next.at);
    }
  }

  /** Returns its watch of the same feeds as another watch of a trace; undefined where it has none. */
  watchOf(feeds: string): number | undefined {
    return [...this.#watches].find(([, own]) => own === feeds)?.[0];
  }

  /** Returns its proposals since the last time. */
  take(): readonly TimedProposal[] {
    return this.#proposals.splice(0);
  }

  #schedule({ id, delay }: Extract<StrategyEffect, { kind: 'schedule' }>, now: Millis): void {
    this.#timers.delete(id);
    if (delay !== null) this.#timers.set(id, { id, at: now + delay, order: ++this.#scheduled });
  }

  #next(): DueTimer | undefined {
    let first: DueTimer | undefined;
    for (const timer of this.#timers.values()) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }

  readonly #portfolio: PortfolioView = {
    available: (mint) => this.#answer(`available ${mint}`, NOTHING),
    holding: (mint) => this.#answer(`holding ${mint}`, NO_HOLDING),
    openIntents: () => this.#answer('intents', 0),
    equity: () => this.#answer<Amount | undefined>('equity', undefined),
    budget: () => this.#answer('budget', undefined),
  };

  #answer<T>(question: string, unknown: T): T {
    return this.#answers.has(question) ? this.#answers.get(question) as T : unknown;
  }
}

/** Returns the first answer to each question of a trace: the portfolio at its beginning, as far as it was asked. */
export function firstAnswers(calls: readonly TracedCall[]): PortfolioAnswers {
  const first = new Map<string, unknown>();
  for (const { answers } of calls)
    for (const [question, answer] of answers) if (!first.has(question)) first.set(question, answer);
  return first;
}

/** Returns the first proposal that the expected ones lack. */
export function firstExtra(
  expected: readonly TimedProposal[], found: readonly TimedProposal[],
): TimedProposal | undefined {
  const known = new Set(expected.map(textOf));
  return found.find((proposal) => !known.has(textOf(proposal)));
}

/** Returns whether two sequences of proposals are the same. */
export function areSame(a: readonly TimedProposal[], b: readonly TimedProposal[]): boolean {
  return a.length === b.length && a.every((proposal, i) => textOf(proposal) === textOf(b[i]!));
}

function textOf({ at, proposal }: TimedProposal): string {
  return canonicalJson({ at, proposal });
}

/** The positions of a strategy's declared inputs. */
interface OwnInputs {
  readonly all: ReadonlySet<number>;
  /** Those that a warm-up shows. */
  readonly polled: ReadonlySet<number>;
  readonly portfolios: readonly number[];
}

/** Returns the positions of the inputs that a strategy declares. */
export function ownInputs({ strategy, params }: BacktestStrategy): OwnInputs {
  const inputs = Object.values(strategy.inputs(params));
  const isPortfolio = (index: number): boolean => specsOf(inputs[index]!).some((spec) => originOf(spec) === 'engine');
  const all = inputs.map((_, index) => index);
  return {
    all: new Set(all), polled: new Set(all.filter((index) => !isPortfolio(index))), portfolios: all.filter(isPortfolio),
  };
}
