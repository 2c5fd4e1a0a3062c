import { ENOUGH_COVERAGE } from '../backtest/metrics/bars.ts';
import type { Assessment, Metrics } from '../backtest/metrics/metrics.ts';
import { ratioText } from '../backtest/metrics/figure-text.ts';
import { notMeaningful, scaledNote, SHOWN_METRICS } from '../backtest/metrics/shown-metrics.ts';
import type { Fact } from './table.ts';
import { facts } from './table.ts';

/** Returns metrics for people, a line each; what has no value is left to the warnings, which stand first. */
export function metricsText(assessment: Assessment): string {
  const { metrics, warnings, sharpeInterval, irregular, path } = assessment;
  const rows = SHOWN_METRICS.flatMap(({ name, label, show }): Fact[] => {
    const value = metrics[name];
    if (typeof value !== 'number') return [];
    const interval = name === 'sharpe' && sharpeInterval !== undefined ? `  (${Math.round(sharpeInterval.level * 100)} % within ${ratioText(sharpeInterval.low)} to ${ratioText(sharpeInterval.high)})` : '';
    const unsaid = notMeaningful(name, assessment);
    if (unsaid !== undefined) return [[label, `${unsaid} (--json has the number)`]];
    return [[label, `${show(value)}${interval}`], ...(name === 'max_drawdown' ? drawdownFacts(metrics) : [])];
  });
  if (path.coverage < ENOUGH_COVERAGE && irregular?.sharpe !== undefined) rows.push(['Sharpe by the points', ratioText(irregular.sharpe)]);
  const note = scaledNote(path);
  return [warnings.map(({ message }) => `  ! ${message}\n`).join(''), `${facts(rows)}${note === undefined ? '' : `  ${note}\n`}`].filter((part) => part !== '').join('\n');
}

function drawdownFacts({ drawdown_start: start, drawdown_trough: trough, drawdown_recovered: recovered }: Metrics): Fact[] {
  if (trough === null) return [];
  return [['', `from ${moment(start)}, lowest ${moment(trough)}, ${recovered === null ? 'not recovered' : `recovered ${moment(recovered)}`}`]];
}

function moment(at: string | number | null): string {
  if (at === null) return 'before the first';
  return typeof at === 'number' ? `period ${at}` : at.replace('T', ' ').replace(/(?::00)?\.000Z$/, '');
}
