import { limitedBy } from '../trials/denial-summary.ts';
import { factOf } from '../metrics/metric-warnings.ts';
import { FIGURE_NAMES } from '../metrics/figure-text.ts';
import { counted } from '../../core/counted.ts';
import type { Objective } from '../trials/objectives.ts';
import { bestOf } from '../trials/objectives.ts';
import type { DoneTrial, TrialParams, TrialResult } from '../trials/trial.ts';
import type { Fold, TradedPeriod } from './folds.ts';

/** What became of a fold. Only one that is judged has a part in any average; the others are named. */
type FoldStatus =
  /** What was chosen traded out of sample. */
  | 'judged'
  /** What was chosen made no swap out of sample. */
  | 'no_swaps'
  /** Out of sample the recording holds a small part of the rows that it holds in-sample. */
  | 'few_rows'
  /** Nothing was received out of sample, or nothing that money could be counted by. */
  | 'no_rows'
  /** Nothing could be chosen in-sample. */
  | 'no_choice'
  /** What was chosen brought the strategy down out of sample. */
  | 'failed';

/** What became of a fold, in a word or two; its reason has the rest. */
export const FOLD_WORDS: Readonly<Record<FoldStatus, string>> = {
  judged: '', no_swaps: 'made no swap', few_rows: 'hardly any rows', no_rows: 'nothing to judge by',
  no_choice: 'nothing to choose by', failed: 'the strategy fell over',
};

/** What was chosen in-sample, and why. */
interface FoldChoice {
  /** Its place among the parameter sets, from 0. */
  readonly place: number;
  readonly params: TrialParams;
  readonly value: number;
  readonly inSample: DoneTrial;
}

/** A fold with what came of it. */
export interface FoldOutcome {
  readonly fold: Fold;
  /** In the order of the parameter sets. */
  readonly tried: readonly TrialResult[];
  readonly choice: FoldChoice | undefined;
  readonly outOfSample: DoneTrial | undefined;
  readonly status: FoldStatus;
  /** Why it is not judged. */
  readonly reason: string | undefined;
}

/** Below this share of the rows that came in-sample, out of sample was mostly not recorded. */
const FEW_ROWS = 0.1;

/** Returns the best of what was tried in-sample. */
export function choose(
  tried: readonly TrialResult[], sets: readonly TrialParams[], objective: Objective,
): FoldChoice | undefined {
  const best = bestOf(doneOf(tried), objective);
  if (best === undefined) return undefined;
  const place = tried.indexOf(best);
  return { place, params: sets[place]!, value: objective.valueOf(best)!, inSample: best };
}

/**
 * Returns where the risk limits made what a fold came to, and by which code: "limited in-sample by RATE_PER_DAY"; empty
 * where they did not.
 */
export function foldLimits({ choice, outOfSample }: Pick<FoldOutcome, 'choice' | 'outOfSample'>): string {
  const where = ([['in-sample', choice?.inSample], ['out of sample', outOfSample]] as const)
    .flatMap(([part, result]) => {
      const denied = result === undefined ? undefined : limitedBy(result);
      return denied === undefined ? [] : [`${part} by ${denied.code}`];
    });
  return where.length === 0 ? '' : `limited ${where.join(', ')}`;
}

/** Returns why nothing could be chosen. */
export function noChoice(
  tried: readonly TrialResult[], { label, name }: { readonly label: string; readonly name: keyof typeof FIGURE_NAMES },
): string {
  const done = doneOf(tried);
  if (done.length === 0) {
    const first = tried.find((result) => result.kind !== 'done');
    return `none of ${tried.length} ran in-sample: ${first?.reason ?? 'there is none'}`;
  }
  if (done.every(({ events }) => events === 0)) return 'nothing was received in-sample';
  const most = done.reduce((a, b) => (b.fills > a.fills ? b : a));
  if (most.fills === 0) return `none of ${done.length} made a swap in-sample`;
  // In some sentences a name stands without what it is counted by.
  const called = FIGURE_NAMES[name].replace(/ (?:a year|of a round trip)$/, '');
  const why = most.warnings.find((warning) => warning.includes(called));
  return `none of ${done.length} has a ${label} in-sample${why === undefined ? '' : `: ${factOf({ message: why })}`}`;
}

/** Returns what became of what was chosen, by nothing that was received after it. */
export function judged(
  { fold, choice, result }: { readonly fold: Fold; readonly choice: FoldChoice; readonly result: TrialResult },
): Pick<FoldOutcome, 'status' | 'reason'> {
  if (result.kind !== 'done') return { status: 'failed', reason: result.reason };
  const { events, fills, equity } = result;
  if (events === 0) return { status: 'no_rows', reason: 'nothing was received out of sample' };
  if (equity.start === null || equity.end === null || equity.start <= 0) return { status: 'no_rows', reason:
    'out of sample there is no money that could be counted: something held has no price, or no strategy has a budget' };
  if (rowRate(events, fold.outOfSample) < FEW_ROWS * rowRate(choice.inSample.events, fold.inSample)) {
    return { status: 'few_rows', reason: `only ${counted(events, 'row was', 'rows were')} received out of sample, less `
      + 'than a tenth of what was received in-sample in the same time' };
  }
  return fills === 0 ? { status: 'no_swaps', reason: 'what was chosen made no swap out of sample' }
    : { status: 'judged', reason: undefined };
}

function rowRate(events: number, { from, to }: TradedPeriod): number {
  return events / (to - from);
}

/** Returns the results that ran to their end. */
export function doneOf(results: readonly TrialResult[]): DoneTrial[] {
  return results.filter((result) => result.kind === 'done');
}

/** Returns rising numbers for people, those that follow one another together: "2 to 9, 11 and 14". */
export function numbersText(numbers: readonly number[]): string {
  const runs: { readonly from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  const texts = runs.flatMap(({ from, to }) =>
    (to - from > 1 ? [`${from} to ${to}`] : from === to ? [String(from)] : [String(from), String(to)]));
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)!}`;
}
