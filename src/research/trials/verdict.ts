import { counted, grouped } from '../../core/counted.ts';
import { LONG_IDLE, denialText, idleShare, limitedBy } from './denial-summary.ts';
import type { MeasuredRun, MeasuredSettings } from './measured-run.ts';
import { robustnessWarnings } from './measured-run.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { likelihoodText, ratioText, shareText, sizeText } from '../metrics/figure-text.ts';
import type { Benchmarks } from '../metrics/run-figures.ts';
import { sharpeByLuck } from '../metrics/deflated-sharpe.ts';
import type { TrialCount } from '../../store/trial-log.ts';

/** How far the results of fewer scatter is a guess, and so is what luck shows. */
const FEW_TRIALS = 10;

/**
 * Returns the number of trials for scripts, with what they do to a Sharpe ratio a year; null where nobody could count.
 */
export function trialsJson(trials: TrialCount | undefined): unknown {
  if (trials === undefined) return null;
  return {
    count: trials.count, sharpe_variance: trials.sharpeVariance ?? null, sharpe_by_luck: sharpeByLuck(trials) ?? null,
  };
}

/**
 * Returns in plain words how many trials there are and what that says of a deflated Sharpe ratio; undefined where
 * nobody could count.
 */
export function trialsText(
  trials: TrialCount | undefined, dsr: number | null, luckUnknown?: string,
): string | undefined {
  if (trials === undefined) return undefined;
  if (luckUnknown !== undefined)
    return `${trials.count === 1 ? 'this is the first on these data' : triedText(trials.count)}; what luck alone would `
      + `show is not meaningful: ${luckUnknown}`;
  if (trials.count === 1)
    return `this is the first on these data: there was nothing to choose among${dsr === null ? '' : `, and its true Sharpe ratio is above 0 with a probability of ${likelihoodText(dsr)}`}`;
  const luck = luckText(trials);
  return luck === undefined || dsr === null ? `${triedText(trials.count)}${luck === undefined ? UNKNOWN_LUCK : ''}`
    : `${triedText(trials.count)}${luck}; that this one is truly above that has a probability `
      + `of ${likelihoodText(dsr)}`;
}

/** What follows after how many were tried where luck cannot be told. */
export const UNKNOWN_LUCK = ', too few of them with a Sharpe ratio to say what luck alone would show';

/**
 * Returns what luck alone shows where two or more were tried, to follow after how many were; undefined where nobody can
 * say.
 */
export function luckText(trials: TrialCount): string | undefined {
  const luck = sharpeByLuck(trials);
  if (luck === undefined) return undefined;
  const shown = `${luckiestText(trials.count)} shows a Sharpe ratio of`;
  return trials.count < FEW_TRIALS
    ? `, few to go by: going by how far apart they are, ${shown} about ${Number(luck.toPrecision(2))} a year`
    : `: ${shown} ${ratioText(luck)} a year`;
}

const SURE = 0.95;
const FEW_TRADES = 30;
/** Beyond this a flaw is likelier than a gain. */
const IMPLAUSIBLE_SHARPE = 5;

/** Returns in plain sentences what a backtest says, and what it does not. */
export function verdictOf(
  { assessment: { metrics, trades, luckUnknown }, record, series, result }: MeasuredRun, settings: MeasuredSettings,
  benchmarks: Benchmarks,
): string[] {
  const denied = deniedText(result);
  if (record.fills.length === 0) return ['No swap was made: this run says nothing about the strategy.', ...denied];
  if (series.times.length < 2 || metrics.total_return === null)
    return ['What was held could not be valued: this run says nothing about the strategy.'];
  const total = metrics.total_return;
  const sentences = [
    `After costs it ${total > 0 ? 'gained' : total < 0 ? 'lost' : 'came out even, at'} ${sizeText(total)}${metrics.max_drawdown === null ? '' : `, and was at worst ${sizeText(metrics.max_drawdown)} below its peak`}.`,
    againstHolding(total, benchmarks),
    tradesText(metrics, trades),
    ...denied,
    robustness(settings),
  ];
  if (total <= 0) return sentences.filter((sentence) => sentence !== '');
  const decided = trades === undefined ? 0 : trades.wins + trades.losses;
  if (luckUnknown !== undefined) sentences.push(luckUnknownText(luckUnknown));
  else if (decided < FEW_TRADES) sentences.push(
    `${decided === 0 ? 'No round trip was' : `Only ${counted(decided, 'round trip')} ${decided === 1 ? 'was' : 'were'}`} won or lost, too few to tell skill from luck.`,
  );
  else if (metrics.psr === null) sentences.push('Whether it is more than luck cannot be said from these data.');
  else sentences.push(chanceText(metrics.psr, metrics));
  return sentences.filter((sentence) => sentence !== '');
}

