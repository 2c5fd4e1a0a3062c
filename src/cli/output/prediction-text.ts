import { microUsd, percent } from './figures.ts';
import { formatDecimal } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import { ONE_USD, WIDEST_SPREAD } from '../../market/order-book.ts';
import type { EventMetadata, MarketMetadata, MarketPricing, PredictionMarket } from '../../market/prediction.ts';

const CONTRACT_DECIMALS = 6;

/** Returns a number of contracts: "12.5". */
export function contractsText(micro: bigint | undefined): string {
  return micro === undefined ? '' : formatDecimal(micro, CONTRACT_DECIMALS);
}

/** Returns the price of a contract: "$0.54". */
export function priceText(micro: bigint | undefined): string {
  return micro === undefined ? 'none' : microUsd(micro);
}

/**
 * Returns the probability of YES that its bid and ask imply, both in millionths of a dollar: "at 54.00 %", the interval
 * for a spread too wide for one number, a bound when one side is missing. Empty without prices.
 */
export function probabilityText(
  { bid, ask }: { readonly bid: number | undefined; readonly ask: number | undefined },
): string {
  if (bid === undefined || ask === undefined)
    return bid !== undefined ? `above ${shareOf(bid)}` : ask !== undefined ? `below ${shareOf(ask)}` : '';
  if (bid > ask) return 'crossed';
  return ask - bid > WIDEST_SPREAD * ONE_USD ? `between ${shareOf(bid)} and ${shareOf(ask)}`
    : `at ${shareOf((bid + ask) / 2)}`;
}

/**
 * Returns the probability of YES that the prices of a market imply. A missing price is derived from the other outcome.
 */
export function pricedProbability(
  { buyYesPriceUsd, sellYesPriceUsd, buyNoPriceUsd, sellNoPriceUsd }: MarketPricing,
): string {
  return probabilityText({ bid: numberOf(sellYesPriceUsd ?? mirrored(buyNoPriceUsd)), ask: numberOf(buyYesPriceUsd
    ?? mirrored(sellNoPriceUsd)) });
}

function shareOf(price: number): string {
  return percent((100 * price) / ONE_USD);
}

function mirrored(price: bigint | undefined): bigint | undefined {
  return price === undefined ? undefined : BigInt(ONE_USD) - price;
}

function numberOf(price: bigint | undefined): number | undefined {
  return price === undefined ? undefined : Number(price);
}

/** Returns the title of a market with control characters escaped, or its id without a title. */
export function marketTitle(
  marketId: string | undefined, market: MarketMetadata | undefined, event?: EventMetadata,
): string {
  const parts = [event?.title, market?.title].filter((part) => part !== undefined && part !== '');
  const title = [...new Set(parts)].join(': ');
  return printable(title === '' ? (marketId ?? '') : title, 60);
}

/**
 * Returns the state of a market and its result. Some answers have the winning side as the status of a closed market.
 */
export function stateText({ status, result }: Pick<PredictionMarket, 'status' | 'result'>): string {
  const winner = status === 'yes' || status === 'no' ? status : undefined;
  const known = winner === undefined ? printable(status ?? 'unknown', 20) : 'closed';
  const won = result ?? winner;
  return won === undefined ? known : `${known}, ${printable(won, 10).toUpperCase()} won`;
}
