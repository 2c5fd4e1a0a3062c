import { groupThousands } from '../core/text.ts';
import { amountText, fixedText, valueText } from '../research/metrics/value-text.ts';
import type { Assessment } from '../research/metrics/metrics.ts';
import type { MonthlyReturn } from '../research/metrics/return-distribution.ts';
import { monthlyReturns } from '../research/metrics/return-distribution.ts';
import { roundTrips } from '../research/metrics/round-trips.ts';
import { SHOWN_METRICS, notMeaningful, shareText } from '../research/metrics/figure-text.ts';
import { seriesOf, tradeFills } from '../research/metrics/run-figures.ts';
import type { RunStatistics } from '../research/metrics/run-statistics.ts';
import type { RunRecord } from '../backtest/record/run-record.ts';
import type { Millis } from '../core/time.ts';
import { printedStatistics } from './printed-statistics.ts';

/** Printed figures by name: `total.sharpe`, `month 2026-01`. */
type Printed = ReadonlyMap<string, string>;

const DAY_MS = 86_400_000;
/** The text of a figure without a value. */
const NOT_GIVEN = 'not given';
/** The text of a figure whose value has no meaning. */
const NOT_MEANINGFUL = 'not meaningful';

/** Returns whether a printed figure has a meaningful value. */
export function isMeaningful(text: string): boolean {
  return text !== NOT_GIVEN && text !== NOT_MEANINGFUL;
}

/** Returns an instant in UTC, to the second, or to the minute in a span of more than a day. */
export function instantText(at: Millis, spanMs: Millis = 0): string {
  return new Date(at).toISOString().slice(0, spanMs > DAY_MS ? 16 : 19).replace('T', ' ');
}

/** Returns the printed text of a record's figures, both for the report and for its own check in the page. */
export function printedFigures(
  record: RunRecord, assessments: ReadonlyMap<string, Assessment>, statistics: RunStatistics,
): Printed {
  return new Map([
    ...[...assessments].flatMap(([of, assessment]) => ofAssessment(of, assessment)),
    ...ofResult(assessments),
    ...ofMonths(monthlyReturns(seriesOf(record, record.strategies))),
    ...ofTrips(record),
    ...printedStatistics(statistics).map(([name, text]): [string, string] => [name, text ?? NOT_GIVEN]),
  ]);
}

/** Returns the months of each year and the year's return, undefined where a month has none. */
export function yearsOf(
  months: readonly MonthlyReturn[],
): { readonly year: number; readonly months: readonly MonthlyReturn[]; readonly change: number | undefined }[] {
  return [...new Set(months.map(({ year }) => year))].map((year) => {
    const own = months.filter((month) => month.year === year);
    const product = own.reduce<number | undefined>(
      (all, { change }) => (all === undefined || change === undefined ? undefined : all * (1 + change)), 1,
    );
    return { year, months: own, change: product === undefined ? undefined : product - 1 };
  });
}

function ofAssessment(of: string, assessment: Assessment): [string, string][] {
  const { metrics, path: { points }, sharpeInterval: interval, trades, timeInMarket } = assessment;
  return [
    ...SHOWN_METRICS.map(({ name, show }): [string, string] => {
      const value = metrics[name];
      return [`${of}.${name}`, typeof value !== 'number' ? NOT_GIVEN
        : notMeaningful(name, assessment) === undefined ? show(value) : NOT_MEANINGFUL];
    }),
    [`${of}.equity_start`, points.length === 0 ? NOT_GIVEN : amountText(points[0]!)],
    [`${of}.equity_end`, points.length === 0 ? NOT_GIVEN : amountText(points.at(-1)!)],
    [`${of}.sharpe_interval`, interval === undefined ? NOT_GIVEN : `${Math.round(interval.level * 100)} % within `
      + `${valueText(interval.low, 'ratio')} to ${valueText(interval.high, 'ratio')}`],
    [`${of}.time_in_market`, timeInMarket === undefined ? NOT_GIVEN : shareText(timeInMarket)],
    ...(['wins', 'losses', 'breakeven'] as const)
      .map((name): [string, string] => [`${of}.${name}`, valueText(trades?.[name] ?? 0, 'count')]),
  ];
}

/** Returns the result as the first sentence of a report has it. */
function ofResult(assessments: ReadonlyMap<string, Assessment>): [string, string][] {
  const own = assessments.get('total')?.metrics.total_return ?? null;
  const held = assessments.get('benchmark buy_and_hold')?.metrics.total_return ?? null;
  const result: [string, string] =
    ['result.return', own === null ? NOT_GIVEN : `${own > 0 ? '+' : ''}${shareText(own)}`];
  if (own === null || held === null) return [result, ['versus_holding', NOT_GIVEN], ['result.versus', NOT_GIVEN]];
  const points = groupThousands(fixedText((own - held) * 100, 2));
  const size = points.replace('-', '');
  return [
    result, ['versus_holding', `${own <= held || points === '0.00' ? '' : '+'}${points}`],
    ['result.versus', size === '0.00' ? 'the same as holding'
      : `${size} points ${own > held ? 'better' : 'worse'} than holding`],
  ];
}

function ofMonths(months: readonly MonthlyReturn[]): [string, string][] {
  return yearsOf(months).flatMap((year): [string, string][] => [
    [`year ${year.year}`, changeText(year.change)],
    ...year.months.map(({ month, change }): [string, string] => [`month ${year.year}-${month}`, changeText(change)]),
  ]);
}

function ofTrips(record: RunRecord): [string, string][] {
  const { trips, open } = roundTrips(tradeFills(record));
  return [['trips.all', valueText(trips.length, 'count')], ['trips.open', valueText(open.length, 'count')]];
}

function changeText(change: number | undefined): string {
  return change === undefined ? NOT_GIVEN : shareText(change);
}
