import { seededRandom } from '../../core/random.ts';
import type { Episodes } from '../market/episodes.ts';
import type { PredictionBook } from '../market/prediction-market.ts';
import { SLOTS_PER_DAY } from '../market/slot-counts.ts';
import { createAgenda } from './agenda.ts';
import type { ListedEvent, Listing, Timeline } from './catalogue.ts';
import { createCatalogue } from './catalogue.ts';
import type { Outcome } from './event-plans.ts';
import { createLedger, type LedgerFilter, type LedgerRecord } from './ledger.ts';
import { createOrderExecution } from './order-execution.ts';
import type { Identifiers, Position } from './positions.ts';
import { ONE, createIdentifiers, createPositions } from './positions.ts';
import { createSettlement } from './settlement.ts';
import { startTraders, type Trader } from './traders.ts';
import { createVenue, type Venue } from './venue.ts';

/**
 * The prediction markets of the embedded service, with all traders. Prices and books are functions of
 * the seed and of time; orders and positions are worked out up to the present on request, so that a slot
 * costs nothing. The money of these trades is on no chain: the reference has no endpoint that moves it.
 */
export interface PredictionExchange {
  readonly timeline: Timeline;
  readonly identifiers: Identifiers;
  readonly venue: Pick<
    Venue, 'state' | 'book' | 'bestBids' | 'pricing' | 'probability' | 'volumeUsd' | 'bookedMarkets'
  >;
  readonly traders: readonly Pick<Trader, 'name' | 'address'>[];
  /** Fills, closes and pays out. */
  readonly keeper: string;
  /** Catches up when much has piled up since the last request: the next request would wait for all of it. */
  keepUp(): void;
  events(): readonly ListedEvent[];
  event(eventId: string): ListedEvent | undefined;
  market(marketId: string): Listing | undefined;
  /** Returns the records that fit, newest first. */
  history(filter: LedgerFilter): readonly LedgerRecord[];
  /** Returns all positions, newest first. */
  positions(): readonly Position[];
  position(pubkey: string): Position | undefined;
  /** Resolves a market now and settles its positions; returns false when it was resolved already. */
  resolve(listing: Listing, outcome: Outcome): boolean;
  /** Puts the operator's book in the place of the market's own, from now on. */
  setBook(marketId: string, book: PredictionBook | null): void;
  /** Gives a market its own book back, or all of them. */
  releaseBooks(marketId?: string): void;
}

/** More than a day before the start, so that the keeper has claimed some payouts already. */
const HISTORY_SLOTS = SLOTS_PER_DAY + 9_000;
/** The most slots that a request may have to catch up with: some 15 ms of work. */
const MOST_BEHIND_SLOTS = 50_000;
const WALLET: Omit<Trader, 'address'> = {
  name: 'wallet', everySlots: 6_000, depositUsd: { from: 10, to: 60 }, sellShare: 0.35,
  plans: [
    { slot: -60_000, marketId: 'FOGHORN-KEEP', isYes: true, depositUsd: 40 },
    { slot: -59_000, marketId: 'FOGHORN-SELL', isYes: true, depositUsd: 15 },
    { slot: -58_000, marketId: 'FOGHORN-PAINT', isYes: false, depositUsd: 20 },
    { slot: -57_000, marketId: 'FOGHORN-MUTE', isYes: true, depositUsd: 25 },
    { slot: -30_000, marketId: 'SPRINGTIDE-26DEC31', isYes: true, depositUsd: 120 },
    { slot: -29_000, marketId: '540817', isYes: false, depositUsd: 80 },
    { slot: -28_000, marketId: 'HERRINGRUN-27MAR01', isYes: true, depositUsd: 60 },
  ],
};
const OTHERS: readonly Omit<Trader, 'address'>[] = [
  { name: 'skua', everySlots: 150, depositUsd: { from: 25, to: 900 }, sellShare: 0.3 },
  { name: 'tern', everySlots: 450, depositUsd: { from: 10, to: 250 }, sellShare: 0.25 },
  { name: 'puffin', everySlots: 900, depositUsd: { from: 5, to: 40 }, sellShare: 0.5 },
  { name: 'dunlin', everySlots: 4_500, depositUsd: { from: 5, to: 12 }, sellShare: 0 },
];
const GUEST: Omit<Trader, 'address' | 'name'> = { everySlots: 600, depositUsd: { from: 20, to: 400 }, sellShare: 0.3 };
const CONTRACT_STEP = { whole: ONE, hundredth: ONE / 100n } as const;

/** Returns the prediction exchange of a seed. `contracts` is the step in which the venue trades them. */
export function createPredictionExchange(options: {
  readonly seed: number; readonly wallet: string; readonly timeline: Timeline;
  readonly contracts: keyof typeof CONTRACT_STEP;
  readonly episodes?: Pick<Episodes, 'book'> | undefined;
  /** Accounts that trade here beside the usual ones. */
  readonly owners?: readonly string[] | undefined;
}): PredictionExchange {
  const seed = `${options.seed}:prediction`;
  const { timeline } = options;
  const identifiers = createIdentifiers(seed);
  const catalogue = createCatalogue({ seed, timeline });
  const venue = createVenue(timeline, options.episodes);
  const [agenda, ledger, positions] = [createAgenda(), createLedger(), createPositions(identifiers)];
  const contractStep = CONTRACT_STEP[options.contracts];
  const settlement = createSettlement({
    agenda, venue, ledger, positions, wallet: options.wallet, random: seededRandom(`${seed}:claims`),
  });
  const place = createOrderExecution({
    agenda, catalogue, venue, ledger, positions, contractStep, random: seededRandom(`${seed}:keeper`),
  });
  const traders: Trader[] = [
    { ...WALLET, address: options.wallet },
    ...OTHERS.map((trader) => ({ ...trader, address: identifiers.address(`trader:${trader.name}`) })),
  ];
  const known = new Set(traders.map(({ address }) => address));
  for (const address of new Set(options.owners))
    if (!known.has(address)) traders.push({ ...GUEST, name: address, address });
  startTraders({
    seed, traders, fromSlot: -HISTORY_SLOTS, agenda, catalogue, venue, positions, settlement, contractStep, place,
  });

  /** The operator's decisions hold from now on, so everything before must have happened by then. */
  let caughtUpWith = timeline.now();
  const catchUp = (): number => {
    caughtUpWith = timeline.now();
    agenda.runUntil(caughtUpWith);
    return caughtUpWith;
  };

  return {
    timeline, identifiers, venue, traders,
    keeper: identifiers.address('keeper'),
    keepUp() {
      if (timeline.now() - caughtUpWith > MOST_BEHIND_SLOTS) catchUp();
    },
    events: () => catalogue.events(timeline.now()),
    event: (eventId) => catalogue.event(eventId, timeline.now()),
    market: (marketId) => catalogue.market(marketId, timeline.now()),
    history(filter) {
      catchUp();
      return ledger.find(filter);
    },
    positions() {
      catchUp();
      return [...positions.all()].reverse();
    },
    position(pubkey) {
      catchUp();
      return positions.get(pubkey);
    },
    resolve(listing, outcome) {
      const slot = catchUp();
      if (!venue.resolve(listing, { outcome, slot })) return false;
      settlement.settle(listing, slot);
      return true;
    },
    setBook(marketId, book) {
      catchUp();
      venue.setBook(marketId, book);
    },
    releaseBooks(marketId) {
      catchUp();
      venue.releaseBooks(marketId);
    },
  };
}
