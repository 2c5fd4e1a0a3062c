import { limitedBy } from '../trials/denial-summary.ts';
import { factOf } from '../metrics/metric-warnings.ts';
import { FIGURE_NAMES } from '../metrics/figure-text.ts';
import { pluralize } from '../../core/text.ts';
import type { Objective } from '../trials/objectives.ts';
import { bestOf } from '../trials/objectives.ts';
import type { DoneTrial, TrialParams, TrialResult } from '../trials/trial.ts';
import type { Fold, TradedPeriod } from './folds.ts';

/** The status of a fold. Only judged folds count in averages; the others are named. */
type FoldStatus =
  /** The choice traded out of sample. */
  | 'judged'
  /** The choice made no swap out of sample. */
  | 'no_swaps'
  /** Out of sample the recording has far fewer rows than in-sample. */
  | 'few_rows'
  /** No row or no valued equity exists out of sample. */
  | 'no_rows'
  /** No choice was possible in-sample. */
  | 'no_choice'
  /** The choice failed out of sample. */
  | 'failed';

/** The status of a fold in a few words; its reason has the details. */
export const FOLD_WORDS: Readonly<Record<FoldStatus, string>> = {
  judged: '', no_swaps: 'made no swap', few_rows: 'too few rows', no_rows: 'no data',
  no_choice: 'no choice', failed: 'the strategy failed',
};

/** The in-sample choice. */
interface FoldChoice {
  /** Its index among the parameter sets. */
  readonly place: number;
  readonly params: TrialParams;
  readonly value: number;
  readonly inSample: DoneTrial;
}

/** A fold and its outcome. */
export interface FoldOutcome {
  readonly fold: Fold;
  /** In the order of the parameter sets. */
  readonly tried: readonly TrialResult[];
  readonly choice: FoldChoice | undefined;
  readonly outOfSample: DoneTrial | undefined;
  readonly status: FoldStatus;
  /** The reason why it is not judged. */
  readonly reason: string | undefined;
}

/** With a smaller share of the in-sample row rate, the out-of-sample period was mostly not recorded. */
const FEW_ROWS = 0.1;

/** Returns the best in-sample trial. */
export function choose(
  tried: readonly TrialResult[], sets: readonly TrialParams[], objective: Objective,
): FoldChoice | undefined {
  const best = bestOf(doneOf(tried), objective);
  if (best === undefined) return undefined;
  const place = tried.indexOf(best);
  return { place, params: sets[place]!, value: objective.valueOf(best)!, inSample: best };
}

/**
 * Returns the periods of a fold that the risk limits determined, with the codes: "limited in-sample by RATE_PER_DAY";
 * empty if none.
 */
export function foldLimits({ choice, outOfSample }: Pick<FoldOutcome, 'choice' | 'outOfSample'>): string {
  const where = ([['in-sample', choice?.inSample], ['out of sample', outOfSample]] as const)
    .flatMap(([part, result]) => {
      const denied = result === undefined ? undefined : limitedBy(result);
      return denied === undefined ? [] : [`${part} by ${denied.code}`];
    });
  return where.length === 0 ? '' : `limited ${where.join(', ')}`;
}

/** Returns why no choice was possible. */
export function noChoice(
  tried: readonly TrialResult[], { label, name }: { readonly label: string; readonly name: keyof typeof FIGURE_NAMES },
): string {
  const done = doneOf(tried);
  if (done.length === 0) {
    const first = tried.find((result) => result.kind !== 'done');
    return `none of ${tried.length} ran in-sample: ${first?.reason ?? 'there is none'}`;
  }
  if (done.every(({ events }) => events === 0)) return 'no row was received in-sample';
  const most = done.reduce((a, b) => (b.fills > a.fills ? b : a));
  if (most.fills === 0) return `none of ${done.length} made a swap in-sample`;
  // Some warnings name the figure without its unit.
  const called = FIGURE_NAMES[name].replace(/ (?:a year|of a trade)$/, '');
  const why = most.warnings.find((warning) => warning.includes(called));
  return `none of ${done.length} has a ${label} in-sample${why === undefined ? '' : `: ${factOf({ message: why })}`}`;
}

/** Returns the status of a choice from its out-of-sample result. */
export function judged(
  { fold, choice, result }: { readonly fold: Fold; readonly choice: FoldChoice; readonly result: TrialResult },
): Pick<FoldOutcome, 'status' | 'reason'> {
  if (result.kind !== 'done') return { status: 'failed', reason: result.reason };
  const { events, fills, equity } = result;
  if (events === 0) return { status: 'no_rows', reason: 'no row was received out of sample' };
  if (equity.start === null || equity.end === null || equity.start <= 0) return { status: 'no_rows', reason:
    'the equity out of sample is unknown: something held has no price, or no strategy has a budget' };
  if (rowRate(events, fold.outOfSample) < FEW_ROWS * rowRate(choice.inSample.events, fold.inSample)) {
    const reason = `only ${pluralize(events, 'row was', 'rows were')} received out of sample, `
      + 'less than a tenth of the in-sample rate';
    return { status: 'few_rows', reason };
  }
  return fills === 0 ? { status: 'no_swaps', reason: 'the choice made no swap out of sample' }
    : { status: 'judged', reason: undefined };
}

function rowRate(events: number, { from, to }: TradedPeriod): number {
  return events / (to - from);
}

/** Returns the finished results. */
export function doneOf(results: readonly TrialResult[]): DoneTrial[] {
  return results.filter((result) => result.kind === 'done');
}

/** Returns rising numbers for people, with adjacent ones joined: "2 to 9, 11 and 14". */
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
