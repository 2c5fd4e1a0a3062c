import { mulDiv } from '../../core/amount.ts';
import type { Identifiers } from './identifiers.ts';

/** One contract, and one US dollar: both are counted in millionths. */
export const ONE = 1_000_000n;

/** What one owner holds of one side of one market. Contracts and dollars in millionths. */
export interface Position {
  readonly pubkey: string;
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
  readonly openedSlot: number;
  updatedSlot: number;
  contracts: bigint;
  /** What the contracts that are held cost, without fees. */
  cost: bigint;
  /** What was paid in fees for the contracts that are held. */
  fees: bigint;
  /** What sales, and in the end the payout, brought over what they cost. */
  realized: bigint;
  openOrders: number;
  /** When its market was resolved or cancelled, and it with it. */
  settledSlot: number | undefined;
  /** Since when a payout can be claimed. */
  claimableSlot: number | undefined;
  isClaimed: boolean;
  claimedUsd: bigint;
}

/** Whose position of which side of which market. */
export interface PositionKey {
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
}

export interface Positions {
  /** Returns the address that a position has, whether it exists or not. */
  pubkeyOf(key: PositionKey): string;
  get(pubkey: string): Position | undefined;
  all(): IterableIterator<Position>;
  /** Adds what was bought; returns the position and whether it was there before. */
  buy(
    key: PositionKey, bought: { slot: number; contracts: bigint; cost: bigint; fees: bigint },
  ): { position: Position; isNew: boolean };
  /** Takes what was sold, its share of cost and fees with it, and returns the gains over them before and after fees. */
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
    // Recurring markets bring ever new ones; a cache that is full starts over.
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
