import type { Random } from '../../core/random.ts';
import { SLOTS_PER_DAY } from '../market/slot-counts.ts';
import type { Agenda } from './agenda.ts';
import type { Listing } from './catalogue.ts';
import type { Ledger, LedgerEventType, LedgerFigures } from './ledger.ts';
import type { Position, Positions } from './positions.ts';
import type { Venue } from './venue.ts';

/** Share of the others' payouts that they claim themselves instead of waiting for the keeper. */
const CLAIM_PROBABILITY = 0.35;
/** How long a paid or lost position is still listed. */
const SHOWN_SLOTS = SLOTS_PER_DAY / 4;

/** What happens to positions when their market has ended. */
export interface Settlement {
  /** Makes sure that the positions of a market are settled when it resolves. */
  expect(listing: Listing): void;
  /** Settles the positions of a market that is resolved at `slot`. */
  settle(listing: Listing, slot: number): void;
}

/**
 * Returns the settlement. Losers get a record. Winners are paid when they claim, or a day later when the keeper claims.
 * Cancelled markets pay the cost back.
 */
export function createSettlement(options: {
  readonly agenda: Agenda; readonly venue: Venue; readonly ledger: Ledger; readonly positions: Positions;
  readonly random: Random;
  /** Never claims: what it wins stays claimable until the keeper comes. */
  readonly wallet: string;
}): Settlement {
  const { agenda, venue, ledger, positions } = options;
  const expected = new Set<string>();

  const note = (position: Position, eventType: LedgerEventType, slot: number, options: {
    byKeeper: boolean; figures: LedgerFigures;
  }): void => {
    const { owner: ownerPubkey, pubkey: positionPubkey, marketId, isYes } = position;
    ledger.add({
      eventType, slot, ownerPubkey, positionPubkey, marketId, isYes, isBuy: false, orderNumber: undefined, ...options,
    });
  };

  const forgetLater = (position: Position, slot: number): void => agenda.at(slot, () => positions.remove(position));

  const payOut = (
    position: Position, slot: number, { payoutUsd, byKeeper }: { payoutUsd: bigint; byKeeper: boolean },
  ): void => {
    if (position.isClaimed) return;
    position.isClaimed = true;
    position.claimedUsd = payoutUsd;
    note(position, 'payout_claimed', slot, {
      byKeeper,
      figures: {
        ...realize(position, slot, payoutUsd), payoutAmountUsd: payoutUsd, transferAmountToken: payoutUsd,
      },
    });
    forgetLater(position, slot + SHOWN_SLOTS);
  };

  const lose = (position: Position, slot: number): void => {
    note(position, 'position_lost', slot, { byKeeper: true, figures: realize(position, slot, 0n) });
    forgetLater(position, slot + SLOTS_PER_DAY);
  };

  const win = (position: Position, slot: number): void => {
    position.claimableSlot = slot;
    position.updatedSlot = slot;
    const byKeeper = position.owner === options.wallet || options.random() >= CLAIM_PROBABILITY;
    const wait = byKeeper ? SLOTS_PER_DAY : Math.ceil(SLOTS_PER_DAY * options.random());
    // A contract that wins pays one dollar, so the payout in micro US dollars equals the millionths of contracts.
    agenda.at(slot + wait, (later) => payOut(position, later, { payoutUsd: position.contracts, byKeeper }));
  };

  const settle: Settlement['settle'] = (listing, slot) => {
    const { result } = venue.state(listing, slot);
    for (const position of positions.all()) {
      if (position.marketId !== listing.marketId || position.settledSlot !== undefined) continue;
      position.settledSlot = slot;
      if (result === null) payOut(position, slot, { payoutUsd: position.cost, byKeeper: true });
      else if ((result === 'yes') === position.isYes) win(position, slot);
      else lose(position, slot);
    }
  };

  return {
    settle,
    expect(listing) {
      if (expected.has(listing.marketId)) return;
      expected.add(listing.marketId);
      agenda.at(listing.resolveSlot, (slot) => {
        expected.delete(listing.marketId);
        settle(listing, slot);
      });
    },
  };
}

/** Adds the profit of a position that ends with `payoutUsd` to what it realized; returns the figures of its end. */
function realize(position: Position, slot: number, payoutUsd: bigint): LedgerFigures {
  const { contracts, cost, fees } = position;
  const realizedPnlBeforeFees = payoutUsd - cost;
  const realizedPnl = realizedPnlBeforeFees - fees;
  position.realized += realizedPnl;
  position.updatedSlot = slot;
  return {
    contracts, contractsSettled: contracts, totalCostUsd: cost, feeUsd: fees, realizedPnl, realizedPnlBeforeFees,
  };
}
