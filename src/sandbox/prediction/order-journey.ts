import type { Random } from '../../core/random.ts';
import type { Agenda } from './agenda.ts';
import type { Catalogue } from './catalogue.ts';
import { fillFrom, type Fill } from './fill.ts';
import type { Ledger, LedgerEventType, LedgerFigures } from './ledger.ts';
import type { Positions } from './positions.ts';
import type { Venue } from './venue.ts';

/** What a trader asks for. Contracts and dollars in millionths. */
export interface OrderWish {
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
  readonly isBuy: boolean;
  readonly contracts: bigint;
  readonly limitPriceUsd: bigint;
  /** Paid in with a purchase: it covers the cost at the limit, and the fee. */
  readonly depositUsd: bigint;
  /** Spared the keeper's failures: a position that must be there. */
  readonly isCertain?: boolean;
}

interface Order extends OrderWish {
  readonly number: number;
  readonly positionPubkey: string;
}

/**
 * Between the owner's transaction, the keeper's fill and the keeper's closing of the order, as recorded: 7 s and 2 s.
 */
const SLOTS_TO_FILL = 18;
const SLOTS_TO_CLOSE = 5;
/** Share of orders that the keeper cannot fill although the book would. */
const FAILURE_PROBABILITY = 0.04;

/**
 * Returns the way of an order: created by the owner, filled as far as the book goes or failed, and closed with what is
 * left.
 */
export function createOrderJourney(world: {
  readonly agenda: Agenda; readonly catalogue: Catalogue; readonly venue: Venue; readonly ledger: Ledger;
  readonly positions: Positions;
  readonly contractStep: bigint; readonly random: Random;
}): (wish: OrderWish, slot: number) => void {
  const { agenda, catalogue, venue, ledger, positions } = world;
  let orders = 0;

  const note = (order: Order, eventType: LedgerEventType, slot: number, figures: LedgerFigures): void => {
    const { owner: ownerPubkey, marketId, isYes, isBuy, number: orderNumber, positionPubkey } = order;
    ledger.add({
      eventType, slot, ownerPubkey, positionPubkey, marketId, isYes, isBuy, orderNumber,
      byKeeper: eventType !== 'order_created', figures,
    });
  };

  const fail = (order: Order, slot: number): void => {
    countOpen(order, -1);
    note(order, 'order_failed', slot, {
      ...limits(order), contracts: order.contracts, transferAmountToken: order.depositUsd,
    });
  };

  const fill = (order: Order, slot: number): void => {
    const isLost = world.random() < FAILURE_PROBABILITY && order.isCertain !== true;
    const found = isLost ? undefined : filled(order, slot);
    if (found === undefined) fail(order, slot);
    else if (order.isBuy) bought(order, found, slot);
    else sold(order, found, slot);
  };

  const filled = (order: Order, slot: number): Fill | undefined => {
    const listing = catalogue.market(order.marketId, slot);
    if (listing === undefined || venue.state(listing, slot).status !== 'open') return undefined;
    const held = positions.get(order.positionPubkey)?.contracts ?? 0n;
    const contracts = order.isBuy || order.contracts < held ? order.contracts : held;
    const book = venue.book(listing, slot);
    if (contracts === 0n || book === null || book === 'unreachable') return undefined;
    return fillFrom(book, {
      ...order, contracts, contractStep: world.contractStep, category: listing.event.plan.category,
    });
  };

  const bought = (order: Order, found: Fill, slot: number): void => {
    const { position, isNew } =
      positions.buy(order, { slot, contracts: found.contracts, cost: found.totalUsd, fees: found.feesUsd });
    note(order, 'order_filled', slot, { ...limits(order), ...pricesOf(found, order), totalCostUsd: found.totalUsd });
    if (isNew) position.openOrders = 1;
    else note(order, 'position_updated', slot, { contracts: position.contracts, totalCostUsd: position.cost });
    agenda.at(slot + SLOTS_TO_CLOSE, (later) => close(order, later, order.depositUsd - found.totalUsd - found.feesUsd));
  };

  const sold = (order: Order, found: Fill, slot: number): void => {
    const position = positions.get(order.positionPubkey)!;
    const { gain, gainAfterFees } =
      positions.sell(position, { slot, contracts: found.contracts, gross: found.totalUsd, fees: found.feesUsd });
    const net = found.totalUsd - found.feesUsd;
    note(order, 'order_filled', slot, {
      ...limits(order), ...pricesOf(found, order), grossProceedsUsd: found.totalUsd, netProceedsUsd: net,
      realizedPnl: gainAfterFees, realizedPnlBeforeFees: gain,
    });
    if (position.contracts > 0n)
      note(order, 'position_updated', slot, { contracts: position.contracts, totalCostUsd: position.cost });
    agenda.at(slot + SLOTS_TO_CLOSE, (later) => close(order, later, net));
  };

  const close = (order: Order, slot: number, transferAmountToken: bigint): void => {
    countOpen(order, -1);
    note(order, 'order_closed', slot, { ...limits(order), contracts: order.contracts, transferAmountToken });
  };

  const countOpen = (order: Order, change: 1 | -1): void => {
    const position = positions.get(order.positionPubkey);
    if (position !== undefined) position.openOrders = Math.max(0, position.openOrders + change);
  };

  return (wish, slot) => {
    const order: Order = { ...wish, number: ++orders, positionPubkey: positions.pubkeyOf(wish) };
    note(order, 'order_created', slot, {
      ...limits(order), contracts: order.contracts, depositAmountUsd: order.depositUsd,
    });
    countOpen(order, 1);
    agenda.at(slot + SLOTS_TO_FILL, (later) => fill(order, later));
  };
}

function limits({ isBuy, limitPriceUsd }: OrderWish): LedgerFigures {
  return isBuy ? { maxBuyPriceUsd: limitPriceUsd } : { minSellPriceUsd: limitPriceUsd };
}

function pricesOf(found: Fill, order: Order): LedgerFigures {
  return {
    contracts: order.contracts, filledContracts: found.contracts, feeUsd: found.feesUsd,
    avgFillPriceUsd: found.averagePriceUsd, maxFillPriceUsd: found.highestPriceUsd,
  };
}
