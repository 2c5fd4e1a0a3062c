import { limitWarnings } from '../../backtest/denied.ts';
import { benchmarkWarnings } from '../../backtest/record/run-figures.ts';
import { notRepeatable } from '../../backtest/repetition.ts';
import type { WalkForwardResult } from '../../backtest/walk-forward.ts';
import { doneOf } from '../../backtest/walk-forward/fold-outcome.ts';
import type { FoldPlan } from '../../backtest/walk-forward/folds.ts';
import { printable } from '../../core/text.ts';
import { counted } from '../../core/counted.ts';
import { roughDuration } from '../../core/time.ts';
import type { RefusedPoint } from '../research/plan-trials.ts';
import type { Subject } from '../research/subject.ts';
import { subjectWarnings } from '../research/subject.ts';
import { numbersText } from './numbers-text.ts';

/** Less of a recording is nothing that anybody misses. */
const WORTH_A_WORD_MS = 1_000;

/** Returns what is to be known of a walk-forward before its figures. */
export function warningsOf({ folds, joined, judged, efficiency, deviation }: WalkForwardResult, { subject, plan, refused }: {
  readonly subject: Subject;
  readonly plan: FoldPlan;
  readonly refused: readonly RefusedPoint[];
}): string[] {
  const [first] = refused;
  const last = plan.folds.at(-1)!.outOfSample;
  const usual = plan.folds[0]!.outOfSample;
  const missingMs = usual.to - usual.from - (last.to - last.from);
  return [
    ...(deviation === undefined ? [] : [notRepeatable('what was chosen', deviation)]),
    ...subjectWarnings(subject),
    ...(first === undefined ? [] : [`${counted(refused.length, 'combination')} of the grid ${refused.length === 1 ? 'is' : 'are'} refused${refused.length === 1 ? '' : ', the first'} since ${first.reason}`]),
    ...limitWarnings(folds.flatMap(({ tried }) => doneOf(tried)), 'in-sample trial'),
    ...limitWarnings(folds.flatMap(({ outOfSample }) => outOfSample ?? []), 'out-of-sample run'),
    ...unjudgedWarnings(folds),
    ...(judged > 0 && efficiency === undefined ? ['efficiency is not given, since what was chosen gained nothing in-sample'] : []),
    ...(plan.unusedMs >= WORTH_A_WORD_MS ? [`the last ${roughDuration(plan.unusedMs)} of the recording are too short for a fold: they are not used`] : []),
    ...(missingMs >= WORTH_A_WORD_MS ? [`the last fold is ${roughDuration(missingMs)} shorter than the others: the recording ends there`] : []),
    ...(joined === undefined ? [] : benchmarkWarnings(joined.record)),
    ...(joined?.assessment.warnings.map(({ message }) => message) ?? []),
  ];
}

/** Folds of which the same is to be said, but for the numbers in it, are named together. */
function unjudgedWarnings(folds: WalkForwardResult['folds']): string[] {
  const alike = new Map<string, { readonly reason: string; readonly numbers: number[] }>();
  for (const { fold, status, reason = status } of folds) {
    if (status === 'judged') continue;
    const kind = `${status} ${reason.replace(/\d[\d,.]*/g, '#')}`;
    const known = alike.get(kind);
    if (known === undefined) alike.set(kind, { reason, numbers: [fold.number] });
    else known.numbers.push(fold.number);
  }
  return [...alike.values()].map(({ reason, numbers }) => (numbers.length === 1 ? `fold ${numbers[0]!} is in no average: ${printable(reason, 500)}`
    : `${numbers.length === folds.length ? `all ${numbers.length} folds` : `folds ${numbersText(numbers)}`} are in no average, the first since ${printable(reason, 500)}`));
}
