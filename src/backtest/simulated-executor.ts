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
import { landSimulated } from '../trading/simulated-landing.ts';
import type { SimulationModel } from '../trading/simulation-model.ts';
import type { SwapTerms } from '../trading/swap-order.ts';
import { refuseTerms } from '../trading/terms.ts';
import { attemptCosts, createTokenAccounts } from './models/swap-costs.ts';
import type { AttemptChance } from './models/landing.ts';
import { arrivingOutput, chanceOf, isFirm, passageOf } from './models/landing.ts';
import { knownBefore, latencyAt } from './models/latency.ts';
import { quoteFor } from './models/market-ladder.ts';
import { createOwnImpact } from './models/own-impact.ts';
import { impactBasis } from './models/quote-ladder.ts';
import { underSetting } from './models/settings.ts';
import type { SimulatedPrice } from './pricing.ts';
import { createPricing, isRefusal } from './pricing.ts';
import type { RecordedIntervals } from './sampling.ts';
import type { FillNotes, SimulationNotes } from './simulation-notes.ts';
import { createSimulationCounters } from './simulation-notes.ts';

export type { SimulationModel } from '../trading/simulation-model.ts';
export { BASE_MODEL } from '../trading/simulation-model.ts';

/** A simulated executor with what a report must say of it. */
export interface SimulatedExecutor extends Executor {
  /**
   * Carries an intent out as `execute` does, for whoever never gives one up: every outcome is handed over at once, a
   * fill with its notes.
   */
  carryOut(intent: Intent, take: TakeOutcome): void;
  notes(): SimulationNotes;
  /** Closes the accounts of some mints and returns what comes back of their deposits. */
  closeAccounts(mints: Iterable<Mint>): Lamports;
  /** What was laid down for token accounts and has not come back. */
  lockedLamports(): Lamports;
}

/** Takes what became of an intent; where it is filled, what that cost and how sure its price is. */
type TakeOutcome = (outcome: Outcome, notes: FillNotes | undefined) => void;

/** A swap under way. */
interface Course {
  readonly intent: Intent;
  readonly chance: AttemptChance;
  readonly take: (outcome: Outcome) => void;
  /** What its fill cost, once it is filled. */
  notes: FillNotes | undefined;
  /** What it waits for: one thing at a time, so there is one thing to give up. */
  waiting: Unsubscribable | undefined;
}

/** What was signed: a price, on these terms. */
interface Acceptance {
  readonly price: SimulatedPrice;
  readonly terms: SwapTerms;
}

/**
 * Returns an executor that fills from the quotes known at the simulated arrival, never from later ones. It fails where
 * the price moved beyond the slippage (6001, the fee is paid), loses transactions as the model has it, and gives up
 * with a code what it cannot price. All chance follows from the seed and the intent's id: the order of calls does not
 * matter.
 */
