import type { Subscriber } from 'rxjs';
import { EMPTY, Observable } from 'rxjs';
import type { Amount, Lamports } from '../core/amount.ts';
import { mulDiv, ZERO } from '../core/amount.ts';
import type { Clock, Millis } from '../core/time.ts';
import { outputAt } from '../market/quote.ts';
import type { Executor, OpenIntent } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { outcomeOf } from '../trading/intent.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import { BASE_FEE, landSimulated } from '../trading/simulated-landing.ts';
import type { SwapTerms } from '../trading/swap-order.ts';
import { minimumOut, refuseTerms } from '../trading/terms.ts';

export interface SimulationModel {
  readonly setting: SimulationSetting;
  /** From the decision to the accepted quote. */
  readonly quoteLatencyMs: Millis;
  /** From the signature to the block. */
  readonly landLatencyMs: Millis;
  /** Per attempt, landed or failed. */
  readonly feeLamports: Lamports;
  /**
   * What is taken off where only quotes of the other direction are recorded: their inverse leaves out the spread and
   * both directions' pool fees.
   */
  readonly otherSideHaircutBps: number;
}

export const BASE_MODEL: SimulationModel = {
  setting: 'base',
  quoteLatencyMs: 300,
  landLatencyMs: 1_500,
  feeLamports: BASE_FEE,
  otherSideHaircutBps: 60,
};

/** A simulated executor with what a report must say of it. */
export interface SimulatedExecutor extends Executor {
  /** How many fills were priced from the other direction's quotes. */
  readonly otherSideFills: () => number;
}

/**
 * Returns an executor that fills from the quotes known at the simulated arrival, never from later ones. It fails where
 * the price moved beyond the slippage (6001, the fee is paid) and abandons what it has no price for.
 */
export function createSimulatedExecutor(options: {
  readonly clock: Clock;
  readonly market: MarketCache;
  readonly model: SimulationModel;
}): SimulatedExecutor {
  const { clock, market, model } = options;
  const instant = model.setting === 'optimistic';
  let otherSideFills = 0;

  const priceOf = (intent: Intent): SwapTerms | undefined => {
    const direct = market.latestQuote(intent.inputMint, intent.outputMint);
    if (direct !== undefined && direct.inAmount > 0n) {
      return termsOf(intent, outputAt(direct, intent.amountIn), { router: direct.router, priceImpact: direct.priceImpact ?? 0, feeBps: direct.feeBps });
    }
    const reverse = market.latestQuote(intent.outputMint, intent.inputMint);
    if (reverse === undefined || reverse.outAmount === 0n) return undefined;
    const inverse = mulDiv(intent.amountIn, reverse.inAmount, reverse.outAmount, 'floor');
    const outAmount = mulDiv(inverse, BigInt(10_000 - model.otherSideHaircutBps), 10_000n, 'floor');
    return termsOf(intent, outAmount, { router: reverse.router, priceImpact: reverse.priceImpact ?? 0, feeBps: reverse.feeBps });
  };

  const land = (subscriber: Subscriber<Outcome>, intent: Intent, accepted: SwapTerms): void => {
    const arrival = instant ? accepted : priceOf(intent);
    const outcome = landSimulated({
      intent, accepted, outAmount: arrival?.outAmount ?? ZERO, setting: model.setting, feeLamports: model.feeLamports,
    });
    if (outcome.state === 'confirmed' && market.latestQuote(intent.inputMint, intent.outputMint) === undefined) otherSideFills += 1;
    subscriber.next(outcome);
    subscriber.complete();
  };

  const sign = (subscriber: Subscriber<Outcome>, intent: Intent): void => {
    const terms = priceOf(intent);
    const refusal = terms === undefined ? { code: 'QUOTE_UNAVAILABLE', reason: 'the recording holds no quote of this pair' } : refuseTerms(intent, terms);
    if (terms === undefined || refusal !== undefined) {
      subscriber.next(outcomeOf(intent.id, 'abandoned', refusal));
      subscriber.complete();
      return;
    }
    subscriber.next(outcomeOf(intent.id, 'signed', { router: terms.router, quotedOut: terms.outAmount }));
    subscriber.next(outcomeOf(intent.id, 'submitted'));
    subscriber.add(clock.schedule(() => { land(subscriber, intent, terms); }, instant ? 0 : model.landLatencyMs));
  };

  return {
    execute: (intent) => new Observable((subscriber) => {
      subscriber.next(outcomeOf(intent.id, 'building'));
      subscriber.add(clock.schedule(() => { sign(subscriber, intent); }, instant ? 0 : model.quoteLatencyMs));
    }),
    // A simulation has no yesterday: it begins with nothing open.
    reconcile: (open: readonly OpenIntent[]) => {
      if (open.length > 0) throw new Error(`a simulation cannot resolve ${open.length} open intents of a real run`);
      return EMPTY;
    },
    otherSideFills: () => otherSideFills,
  };
}

function termsOf(intent: Intent, outAmount: Amount, quoted: { router: string; priceImpact: number; feeBps: number }): SwapTerms {
  return {
    inputMint: intent.inputMint, outputMint: intent.outputMint, inAmount: intent.amountIn, outAmount,
    threshold: minimumOut(intent, outAmount), ...quoted,
  };
}
