import { printable } from '../core/text.ts';
import { describeSource } from '../daemon/trading-text.ts';
import { actionText, kindText } from '../daemon/protection-text.ts';
import type { ProtectionState, StrategyTrading, TradingView, TradingWord, UnsoldState } from '../daemon/trading-board.ts';
import { clockTime } from './figures.ts';
import { facts, table } from './table.ts';

/** Returns what may be traded, for people. */
export function tradingText(view: Omit<TradingView, 'unsold'> & Told<Pick<TradingView, 'unsold'>>): string {
  return [
    facts(tradingFacts(view)),
    '\n',
    table([
      ['strategy', 'may trade', 'said'],
      ...view.strategies.map((strategy) => [strategy.name, stateText(strategy), wordText(strategy.trading_word)]),
    ]),
    unsoldText(view.unsold ?? []),
  ].join('');
}

/** Returns what a flatten has not sold, for people; empty where there is nothing. */
function unsoldText(unsold: readonly UnsoldState[]): string {
  if (unsold.length === 0) return '';
  return `\n${table([['not sold', 'of', 'because'], ...unsold.map(({ holds, strategy, code, reason }) => [holds, strategy, `${code}: ${printable(reason, 300)}`])])}`;
}

type Told<View> = { readonly [member in keyof View]?: View[member] | undefined };

/** Returns the rows that tell what may be traded at all. What an older daemon does not say is left out. */
export function tradingFacts(view: Told<Pick<TradingView, 'trading' | 'trading_word' | 'effective' | 'protections' | 'stop_file'>> & { readonly strategies?: readonly Told<StrategyTrading>[] | undefined }): [string, string | string[]][] {
  const { trading = 'active', trading_word: word, effective = trading, protections = [], stop_file: stopFile, strategies = [] } = view;
  const stopped = strategies.filter(({ trading: own = 'active' }) => own !== 'active');
  return [
    ['trading', [trading, wordText(word), ...(effective === trading ? [] : [`a protection makes it ${effective}`])].filter((part) => part !== '').join(', ')],
    ...(stopFile === null || stopFile === undefined ? [] : [['STOP', `the file is there${stopFile === '' ? '' : ` and says: ${stopFile}`}; nothing trades until it is removed and an operator resumes`] as [string, string]]),
    ['protections', protections.map(protectionText)],
    ['by itself', trading === 'active' && effective !== 'halted' ? stopped.map(({ name, trading: own }) => `${name} is ${own}: "gannet resume --strategy ${name}" lets it trade again`) : []],
  ];
}

function protectionText({ kind, subject, action, release, until, since, reason }: ProtectionState): string {
  const end = release === 'operator' ? 'until "gannet resume"' : release === 'cleared' ? 'while it lasts' : `until ${clockTime(until ?? undefined)} UTC`;
  return `${kindText(kind)}${subject === '' ? '' : ` of ${subject}`} since ${clockTime(since)}: ${actionText(action)} ${end} (${reason})`;
}

/** Returns what a strategy may trade, for people. */
export function stateText({ trading, effective = trading, flattening }: Told<Pick<StrategyTrading, 'trading' | 'effective' | 'flattening'>>): string {
  if (flattening === true) return `flattening${effective === 'halted' ? ' (halted)' : ''}`;
  return effective ?? '';
}

/** Returns who said so, when and why. */
export function wordText(word: TradingWord | null | undefined): string {
  return word === null || word === undefined ? '' : `by ${describeSource(word.by)} at ${clockTime(word.since)}${word.reason === '' ? '' : `: ${word.reason}`}`;
}
