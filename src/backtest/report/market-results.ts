import type { RoundTrip, RoundTrips } from '../metrics/round-trips.ts';
import { tradeResults } from '../metrics/trade-results.ts';

/** What the round trips of one strategy in one token came to. */
export interface MarketResult {
  /** "SOL of sol-dip" */
  readonly name: string;
  readonly trips: number;
  readonly won: number;
  /** Net of all costs, in the currency. */
  readonly profit: number;
  /** Purchases that are still held, or partly. */
  readonly open: number;
}

/** Returns what round trips came to by token and strategy, the largest gain first. */
export function marketResults({ trips, open }: Pick<RoundTrips, 'trips' | 'open'>): MarketResult[] {
  const byName = new Map<string, RoundTrip[]>([...trips, ...open].map(({ instrument }) => [instrument, []]));
  for (const trip of trips) byName.get(trip.instrument)!.push(trip);
  return [...byName].map(([name, own]) => ({
    name, trips: own.length, won: tradeResults(own).wins,
    profit: own.reduce((sum, { profit }) => sum + profit, 0),
    open: open.filter(({ instrument }) => instrument === name).length,
  })).toSorted((a, b) => b.profit - a.profit);
}
