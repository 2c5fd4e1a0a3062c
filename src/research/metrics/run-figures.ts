import type { Millis } from '../../core/time.ts';
import type { BenchmarkCosts } from './benchmarks.ts';
import { averagingPlan } from '../../backtest/record/benchmark-wallets.ts';
import { buyAndHold, cashOnly, dollarCostAveraging } from './benchmarks.ts';
import type { EquitySeries } from './equity-series.ts';
import type { Assessment, AssessmentTerms } from './metrics.ts';
import { assess } from './metrics.ts';
import type { TradeFill } from './round-trips.ts';
import type { QuotedFill } from './trading-measures.ts';
import type { TradingRecord } from './trading-record.ts';
import type {
  BenchmarkRecord, InstrumentRecord, RecordedFill, RunRecord, StrategyRecord,
} from '../../backtest/record/run-record.ts';

const BPS = 10_000;

/** Equity over time, with the value of the tokens held. */
export interface RunSeries extends EquitySeries {
  readonly held: readonly number[];
  /** The number of times without a price of something held; they are left out. */
  readonly unpriced: number;
}

/** A benchmark's series and its figures. */
export interface Benchmark {
  readonly series: EquitySeries;
  readonly assessment: Assessment;
}

export interface Benchmarks {
  /**
   * All instruments in equal parts; undefined when none has a price, one has no price at the end, or no time passed.
   */
  readonly buy_and_hold: Benchmark | undefined;
  readonly dca: Benchmark | undefined;
  readonly cash: Benchmark | undefined;
}

/** Returns the equity of some strategies together. */
export function seriesOf({ times }: RunRecord, strategies: readonly StrategyRecord[]): RunSeries {
  const kept: { times: Millis[]; values: number[]; held: number[] } = { times: [], values: [], held: [] };
  for (const [i, at] of times.entries()) {
    let [value, held]: [number | null, number | null] = [0, 0];
    for (const strategy of strategies) {
      value = addKnown(value, strategy.equity[i]);
      held = addKnown(held, strategy.held[i]);
    }
    if (value === null || held === null) continue;
    kept.times.push(at);
    kept.values.push(value);
    kept.held.push(held);
  }
  return { ...kept, unpriced: times.length - kept.times.length };
}

/** Returns the metrics of a run: of all its strategies, or of some. */
export function assessRun(record: RunRecord, strategies: readonly StrategyRecord[] = record.strategies, {
  interval,
}: Pick<AssessmentTerms, 'interval'> = {}): Assessment {
  const { times, values, held } = seriesOf(record, strategies);
  return assess({ kind: 'equity', times, values }, {
    strictness: 'backtest', trading: { ...tradingOf(record, strategies), held }, interval, isMadeUp: record.isMadeUp,
  });
}

/** A fill of a run: its token, and its strategy with the reason that it gave. */
export interface RunFill extends TradeFill {
  readonly symbol: string;
  readonly strategy: string;
  readonly reason: string | undefined;
}

/**
 * Returns fills as purchases and sales of other tokens than the currency. A swap between two such tokens is one of
 * each.
 */
export function tradeFills(record: RunRecord, strategies: readonly StrategyRecord[] = record.strategies): RunFill[] {
  const names = new Set(strategies.map(({ name }) => name));
  return record.fills.filter(({ strategy }) => names.has(strategy)).flatMap((fill) => legsOf(fill, record.currency));
}

/** The values of the benchmarks at the times of a run; undefined as in `Benchmarks`. */
type BenchmarkSeries = { readonly [Name in keyof Benchmarks]: EquitySeries | undefined };

/** Returns the benchmarks with their figures. */
export function benchmarksOf(record: RunRecord): Benchmarks {
  const { buy_and_hold, dca, cash } = benchmarkSeries(record);
  const measured = (series: EquitySeries | undefined): Benchmark | undefined => (series === undefined ? undefined : {
    series,
    assessment: assess({ kind: 'equity', ...series }, { strictness: 'backtest', isMadeUp: record.isMadeUp }),
  });
  return { buy_and_hold: measured(buy_and_hold), dca: measured(dca), cash: measured(cash) };
}

