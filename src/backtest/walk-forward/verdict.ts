import { shortDuration } from '../../core/time.ts';
import { shareText, sizeText } from '../metrics/figure-text.ts';
import { chanceText, holdingText } from '../verdict.ts';
import type { WalkForwardResult } from '../walk-forward.ts';

/** Returns in plain sentences what a walk-forward says, and what it does not. */
export function walkForwardVerdict({ joined, folds, judged, positive, efficiency, stability }: WalkForwardResult): string[] {
  if (joined === undefined) return ['No fold was run out of sample: this says nothing about the strategy.'];
  const { metrics } = joined.assessment;
  const total = metrics.total_return;
  const { times } = joined.series;
  const held = joined.benchmarks.buy_and_hold?.assessment.metrics.total_return ?? null;
  return [
    total === null ? 'Out of sample, what was held could not be valued.'
      : `Out of sample, fold after fold, it ${total > 0 ? 'gained' : total < 0 ? 'lost' : 'came out even, at'} ${sizeText(total)} after costs in ${shortDuration(times.at(-1)! - times[0]!)}${held === null ? '' : `; ${holdingText(held).replace('Buying', 'buying')}`}.`,
    judged === 0 ? `${folds.length === 1 ? 'The only fold cannot' : `None of ${folds.length} folds can`} be judged.` : judged === 1 ? `The one fold that can be judged ${positive === 1 ? 'gained' : 'did not gain'}.` : `${positive === 0 ? 'None' : positive} of ${judged} folds gained.`,
    ...(judged === 0 ? [] : [efficiency === undefined
      ? 'What was chosen gained nothing in-sample: there is nothing that could have been kept.'
      : efficiency < 0 ? `What its parameters gained in-sample they lost out of sample (efficiency ${shareText(efficiency)}).`
        : `Of what its parameters made a year in-sample, ${shareText(efficiency)} was left out of sample.`]),
    ...(stability.choices < 2 ? [] : [`The choice changed in ${stability.changes} of ${stability.choices - 1} folds after the first.`]),
    ...(total === null || total <= 0 || metrics.psr === null ? [] : [chanceText(metrics.psr, metrics, joined.assessment.luckUnknown)]),
  ];
}
