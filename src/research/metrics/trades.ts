import type { Millis } from '../../core/time.ts';
import type { InstrumentRecord, RunRecord } from '../../backtest/record/run-record.ts';
import type { RoundTrip } from './round-trips.ts';
import { roundTrips } from './round-trips.ts';
import type { RunFill } from './run-figures.ts';
import { tradeFills } from './run-figures.ts';

/** A trade of a run; amounts in the currency. */
export interface Trade extends Omit<RoundTrip, 'instrument' | 'bought' | 'sold'> {
  /** "SOL/USDC": the traded token and the currency, also where it was swapped for a third token. */
  readonly pair: string;
  readonly symbol: string;
  readonly strategy: string;
  /** Of the token; undefined where the record does not know it. */
  readonly decimals: number | undefined;
  /** Undefined in records of earlier versions. */
  readonly entryReason: string | undefined;
  readonly exitReason: string | undefined;
  readonly excursion: Excursion | undefined;
}

/** The extremes of a trade before costs, as shares of its entry; neither is negative. */
interface Excursion {
  /** The largest fall below the entry (MAE). */
  readonly adverse: number;
  /** The largest rise above the entry (MFE). */
  readonly favourable: number;
}

/** Returns the trades of a run in the order of their ends. */
export function tradesOf(record: RunRecord): Trade[] {
  const prices = new Map(record.instruments.map((instrument) =>
    [instrument.symbol, { decimals: instrument.decimals, ...middlesOf(instrument) }]));
  return roundTrips(tradeFills(record)).trips.map((trip: RoundTrip<RunFill>) => {
    const { bought, sold, quantity, openedAt, closedAt, entryValue, exitValue, costs, profit } = trip;
    const market = prices.get(bought.symbol);
    return {
      quantity, openedAt, closedAt, entryValue, exitValue, costs, profit,
      pair: `${bought.symbol}/${record.currency}`, symbol: bought.symbol, strategy: bought.strategy,
      decimals: market?.decimals,
      entryReason: bought.reason, exitReason: sold.reason,
      excursion: market === undefined ? undefined : excursionOf(trip, record.times, market),
    };
  });
}

/** Returns a trade's result after costs as a share of its entry; undefined for an entry without value. */
export function profitShare({ profit, entryValue }: Pick<Trade, 'profit' | 'entryValue'>): number | undefined {
  return entryValue > 0 ? profit / entryValue : undefined;
}

/** Prices at each time of a record: the middle of bid and ask, and its extremes since the time before. */
interface Middles {
  readonly middles: readonly (number | null)[];
  readonly lows: readonly (number | null)[];
  readonly highs: readonly (number | null)[];
}

function middlesOf({ bids, asks, range }: InstrumentRecord): Middles {
  const middles = bids.map((bid, i) => {
    const ask = asks[i] ?? null;
    return bid === null || ask === null || !(bid > 0) || !(ask > 0) ? null : Math.sqrt(bid * ask);
  });
  const scaled = (factors: readonly (number | null)[] | undefined): (number | null)[] =>
    middles.map((middle, i) => (middle === null ? null : middle * (factors?.[i] ?? 1)));
  return { middles, lows: scaled(range?.lowest), highs: scaled(range?.highest) };
}

/**
 * Returns the extremes of the market's price between entry and exit, relative to its price at the entry, and of the
 * exit itself relative to the entry. Undefined where the market had no price at the entry.
 */
function excursionOf(
  { openedAt, closedAt, entryValue, exitValue }: Pick<RoundTrip, 'openedAt' | 'closedAt' | 'entryValue' | 'exitValue'>,
  times: readonly Millis[], { middles, lows, highs }: Middles,
): Excursion | undefined {
  const entry = placeOf(times, openedAt);
  const price = middles[entry];
  if (times[entry] !== openedAt || price === null || price === undefined || !(entryValue > 0)) return undefined;
  const exit = exitValue / entryValue;
  let [lowest, highest] = [Math.min(1, exit), Math.max(1, exit)];
  for (let i = entry + 1; i < times.length && times[i]! <= closedAt; i++) {
    const [low, high] = [lows[i], highs[i]];
    if (low === null || low === undefined || high === null || high === undefined) continue;
    lowest = Math.min(lowest, low / price);
    highest = Math.max(highest, high / price);
  }
  return { adverse: 1 - lowest, favourable: highest - 1 };
}

/** Returns the place of the first time at or after an instant, of times that rise. */
function placeOf(times: readonly Millis[], at: Millis): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (times[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