/** Returns the values of the benchmarks at the same times. */
export function benchmarkSeries(record: RunRecord): BenchmarkSeries {
  const { times, values } = seriesOf(record, record.strategies);
  const [cash = 0] = values;
  const spanMs = times.length < 2 ? 0 : times.at(-1)! - times[0]!;
  if (spanMs <= 0 || cash <= 0) return { buy_and_hold: undefined, dca: undefined, cash: undefined };
  const known = new Set(times);
  const instruments = record.instruments.flatMap((instrument) => priceSeries(instrument, record.times, known));
  const { orders, everyMs } = averagingPlan(spanMs);
  const part = cash / instruments.length;
  const isLost = instruments.length === 0 || record.instruments.some(isGone);
  const together = (
    one: (prices: readonly number[], costs: BenchmarkCosts) => EquitySeries,
  ): EquitySeries | undefined => {
    if (isLost) return undefined;
    const each = instruments.map(({ prices, ...costs }) => one(prices, costs).values);
    return { times, values: times.map((_, i) => each.reduce((sum, held) => sum + held[i]!, 0)) };
  };
  const measured = isLost ? undefined : record.benchmarks;
  const wallet = ({ cash: began }: BenchmarkRecord, column: readonly (number | null)[]): EquitySeries => {
    let last = cash;
    const values = record.times.flatMap((at, i) => {
      // Before its beginning a benchmark holds its money; without a price the last value holds.
      const value = column[i] ?? null;
      if (value !== null) last = value * (cash / began);
      return known.has(at) ? [last] : [];
    });
    return { times, values };
  };
  return {
    buy_and_hold: measured === undefined
      ? together((prices, costs) => buyAndHold({ times, prices }, { cash: part, ...costs }))
      : wallet(measured, measured.buyAndHold),
    dca: measured === undefined
      ? together((prices, costs) => dollarCostAveraging({ times, prices }, { cash: part, ...costs, orders, everyMs }))
      : wallet(measured, measured.dca),
    cash: cashOnly(times, { cash }),
  };
}

/** Returns why benchmarks are missing, and which ones rest on an assumed price. */
export function benchmarkWarnings({ times, instruments }: RunRecord): string[] {
  return [
    ...instruments.filter(isGone).map(({ symbol, bids }) => {
      const lastAt = times[bids.findLastIndex(isPrice)]!;
      return `buy and hold and DCA are not given: ${symbol} has no price at the end, and its last one is of `
        + `${new Date(lastAt).toISOString()}, so that its value is unknown`;
    }),
    ...instruments.filter(({ turnedBps = 0 }) => turnedBps > 0).map(({ symbol, turnedBps }) =>
      `only one direction of ${symbol} was recorded: the other is assumed to be ${turnedBps} bps worse `
        + '(backtest.other_side_haircut_bps), for holdings and for buy and hold and DCA, which may dominate '
        + 'the results of a short time; record both directions'),
  ];
}

/**
 * An instrument without a price at the end has no known value. Its last price, carried on, would misstate a benchmark.
 */
function isGone({ bids }: InstrumentRecord): boolean {
  return !isPrice(bids.at(-1)) && bids.some(isPrice);
}

function isPrice(price: number | null | undefined): boolean {
  return price !== null && price !== undefined && price > 0;
}

/** The middle of bid and ask, with half of the spread as a cost of either direction. */
function priceSeries(
  { bids, asks, costs }: InstrumentRecord, times: readonly Millis[], known: ReadonlySet<Millis>,
): ({ prices: number[] } & BenchmarkCosts)[] {
  const middles = bids.map((bid, i) =>
    (bid === null || asks[i] === null || !(bid > 0) ? null : Math.sqrt(bid * asks[i]!)));
  const first = middles.findIndex((middle) => middle !== null);
  if (first < 0) return [];
  const prices: number[] = [];
  // Before the first price the instrument could not be bought; without a price the last one holds.
  let last = middles[first]!;
  for (const [i, middle] of middles.entries()) {
    last = middle ?? last;
    if (known.has(times[i]!)) prices.push(last);
  }
  return [{
    prices, costBps: Math.max(0, (1 - Math.sqrt(bids[first]! / asks[first]!)) * BPS) + (costs?.bps ?? 0),
    orderCost: costs?.order ?? 0,
  }];
}

function tradingOf(record: RunRecord, strategies: readonly StrategyRecord[]): Omit<TradingRecord, 'held'> {
  const names = new Set(strategies.map(({ name }) => name));
  const total = (pick: (strategy: StrategyRecord) => number): number =>
    strategies.reduce((sum, strategy) => sum + pick(strategy), 0);
  return {
    fills: tradeFills(record, strategies),
    quoted: record.fills.filter(({ strategy }) => names.has(strategy)).flatMap(quotedOf),
    sent: total(({ sent }) => sent),
    landed: total(({ landed }) => landed),
    feesPaid: total(({ feesPaid }) => feesPaid),
  };
}

function legsOf(
  { at, strategy, input, output, amountIn, amountOut, value, costs, reason }: RecordedFill, currency: string,
): RunFill[] {
  if (value === null) return [];
  const leg = (side: TradeFill['side'], symbol: string, quantity: string, cost: number): RunFill[] =>
    (symbol === currency || quantity === '0' ? [] : [{
      at, instrument: `${symbol} of ${strategy}`, side, quantity: BigInt(quantity), value, costs: cost, symbol,
      strategy, reason,
    }]);
  // Costs count once, on the sale if there is one.
  const isExit = input !== currency;
  return [
    ...leg('sell', input, amountIn, isExit ? costs ?? 0 : 0), ...leg('buy', output, amountOut, isExit ? 0 : costs ?? 0),
  ];
}

function quotedOf({ amountOut, quotedOut, value }: RecordedFill): QuotedFill[] {
  return quotedOut === null || value === null ? []
    : [{ quoted: Number(quotedOut), filled: Number(amountOut), notional: value }];
}

function addKnown(sum: number | null, value: number | null | undefined): number | null {
  return sum === null || value === null || value === undefined ? null : sum + value;
}
