import { mulDiv } from '../../core/amount.ts';
import type { Random } from '../../core/random.ts';
import type { PredictionBook } from '../market/prediction-market.ts';
import { DOLLAR } from '../market/prediction-market.ts';
import type { Agenda } from './agenda.ts';
import type { Catalogue } from './catalogue.ts';
import type { Category } from './event-plans.ts';
import type { Ledger, LedgerEventType, LedgerFigures } from './ledger.ts';
import type { Positions } from './positions.ts';
import { ONE } from './positions.ts';
import type { Venue } from './venue.ts';
import { MICRO_USD_PER_PRICE } from './venue.ts';

/** The terms of an order. Contracts and dollars in millionths. */
export interface OrderTerms {
  readonly owner: string;
  readonly marketId: string;
  readonly isYes: boolean;
  readonly isBuy: boolean;
  readonly contracts: bigint;
  readonly limitPriceUsd: bigint;
  /** Paid in with a purchase: it covers the cost at the limit, and the fee. */
  readonly depositUsd: bigint;
  /** Never fails by chance: the position must exist. */
  readonly isCertain?: boolean;
}

interface Order extends OrderTerms {
  readonly number: number;
  readonly positionPubkey: string;
}

/** The result of taking levels from a book. Contracts and dollars in millionths. */
interface Fill {
  readonly contracts: bigint;
  /** Paid for a purchase, rounded up; received for a sale, rounded down; without fees. */
  readonly totalUsd: bigint;
  readonly averagePriceUsd: bigint;
  readonly highestPriceUsd: bigint;
  readonly feesUsd: bigint;
}

/** An order as the book fills it. */
interface FillRequest {
  readonly isYes: boolean;
  readonly isBuy: boolean;
  readonly contracts: bigint;
  /** The highest price of a purchase, or the lowest of a sale, for one contract. */
  readonly limitPriceUsd: bigint;
  /** Contracts are traded in multiples of this. */
  readonly contractStep: bigint;
  readonly category: Category;
}

/**
 * Between the owner's transaction, the keeper's fill and the keeper's closing of the order, as recorded: 7 s and 2 s.
 */
const SLOTS_TO_FILL = 18;
const SLOTS_TO_CLOSE = 5;
/** Share of orders that the keeper fails to fill although the book could. */
const FAILURE_PROBABILITY = 0.04;

const RATE_SCALE = 100n;
/** The venue's rates, in hundredths, of contracts * price * (1 - price). */
const FEE_RATES: Partial<Record<Category, bigint>> = { sports: 3n, esports: 3n };
const USUAL_FEE_RATE = 7n;
/** Every level that is taken rounds cost and fee up by less than a millionth of a dollar each. */
const ROUNDING_RESERVE = 100n;

/**
 * Returns a function that places an order: the owner creates it, the keeper fills it as far as the book goes or fails
 * it, and closes it with the rest.
 */
export function createOrderExecution(options: {
  readonly agenda: Agenda; readonly catalogue: Catalogue; readonly venue: Venue; readonly ledger: Ledger;
  readonly positions: Positions;
  readonly contractStep: bigint; readonly random: Random;
}): (terms: OrderTerms, slot: number) => void {
  const { agenda, catalogue, venue, ledger, positions } = options;
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
    const isLost = options.random() < FAILURE_PROBABILITY && order.isCertain !== true;
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
      ...order, contracts, contractStep: options.contractStep, category: listing.event.plan.category,
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

  return (terms, slot) => {
    const order: Order = { ...terms, number: ++orders, positionPubkey: positions.pubkeyOf(terms) };
    note(order, 'order_created', slot, {
      ...limits(order), contracts: order.contracts, depositAmountUsd: order.depositUsd,
    });
    countOpen(order, 1);
    agenda.at(slot + SLOTS_TO_FILL, (later) => fill(order, later));
  };
}

function limits({ isBuy, limitPriceUsd }: OrderTerms): LedgerFigures {
  return isBuy ? { maxBuyPriceUsd: limitPriceUsd } : { minSellPriceUsd: limitPriceUsd };
}

function pricesOf(found: Fill, order: Order): LedgerFigures {
  return {
    contracts: order.contracts, filledContracts: found.contracts, feeUsd: found.feesUsd,
    avgFillPriceUsd: found.averagePriceUsd, maxFillPriceUsd: found.highestPriceUsd,
  };
}

/** Returns the fill from a book, level after level, undefined when no level is within the limit. */
export function fillFrom(book: PredictionBook, request: FillRequest): Fill | undefined {
  const { isYes, isBuy, contractStep, category } = request;
  const bids = (isBuy === isYes ? book.no : book.yes).toSorted((a, b) => b.price - a.price);
  let left = request.contracts;
  let spent = 0n;
  let fees = 0n;
  let highestPriceUsd = 0n;
  for (const level of bids) {
    const price = BigInt(Math.round((isBuy ? DOLLAR - level.price : level.price) * MICRO_USD_PER_PRICE));
    if (price <= 0n || (isBuy ? price > request.limitPriceUsd : price < request.limitPriceUsd)) break;
    const offered = wholeSteps(BigInt(Math.round(level.size * Number(ONE))), contractStep);
    const taken = offered < left ? offered : left;
    left -= taken;
    spent += mulDiv(taken, price, ONE, isBuy ? 'ceil' : 'floor');
    fees += feeOf(taken, { price, category });
    if (taken > 0n && price > highestPriceUsd) highestPriceUsd = price;
    if (left === 0n) break;
  }
  const contracts = request.contracts - left;
  if (contracts === 0n) return undefined;
  return {
    contracts, totalUsd: spent, averagePriceUsd: mulDiv(spent, ONE, contracts, 'floor'), highestPriceUsd, feesUsd: fees,
  };
}

/** Returns the venue's fee of a trade: rate * contracts * price * (1 - price), rounded up. */
function feeOf(contracts: bigint, { price, category }: { price: bigint; category: Category }): bigint {
  return mulDiv(
    contracts * price, (ONE - price) * (FEE_RATES[category] ?? USUAL_FEE_RATE), ONE * ONE * RATE_SCALE, 'ceil',
  );
}

/** Returns the most contracts that a deposit can pay at a price, the highest fee a contract can cost included. */
export function affordable(
  depositUsd: bigint, { price, category, contractStep }: { price: bigint; category: Category; contractStep: bigint },
): bigint {
  const mostFee = feeOf(ONE, { price: ONE / 2n, category });
  return wholeSteps(mulDiv(depositUsd - ROUNDING_RESERVE, ONE, price + mostFee, 'floor'), contractStep);
}

/** Returns the largest multiple of the step that is not above `contracts`. */
export function wholeSteps(contracts: bigint, step: bigint): bigint {
  return (contracts / step) * step;
}
