import type { Unsubscribable } from 'rxjs';
import { EMPTY, Observable } from 'rxjs';
import type { Lamports } from '../core/amount.ts';
import { ZERO } from '../core/amount.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Executor, OpenIntent } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal, outcomeOf } from '../trading/intent.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import { landSimulated } from '../trading/simulation-model.ts';
import type { SwapTerms } from '../trading/swap-terms.ts';
import { refuseTerms } from '../trading/swap-terms.ts';
import type { AttemptChance } from './models/landing.ts';
import { arrivingOutput, chanceOf, isFirm, passageOf } from './models/landing.ts';
import { knownBefore, latencyAt } from './models/latency.ts';
import { quoteFor } from './models/market-ladder.ts';
import { createOwnImpact } from './models/own-impact.ts';
import { impactBasis } from './models/quote-ladder.ts';
import { underSetting } from './models/settings.ts';
import type { TokenAccounts } from './models/swap-costs.ts';
import { attemptCosts, createTokenAccounts } from './models/swap-costs.ts';
import type { Pricing, SimulatedPrice } from './pricing.ts';
import { createPricing, isRefusal } from './pricing.ts';
import type { RecordedIntervals } from './sampling.ts';
import type { FillNotes, SimulationCounters, SimulationNotes } from './simulation-notes.ts';
import { createSimulationCounters } from './simulation-notes.ts';

/** An executor that simulates swaps, with what a report says about the simulation. */
export interface SimulatedExecutor extends Executor {
  /** Executes an intent as `execute` does, without a way to cancel it: it passes on each outcome, a fill with notes. */
  carryOut(intent: Intent, take: TakeOutcome): void;
  notes(): SimulationNotes;
  /** Closes the accounts of some mints and returns the deposits that come back. */
  closeAccounts(mints: Iterable<Mint>): Lamports;
  /** Returns the deposits of token accounts that have not come back. */
  lockedLamports(): Lamports;
}

/** Takes an outcome of an intent; the notes of a fill say what it cost and how reliable its price is. */
type TakeOutcome = (outcome: Outcome, notes: FillNotes | undefined) => void;

/** A swap under way. */
interface Course {
  readonly intent: Intent;
  readonly chance: AttemptChance;
  readonly take: (outcome: Outcome) => void;
  /** Set once the swap is filled. */
  notes: FillNotes | undefined;
  /** The one timer of the swap. */
  waiting: Unsubscribable | undefined;
}

/** The price and the terms of a signed swap. */
interface Acceptance {
  readonly price: SimulatedPrice;
  readonly terms: SwapTerms;
}

interface ExecutorOptions {
  readonly clock: Clock;
  readonly market: MarketCache;
  readonly model: SimulationModel;
  readonly seed: number | string;
  /** How often each feed was recorded; absent where it was not measured. */
  readonly intervals?: RecordedIntervals | undefined;
  /** Mints of the token accounts that the wallet has from the beginning. */
  readonly tokenAccounts: Iterable<Mint>;
}

const EXPIRED = { code: 'EXPIRED', reason: 'it never landed: the simulation loses a share of the transactions' };
const UNSEEN = {
  code: 'UNSEEN', reason: 'no answer says whether it landed: the simulation hides a share of the landings',
};
const MAKER_REJECTED = { code: 'MAKER_REJECTED', reason: 'the price moved against the maker, who did not sign' };

/**
 * Returns an executor that fills from the quotes known at the simulated arrival, never from later ones. It fails where
 * the price moved beyond the slippage (6001, the fee is paid), loses transactions as the model says, and abandons a
 * swap without a price with a code. All chance follows from the seed and the intent's id: the order of calls does not
 * matter.
 */
export function createSimulatedExecutor(options: ExecutorOptions): SimulatedExecutor {
  const model = underSetting(options.model);
  const chain = createSimulatedChain(options, model);
  const begin = swapCourses(options, model, chain);
  return {
    execute: (intent) => new Observable((subscriber) => {
      const course = begin(intent, (outcome) => {
        subscriber.next(outcome);
        if (isTerminal(outcome.state)) subscriber.complete();
      });
      return () => { course.waiting?.unsubscribe(); };
    }),
    carryOut: (intent, take) => { begin(intent, take); },
    // A simulation begins without open intents.
    reconcile: (open: readonly OpenIntent[]) => {
      if (open.length > 0) throw new Error(`a simulation cannot resolve ${open.length} open intents of a real run`);
      return EMPTY;
    },
    notes: () => chain.counters.notes(),
    closeAccounts: (mints) => [...mints].reduce((sum, mint) => sum + chain.accounts.close(mint), 0n) as Lamports,
    lockedLamports: () => chain.accounts.lockedLamports(),
  };
}

