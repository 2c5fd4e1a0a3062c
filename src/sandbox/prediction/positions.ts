import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { mulDiv } from '../../core/amount.ts';
import type { Listing } from './catalogue.ts';
import type { Venue } from './venue.ts';
import { MICRO_USD_PER_PRICE } from './venue.ts';

/** One contract, and one US dollar: both are counted in millionths. */
export const ONE = 1_000_000n;

/** One owner's position on one side of one market. Contracts and dollars in millionths. */
export interface Position {
  readonly pubkey: string;
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
  readonly openedSlot: number;
  updatedSlot: number;
  contracts: bigint;
  /** The cost of the held contracts, without fees. */
  cost: bigint;
  /** The fees paid for the held contracts. */
  fees: bigint;
  /** The profit of sales and of the payout over their cost. */
  realized: bigint;
  openOrders: number;
  /** When its market was resolved or cancelled. */
  settledSlot: number | undefined;
  /** Since when a payout can be claimed. */
  claimableSlot: number | undefined;
  isClaimed: boolean;
  claimedUsd: bigint;
}

/** Identifies the owner, the market and the side of a position. */
interface PositionKey {
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
}

export interface Positions {
  /** Returns the address that a position has, whether it exists or not. */
  pubkeyOf(key: PositionKey): string;
  get(pubkey: string): Position | undefined;
  all(): IterableIterator<Position>;
  /** Adds a purchase; returns the position and whether it is new. */
  buy(
    key: PositionKey, bought: { slot: number; contracts: bigint; cost: bigint; fees: bigint },
  ): { position: Position; isNew: boolean };
  /** Removes a sale with its share of cost and fees, and returns the gains before and after fees. */
  sell(
    position: Position, sold: { slot: number; contracts: bigint; gross: bigint; fees: bigint },
  ): { gain: bigint; gainAfterFees: bigint };
  remove(position: Position): void;
}

/** Returns an empty set of positions. */
export function createPositions(identifiers: Identifiers): Positions {
  const positions = new Map<string, Position>();
  const pubkeys = new Map<string, string>();

  const pubkeyOf: Positions['pubkeyOf'] = ({ owner, marketId, isYes }) => {
    const purpose = `position:${owner}:${marketId}:${isYes ? 'yes' : 'no'}`;
    const known = pubkeys.get(purpose);
    if (known !== undefined) return known;
    // Recurring markets create ever more positions; a full cache starts over.
    if (pubkeys.size >= 10_000) pubkeys.clear();
    const pubkey = identifiers.address(purpose);
    pubkeys.set(purpose, pubkey);
    return pubkey;
  };

  return {
    pubkeyOf,
    get: (pubkey) => positions.get(pubkey),
    all: () => positions.values(),
    buy(key, { slot, contracts, cost, fees }) {
      const pubkey = pubkeyOf(key);
      const known = positions.get(pubkey);
      const position: Position = known ?? {
        pubkey, owner: key.owner, marketId: key.marketId, isYes: key.isYes, openedSlot: slot, updatedSlot: slot,
        contracts: 0n, cost: 0n, fees: 0n, realized: 0n, openOrders: 0, settledSlot: undefined,
        claimableSlot: undefined, isClaimed: false, claimedUsd: 0n,
      };
      positions.set(pubkey, position);
      position.contracts += contracts;
      position.cost += cost;
      position.fees += fees;
      position.updatedSlot = slot;
      return { position, isNew: known === undefined };
    },
    sell(position, { slot, contracts, gross, fees }) {
      const cost = mulDiv(position.cost, contracts, position.contracts, 'floor');
      const feesBefore = mulDiv(position.fees, contracts, position.contracts, 'floor');
      const gain = gross - cost;
      const gainAfterFees = gain - feesBefore - fees;
      position.contracts -= contracts;
      position.cost -= cost;
      position.fees -= feesBefore;
      position.realized += gainAfterFees;
      position.updatedSlot = slot;
      if (position.contracts === 0n) positions.delete(position.pubkey);
      return { gain, gainAfterFees };
    },
    remove: (position) => void positions.delete(position.pubkey),
  };
}

/** Names of accounts, orders and transactions that exist on no chain, derived from a seed. */
export interface Identifiers {
  /** Returns the 32 bytes of an account's address. */
  bytes(purpose: string): Buffer;
  address(purpose: string): string;
  signature(purpose: string): string;
  hex(purpose: string): string;
  /** Returns an identifier in the form of a UUID. */
  uuid(purpose: string): string;
}

/** Returns the identifiers of a seed. */
export function createIdentifiers(seed: string): Identifiers {
  const bytes = (purpose: string): Buffer => createHash('sha256').update(`${seed}:${purpose}`).digest();
  return {
    bytes,
    address: (purpose) => bs58.encode(bytes(purpose)),
    signature: (purpose) => bs58.encode(createHash('sha512').update(`${seed}:${purpose}`).digest()),
    hex: (purpose) => bytes(purpose).toString('hex'),
    uuid(purpose) {
      const hex = bytes(purpose).toString('hex');
      return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)]
        .join('-');
    },
  };
}

/**
 * What a position is worth at a slot, in micro US dollars. Its mark is the best bid, the price of a sale, not the price
 * of the last trade.
 */
interface Valuation {
  readonly markPriceUsd: bigint;
  /** Undefined where there are no bids. */
  readonly sellPriceUsd: bigint | undefined;
  readonly valueUsd: bigint;
  readonly pnlUsd: bigint;
  readonly pnlUsdPercent: number;
  readonly pnlUsdAfterFees: bigint;
  readonly pnlUsdAfterFeesPercent: number;
}

/** Returns the valuation of a position, undefined once its market is no longer traded. */
export function valuationOf(
  position: Position,
  { listing, venue, slot }: { listing: Listing; venue: Pick<Venue, 'state' | 'bestBids'>; slot: number },
): Valuation | undefined {
  if (venue.state(listing, slot).status !== 'open') return undefined;
  const bids = venue.bestBids(listing, slot);
  const bid = position.isYes ? bids.yes : bids.no;
  const sellPriceUsd = bid === undefined ? undefined : BigInt(Math.round(bid * MICRO_USD_PER_PRICE));
  const markPriceUsd = sellPriceUsd ?? 0n;
  const valueUsd = (position.contracts * markPriceUsd) / ONE;
  const pnlUsd = valueUsd - position.cost;
  const pnlUsdAfterFees = pnlUsd - position.fees;
  return {
    markPriceUsd, sellPriceUsd, valueUsd, pnlUsd, pnlUsdAfterFees,
    pnlUsdPercent: percentOf(pnlUsd, position.cost),
    pnlUsdAfterFeesPercent: percentOf(pnlUsdAfterFees, position.cost + position.fees),
  };
}

/** Returns a share in percent, cut to two decimals towards zero. */
function percentOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
}
