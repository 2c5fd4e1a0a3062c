import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { VirtualClock } from '../engine/virtual-clock.ts';
import { outputAt } from '../market/quote.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { outcomeOf } from '../trading/intent.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import { BASE_FEE, landSimulated } from '../trading/simulation-model.ts';
import type { SwapTerms } from '../trading/swap-terms.ts';
import { refuseTerms } from '../trading/swap-terms.ts';
import type { SwapRecord } from './run-records.ts';
import { spanOf } from './timeline.ts';

/**
 * What becomes of an approved swap. fill: it lands at the last price. fail: it lands with an error, the fee is paid.
 * expire: it was signed and never lands. abandon: nothing was signed. unknown: it was sent, and no answer says whether
 * it landed. pending: it stays under way. The last two end by `settle` or with the run.
 */
export type SwapEnd = 'fill' | 'fail' | 'expire' | 'abandon' | 'unknown' | 'pending';

/** The end of a swap, how long it takes, and a stable code in place of the default one. */
export type SwapAnswer = SwapEnd | {
  readonly end: SwapEnd; readonly after?: string | undefined; readonly code?: string | undefined;
};

/** One answer for all swaps, a list for one after the other, whose last stays, or a function of the swap. */
export type SwapAnswers = SwapAnswer | readonly SwapAnswer[] | ((swap: SwapRecord, n: number) => SwapAnswer);

/** A swap under way. */
interface Course {
  readonly intent: Intent;
  readonly take: (outcome: Outcome) => void;
  /** Whether it was signed and sent. */
  isSent: boolean;
}

/** Codes and reasons of swaps that end without a fill. */
const CODES = {
  fail: { code: '6001', reason: 'the test lets it fail on the chain' },
  expire: { code: 'EXPIRED', reason: 'the test lets it expire' },
  abandon: { code: 'ABANDONED', reason: 'the test abandons it before it is signed' },
  unknown: { code: 'UNSEEN', reason: 'the test hides whether it landed' },
} as const;

/** Executes swaps as a test answers them. It outlives restarts of the engine, as the chain does. */
export class SwapExecutor {
  readonly #clock: VirtualClock;
  readonly #market: MarketCache;
  readonly #open = new Map<string, Course>();
  #answers: SwapAnswers;
  #count = 0;

  constructor(clock: VirtualClock, market: MarketCache, answers: SwapAnswers = 'fill') {
    this.#clock = clock;
    this.#market = market;
    this.#answers = answers;
  }

  /** Replaces the answers; a list begins with the next swap. */
  answer(answers: SwapAnswers): void {
    this.#answers = answers;
    this.#count = 0;
  }

  execute(intent: Intent, record: SwapRecord, take: (outcome: Outcome) => void): void {
    const course: Course = { intent, take, isSent: false };
    this.#open.set(intent.id, course);
    const answer = this.#next(record);
    const { end, after, code } = typeof answer === 'string' ? { end: answer } : answer;
    take(outcomeOf(intent.id, 'building'));
    if (end !== 'abandon') this.#send(course);
    if (end === 'pending' || !this.#open.has(intent.id)) return;
    this.#later(after, () => { this.#finish(course, end, code); });
  }

  /** Ends the swaps under way. Returns how many there were. */
  settle(answer: SwapAnswer): number {
    const { end, after, code } = typeof answer === 'string' ? { end: answer } : answer;
    const open = [...this.#open.values()];
    for (const course of open) this.#later(after, () => { this.#finish(course, end, code); });
    return open.length;
  }

  #next(record: SwapRecord): SwapAnswer {
    const n = this.#count++;
    if (typeof this.#answers === 'function') return this.#answers(record, n);
    if (!isList(this.#answers)) return this.#answers;
    return this.#answers[Math.min(n, this.#answers.length - 1)] ?? 'fill';
  }

  /** A delay on the clock of the chain, which goes on while no engine runs. */
  #later(after: string | undefined, work: () => void): void {
    const delay: Millis = after === undefined ? 0 : spanOf(after);
    if (delay === 0) work();
    else this.#clock.schedule(work, delay);
  }

  #send(course: Course): void {
    const terms = this.#termsOf(course.intent);
    const refusal = refuseTerms(course.intent, terms);
    if (refusal !== undefined) {
      this.#open.delete(course.intent.id);
      course.take(outcomeOf(course.intent.id, 'abandoned', refusal));
      return;
    }
    course.isSent = true;
    course.take(outcomeOf(course.intent.id, 'signed', { router: terms.router, quotedOut: terms.outAmount }));
    course.take(outcomeOf(course.intent.id, 'submitted'));
  }

  #finish(course: Course, end: SwapEnd, code: string | undefined): void {
    const { intent, take } = course;
    if (!this.#open.has(intent.id) || end === 'pending') return;
    if (end === 'unknown') {
      take(outcomeOf(intent.id, 'unknown', { ...CODES.unknown, ...(code === undefined ? {} : { code }) }));
      return;
    }
    this.#open.delete(intent.id);
    if (end === 'fill') {
      // It lands at the price of this moment: the slippage of a swap is not what a test of a strategy is about.
      const accepted = this.#termsOf(intent);
      take(landSimulated({
        intent, accepted, outAmount: accepted.outAmount, setting: 'base', feeLamports: BASE_FEE,
      }));
      return;
    }
    const state = end === 'fail' ? 'failed' : end === 'expire' ? 'expired' : 'abandoned';
    take(outcomeOf(intent.id, course.isSent && state === 'abandoned' ? 'expired' : state, {
      ...CODES[end], ...(code === undefined ? {} : { code }), ...(end === 'fail' ? { feeLamports: BASE_FEE } : {}),
    }));
  }

  /** Returns the terms at the last price of the pair, from the younger of the quotes in both directions. */
  #termsOf({ inputMint, outputMint, amountIn, maxSlippageBps }: Intent): SwapTerms {
    const direct = this.#market.latestQuote(inputMint, outputMint);
    const back = this.#market.latestQuote(outputMint, inputMint);
    const price = back === undefined || (direct !== undefined && direct.receivedAt >= back.receivedAt) ? direct
      : { inAmount: back.outAmount, outAmount: back.inAmount };
    if (price === undefined) {
      throw new Error(`no price is known between ${inputMint} and ${outputMint}, so the test cannot fill a swap: `
        + 'name one with the option "prices", or show one to the run');
    }
    const outAmount = outputAt(price, amountIn);
    return {
      inputMint, outputMint, inAmount: amountIn, outAmount, priceImpact: 0, feeBps: 0, router: 'test',
      threshold: outAmount - outAmount * BigInt(maxSlippageBps) / 10_000n as Amount,
    };
  }
}

function isList(answers: SwapAnswers): answers is readonly SwapAnswer[] {
  return Array.isArray(answers);
}
