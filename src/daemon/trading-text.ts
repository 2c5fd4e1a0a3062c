import type { CommandSource, TradingState } from '../trading/command.ts';
import type { EngineState } from '../trading/state.ts';
import type { TradingChange } from './trading-board.ts';

const STATES: Readonly<Record<TradingChange['state'], string>> = {
  active: 'may trade again',
  'reduce-only': 'enters nothing any more, exits go on',
  halted: 'is halted: no entry, no exit',
  flattening: 'sells what it holds back into its budget’s token, and enters nothing until it is resumed',
};
const SOURCES: Readonly<Record<CommandSource, string>> = {
  operator: 'the operator', 'stop-file': 'the file STOP', config: 'the configuration', signal: 'a signal', 'safe-mode': 'the start after repeated crashes',
  'disk-guard': 'the guard of the disk',
};

/** Returns who changed a trading state, for people. */
export function describeSource(source: CommandSource): string {
  return SOURCES[source];
}

/** Returns a change of what may be traded, for people. */
export function describeTradingChange({ strategy, state, by, reason }: TradingChange): string {
  const who = strategy ?? (state === 'flattening' ? 'every strategy' : state === 'active' ? 'everything that was not stopped by name' : 'everything');
  return `${who} ${STATES[state]}; said by ${describeSource(by)}${reason === '' ? '' : `: ${reason}`}`;
}

/** Returns what a run that ends so leaves to the next one, for people. */
export function endOfTrading(trading: TradingState): string {
  const state = trading === 'halted' ? 'halted' : 'reduced to exits';
  return `${state}, for the next run too: "gannet resume" while it runs lets it trade again`;
}

/** Returns what an earlier run left that keeps this one from trading, for people. */
export function tradingLeft({ trading, strategyTrading, flattening }: EngineState): { readonly state: string; readonly message: string }[] {
  return [
    ...(trading === 'active' ? [] : [left(undefined, trading)]),
    ...[...strategyTrading].map(([name, state]) => left(name, state)),
    ...[...flattening].map((name) => left(name, 'flattening')),
  ];
}

/** A strategy that was told by name is let go only by name; a flattening of it ends with that of everything. */
function left(strategy: string | undefined, state: TradingChange['state']): { readonly state: string; readonly message: string } {
  const order = strategy === undefined || state === 'flattening' ? 'gannet resume' : `gannet resume --strategy ${strategy}`;
  return { state, message: `${strategy ?? 'everything'} ${STATES[state]}; left so by an earlier run, "${order}" ends it` };
}
