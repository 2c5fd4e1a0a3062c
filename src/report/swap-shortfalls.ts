import type { BacktestResult } from '../backtest/backtest.ts';
import type { RecordedFill } from '../backtest/record/run-record.ts';
import type { Shortfall } from '../research/metrics/trading-measures.ts';
import { implementationShortfall } from '../research/metrics/trading-measures.ts';
import type { ReportInput } from './report-input.ts';

/** A landed swap, with its record. */
interface LandedSwap {
  readonly fill: BacktestResult['fills'][number];
  /** Undefined where it was not recorded. */
  readonly record: RecordedFill | undefined;
  /**
   * Against the last quoted price of its pair at the decision; undefined where that, or the value of the swap, is not
   * known.
   */
  readonly shortfall: Shortfall | undefined;
}

/** The mean shortfall of swaps in basis points, weighted by value. */
interface MeanShortfall extends Shortfall {
  readonly swaps: number;
  /** In the currency. */
  readonly worth: number;
}

/** Returns the swaps of the strategies that have a budget, in order. */
export function landedSwaps(
  { run: { result, record }, decisionRates }: Pick<ReportInput, 'run' | 'decisionRates'>,
): LandedSwap[] {
  const recorded = new Set(record.strategies.map(({ name }) => name));
  return result.fills.filter(({ intent }) => recorded.has(intent.strategy)).map((fill, i) =>
    ({ fill, record: record.fills[i], shortfall: shortfallOf(decisionRates?.get(fill.intent.id), record.fills[i]) }));
}

/** Returns the mean shortfall of swaps; undefined where none has one. */
export function meanShortfall(swaps: readonly LandedSwap[]): MeanShortfall | undefined {
  const known = swaps.flatMap(({ record, shortfall }) =>
    (shortfall === undefined || record === undefined ? [] : [{ worth: record.value ?? 0, shortfall }]));
  const worth = known.reduce((sum, each) => sum + each.worth, 0);
  if (worth <= 0) return undefined;
  const mean = (part: keyof Shortfall): number =>
    known.reduce((sum, each) => sum + each.worth * each.shortfall[part], 0) / worth;
  return {
    swaps: known.length, worth, total: mean('total'), delay: mean('delay'), slippage: mean('slippage'),
    fees: mean('fees'), opportunity: mean('opportunity'),
  };
}

/** Treats each swap as a sale of the input, priced in the output, so that purchases and sales are computed alike. */
function shortfallOf(decisionPrice: number | undefined, record: RecordedFill | undefined): Shortfall | undefined {
  if (record === undefined || decisionPrice === undefined || record.value === null || record.value <= 0)
    return undefined;
  const { amountIn, amountOut, quotedOut, value, costs } = record;
  const quantity = Number(amountIn);
  const price = (out: string): number => Number(out) / quantity;
  return implementationShortfall({
    side: 'sell', quantity, decisionPrice, quotePrice: quotedOut === null ? undefined : price(quotedOut),
    fills: [{ price: price(amountOut), quantity }], endPrice: price(amountOut),
    fees: ((costs ?? 0) / value) * Number(amountOut),
  });
}
