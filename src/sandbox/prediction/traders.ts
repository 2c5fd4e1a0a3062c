import { seededRandom, type Random } from '../../core/random.ts';
import type { Agenda } from './agenda.ts';
import type { Catalogue, Listing } from './catalogue.ts';
import type { OrderTerms } from './order-execution.ts';
import { affordable, wholeSteps } from './order-execution.ts';
import type { Position, Positions } from './positions.ts';
import type { Settlement } from './settlement.ts';
import { MICRO_USD_PER_PRICE, type Venue } from './venue.ts';

/** A trader on prediction markets. */
export interface Trader {
  readonly name: string;
  readonly address: string;
  /** Slots between two orders, on average. */
  readonly everySlots: number;
  /** Whole US dollars of one purchase. */
  readonly depositUsd: { readonly from: number; readonly to: number };
  /** Share of orders that sell, where there is something to sell. */
  readonly sellShare: number;
  /** Additional purchases, at slots before the start; these positions are never sold. */
  readonly plans?: readonly {
    readonly slot: number; readonly marketId: string; readonly isYes: boolean; readonly depositUsd: number;
  }[];
}

/**
 * How far the price may move until the keeper fills: a share of it, and on top a step of the coarser books, in micro US
 * dollars.
 */
const SLIPPAGE = 0.05;
const SLIPPAGE_STEP = 10_000;
const MOST_BUY_PRICE = 980_000;
const MOST_LIMIT_PRICE = 995_000;
/** Share of purchases on recurring events. */
const SHORT_LIVED_SHARE = 0.4;
const TRIES = 4;
/** Share of sales that sell the whole position. */
const SELL_ALL_SHARE = 0.5;
const MICRO_USD = 1_000_000n;

/** Lets the traders trade on an agenda, from `fromSlot` on. */
export function startTraders(options: {
  readonly seed: string; readonly traders: readonly Trader[]; readonly fromSlot: number; readonly agenda: Agenda;
  readonly catalogue: Catalogue;
  readonly venue: Venue; readonly positions: Positions; readonly settlement: Settlement; readonly contractStep: bigint;
  readonly place: (terms: OrderTerms, slot: number) => void;
}): void {
  const { agenda, catalogue, venue, positions, contractStep } = options;

  const buy = (
    trader: Trader, listing: Listing, { isYes, depositUsd, slot, isCertain = false }: {
      isYes: boolean; depositUsd: number; slot: number; isCertain?: boolean;
    },
  ): boolean => {
    const { buyYesPriceUsd, buyNoPriceUsd } = venue.pricing(listing, slot);
    const price = isYes ? buyYesPriceUsd : buyNoPriceUsd;
    if (price === 0 || price > MOST_BUY_PRICE) return false;
    const limitPriceUsd = BigInt(Math.min(MOST_LIMIT_PRICE, onGrid(price * (1 + SLIPPAGE) + SLIPPAGE_STEP)));
    const deposit = BigInt(depositUsd) * MICRO_USD;
    const contracts =
      affordable(deposit, { price: limitPriceUsd, category: listing.event.plan.category, contractStep });
    if (contracts === 0n) return false;
    options.settlement.expect(listing);
    options.place({
      owner: trader.address, marketId: listing.marketId, isYes, isBuy: true, contracts, limitPriceUsd,
      depositUsd: deposit, isCertain,
    }, slot);
    return true;
  };

  const sell = (position: Position, { share, slot }: { share: number; slot: number }): boolean => {
    const listing = catalogue.market(position.marketId, slot);
    if (listing === undefined || position.openOrders > 0) return false;
    const { sellYesPriceUsd, sellNoPriceUsd } = venue.pricing(listing, slot);
    const price = position.isYes ? sellYesPriceUsd : sellNoPriceUsd;
    if (price === 0) return false;
    const part = wholeSteps((position.contracts * BigInt(Math.round(share * 100))) / 100n, contractStep);
    const { owner, marketId, isYes } = position;
    const limitPriceUsd = BigInt(Math.max(MICRO_USD_PER_PRICE, onGrid(price * (1 - SLIPPAGE) - SLIPPAGE_STEP)));
    options.place({
      owner, marketId, isYes, isBuy: false, contracts: part === 0n ? position.contracts : part, limitPriceUsd,
      depositUsd: 0n,
    }, slot);
    return true;
  };

  const sellable = (trader: Trader): Position[] =>
    [...positions.all()].filter(({ owner, settledSlot, marketId, isYes }) =>
      owner === trader.address && settledSlot === undefined
        && !(trader.plans ?? []).some((plan) => plan.marketId === marketId && plan.isYes === isYes));

  const act = (trader: Trader, random: Random, slot: number): void => {
    const held = random() < trader.sellShare ? sellable(trader) : [];
    const share = random() < SELL_ALL_SHARE ? 1 : random();
    if (held.length > 0 && sell(pick(held, random), { share, slot })) return;
    const open = catalogue.events(slot).flatMap(({ markets }) => markets)
      .filter((listing) => venue.state(listing, slot).status === 'open');
    const shortLived = open.filter(({ event }) => !event.isLasting);
    const candidates = shortLived.length > 0 && random() < SHORT_LIVED_SHARE ? shortLived : open;
    const { from, to } = trader.depositUsd;
    const depositUsd = from + Math.floor(random() * (to - from + 1));
    for (let i = 0; i < TRIES; i++) {
      if (buy(trader, pick(candidates, random), { isYes: random() < 0.5, depositUsd, slot })) return;
    }
  };

  for (const trader of options.traders) {
    const random = seededRandom(`${options.seed}:trader:${trader.name}`);
    const next = (slot: number): number => slot + Math.max(1, Math.round(trader.everySlots * (0.5 + random())));
    const turn = (slot: number): void => {
      act(trader, random, slot);
      agenda.at(next(slot), turn);
    };
    agenda.at(next(options.fromSlot), turn);
    for (const { marketId, slot, ...plan } of trader.plans ?? []) {
      agenda.at(slot, (at) => {
        const listing = catalogue.market(marketId, at);
        if (listing !== undefined) buy(trader, listing, { ...plan, slot: at, isCertain: true });
      });
    }
  }
}

function onGrid(priceUsd: number): number {
  return Math.round(priceUsd / MICRO_USD_PER_PRICE) * MICRO_USD_PER_PRICE;
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)]!;
}
