import type { BacktestResult } from '../backtest.ts';
import type { Shortfall } from '../metrics/shortfall.ts';
import { implementationShortfall } from '../metrics/shortfall.ts';
import type { RecordedFill } from '../record/run-record.ts';
import type { ReportInput } from './report-input.ts';

/** A swap that landed, with what is known of it. */
export interface LandedSwap {
  readonly fill: BacktestResult['fills'][number];
  /** Undefined where nobody recorded it. */
  readonly record: RecordedFill | undefined;
  /** Against the last price that was quoted of its pair when it was decided; undefined where that is not known, or it has no value. */
  readonly shortfall: Shortfall | undefined;
}

/** What some swaps fell short by, basis points of their worth: each weighs by what it was worth. */
export interface MeanShortfall extends Shortfall {
  readonly swaps: number;
  /** In the currency. */
  readonly worth: number;
}

/** Returns the swaps of the strategies that have a budget, in order. */
export function landedSwaps({ run: { result, record }, decisionRates }: Pick<ReportInput, 'run' | 'decisionRates'>): LandedSwap[] {
  const recorded = new Set(record.strategies.map(({ name }) => name));
  return result.fills.filter(({ intent }) => recorded.has(intent.strategy)).map((fill, i) => ({ fill, record: record.fills[i], shortfall: shortfallOf(decisionRates?.get(fill.intent.id), record.fills[i]) }));
}

/** Returns the mean shortfall of swaps; undefined where none has one. */
export function meanShortfall(swaps: readonly LandedSwap[]): MeanShortfall | undefined {
  const known = swaps.flatMap(({ record, shortfall }) => (shortfall === undefined || record === undefined ? [] : [{ worth: record.value ?? 0, shortfall }]));
  const worth = known.reduce((sum, each) => sum + each.worth, 0);
  if (worth <= 0) return undefined;
  const mean = (part: keyof Shortfall): number => known.reduce((sum, each) => sum + each.worth * each.shortfall[part], 0) / worth;
  return { swaps: known.length, worth, total: mean('total'), delay: mean('delay'), slippage: mean('slippage'), fees: mean('fees'), opportunity: mean('opportunity') };
}

/** A sale of what goes in, priced in what comes out: so a purchase and a sale are worked out alike. */
function shortfallOf(decisionPrice: number | undefined, record: RecordedFill | undefined): Shortfall | undefined {
  if (record === undefined || decisionPrice === undefined || record.value === null || record.value <= 0) return undefined;
  const { amountIn, amountOut, quotedOut, value, costs } = record;
  const quantity = Number(amountIn);
  const price = (out: string): number => Number(out) / quantity;
  return implementationShortfall({
    side: 'sell', quantity, decisionPrice, quotePrice: quotedOut === null ? undefined : price(quotedOut),
    fills: [{ price: price(amountOut), quantity }], endPrice: price(amountOut), fees: ((costs ?? 0) / value) * Number(amountOut),
  });
}