/** Returns a doubt where a result is better than any that lasted. */
export function implausibleWarnings({ sharpe }: Pick<Metrics, 'sharpe'>): string[] {
  return sharpe !== null && sharpe > IMPLAUSIBLE_SHARPE
    ? [`a Sharpe ratio of ${ratioText(sharpe)} a year is more than real markets pay for long: look for a flaw in the `
      + 'data, or in how fills are simulated, or with "gannet lookahead", before you believe it']
    : [];
}

/** Returns what is said in place of luck where nothing can be. */
export function luckUnknownText(luckUnknown: string): string {
  return `How much of it is luck is not meaningful: ${luckUnknown}.`;
}

/**
 * Returns whether a gain may be chance, by how many were tried where that is known: the best of many looks good by
 * chance.
 */
export function chanceText(
  psr: number, { dsr, trials }: Pick<Metrics, 'dsr' | 'trials'>, luckUnknown?: string,
): string {
  if (luckUnknown !== undefined) return luckUnknownText(luckUnknown);
  const above = `its true Sharpe ratio is above 0 with a probability of ${likelihoodText(psr)}`;
  if (psr < SURE) return 'Luck is not excluded: '
    + `${above}${trials === 1 ? '' : ', before it is counted how many variants were tried'}.`;
  if (trials === 1) return `By itself it is unlikely to be luck: ${above}. Nothing else was tried on these data; every `
    + 'further variant that is makes luck likelier.';
  if (dsr === null || trials === null) return `By itself it is unlikely to be luck: ${above}. How many variants were `
    + 'tried on these data is not in that, and each makes luck likelier.';
  return dsr < SURE
    ? `By itself it would be unlikely to be luck (${likelihoodText(psr)}), but ${triedText(trials)}: that it is truly `
      + `better than ${luckiestText(trials)} would look has a probability of ${likelihoodText(dsr)}.`
    : `It is unlikely to be luck, even though ${triedText(trials)}: that it is truly better than `
      + `${luckiestText(trials)} would look has a probability of ${likelihoodText(dsr)}.`;
}

/** Returns how many were tried: "two variants were tried on these data". */
export function triedText(trials: number): string {
  const number = trials === 1 ? 'one' : trials === 2 ? 'two' : grouped(String(trials));
  return `${number} ${trials === 1 ? 'variant was' : 'variants were'} tried on these data`;
}

/** Returns what the best of so many is by luck: "the luckier of two that are worth nothing". */
function luckiestText(trials: number): string {
  return trials === 2 ? 'the luckier of two that are worth nothing'
    : `the luckiest of ${grouped(String(trials))} that are worth nothing`;
}

function deniedText({ denials, fills, startAt, endAt }: MeasuredRun['result']): string[] {
  const idle = idleShare({ fills, startAt, endAt });
  const denied = limitedBy({ denials, fills: fills.length, idle });
  if (denied === undefined) return [];
  const { count, code, times } = denied;
  return [`The risk limits refused ${counted(count, 'swap')}, `
    + `${count === 1 ? '' : `${times === count ? 'all' : grouped(String(times))} of them `}by ${denialText(code)}.`,
    ...(idle < LONG_IDLE ? [] : [`Nothing was traded in the last ${(idle * 100).toFixed(0)} % of the time, after `
      + `${new Date(fills.at(-1)!.at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`])];
}

function tradesText(
  { win_rate: rate, payoff_ratio: payoff }: Metrics, trades: MeasuredRun['assessment']['trades'],
): string {
  if (trades === undefined || rate === null) return '';
  const trips = trades.wins + trades.losses + trades.breakeven;
  if (trips === 1)
    return `Its only round trip was ${trades.wins === 1 ? 'won' : trades.losses === 1 ? 'lost' : 'even'}.`;
  return `Of ${counted(trips, 'round trip')} ${shareText(rate)} were `
    + `won${payoff === null ? '' : `, and a gain was ${ratioText(payoff)} times a loss on average`}.`;
}

function againstHolding(total: number, { buy_and_hold: holding }: Benchmarks): string {
  const held = holding?.assessment.metrics.total_return ?? null;
  if (held === null) return '';
  const points = ratioText(Math.abs(total - held) * 100);
  return `${holdingText(held)}: the strategy came out ${points === '0.00' ? 'the same' : `${points} percentage ${points === '1.00' ? 'point' : 'points'} ${total > held ? 'better' : 'worse'}`}.`;
}

/** Returns what buying and holding came to: "Buying and holding lost 9.12 %". */
export function holdingText(held: number): string {
  return `Buying and holding ${held > 0 ? 'gained' : held < 0 ? 'lost' : 'came out even, at'} ${sizeText(held)}`;
}

function robustness(settings: MeasuredSettings): string {
  if (robustnessWarnings(settings).length > 0)
    return 'It is not robust: whether it gains or loses depends on how kindly fills are simulated.';
  const totals = Object.values(settings).map(({ assessment }) => assessment.metrics.total_return);
  if (totals.some((total) => total === null)) return 'Not all three settings could be measured.';
  return totals.every((total) => total! > 0) ? 'It gains in all three settings of how fills are simulated.'
    : 'It gains in none of the three settings of how fills are simulated.';
}
