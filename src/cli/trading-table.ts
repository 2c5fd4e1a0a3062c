import { printable } from '../core/text.ts';
import { actionText, kindText } from '../daemon/protection-text.ts';
import type { Standing, StrategyStanding } from '../daemon/session-state.ts';
import { standingOf, standingReasons, strategyStandings } from '../daemon/standing.ts';
import type { ProtectionState, TradingView, TradingWord, UnsoldState } from '../daemon/trading-board.ts';
import { describeSource } from '../daemon/trading-text.ts';
import { clockTime } from './figures.ts';
import { facts, table } from './table.ts';

const STANDING: Readonly<Record<Standing | StrategyStanding, string>> = {
  starting: 'starting', recovering: 'recovering', trading: 'trading', 'exits-only': 'exits only', flattening: 'flattening', halted: 'halted',
  stopped: 'stopped', 'waiting-for-service': 'waiting for the service', waiting: 'waiting', draining: 'draining', ended: 'ended',
};

/** A daemon of an older version does not say what is unsold. */
type ToldView = Omit<TradingView, 'unsold'> & Partial<Pick<TradingView, 'unsold'>>;

/** Returns what may be traded after an order, for people. */
export function tradingText(view: ToldView): string {
  const standings = strategyStandings({ ...view, phase: 'trading' });
  return [
    facts([
      ['state', standingText(standingOf(view))],
      ['because', reasonLines(standingReasons(view))],
      ['protections', view.protections.map(protectionText)],
    ]),
    '\n',
    table([
      ['strategy', 'state', 'said'],
      ...view.strategies.map((strategy, index) => [strategy.name, standingText(standings[index]!), wordText(strategy.trading_word)]),
    ]),
    unsoldText(view.unsold ?? []),
  ].join('');
}

/** Returns what a flatten has not sold, for people; empty where there is nothing. */
function unsoldText(unsold: readonly UnsoldState[]): string {
  if (unsold.length === 0) return '';
  return `\n${table([['not sold', 'of', 'because'], ...unsold.map(({ holds, strategy, code, reason }) => [holds, strategy, `${code}: ${printable(reason, 300)}`])])}`;
}

/** Returns the state of the whole, or of one strategy, for people. */
export function standingText(standing: Standing | StrategyStanding): string {
  return STANDING[standing];
}

/** Returns reasons as lines of bounded length. */
export function reasonLines(reasons: readonly string[]): string[] {
  return reasons.map((reason) => printable(reason, 300));
}

/** Returns a protection that is on, for people. */
export function protectionText({ kind, subject, action, release, until, since, reason }: ProtectionState): string {
  const end = release === 'operator' ? 'until "gannet resume"' : release === 'cleared' ? 'while it lasts' : `until ${clockTime(until ?? undefined)} UTC`;
  return `${kindText(kind)}${subject === '' ? '' : ` of ${subject}`} since ${clockTime(since)}: ${actionText(action)} ${end} (${reason})`;
}

/** Returns who said so, when and why. */
export function wordText(word: TradingWord | null | undefined): string {
  return word === null || word === undefined ? '' : `by ${describeSource(word.by)} at ${clockTime(word.since)}${word.reason === '' ? '' : `: ${word.reason}`}`;
}
