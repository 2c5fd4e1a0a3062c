import { limitedBy, LIMITS_MADE_IT } from '../../backtest/denied.ts';
import { likelihoodText, ratioText } from '../../backtest/metrics/figure-text.ts';
import type { ObjectiveName } from '../../backtest/objectives.ts';
import { OBJECTIVES } from '../../backtest/objectives.ts';
import { luckUnknownBy } from '../../backtest/metrics/metrics.ts';
import { luckUnknownText, triedText } from '../../backtest/verdict.ts';
import { counted, grouped } from '../../core/counted.ts';
import { luckText, UNKNOWN_LUCK } from '../research/trials-text.ts';
import type { BestRow, SweepOutcome } from './outcome.ts';

/** Returns how many trials there are, and what they took. */
export function effortSentence({ rows, refused, failed, effort: { ran, resumed, workers, seconds, events } }: SweepOutcome): string {
  return [
    `${rows.length} done`,
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(resumed > 0 ? [`${resumed} known from before`] : []),
    ...(ran > 0 ? [`${ran} run by ${workers === 1 ? 'one thread' : `${workers} threads`} in ${seconds.toFixed(1)} s, ${grouped(String(Math.round(events / seconds)))} evaluations a second`] : []),
  ].join(', ');
}

/** Returns in plain words how far the best combination's Sharpe ratio can be believed, after all that was tried. */
export function confidenceSentence({ best, counted: trials, isMadeUp }: Pick<SweepOutcome, 'best' | 'counted' | 'isMadeUp'>): string {
  if (best === undefined) return 'nothing was found.';
  if (trials === undefined) return 'how many variants were tried on these data cannot be counted: the best of many looks good by luck alone.';
  const { metrics: { sharpe, dsr } } = best;
  const tried = triedText(trials.count);
  const luckUnknown = luckUnknownBy({ sharpe }, isMadeUp);
  if (sharpe === null) return `${tried}, and they are too short to say anything of a Sharpe ratio.`;
  if (sharpe <= 0) return `${tried}, and the Sharpe ratio of this one is not above 0: there is no gain to be sure of.`;
  if (luckUnknown !== undefined) return `${tried}. ${luckUnknownText(luckUnknown)}`;
  if (trials.count === 1 && dsr !== null) return `${tried}: there was nothing to choose among. Its Sharpe ratio is ${ratioText(sharpe)} a year, and truly above 0 with a probability of ${likelihoodText(dsr)}.`;
  const luck = luckText(trials);
  if (luck === undefined || dsr === null) return `${tried}${UNKNOWN_LUCK}.`;
  return `${tried}${luck}; this one has ${ratioText(sharpe)}, and is truly above that with a probability of ${likelihoodText(dsr)} (deflated Sharpe ratio): ${wordFor(dsr)}.`;
}

function wordFor(dsr: number): string {
  if (dsr >= 0.95) return 'more than luck, as far as these data go';
  return dsr >= 0.5 ? 'it may be luck' : 'most likely it is luck';
}

/** Returns in plain words whether the best combination stands alone, and whether its surroundings are the strategy's or the limits'. */
export function groundSentence({ value, result, neighbourhood: { ground, neighbours, median, medianOfAll } }: BestRow, objective: ObjectiveName): string {
  const { show } = OBJECTIVES[objective];
  if (ground === 'unknown' || median === null || medianOfAll === null) return 'too few combinations one step away were tried to say whether the peak is a needle or a plateau.';
  const compared = `${counted(neighbours.length, 'combination')} one step away ${neighbours.length === 1 ? 'comes' : 'come'} to ${show(median)}${neighbours.length === 1 ? '' : ' in the middle'}, all together to ${show(medianOfAll)}, this one to ${show(value!)}`;
  switch (ground) {
    case 'plateau': return `a plateau: ${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'slope': return `a slope, neither plateau nor needle: ${compared}.${limitsAround([limitedBy(result) !== undefined, ...neighbours.map(({ limited }) => limited)])}`;
    case 'needle': return `a NEEDLE: ${compared}. What only one combination has is chance more often than market.`;
  }
}

/** Where limits end the trading of most of them, results are alike whatever the parameters are. */
function limitsAround(limited: readonly boolean[]): string {
  const count = limited.filter(Boolean).length;
  return 2 * count <= limited.length ? '' : ` But in ${count === limited.length ? 'all' : `${count} of`} these ${limited.length} ${LIMITS_MADE_IT}: where they stop the trading, results are alike whatever the parameters are.`;
}