/** Returns how to begin a swap; its outcomes follow by the clock. */
function swapCourses(
  { clock, seed }: ExecutorOptions, model: ReturnType<typeof underSetting>, chain: SimulatedChain,
): (intent: Intent, take: TakeOutcome) => Course {
  const { row, landing } = model;
  const { pricing } = chain;
  const after = (course: Course, delayMs: Millis, work: () => void): void => {
    course.waiting = clock.schedule(work, delayMs);
  };

  const send = (course: Course, accepted: Acceptance): void => {
    const { intent, chance, take } = course;
    const landMs = latencyAt(knownBefore(model.latency.land, clock.now(), intent.route), chance.land) * row.landLatency;
    const passage = passageOf(chance, landing, landMs);
    if (passage === 'expires') {
      after(course, landing.expiryMs, () => { take(outcomeOf(intent.id, 'expired', EXPIRED)); });
      return;
    }
    after(course, landMs, () => {
      const outcome = chain.land(course, accepted);
      if (outcome === undefined) {
        // As live: the answer is a hint, and only the end of the transaction's life is proof.
        take(outcomeOf(intent.id, 'submitted', MAKER_REJECTED));
        after(course, landing.expiryMs - landMs, () => { take(outcomeOf(intent.id, 'expired', MAKER_REJECTED)); });
      } else if (passage === 'arrives-unseen') {
        take(outcomeOf(intent.id, 'unknown', UNSEEN));
        after(course, landing.expiryMs - landMs, () => { take(outcome); });
      } else take(outcome);
    });
  };

  const accept = (course: Course): void => {
    const { intent, chance, take } = course;
    const price = pricing.price(intent, { at: clock.now(), isUnderWay: false });
    if (isRefusal(price)) {
      chain.counters.refused(price);
      take(outcomeOf(intent.id, 'abandoned', price));
      return;
    }
    const terms = pricing.termsOf(intent, price);
    const { router, outAmount: quotedOut } = terms;
    const refusal = refuseTerms(intent, terms);
    if (refusal !== undefined) {
      take(outcomeOf(intent.id, 'abandoned', { router, ...refusal }));
      return;
    }
    after(course, latencyAt(model.latency.sign, chance.sign) * row.landLatency, () => {
      take(outcomeOf(intent.id, 'signed', { router, quotedOut }));
      take(outcomeOf(intent.id, 'submitted'));
      send(course, { price, terms });
    });
  };

  return (intent, takeWithNotes) => {
    const take = (outcome: Outcome): void => { takeWithNotes(outcome, course.notes); };
    const course: Course = { intent, chance: chanceOf(seed, intent.id), take, notes: undefined, waiting: undefined };
    take(outcomeOf(intent.id, 'building'));
    const quoteMs = latencyAt(knownBefore(model.latency.quote, clock.now(), intent.route), course.chance.quote);
    after(course, quoteMs * row.quoteLatency, () => { accept(course); });
    return course;
  };
}

/** The market, the token accounts and the landing of simulated swaps. */
interface SimulatedChain {
  readonly pricing: Pricing;
  readonly accounts: TokenAccounts;
  readonly counters: SimulationCounters;
  /** Lands a swap now; undefined where a maker does not sign. */
  land(course: Course, accepted: Acceptance): Outcome | undefined;
}

function createSimulatedChain(
  { clock, market, intervals, tokenAccounts }: ExecutorOptions, model: ReturnType<typeof underSetting>,
): SimulatedChain {
  const { row, landing } = model;
  const ownImpact = createOwnImpact(model.ownImpact, model.recordedSwaps);
  const pricing = createPricing({ market, model, ownImpact, intervals });
  const accounts = createTokenAccounts(tokenAccounts, (mint) => model.transferFees.has(mint));
  const costs = attemptCosts(model.costs, row.priority);
  const counters = createSimulationCounters(costs);

  const countImpact = ({ inputMint, outputMint }: Intent, { from, displaced }: SimulatedPrice): void => {
    const basis = impactBasis(from.ladder);
    counters.impacted({ inputMint, outputMint }, {
      feeds: from.rungs.map(({ quote }) => quote.feed), basis, isDisplaced: displaced > 0n && basis !== 'none',
    });
  };
  return {
    pricing, accounts, counters,
    land(course, { price: accepted, terms }) {
      const { intent } = course;
      const firm = isFirm(terms.router);
      const arrival = pricing.price(intent, { at: clock.now(), isUnderWay: true });
      const arrivalOut = isRefusal(arrival) ? ZERO : arrival.outAmount;
      const outAmount = arrivingOutput({ acceptedOut: terms.outAmount, arrivalOut, isFirm: firm }, landing, row);
      if (outAmount === undefined) return undefined;
      const outcome = landSimulated({
        intent, accepted: terms, outAmount, setting: row.fill === 'threshold' && !firm ? 'pessimistic' : 'base',
        feeLamports: costs.feeLamports, rentLamports: accounts.depositFor(intent.outputMint),
      });
      if (outcome.state !== 'confirmed') {
        counters.failed();
        return outcome;
      }
      if (!firm) {
        // A maker pays from its own stock, not from pools.
        ownImpact.add(intent.inputMint, intent.outputMint, accepted.traded, clock.now());
        if (model.ownImpact.share > 0) countImpact(intent, isRefusal(arrival) ? accepted : arrival);
        const isUnmoved = !isRefusal(arrival)
          && quoteFor(arrival.from, arrival.traded) === quoteFor(accepted.from, accepted.traded);
        counters.arrived({ isUnmoved });
      }
      const isAsAccepted = isRefusal(arrival) || row.fill === 'quoted' || firm;
      const { marks, platformFee, transferFees } = isAsAccepted ? accepted : arrival;
      course.notes = { marks, platformFee, transferFees, costs, rentLamports: accounts.open(intent.outputMint) };
      counters.filled(course.notes);
      return outcome;
    },
  };
}
