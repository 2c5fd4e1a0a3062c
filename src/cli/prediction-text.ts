import { formatDecimal } from '../core/amount.ts';
import { printable } from '../core/text.ts';
import type { EventMetadata } from '../service/wire/prediction-event.ts';
import type { MarketMetadata, PredictionMarket } from '../service/wire/prediction-market.ts';
import { microUsd, percent } from './figures.ts';

const CONTRACT_DECIMALS = 6;

/** Returns a number of contracts: "12.5". */
export function contractsText(micro: bigint | undefined): string {
  return micro === undefined ? '' : formatDecimal(micro, CONTRACT_DECIMALS);
}

/** Returns the price of a contract with the probability that it implies: "$0.54 (54.00 %)". */
export function priceText(micro: bigint | undefined): string {
  return micro === undefined ? 'none' : `${microUsd(micro)} (${percent(Number(micro) / 10_000)})`;
}

/** Returns what a market is about, made harmless; its id where it has no title. */
export function marketTitle(marketId: string | undefined, market: MarketMetadata | undefined, event?: EventMetadata): string {
  const parts = [event?.title, market?.title].filter((part) => part !== undefined && part !== '');
  const title = [...new Set(parts)].join(': ');
  return printable(title === '' ? (marketId ?? '') : title, 60);
}

/** Returns how a market stands: open, or what came of it. Some answers have the side that won as the status of a closed market. */
export function stateText({ status, result }: Pick<PredictionMarket, 'status' | 'result'>): string {
  const winner = status === 'yes' || status === 'no' ? status : undefined;
  const known = winner === undefined ? printable(status ?? 'unknown', 20) : 'closed';
  const won = result ?? winner;
  return won === undefined ? known : `${known}, ${printable(won, 10).toUpperCase()} won`;
}