export function createSimulatedExecutor(options: {
  readonly clock: Clock;
  readonly market: MarketCache;
  readonly model: SimulationModel;
  readonly seed: number | string;
  /** How often each feed was recorded; absent where it was not measured. */
  readonly intervals?: RecordedIntervals | undefined;
  /** Mints of which the wallet has an account from the beginning. */
  readonly tokenAccounts: Iterable<Mint>;
}): SimulatedExecutor {
  const { clock, market, seed } = options;
  const model = underSetting(options.model);
  const { row, landing } = model;
  const ownImpact = createOwnImpact(model.ownImpact, model.recordedSwaps);
  const pricing = createPricing({ market, model, ownImpact, intervals: options.intervals });
  const accounts = createTokenAccounts(options.tokenAccounts, (mint) => model.transferFees.has(mint));
  const costs = attemptCosts(model.costs, row.priority);
  const tally = createSimulationCounters(costs);

  const noteImpact = ({ inputMint, outputMint }: Intent, { from, displaced }: SimulatedPrice): void => {
    const basis = impactBasis(from.ladder);
    tally.impacted({ inputMint, outputMint }, {
      feeds: from.rungs.map(({ quote }) => quote.feed), basis, isDisplaced: displaced > 0n && basis !== 'none',
    });
  };

  const after =
    (course: Course, delayMs: Millis, work: () => void): void => { course.waiting = clock.schedule(work, delayMs); };

  /** What the chain does to a swap that arrives, now; undefined where a maker did not sign. */
  const arrive = (course: Course, { price: accepted, terms }: Acceptance): Outcome | undefined => {
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
      tally.failed();
      return outcome;
    }
    if (!firm) {
      // What a maker pays comes from his own stock, not from pools.
      ownImpact.add(intent.inputMint, intent.outputMint, accepted.traded, clock.now());
      if (model.ownImpact.share > 0) noteImpact(intent, isRefusal(arrival) ? accepted : arrival);
      tally.arrived({ isUnmoved: !isRefusal(arrival)
        && quoteFor(arrival.from, arrival.traded) === quoteFor(accepted.from, accepted.traded) });
    }
    const { marks, platformFee, transferFees } = isRefusal(arrival) || row.fill === 'quoted' || firm
      ? accepted : arrival;
    course.notes = { marks, platformFee, transferFees, costs, rentLamports: accounts.open(intent.outputMint) };
    tally.filled(course.notes);
    return outcome;
  };

  const follow = (course: Course, accepted: Acceptance): void => {
    const { intent, chance, take } = course;
    const landMs = latencyAt(knownBefore(model.latency.land, clock.now(), intent.route), chance.land) * row.landLatency;
    const passage = passageOf(chance, landing, landMs);
    if (passage === 'expires') {
      after(course, landing.expiryMs, () => { take(outcomeOf(
        intent.id, 'expired', { code: 'EXPIRED', reason: 'it never landed, as the model has it now and then' },
      )); });
      return;
    }
    after(course, landMs, () => {
      const outcome = arrive(course, accepted);
      if (outcome === undefined) {
        // As live: the answer is a hint, and only the end of the transaction's life is proof.
        const refusal = { code: 'MAKER_REJECTED', reason: 'the price moved against the maker, who did not sign' };
        take(outcomeOf(intent.id, 'submitted', refusal));
        after(course, landing.expiryMs - landMs, () => { take(outcomeOf(intent.id, 'expired', refusal)); });
      } else if (passage === 'arrives-unseen') {
        take(outcomeOf(intent.id, 'unknown', {
          code: 'UNSEEN', reason: 'nobody says what became of it, as the model has it now and then',
        }));
        after(course, landing.expiryMs - landMs, () => { take(outcome); });
      } else take(outcome);
    });
  };

  const accept = (course: Course): void => {
    const { intent, chance, take } = course;
    const price = pricing.price(intent, { at: clock.now(), isUnderWay: false });
    if (isRefusal(price)) {
      tally.refused(price);
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
      follow(course, { price, terms });
    });
  };

  const begin = (intent: Intent, takeWithNotes: TakeOutcome): Course => {
    const take = (outcome: Outcome): void => { takeWithNotes(outcome, course.notes); };
    const course: Course = { intent, chance: chanceOf(seed, intent.id), take, notes: undefined, waiting: undefined };
    take(outcomeOf(intent.id, 'building'));
    after(course, latencyAt(
      knownBefore(model.latency.quote, clock.now(), intent.route), course.chance.quote,
    ) * row.quoteLatency, () => { accept(course); });
    return course;
  };

  return {
    execute: (intent) => new Observable((subscriber) => {
      const course = begin(intent, (outcome) => {
        subscriber.next(outcome);
        if (isTerminal(outcome.state)) subscriber.complete();
      });
      return () => { course.waiting?.unsubscribe(); };
    }),
    carryOut: (intent, take) => { begin(intent, take); },
    // A simulation has no yesterday: it begins with nothing open.
    reconcile: (open: readonly OpenIntent[]) => {
      if (open.length > 0) throw new Error(`a simulation cannot resolve ${open.length} open intents of a real run`);
      return EMPTY;
    },
    notes: () => tally.notes(),
    closeAccounts: (mints) => [...mints].reduce((sum, mint) => sum + accounts.close(mint), 0n) as Lamports,
    lockedLamports: () => accounts.lockedLamports(),
  };
}
