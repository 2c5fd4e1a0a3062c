import { roughDuration, shortDuration } from '../../core/time.ts';
import { shareText, sizeText } from '../metrics/figure-text.ts';
import { chanceText, gainWord, holdingText } from '../trials/verdict.ts';
import type { WalkForwardResult } from './walk-forward.ts';
import { limitWarnings } from '../trials/denial-summary.ts';
import { benchmarkWarnings } from '../metrics/run-figures.ts';
import type { TrialParams } from '../trials/trial.ts';
import { notRepeatable } from '../trials/trial.ts';
import { doneOf, numbersText } from './fold-outcome.ts';
import type { FoldPlan } from './folds.ts';
import { pluralize, printable } from '../../core/text.ts';
import type { RefusedPoint } from '../trials/plan-trials.ts';
import type { ResearchInput } from '../research-input.ts';
import { researchWarnings } from '../research-input.ts';
import { canonicalJson } from '../../core/json.ts';

/** A shorter loss of recording time needs no warning. */
const WORTH_A_WORD_MS = 1_000;

/** Returns the warnings of a walk-forward. */
export function warningsOf({ folds, joined, judged, efficiency, deviation }: WalkForwardResult,
  { subject, plan, refused }: {
    readonly subject: ResearchInput;
    readonly plan: FoldPlan;
    readonly refused: readonly RefusedPoint[];
  }): string[] {
  const [first] = refused;
  const last = plan.folds.at(-1)!.outOfSample;
  const usual = plan.folds[0]!.outOfSample;
  const missingMs = usual.to - usual.from - (last.to - last.from);
  return [
    ...(deviation === undefined ? [] : [notRepeatable('what was chosen', deviation)]),
    ...researchWarnings(subject),
    ...(first === undefined ? []
      : [`${pluralize(refused.length, 'combination')} of the grid ${refused.length === 1 ? 'is' : 'are'} `
        + `refused${refused.length === 1 ? '' : ', the first'} because ${first.reason}`]),
    ...limitWarnings(folds.flatMap(({ tried }) => doneOf(tried)), 'in-sample trial'),
    ...limitWarnings(folds.flatMap(({ outOfSample }) => outOfSample ?? []), 'out-of-sample run'),
    ...unjudgedWarnings(folds),
    ...(judged > 0 && efficiency === undefined
      ? ['efficiency is not given, because the choices gained nothing in-sample'] : []),
    ...(plan.unusedMs >= WORTH_A_WORD_MS
      ? [`the last ${roughDuration(plan.unusedMs)} of the recording are too short for a fold: they are not used`] : []),
    ...(missingMs >= WORTH_A_WORD_MS
      ? [`the last fold is ${roughDuration(missingMs)} shorter than the others: the recording ends there`] : []),
    ...(joined === undefined ? [] : benchmarkWarnings(joined.record)),
    ...(joined?.assessment.warnings.map(({ message }) => message) ?? []),
  ];
}

/** Folds whose reasons differ only in numbers are named together. */
function unjudgedWarnings(folds: WalkForwardResult['folds']): string[] {
  const alike = new Map<string, { readonly reason: string; readonly numbers: number[] }>();
  for (const { fold, status, reason = status } of folds) {
    if (status === 'judged') continue;
    const kind = `${status} ${reason.replace(/\d[\d,.]*/g, '#')}`;
    const known = alike.get(kind);
    if (known === undefined) alike.set(kind, { reason, numbers: [fold.number] });
    else known.numbers.push(fold.number);
  }
  return [...alike.values()].map(({ reason, numbers }) =>
    (numbers.length === 1 ? `fold ${numbers[0]!} is excluded from averages: ${printable(reason, 500)}`
      : `${numbers.length === folds.length ? `all ${numbers.length} folds` : `folds ${numbersText(numbers)}`} are `
        + `excluded from averages, the first because ${printable(reason, 500)}`));
}

/** Returns plain sentences on the meaning and the limits of a walk-forward's result. */
export function walkForwardVerdict(
  { joined, folds, judged, positive, efficiency, stability }: WalkForwardResult,
): string[] {
  if (joined === undefined) return ['No fold was run out of sample: this says nothing about the strategy.'];
  const { metrics } = joined.assessment;
  const total = metrics.total_return;
  const { times } = joined.series;
  const held = joined.benchmarks.buy_and_hold?.assessment.metrics.total_return ?? null;
  return [
    total === null ? 'Out of sample, the holdings could not be valued.'
      : `Out of sample, fold after fold, it ${gainWord(total)} `
        + `${sizeText(total)} after costs `
        + `in ${shortDuration(times.at(-1)! - times[0]!)}`
        + `${held === null ? '' : `; ${holdingText(held).replace('Buying', 'buying')}`}.`,
    judged === 0 ? `${folds.length === 1 ? 'The only fold cannot' : `None of ${folds.length} folds can`} be judged.`
      : judged === 1 ? `The one fold that can be judged ${positive === 1 ? 'gained' : 'did not gain'}.`
      : `${positive === 0 ? 'None' : positive} of ${judged} folds gained.`,
    ...(judged === 0 ? [] : [efficiency === undefined
      ? 'The choices gained nothing in-sample: there was no gain to keep.'
      : efficiency < 0
      ? `The in-sample gain of its parameters was lost out of sample (efficiency ${shareText(efficiency)}).`
        : `Of the yearly in-sample gain of its parameters, ${shareText(efficiency)} remained out of sample.`]),
    ...(stability.choices < 2 ? []
      : [`The choice changed in ${stability.changes} of ${stability.choices - 1} folds after the first.`]),
    ...(total === null || total <= 0 || metrics.psr === null ? []
      : [chanceText(metrics.psr, metrics, joined.assessment.luckUnknown)]),
  ];
}

/** Returns parameters for people: "window 20, k 2"; with the strategy's name if there are several. */
export function paramsText(params: TrialParams): string {
  const strategies = Object.entries(params);
  const parts = strategies.flatMap(([strategy, own]) => Object.entries(own).map(([name, value]) =>
    (strategies.length > 1 ? `${strategy}.` : '')
      + `${name} ${typeof value === 'string' ? value : canonicalJson(value)}`));
  return parts.length === 0 ? 'as configured' : parts.join(', ');
}
