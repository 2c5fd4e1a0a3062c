import type { WalkForwardResult } from '../../backtest/walk-forward.ts';
import type { FoldPlan } from '../../backtest/walk-forward/folds.ts';
import { printable } from '../../core/text.ts';
import { roughDuration } from '../../core/time.ts';
import type { RefusedPoint } from '../research/plan-trials.ts';
import type { Subject } from '../research/subject.ts';
import { subjectWarnings } from '../research/subject.ts';

/** Returns what is to be known of a walk-forward before its figures. */
export function warningsOf({ folds, joined, judged, efficiency, isRepeatable }: WalkForwardResult, { subject, plan, refused }: {
  readonly subject: Subject;
  readonly plan: FoldPlan;
  readonly refused: readonly RefusedPoint[];
}): string[] {
  const [first] = refused;
  const last = plan.folds.at(-1)!.outOfSample;
  const usual = plan.folds[0]!.outOfSample;
  const missingMs = usual.to - usual.from - (last.to - last.from);
  return [
    ...(isRepeatable ? [] : ['NOT repeatable: where nothing later was run before, what was chosen comes to other decisions. A strategy keeps something from one run to the next, so none of these figures can be relied on; "gannet lookahead" says more']),
    ...subjectWarnings(subject),
    ...(first === undefined ? [] : [`${refused.length} combinations of the grid are refused, the first since ${first.reason}`]),
    ...folds.flatMap(({ fold, status, reason }) => (status === 'judged' ? [] : [`fold ${fold.number} is in no average: ${printable(reason ?? status, 500)}`])),
    ...(judged > 0 && efficiency === undefined ? ['efficiency is not given, since what was chosen gained nothing in-sample'] : []),
    ...(plan.unusedMs > 0 ? [`the last ${roughDuration(plan.unusedMs)} of the recording are too short for a fold: they are not used`] : []),
    ...(missingMs > 0 ? [`the last fold is ${roughDuration(missingMs)} shorter than the others: the recording ends there`] : []),
    ...(joined?.assessment.warnings.map(({ message }) => message) ?? []),
  ];
}
