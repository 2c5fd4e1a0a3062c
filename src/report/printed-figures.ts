import { groupThousands } from '../core/text.ts';
import { amountText, fixedText, valueText } from '../research/metrics/value-text.ts';
import type { Assessment } from '../research/metrics/metrics.ts';
import type { MonthlyReturn } from '../research/metrics/return-distribution.ts';
import { monthlyReturns } from '../research/metrics/return-distribution.ts';
import type { RoundTrip, RoundTrips } from '../research/metrics/round-trips.ts';
import { roundTrips, tradeResults } from '../research/metrics/round-trips.ts';
import { SHOWN_METRICS, notMeaningful, shareText } from '../research/metrics/figure-text.ts';
import { seriesOf, tradeFills } from '../research/metrics/run-figures.ts';
import type { RunRecord } from '../backtest/record/run-record.ts';

/** Printed figures by name: `total.sharpe`, `month 2026-01`. */
type Printed = ReadonlyMap<string, string>;

/** The text of a figure without a value. */
const NOT_GIVEN = 'not given';
/** The text of a figure whose value has no meaning. */
const NOT_MEANINGFUL = 'not meaningful';

/** Returns whether a printed figure has a meaningful value. */
export function isMeaningful(text: string): boolean {
  return text !== NOT_GIVEN && text !== NOT_MEANINGFUL;
}

/** Returns the printed text of a record's figures, both for the report and for its own check in the page. */
export function printedFigures(record: RunRecord, assessments: ReadonlyMap<string, Assessment>): Printed {
  return new Map([
    ...[...assessments].flatMap(([of, assessment]) => ofAssessment(of, assessment)),
    ...versusHolding(assessments),
    ...ofMonths(monthlyReturns(seriesOf(record, record.strategies))),
    ...ofTrips(record),
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

function versusHolding(assessments: ReadonlyMap<string, Assessment>): [string, string][] {
  const own = assessments.get('total')?.metrics.total_return ?? null;
  const held = assessments.get('benchmark buy_and_hold')?.metrics.total_return ?? null;
  if (own === null || held === null) return [['versus_holding', NOT_GIVEN]];
  const points = groupThousands(fixedText((own - held) * 100, 2));
  return [['versus_holding', `${own <= held || points === '0.00' ? '' : '+'}${points}`]];
}

function ofMonths(months: readonly MonthlyReturn[]): [string, string][] {
  return yearsOf(months).flatMap((year): [string, string][] => [
    [`year ${year.year}`, changeText(year.change)],
    ...year.months.map(({ month, change }): [string, string] => [`month ${year.year}-${month}`, changeText(change)]),
  ]);
}

function ofTrips(record: RunRecord): [string, string][] {
  const paired = roundTrips(tradeFills(record));
  const { trips, open } = paired;
  const profits = trips.map(({ profit }) => profit);
  const most = (pick: (a: number, b: number) => number): string =>
    (profits.length === 0 ? NOT_GIVEN : amountText(profits.reduce(pick)));
  return [
    ['trips.all', valueText(trips.length, 'count')], ['trips.open', valueText(open.length, 'count')],
    ['trips.best', most((a, b) => Math.max(a, b))], ['trips.worst', most((a, b) => Math.min(a, b))],
    ...marketResults(paired).flatMap(({ trips: all, won, profit, open: held }, i): [string, string][] => [
      [`market ${i + 1}.trips`, valueText(all, 'count')], [`market ${i + 1}.won`, valueText(won, 'count')],
      [`market ${i + 1}.profit`, amountText(profit)], [`market ${i + 1}.open`, valueText(held, 'count')],
    ]),
  ];
}

function changeText(change: number | undefined): string {
  return change === undefined ? NOT_GIVEN : shareText(change);
}

/** The round trips of one strategy in one token. */
interface MarketResult {
  /** "SOL of sol-dip" */
  readonly name: string;
  readonly trips: number;
  readonly won: number;
  /** Net of all costs, in the currency. */
  readonly profit: number;
  /** Purchases that are not fully sold. */
  readonly open: number;
}

/** Returns the results of round trips by token and strategy, the largest gain first. */
export function marketResults({ trips, open }: Pick<RoundTrips, 'trips' | 'open'>): MarketResult[] {
  const byName = new Map<string, RoundTrip[]>([...trips, ...open].map(({ instrument }) => [instrument, []]));
  for (const trip of trips) byName.get(trip.instrument)!.push(trip);
  return [...byName].map(([name, own]) => ({
    name, trips: own.length, won: tradeResults(own).wins,
    profit: own.reduce((sum, { profit }) => sum + profit, 0),
    open: open.filter(({ instrument }) => instrument === name).length,
  })).toSorted((a, b) => b.profit - a.profit);
}
