import { ENOUGH_COVERAGE } from '../backtest/metrics/bars.ts';
import type { Assessment, Metrics } from '../backtest/metrics/metrics.ts';
import { percent } from './figures.ts';
import type { Fact } from './table.ts';
import { facts } from './table.ts';

/** How each figure is shown to people, in the order in which they are. */
const SHOWN: readonly (readonly [name: keyof Metrics, label: string, show: (value: number) => string])[] = [
  ['total_return', 'total return', share],
  ['cagr', 'a year (CAGR)', share],
  ['volatility', 'volatility a year', share],
  ['sharpe', 'Sharpe', ratio],
  ['sortino', 'Sortino', ratio],
  ['calmar', 'Calmar, whole period', ratio],
  ['max_drawdown', 'deepest drawdown', share],
  ['max_drawdown_absolute', 'largest drawdown', plain],
  ['ulcer_index', 'ulcer index', share],
  ['win_rate', 'round trips won', share],
  ['profit_factor', 'profit factor', ratio],
  ['expectancy', 'expectancy', plain],
  ['payoff_ratio', 'payoff ratio', ratio],
  ['exposure', 'exposure', share],
  ['turnover', 'turnover a year', ratio],
  ['fees_paid', 'fees paid', plain],
  ['realized_slippage_bps', 'slippage, bps', ratio],
  ['landing_rate', 'landed', share],
  ['skewness', 'skewness', ratio],
  ['kurtosis', 'kurtosis', ratio],
  ['psr', 'P(Sharpe > 0)', share],
  ['min_track_record_length', 'returns to be sure', (value) => String(Math.ceil(value))],
  ['dsr', 'deflated Sharpe', share],
  ['trials', 'trials', String],
];

/** Returns metrics for people, a line each; what has no value is left to the warnings, which stand first. */
export function metricsText({ metrics, warnings, sharpeInterval, irregular, path }: Assessment): string {
  const rows = SHOWN.flatMap(([name, label, show]): Fact[] => {
    const value = metrics[name];
    if (typeof value !== 'number') return [];
    const interval = name === 'sharpe' && sharpeInterval !== undefined ? `  (${Math.round(sharpeInterval.level * 100)} % within ${ratio(sharpeInterval.low)} to ${ratio(sharpeInterval.high)})` : '';
    return [[label, `${show(value)}${interval}`], ...(name === 'max_drawdown' ? drawdownFacts(metrics) : [])];
  });
  if (path.coverage < ENOUGH_COVERAGE && irregular?.sharpe !== undefined) rows.push(['Sharpe by the points', ratio(irregular.sharpe)]);
  return [warnings.map(({ message }) => `  ! ${message}\n`).join(''), facts(rows)].filter((part) => part !== '').join('\n');
}

function drawdownFacts({ drawdown_start: start, drawdown_trough: trough, drawdown_recovered: recovered }: Metrics): Fact[] {
  if (trough === null) return [];
  return [['', `from ${moment(start)}, lowest ${moment(trough)}, ${recovered === null ? 'not recovered' : `recovered ${moment(recovered)}`}`]];
}

function moment(at: string | number | null): string {
  if (at === null) return 'before the first';
  return typeof at === 'number' ? `period ${at}` : at.replace('T', ' ').replace(/(?::00)?\.000Z$/, '');
}

function share(value: number): string {
  return percent(value * 100);
}

function ratio(value: number): string {
  return value.toFixed(2);
}

function plain(value: number): string {
  return String(Number(value.toPrecision(8)));
}
