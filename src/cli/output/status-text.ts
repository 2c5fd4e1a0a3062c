import { clockTime } from './figures.ts';
import type { Fact } from './table.ts';
import { facts, table } from './table.ts';
import { printable } from '../../core/text.ts';
import { runStatusOf, statusReasons, strategyStatuses } from '../../daemon/control/run-status.ts';
import type { RunStatus, StrategyStatus } from '../../daemon/control/session-state.ts';
import type {
  LastTradingChange, StrategyTrading, TradingView, UnsoldState,
} from '../../daemon/control/trading-view.ts';
import { describeSource } from '../../daemon/reporting/trading-text.ts';

const STATUS_TEXTS: Readonly<Record<RunStatus | StrategyStatus, string>> = {
  starting: 'starting', recovering: 'recovering', trading: 'trading', 'exits-only': 'exits only',
  flattening: 'flattening', halted: 'halted', stopped: 'stopped', 'waiting-for-service': 'waiting for the service',
  waiting: 'waiting', draining: 'draining', ended: 'ended',
};

/** A daemon of an older version reports neither `unsold` nor `pauses`. */
type ReportedView = Omit<TradingView, 'unsold' | 'pauses'> & Partial<Pick<TradingView, 'unsold' | 'pauses'>>;

/** Returns the trading status after a control command as text; after a flatten also whether everything is sold. */
export function tradingText(view: ReportedView, { isSale = false } = {}): string {
  const statuses = strategyStatuses({ ...view, phase: 'trading' });
  const isAnyRestricted = view.strategies.some((strategy) => restrictionText(strategy) !== '');
  return [
    facts([
      ...statusFacts(runStatusOf(view), statusReasons(view)),
      ['sold', isSale && view.unsold?.length === 0
        ? 'everything: each strategy holds only the token of its budget' : undefined],
    ]),
    '\n',
    table([
      ['strategy', 'state', ...isAnyRestricted ? ['restricted'] : []],
      ...view.strategies.map((strategy, index) =>
        [strategy.name, statusText(statuses[index]!), ...isAnyRestricted ? [restrictionText(strategy)] : []]),
    ]),
    unsoldText(view.unsold ?? []),
  ].join('');
}

/** Returns what a flatten has not sold as text; empty when everything is sold. */
function unsoldText(unsold: readonly UnsoldState[]): string {
  if (unsold.length === 0) return '';
  const rows = unsold.map(({ holds, strategy, code, reason }) =>
    [holds, strategy, `${code}: ${printable(reason, 300)}`]);
  return `\n${table([['not sold', 'of', 'because'], ...rows])}`;
}

/** Returns the status of the run or of one strategy as text. */
export function statusText(status: RunStatus | StrategyStatus): string {
  return STATUS_TEXTS[status];
}

/** Returns the status of the run with its reasons. A run that trades may still have reasons that limit it. */
export function statusFacts(status: RunStatus, reasons: readonly string[]): Fact[] {
  return [
    ['state', statusText(status)],
    [status === 'trading' ? 'limited by' : 'because', reasons.map((reason) => printable(reason, 300))],
  ];
}

/** Returns who restricted this one strategy, when and why; empty when no command restricts it alone. */
export function restrictionText({
  trading = 'active', flattening, trading_word: change,
}: { readonly [member in keyof StrategyTrading]?: StrategyTrading[member] | undefined }): string {
  return trading === 'active' && flattening !== true ? '' : changeText(change);
}

function changeText(change: LastTradingChange | null | undefined): string {
  if (change === null || change === undefined) return '';
  return `by ${describeSource(change.by)} at `
    + `${clockTime(change.since)}${change.reason === '' ? '' : `: ${change.reason}`}`;
}
