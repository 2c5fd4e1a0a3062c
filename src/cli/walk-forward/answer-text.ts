import { shareText } from '../../backtest/metrics/figure-text.ts';
import { valueText } from '../../backtest/page/value-text.ts';
import { splitWarnings } from '../../backtest/report/split-warnings.ts';
import { OBJECTIVES } from '../../backtest/objectives.ts';
import type { JoinedRun } from '../../backtest/walk-forward.ts';
import { paramsText } from '../../backtest/walk-forward/params-text.ts';
import { FOLD_WORDS, foldLimits } from '../../backtest/walk-forward/fold-outcome.ts';
import { walkForwardVerdict } from '../../backtest/walk-forward/verdict.ts';
import { stringifyJson } from '../../core/json.ts';
import { counted } from '../../core/counted.ts';
import { formatDuration } from '../../core/time.ts';
import { figureTable } from '../figure-table.ts';
import { trialsText } from '../research/trials-text.ts';
import type { Fact } from '../table.ts';
import { facts, table } from '../table.ts';
import type { WalkForwardAnswer } from './answer.ts';

/** Returns an answer for people, warnings first. */
export function asText(answer: WalkForwardAnswer, report: string | undefined): string {
  const { subject: { setup: { currency } }, sets, objective: name, anchored, inSampleMs, outOfSampleMs, result, trials, warnings } = answer;
  const { folds, joined, stability } = result;
  const objective = OBJECTIVES[name];
  // It is in the table in any case.
  const isReturn = name === 'total_return';
  const tried = trialsText(trials, joined?.assessment.metrics.dsr ?? null, joined?.assessment.luckUnknown);
  const { warnings: doubts, missing } = splitWarnings(warnings, joined?.assessment.warnings ?? []);
  return [
    ...doubts.map((warning) => `  ! ${warning}\n`),
    ...walkForwardVerdict(result).map((sentence, i) => `${i === 0 ? '\n' : ''}  ${sentence}\n`),
    '\n',
    facts([
      ['folds', `${folds.length}, each chosen among ${sets.length} by the ${objective.label} over ${anchored ? `all before, at least ${formatDuration(inSampleMs)}` : `the ${formatDuration(inSampleMs)} before`}, judged by ${formatDuration(outOfSampleMs)}`],
      ...stability.parameters.map(({ strategy, parameter, changes, values }): Fact => [
        `${strategy}.${parameter}`, `${counted(changes, 'change')}: ${values.map(({ value, folds: times }) => `${typeof value === 'string' ? value : stringifyJson(value)} (${times})`).join(', ')}`]),
      ['trials', tried],
      ['equity', joined === undefined ? undefined : `${valueText(joined.series.values[0]!, 'price')} → ${valueText(joined.series.values.at(-1)!, 'price')} ${currency.symbol}`],
      ['report', report],
    ]),
    '\n',
    table([
      ['fold', 'judged from', 'chosen', ...(isReturn ? [] : [`${objective.label} in-sample`, 'out of sample']), 'return in-sample', 'out of sample', 'swaps', ''],
      ...folds.map(({ fold, choice, outOfSample, status }) => [
        String(fold.number), new Date(fold.outOfSample.from).toISOString().slice(0, 16).replace('T', ' '), choice === undefined ? '-' : paramsText(choice.params),
        ...(isReturn ? [] : [shown(choice?.value, objective.show), shown(outOfSample === undefined ? null : objective.valueOf(outOfSample), objective.show)]),
        shown(choice?.inSample.metrics.total_return, shareText), shown(outOfSample?.metrics.total_return, shareText), String(outOfSample?.fills ?? '-'),
        [FOLD_WORDS[status], foldLimits({ choice, outOfSample })].filter((said) => said !== '').join('; '),
      ]),
    ], { right: [0, ...Array.from({ length: isReturn ? 3 : 5 }, (_, i) => 3 + i)] }),
    ...(joined === undefined ? [] : ['\n', figuresOf(joined, currency.symbol), ...missing.map((reason) => `  ${reason}\n`)]),
  ].join('');
}

function shown(value: number | null | undefined, as: (value: number) => string): string {
  return value === null || value === undefined ? '-' : as(value);
}

function figuresOf({ assessment, benchmarks: { buy_and_hold, dca } }: JoinedRun, currency: string): string {
  const beside = ([['buy and hold', buy_and_hold], ['DCA', dca]] as const).flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }]));
  return figureTable([{ name: 'out of sample', assessment }, ...beside], currency);
}
