import type { Objective, ObjectiveName } from '../trials/objectives.ts';
import { OBJECTIVES } from '../trials/objectives.ts';
import type { Grid, GridPoint } from './grid.ts';
import type { Neighbourhood } from './neighbourhood.ts';
import type { DoneTrial, TrialParams } from '../trials/trial.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { luckUnknownBy } from '../metrics/metrics.ts';
import type { Token } from '../../market/token.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { RefusedPoint } from '../trials/plan-trials.ts';
import { LIMITS_MADE_IT, limitedBy } from '../trials/denial-summary.ts';
import { likelihoodText, ratioText } from '../metrics/figure-text.ts';
import { UNKNOWN_LUCK, luckText, luckUnknownText, triedText } from '../trials/verdict.ts';
import { counted, grouped } from '../../core/counted.ts';

/** A combination that a strategy brought down. */
export interface FailedPoint {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly reason: string;
}

/** The best combination with what is to be known before it is believed. */
export interface BestRow extends SweepRow {
  /** With the Sharpe ratio deflated by all trials on these data. */
  readonly metrics: Metrics;
  readonly neighbourhood: Neighbourhood;
  /**
   * Whether a thread that had run nothing else came to the same decisions; undefined where there is nothing else to be
   * the best of.
   */
  readonly isRepeatable: boolean | undefined;
}

/** What a sweep came to. */
export interface SweepOutcome {
  readonly subject: string;
  readonly currency: Token;
  readonly grid: Grid;
  readonly objective: ObjectiveName;
  /** In the order of the grid. */
  readonly rows: readonly SweepRow[];
  readonly refused: readonly RefusedPoint[];
  readonly failed: readonly FailedPoint[];
  /** Undefined where none has the objective. */
  readonly best: BestRow | undefined;
  /** All that were ever tried on these data; undefined where nobody can count. */
  readonly counted: TrialCount | undefined;
  /** How it was run. */
  readonly effort: SweepEffort;
  readonly warnings: readonly string[];
  /** Whether the recording's market was made up. */
  readonly isMadeUp?: boolean | undefined;
}

/** What it took. */
export interface SweepEffort {
  /** Trials run this time; the others were known from before. */
  readonly ran: number;
  readonly resumed: number;
  readonly workers: number;
  /** Of the trials run this time, the reading of the recording included. */
  readonly seconds: number;
  /** Events that strategies were shown this time. */
  readonly events: number;
  /** Where finished trials are kept. */
  readonly file: string;
}

/** A combination that ran to its end. */
export interface SweepRow {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly result: DoneTrial;
  /** Its objective; null where it has none. */
  readonly value: number | null;
}

/** Returns a row with its objective. */
export function sweepRow(row: Omit<SweepRow, 'value'>, { valueOf }: Objective): SweepRow {
  return { ...row, value: valueOf(row.result) };
}

/** Returns how many trials there are, and what they took. */
export function effortSentence(
  { rows, refused, failed, effort: { ran, resumed, workers, seconds, events } }: SweepOutcome,
): string {
  return [
    `${rows.length} done`,
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(resumed > 0 ? [`${resumed} known from before`] : []),
    ...(ran > 0 ? [`${ran} run by ${workers === 1 ? 'one thread' : `${workers} threads`} in ${seconds.toFixed(1)} s, `
      + `${grouped(String(Math.round(events / seconds)))} evaluations a second`] : []),
  ].join(', ');
}

/** Returns in plain words how far the best combination's Sharpe ratio can be believed, after all that was tried. */
export function confidenceSentence(
  { best, counted: trials, isMadeUp }: Pick<SweepOutcome, 'best' | 'counted' | 'isMadeUp'>,
): string {
  if (best === undefined) return 'nothing was found.';
  if (trials === undefined)
    return 'how many variants were tried on these data cannot be counted: the best of many looks good by luck alone.';
  const { metrics: { sharpe, dsr } } = best;
  const tried = triedText(trials.count);
  const luckUnknown = luckUnknownBy({ sharpe }, isMadeUp);
  if (sharpe === null) return `${tried}, and they are too short to say anything of a Sharpe ratio.`;
  if (sharpe <= 0) return `${tried}, and the Sharpe ratio of this one is not above 0: there is no gain to be sure of.`;
  if (luckUnknown !== undefined) return `${tried}. ${luckUnknownText(luckUnknown)}`;
  if (trials.count === 1 && dsr !== null) return `${tried}: there was nothing to choose among. Its Sharpe ratio is `
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

/**
 * Returns in plain words whether the best combination stands alone, and whether its surroundings are the strategy's or
 * the limits'.
 */
export function neighbourhoodSentence(
  { value, result, neighbourhood: { ground, neighbours, median, medianOfAll } }: BestRow, objective: ObjectiveName,
): string {
  const { show } = OBJECTIVES[objective];
  if (ground === 'unknown' || median === null || medianOfAll === null)
    return 'too few combinations one step away were tried to say whether the peak is a needle or a plateau.';
  const compared = `${counted(neighbours.length, 'combination')} one step away `
    + `${neighbours.length === 1 ? 'comes' : 'come'} to `
    + `${show(median)}${neighbours.length === 1 ? '' : ' in the middle'}, all together to ${show(medianOfAll)}, this `
    + `one to ${show(value!)}`;
  switch (ground) {
    case 'plateau': return 'a plateau: '
      + `${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'slope': return 'a slope, neither plateau nor needle: '
      + `${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'needle': return `a NEEDLE: ${compared}. What only one combination has is chance more often than market.`;
  }
}

/** Where limits end the trading of most of them, results are alike whatever the parameters are. */
function limitsAround(limited: readonly boolean[]): string {
  const count = limited.filter(Boolean).length;
  return 2 * count <= limited.length ? ''
    : ` But in ${count === limited.length ? 'all' : `${count} of`} these ${limited.length} ${LIMITS_MADE_IT}: where `
      + 'they stop the trading, results are alike whatever the parameters are.';
}
