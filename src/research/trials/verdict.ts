import { groupThousands, pluralize } from '../../core/text.ts';
import { LONG_IDLE, denialText, idleShare, limitedBy } from './denial-summary.ts';
import type { MeasuredRun, MeasuredSettings } from './measured-run.ts';
import { robustnessWarnings } from './measured-run.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { likelihoodText, ratioText, shareText, sizeText } from '../metrics/figure-text.ts';
import type { Benchmarks } from '../metrics/run-figures.ts';
import { sharpeByLuck } from '../metrics/deflated-sharpe.ts';
import type { TrialCount } from '../../store/trial-log.ts';

/** With fewer trials, the variance of their results is a guess, and the effect of luck too. */
const FEW_TRIALS = 10;

/** Returns the number of trials for scripts, with the Sharpe ratio a year that luck explains; null if unknown. */
export function trialsJson(trials: TrialCount | undefined): unknown {
  if (trials === undefined) return null;
  return {
    count: trials.count, sharpe_variance: trials.sharpeVariance ?? null, sharpe_by_luck: sharpeByLuck(trials) ?? null,
  };
}

/** Returns for people the number of trials and its effect on the Sharpe ratio; undefined if unknown. */
export function trialsText(
  trials: TrialCount | undefined, dsr: number | null, luckUnknown?: string,
): string | undefined {
  if (trials === undefined) return undefined;
  if (luckUnknown !== undefined)
    return `${trials.count === 1 ? 'this is the first on these data' : triedText(trials.count)}; the Sharpe ratio by `
      + `luck is not meaningful: ${luckUnknown}`;
  if (trials.count === 1)
    return 'this is the first on these data: there was nothing to choose from'
      + (dsr === null ? '' : `, and its true Sharpe ratio is above 0 with a probability of ${likelihoodText(dsr)}`);
  const luck = luckText(trials);
  return luck === undefined || dsr === null ? `${triedText(trials.count)}${luck === undefined ? UNKNOWN_LUCK : ''}`
    : `${triedText(trials.count)}${luck}; this one is truly above that with a probability of ${likelihoodText(dsr)}`;
}

/** Follows the number of trials when luck cannot be judged. */
export const UNKNOWN_LUCK = ', too few of them with a Sharpe ratio to estimate the effect of luck';

/** Returns the Sharpe ratio that luck explains, to follow the number of trials; undefined if unknown. */
export function luckText(trials: TrialCount): string | undefined {
  const luck = sharpeByLuck(trials);
  if (luck === undefined) return undefined;
  const shown = `${luckiestText(trials.count)} shows a Sharpe ratio of`;
  return trials.count < FEW_TRIALS
    ? `, which are few: by their variance, ${shown} about ${Number(luck.toPrecision(2))} a year`
    : `: ${shown} ${ratioText(luck)} a year`;
}

const SURE = 0.95;
const FEW_TRADES = 30;
/** Above this, a flaw is likelier than skill. */
export const IMPLAUSIBLE_SHARPE = 5;

/** Returns plain sentences on the meaning and the limits of a backtest's result. */
export function verdictOf(
  { assessment: { metrics, trades, luckUnknown }, record, series, result }: MeasuredRun, settings: MeasuredSettings,
  benchmarks: Benchmarks,
): string[] {
  const denied = deniedText(result);
  if (record.fills.length === 0) return ['No swap was made: this run says nothing about the strategy.', ...denied];
  if (series.times.length < 2 || metrics.total_return === null)
    return ['The holdings could not be valued: this run says nothing about the strategy.'];
  const total = metrics.total_return;
  const sentences = [
    `After costs it ${gainWord(total)} ${sizeText(total)}`
      + (metrics.max_drawdown === null ? '.' : `, and was at worst ${sizeText(metrics.max_drawdown)} below its peak.`),
    againstHolding(total, benchmarks),
    tradesText(metrics, trades),
    ...denied,
    robustness(settings),
  ];
  if (total <= 0) return sentences.filter((sentence) => sentence !== '');
  const decided = trades === undefined ? 0 : trades.wins + trades.losses;
  const counted = decided === 0 ? 'No trade' : `Only ${pluralize(decided, 'trade')}`;
  if (luckUnknown !== undefined) sentences.push(luckUnknownText(luckUnknown));
  else if (decided < FEW_TRADES) {
    sentences.push(`${counted} ${decided < 2 ? 'was' : 'were'} won or lost, too few to tell skill from luck.`);
  } else if (metrics.psr === null) sentences.push('These data do not show whether it is more than luck.');
  else sentences.push(chanceText(metrics.psr, metrics));
  return sentences.filter((sentence) => sentence !== '');
}

/** Returns a warning about a result that is better than real markets allow. */
export function implausibleWarnings({ sharpe }: Pick<Metrics, 'sharpe'>): string[] {
  return sharpe !== null && sharpe > IMPLAUSIBLE_SHARPE
    ? [`a Sharpe ratio of ${ratioText(sharpe)} a year is more than real markets pay for long: search for a flaw in `
      + 'the data and in the simulation of fills, and run "gannet lookahead", before you trust it']
    : [];
}

