import { printable } from '../core/text.ts';
import type { Standing, StrategyStanding } from '../daemon/session-state.ts';
import { standingOf, standingReasons, strategyStandings } from '../daemon/standing.ts';
import type { StrategyTrading, TradingView, TradingWord, UnsoldState } from '../daemon/trading-board.ts';
import { describeSource } from '../daemon/trading-text.ts';
import { clockTime } from './figures.ts';
import type { Fact } from './table.ts';
import { facts, table } from './table.ts';

const STANDING: Readonly<Record<Standing | StrategyStanding, string>> = {
  starting: 'starting', recovering: 'recovering', trading: 'trading', 'exits-only': 'exits only', flattening: 'flattening', halted: 'halted',
  stopped: 'stopped', 'waiting-for-service': 'waiting for the service', waiting: 'waiting', draining: 'draining', ended: 'ended',
};

/** A daemon of an older version does not say what is unsold. */
type ToldView = Omit<TradingView, 'unsold'> & Partial<Pick<TradingView, 'unsold'>>;

/** Returns what may be traded after an order, for people; after a sale also whether everything is sold. */
export function tradingText(view: ToldView, { isSale = false } = {}): string {
  const standings = strategyStandings({ ...view, phase: 'trading' });
  return [
    facts([
      ...standingFacts(standingOf(view), standingReasons(view)),
      ['sold', isSale && view.unsold?.length === 0 ? 'everything: each strategy holds only the token of its budget' : undefined],
    ]),
    '\n',
    table([
      ['strategy', 'state', 'said'],
      ...view.strategies.map((strategy, index) => [strategy.name, standingText(standings[index]!), ownWordText(strategy)]),
    ]),
    unsoldText(view.unsold ?? []),
  ].join('');
}

/** Returns what a flatten has not sold, for people; empty where there is nothing. */
function unsoldText(unsold: readonly UnsoldState[]): string {
  if (unsold.length === 0) return '';
  const rows = unsold.map(({ holds, strategy, code, reason }) => [holds, strategy, `${code}: ${printable(reason, 300)}`]);
  return `\n${table([['not sold', 'of', 'because'], ...rows])}`;
}

/** Returns the state of the whole, or of one strategy, for people. */
export function standingText(standing: Standing | StrategyStanding): string {
  return STANDING[standing];
}

/** Returns the state of the whole with its reasons; where it trades all the same, they limit it. */
export function standingFacts(standing: Standing, reasons: readonly string[]): Fact[] {
  return [
    ['state', standingText(standing)],
    [standing === 'trading' ? 'limited by' : 'because', reasons.map((reason) => printable(reason, 300))],
  ];
}

/** Returns who restricted one strategy by name, when and why; empty where no order holds for it alone. */
export function ownWordText({ trading = 'active', flattening, trading_word: word }: { readonly [member in keyof StrategyTrading]?: StrategyTrading[member] | undefined }): string {
  return trading === 'active' && flattening !== true ? '' : wordText(word);
}

function wordText(word: TradingWord | null | undefined): string {
  return word === null || word === undefined ? '' : `by ${describeSource(word.by)} at ${clockTime(word.since)}${word.reason === '' ? '' : `: ${word.reason}`}`;
}
