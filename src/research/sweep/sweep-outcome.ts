import type { ObjectiveName } from '../trials/objectives.ts';
import { OBJECTIVES } from '../trials/objectives.ts';
import type { Grid, GridPoint, SweepRow } from './grid.ts';
import type { Neighbourhood } from './neighbourhood.ts';
import type { TrialParams } from '../trials/trial.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { luckUnknownBy } from '../metrics/metrics.ts';
import type { Token } from '../../market/token.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { RefusedPoint } from '../trials/plan-trials.ts';
import { LIMITS_MADE_IT, limitedBy } from '../trials/denial-summary.ts';
import { likelihoodText, ratioText } from '../metrics/figure-text.ts';
import { UNKNOWN_LUCK, luckText, luckUnknownText, triedText } from '../trials/verdict.ts';
import { groupThousands, pluralize } from '../../core/text.ts';

/** A combination that a strategy failed. */
export interface FailedPoint {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly reason: string;
}

/** The best combination with the data to judge it. */
export interface BestRow extends SweepRow {
  /** With the Sharpe ratio deflated by all trials on these data. */
  readonly metrics: Metrics;
  readonly neighbourhood: Neighbourhood;
  /** Whether a new thread made the same decisions; undefined for a single combination. */
  readonly isRepeatable: boolean | undefined;
}

/** The outcome of a sweep. */
export interface SweepOutcome {
  readonly subject: string;
  readonly currency: Token;
  readonly grid: Grid;
  readonly objective: ObjectiveName;
  /** In the order of the grid. */
  readonly rows: readonly SweepRow[];
  readonly refused: readonly RefusedPoint[];
  readonly failed: readonly FailedPoint[];
  /** Undefined when no combination has the objective. */
  readonly best: BestRow | undefined;
  /** All trials ever made on these data; undefined if unknown. */
  readonly counted: TrialCount | undefined;
  /** The effort of the sweep. */
  readonly effort: SweepEffort;
  readonly warnings: readonly string[];
  /** Whether the recording's market was generated. */
  readonly isMadeUp?: boolean | undefined;
}

/** The effort of a sweep. */
export interface SweepEffort {
  /** Trials run this time; the others were known. */
  readonly ran: number;
  readonly resumed: number;
  readonly workers: number;
  /** Seconds of the trials run this time, including the reading of the recording. */
  readonly seconds: number;
  /** Events that strategies received this time. */
  readonly events: number;
  /** The file of the finished trials. */
  readonly file: string;
}

/** Returns a sentence on the number of trials and their effort. */
export function effortSentence(
  { rows, refused, failed, effort: { ran, resumed, workers, seconds, events } }: SweepOutcome,
): string {
  return [
    `${rows.length} done`,
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(resumed > 0 ? [`${resumed} known already`] : []),
    ...(ran > 0 ? [`${ran} run by ${workers === 1 ? 'one thread' : `${workers} threads`} in ${seconds.toFixed(1)} s, `
      + `${groupThousands(String(Math.round(events / seconds)))} evaluations a second`] : []),
  ].join(', ');
}

/** Returns a sentence on the confidence in the best combination's Sharpe ratio, given all trials. */
export function confidenceSentence(
  { best, counted: trials, isMadeUp }: Pick<SweepOutcome, 'best' | 'counted' | 'isMadeUp'>,
): string {
  if (best === undefined) return 'nothing was found.';
  if (trials === undefined)
    return 'the number of variants tried on these data is unknown: the best of many is good by luck alone.';
  const { metrics: { sharpe, dsr } } = best;
  const tried = triedText(trials.count);
  const luckUnknown = luckUnknownBy({ sharpe }, isMadeUp);
  if (sharpe === null) return `${tried}, and they are too short for a Sharpe ratio.`;
  if (sharpe <= 0) return `${tried}, and the Sharpe ratio of this one is not above 0: there is no gain to confirm.`;
  if (luckUnknown !== undefined) return `${tried}. ${luckUnknownText(luckUnknown)}`;
  if (trials.count === 1 && dsr !== null) return `${tried}: there was nothing to choose from. Its Sharpe ratio is `
    + `${ratioText(sharpe)} a year, and truly above 0 with a probability of ${likelihoodText(dsr)}.`;
  const luck = luckText(trials);
  if (luck === undefined || dsr === null) return `${tried}${UNKNOWN_LUCK}.`;
  return `${tried}${luck}; this one has ${ratioText(sharpe)}, and is truly above that with a probability of `
    + `${likelihoodText(dsr)} (deflated Sharpe ratio): ${wordFor(dsr)}.`;
}

function wordFor(dsr: number): string {
  if (dsr >= 0.95) return 'more than luck, as far as these data go';
  return dsr >= 0.5 ? 'it may be luck' : 'most likely it is luck';
}

/** Returns a sentence on the surroundings of the best combination, and whether the limits determine them. */
export function neighbourhoodSentence(
  { value, result, neighbourhood: { shape, neighbours, median, medianOfAll } }: BestRow, objective: ObjectiveName,
): string {
  const { show } = OBJECTIVES[objective];
  if (shape === 'unknown' || median === null || medianOfAll === null)
    return 'too few combinations one step away were tried to tell a plateau from a needle.';
  const compared = `${pluralize(neighbours.length, 'combination')} one step away `
    + `${neighbours.length === 1 ? 'comes' : 'come'} to `
    + `${show(median)}${neighbours.length === 1 ? '' : ' in the median'}, all together to ${show(medianOfAll)}, this `
    + `one to ${show(value!)}`;
  switch (shape) {
    case 'plateau': return 'a plateau: '
      + `${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'slope': return 'a slope, neither plateau nor needle: '
      + `${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'needle': return `a NEEDLE: ${compared}. A single good combination is more often chance than market.`;
  }
}

/** When limits end the trading of most combinations, their results are alike for any parameters. */
function limitsAround(limited: readonly boolean[]): string {
  const count = limited.filter(Boolean).length;
  return 2 * count <= limited.length ? ''
    : ` But in ${count === limited.length ? 'all' : `${count} of`} these ${limited.length} ${LIMITS_MADE_IT}: when `
      + 'they stop the trading, results are alike for any parameters.';
}