/** Returns the sentence that replaces a judgement of luck. */
export function luckUnknownText(luckUnknown: string): string {
  return `The share of luck in it cannot be judged: ${luckUnknown}.`;
}

/** Returns a sentence on whether a gain may be luck, given the number of trials: the best of many is good by chance. */
export function chanceText(
  psr: number, { dsr, trials }: Pick<Metrics, 'dsr' | 'trials'>, luckUnknown?: string,
): string {
  if (luckUnknown !== undefined) return luckUnknownText(luckUnknown);
  const above = `its true Sharpe ratio is above 0 with a probability of ${likelihoodText(psr)}`;
  if (psr < SURE) return 'Luck is not excluded: '
    + `${above}${trials === 1 ? '' : ', before counting the variants that were tried'}.`;
  if (trials === 1) return `By itself it is unlikely to be luck: ${above}. Nothing else was tried on these data; every `
    + 'further variant makes luck likelier.';
  if (dsr === null || trials === null) return `By itself it is unlikely to be luck: ${above}. The number of variants `
    + 'tried on these data is unknown, and each makes luck likelier.';
  return dsr < SURE
    ? `By itself it would be unlikely to be luck (${likelihoodText(psr)}), but ${triedText(trials)}: it is truly `
      + `better than ${luckiestText(trials)} with a probability of ${likelihoodText(dsr)}.`
    : `It is unlikely to be luck, even though ${triedText(trials)}: it is truly better than `
      + `${luckiestText(trials)} with a probability of ${likelihoodText(dsr)}.`;
}

/** Returns the number of trials: "two variants were tried on these data". */
export function triedText(trials: number): string {
  const number = trials === 1 ? 'one' : trials === 2 ? 'two' : groupThousands(String(trials));
  return `${number} ${trials === 1 ? 'variant was' : 'variants were'} tried on these data`;
}

/** Returns a name for the best of so many worthless trials: "the luckier of two worthless variants". */
function luckiestText(trials: number): string {
  return trials === 2 ? 'the luckier of two worthless variants'
    : `the luckiest of ${groupThousands(String(trials))} worthless variants`;
}

function deniedText({ denials, fills, startAt, endAt }: MeasuredRun['result']): string[] {
  const idle = idleShare({ fills, startAt, endAt });
  const denied = limitedBy({ denials, fills: fills.length, idle });
  if (denied === undefined) return [];
  const { count, code, times } = denied;
  return [`The risk limits refused ${pluralize(count, 'swap')}, `
    + (count === 1 ? '' : `${times === count ? 'all' : groupThousands(String(times))} of them `)
    + `by ${denialText(code)}.`,
    ...(idle < LONG_IDLE ? [] : [`Nothing was traded in the last ${(idle * 100).toFixed(0)} % of the time, after `
      + `${new Date(fills.at(-1)!.at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`])];
}

function tradesText(
  { win_rate: rate, payoff_ratio: payoff }: Metrics, trades: MeasuredRun['assessment']['trades'],
): string {
  if (trades === undefined || rate === null) return '';
  const trips = trades.wins + trades.losses + trades.breakeven;
  if (trips === 1)
    return `Its only trade was ${trades.wins === 1 ? 'won' : trades.losses === 1 ? 'lost' : 'even'}.`;
  return `Of ${pluralize(trips, 'trade')} ${shareText(rate)} were `
    + `won${payoff === null ? '' : `, and a gain was ${ratioText(payoff)} times a loss on average`}.`;
}

function againstHolding(total: number, { buy_and_hold: holding }: Benchmarks): string {
  const held = holding?.assessment.metrics.total_return ?? null;
  if (held === null) return '';
  const points = ratioText(Math.abs(total - held) * 100);
  const difference = points === '0.00' ? 'the same'
    : `${points} percentage ${points === '1.00' ? 'point' : 'points'} ${total > held ? 'better' : 'worse'}`;
  return `${holdingText(held)}: the strategy came out ${difference}.`;
}

/** Returns the verb for a total return: "gained", "lost", or "came out even, at". */
export function gainWord(total: number): string {
  return total > 0 ? 'gained' : total < 0 ? 'lost' : 'came out even, at';
}

/** Returns the result of buying and holding: "Buying and holding lost 9.12 %". */
export function holdingText(held: number): string {
  return `Buying and holding ${gainWord(held)} ${sizeText(held)}`;
}

function robustness(settings: MeasuredSettings): string {
  if (robustnessWarnings(settings).length > 0)
    return 'It is not robust: whether it gains or loses depends on the simulation of fills.';
  const totals = Object.values(settings).map(({ assessment }) => assessment.metrics.total_return);
  if (totals.some((total) => total === null)) return 'Not all three settings could be measured.';
  return totals.every((total) => total! > 0) ? 'It gains in all three simulation settings.'
    : 'It gains in none of the three simulation settings.';
}
