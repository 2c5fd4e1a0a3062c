import { medianOf } from '../../core/median.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import { priceAge } from '../../trading/valuation.ts';
import type { ExitMarks } from './exit-marks.ts';
import type { InstrumentRecord } from './run-record.ts';
import { halfSpreadBps, roundedPrice } from './run-record.ts';

/** The price of one whole token in the currency; null where none is known, or where it is too old to fill a swap. */
export interface InstrumentPrice {
  readonly ask: number | null;
  readonly bid: number | null;
}

/** The prices of the tokens that the benchmarks buy. */
export interface InstrumentPrices {
  /** Returns the price of each instrument at the size of a benchmark's purchase. */
  pricesAt(at: Millis): InstrumentPrice[];
  /**
   * Takes note of the last quoted rates, at any size, for the range of prices between the rows. Returns their sum,
   * which tells when the market turns; NaN where an instrument has no quote.
   */
  observeRates(): number;
  /** Samples the half spread of each instrument at the size of its last swap. */
  sampleHalfSpreads(at: Millis, swapSize: (mint: Mint) => bigint | undefined): void;
  /** Writes prices into a row of the records. */
  store(row: number, prices: readonly InstrumentPrice[]): void;
  /** Writes the range of the rates since the last call into a row of the records. */
  storeRanges(row: number): void;
  /** Returns the records at the end of a run; `costs` are those of a benchmark's purchase. */
  records(at: Millis, costs: InstrumentRecord['costs']): InstrumentRecord[];
}

/** Returns the prices of instruments where `spent` of the currency buys each of them, smallest units. */
export function createInstrumentPrices({ market, marks, currency, instruments, spent, model }: {
  readonly market: MarketCache;
  readonly marks: ExitMarks;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly spent: bigint;
  readonly model: Pick<SimulationModel, 'maxPriceAgeMs' | 'otherSideHaircutBps'>;
}): InstrumentPrices {
  const unit = 10 ** currency.decimals;
  const columns = instruments.map((token) => ({
    token, halfSpreads: [] as number[], bids: [] as (number | null)[], asks: [] as (number | null)[],
    lowest: [] as (number | null)[], highest: [] as (number | null)[], low: Infinity, high: -Infinity,
  }));
  const rateOf = ({ mint }: Token): number => {
    const [selling] = market.quoteSlots(mint, currency.mint);
    const [buying] = market.quoteSlots(currency.mint, mint);
    const quote = market.latest(selling ?? buying ?? -1);
    if (quote?.kind !== 'quote') return NaN;
    return selling === undefined ? 1 / quote.rate : quote.rate;
  };
  return {
    pricesAt: (at) => instruments.map(({ mint, decimals }) => {
      const isTooOld = spent === 0n || priceAge(market, mint, currency.mint, at) > model.maxPriceAgeMs;
      const price = isTooOld ? undefined : marks.bothWays(mint, spent, at);
      if (price === undefined) return { ask: null, bid: null };
      const whole = 10 ** decimals / unit;
      return { ask: roundedPrice(price.ask * whole), bid: roundedPrice(price.bid * whole) };
    }),
    observeRates() {
      let sum = 0;
      for (const column of columns) {
        const rate = rateOf(column.token);
        sum += rate;
        if (rate < column.low) column.low = rate;
        if (rate > column.high) column.high = rate;
      }
      return sum;
    },
    sampleHalfSpreads(at, swapSize) {
      for (const { token: { mint }, halfSpreads } of columns) {
        const size = swapSize(mint);
        const price = size === undefined ? undefined : marks.bothWays(mint, size, at);
        const halfSpread = halfSpreadBps(price?.bid, price?.ask);
        if (halfSpread !== undefined) halfSpreads.push(halfSpread);
      }
    },
    store(row, prices) {
      for (const [i, column] of columns.entries()) {
        column.asks[row] = prices[i]!.ask;
        column.bids[row] = prices[i]!.bid;
      }
    },
    storeRanges(row) {
      for (const column of columns) {
        const rate = rateOf(column.token);
        const isKnown = rate > 0 && column.low > 0 && column.high < Infinity;
        column.lowest[row] = isKnown ? roundedPrice(Math.min(1, column.low / rate)) : null;
        column.highest[row] = isKnown ? roundedPrice(Math.max(1, column.high / rate)) : null;
        [column.low, column.high] = isKnown ? [rate, rate] : [Infinity, -Infinity];
      }
    },
    records: (at, costs) => columns.map(({
      token: { mint, symbol, decimals }, bids, asks, halfSpreads, lowest, highest,
    }) => ({
      symbol, decimals, bids, asks, swapHalfSpreadBps: medianOf(halfSpreads) ?? undefined, costs,
      range: lowest.length === 0 ? undefined
        : { lowest: asks.map((_, row) => lowest[row] ?? null), highest: asks.map((_, row) => highest[row] ?? null) },
      turnedBps: marks.isTurned(mint, at) ? model.otherSideHaircutBps : undefined,
    })),
  };
}
