import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import type { ChartLine, TimeChartData } from '../web/charts/chart-data.ts';
import type { Markup } from '../web/markup.ts';
import type { RunSeries } from '../research/metrics/run-figures.ts';
import type { Columns } from './charts/chart-figure.ts';
import { chartFigure, lineOf, PLAIN, pointsOf } from './charts/chart-figure.ts';
import { spanMeans } from './charts/downsample.ts';
import type { ReportInput } from './report-input.ts';

const EXPOSURE = 'Share of equity held in tokens';
const NOT_VALUED = 'The holdings could not be valued.';
const STEPS_OF_EXPOSURE = 150;

/** What an equity chart shows. */
interface EquityLines {
  readonly title: string;
  readonly currency: string;
  readonly own: string;
  readonly series: Pick<RunSeries, 'times' | 'values'>;
  /** The equity of buying and holding. */
  readonly holding: readonly number[] | undefined;
}

/** Returns the chart of equity with its benchmarks, and of the drawdown below its last peak. */
export function equityChart({ title, currency, own, series, holding }: EquityLines, columns: Columns): TimeChartData {
  const at = (values: readonly number[]): (number | null)[] => atTimes(columns.times, series.times, values);
  const line = (
    label: string, values: readonly number[], style: Partial<Pick<ChartLine, 'tone' | 'form' | 'pane'>>,
  ): ChartLine => lineOf(label, pointsOf(at(values), columns), style);
  return {
    ...PLAIN, title, empty: hasNoSpan(columns) ? 'The run has no duration.' : NOT_VALUED,
    units: [{ kind: 'amount', symbol: currency }, { kind: 'share' }],
    lines: hasNoSpan(columns) ? [] : [
      line(own, series.values, { form: 'area' }),
      ...(holding === undefined ? [] : [line('buy and hold', holding, { tone: 'second', form: 'thin' })]),
      line('drawdown', drawdownValues(series.values), { tone: 'loss', form: 'depth', pane: 1 }),
    ],
  };
}

/** Returns the chart of a run's equity and drawdown, with buying and holding as a thin line. */
export function equityCharts(
  { run: { series, record }, benchmarks: { buy_and_hold: holding }, silences }: ReportInput,
): Markup {
  return chartFigure(equityChart({
    title: `Equity, ${record.currency}`, currency: record.currency, series,
    own: record.strategies.length === 1 ? 'strategy' : 'strategies',
    holding: holding?.series.values,
  }, { times: record.times, gaps: silences?.all }), [
    'After costs; holdings are valued at the proceeds of their sale. Below it, the drawdown from the last peak.',
  ]);
}

/** Returns the chart of the share of equity in tokens. */
export function exposureChart({ run: { series, record }, silences }: ReportInput): Markup {
  const shares = atTimes(record.times, series.times, series.held.map((value, i) =>
    (series.values[i]! > 0 ? value / series.values[i]! : 0)));
  const columns = { times: record.times, gaps: silences?.all };
  if (hasNoSpan(columns)) return exposureFigure('The run has no duration.', []);
  if (series.held.length > 1 && series.held.every((value) => value === 0))
    return exposureFigure('No token was ever held.', []);
  if (shares.length <= STEPS_OF_EXPOSURE)
    return exposureFigure(NOT_VALUED, [lineOf('exposure', pointsOf(shares, columns), { form: 'area' })]);
  // Where tokens are held for minutes within weeks, one line through all samples would be a solid block.
  const { times, means, highest } = spanMeans(shares, { times: record.times, parts: STEPS_OF_EXPOSURE });
  return exposureFigure(NOT_VALUED, [
    lineOf('on average', pointsOf(means, { times, gaps: silences?.all }), { form: 'area' }),
    lineOf('highest', pointsOf(highest, { times, gaps: silences?.all }), { tone: 'third', form: 'dotted' }),
  ], `Each step holds ${roughDuration(times[1]! - times[0]!)}: the mean, and the highest in it.`);
}

function exposureFigure(empty: string, lines: readonly ChartLine[], text?: string): Markup {
  return chartFigure({ ...PLAIN, title: EXPOSURE, units: [{ kind: 'share' }], lines, empty }, [text ?? false]);
}

/** Returns the fall of each value below the highest one so far, 0 to -1. */
function drawdownValues(values: readonly number[]): number[] {
  let peak = -Infinity;
  return values.map((value) => {
    peak = Math.max(peak, value);
    return peak > 0 ? value / peak - 1 : 0;
  });
}

/** Returns values at `times`; a time without a value is a gap. */
function atTimes(
  times: readonly Millis[], known: readonly Millis[], values: readonly number[],
): (number | null)[] {
  let next = 0;
  return times.map((at) => (known[next] === at ? values[next++]! : null));
}

function hasNoSpan({ times }: Columns): boolean {
  return times.length === 0 || times[0] === times.at(-1);
}
