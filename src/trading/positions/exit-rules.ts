import type { Amount } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../engine-state.ts';
import { spendable } from '../risk/swap-candidate.ts';
import { effectiveTrading } from '../risk/trading-state-rules.ts';
import type { ExitRules } from './exit-plan.ts';
import type { GuardedPosition } from './guarded-positions.ts';
import { quotedSale } from './sale-value.ts';

/** The name of a rule; an exit has it as its tag, after "exits.". */
type RuleName = 'stop_loss' | 'take_profit' | 'trailing_stop' | 'break_even' | 'time_limit';

/** An exit that a rule asks for. */
export interface DueExit {
  readonly strategy: string;
  readonly mint: Mint;
  readonly into: Mint;
  /** The whole position, or a part of it. */
  readonly amount: Amount;
  readonly isAll: boolean;
  readonly rule: RuleName;
  readonly reason: string;
}

const WHOLE = 10_000n;

/** A price at which a position is sold: an output for an amount, so that nothing is rounded. */
interface Level {
  readonly rule: RuleName;
  /** The value of the present position at the level. */
  readonly value: bigint;
}

/** Returns the exit that the rules of a position ask for at an instant; stops come before gains. */
export function dueExit(state: EngineState, position: GuardedPosition, at: Millis): DueExit | undefined {
  const { strategy, mint } = position;
  const rules = state.strategies.get(strategy)?.limits.exits?.rules;
  const { balances, budget } = state.portfolio.book(strategy);
  const held = balances.get(mint);
  if (rules === undefined || budget === undefined || held === undefined) return undefined;
  const into = budget.mint;
  const under = state.exits.get(strategy, mint);
  const isBusy = state.flattening.has(strategy) || (under !== undefined && under.left >= held)
    || state.intents.values().some(({ intent }) => intent.inputMint === mint)
    || effectiveTrading(state, strategy) === 'halted' || spendable(state, strategy, mint) === 0n;
  if (isBusy) return undefined;
  const all = { strategy, mint, into, amount: held, isAll: true };
  const value = quotedSale(state, { mint, into, amount: held }, at);
  const show = (worth: bigint): string => showAmount(state.tokens, into, worth);
  const whole = showAmount(state.tokens, mint, held);
  if (value !== undefined) {
    const stop = stopOf(state, position, rules, held);
    if (stop !== undefined && value <= stop.value) {
      const reason = `${RULE_TEXT[stop.rule]}: ${whole} sell for ${show(value)}, the stop is at ${show(stop.value)}`
        + gapText(value, stop.value);
      return { ...all, rule: stop.rule, reason };
    }
  }
  if (rules.timeLimitMs !== undefined && at - position.since >= rules.timeLimitMs) {
    return { ...all, rule: 'time_limit',
      reason: `time limit: ${whole} were held for ${formatDuration(rules.timeLimitMs)}` };
  }
  // A part is under way: the next gain is taken after it.
  if (value === undefined || under !== undefined) return undefined;
  const next = rules.takeProfits?.[position.taken];
  const cost = costOf(state, position, held);
  if (next === undefined || cost === undefined || value * WHOLE < cost * (WHOLE + BigInt(next.atBps))) return undefined;
  const part = (held * BigInt(next.sellBps) / WHOLE) as Amount;
  const isAll = next.sellBps === Number(WHOLE) || part === 0n;
  return {
    ...all, amount: isAll ? held : part, isAll, rule: 'take_profit',
    reason: `take profit: ${whole} sell for ${show(value)}, ${percentText(next.atBps)} over their cost of ${show(cost)}`
      + (isAll ? '' : `; ${percentText(next.sellBps)} of them are sold`),
  };
}

const RULE_TEXT: Readonly<Record<RuleName, string>> = {
  'stop_loss': 'stop loss', 'take_profit': 'take profit', 'trailing_stop': 'trailing stop',
  'break_even': 'stop at break-even', 'time_limit': 'time limit',
};

/** Returns where the rules sell a position next, by the value of the whole of it: the stop, and the next gain. */
export function exitLevels(
  state: EngineState, position: GuardedPosition,
): { readonly stop: bigint | undefined; readonly target: bigint | undefined } {
  const rules = state.strategies.get(position.strategy)?.limits.exits?.rules;
  const held = state.portfolio.book(position.strategy).balances.get(position.mint);
  if (rules === undefined || held === undefined) return { stop: undefined, target: undefined };
  const next = rules.takeProfits?.[position.taken];
  const cost = costOf(state, position, held);
  return {
    stop: stopOf(state, position, rules, held)?.value,
    target: next === undefined || cost === undefined ? undefined : cost * (WHOLE + BigInt(next.atBps)) / WHOLE,
  };
}

/** Returns the highest stop of a position, by the value of what is held; undefined where none applies yet. */
function stopOf(state: EngineState, position: GuardedPosition, rules: ExitRules, held: Amount): Level | undefined {
  const { stopLossBps, trailing, breakEven } = rules;
  const { peak } = position;
  const cost = costOf(state, position, held);
  const levels: Level[] = [];
  if (cost !== undefined && stopLossBps !== undefined)
    levels.push({ rule: 'stop_loss', value: cost * (WHOLE - BigInt(stopLossBps)) / WHOLE });
  const reached = (afterBps: number): boolean => peak !== undefined && cost !== undefined
    && peak.value * held * WHOLE >= cost * (WHOLE + BigInt(afterBps)) * peak.amount;
  if (cost !== undefined && breakEven !== undefined && reached(breakEven.afterBps))
    levels.push({ rule: 'break_even', value: cost * (WHOLE + BigInt(breakEven.lockBps)) / WHOLE });
  if (peak !== undefined && trailing !== undefined && (trailing.afterBps === 0 || reached(trailing.afterBps))) {
    const value = peak.value * held * (WHOLE - BigInt(trailing.distanceBps)) / (peak.amount * WHOLE);
    levels.push({ rule: 'trailing_stop', value });
  }
  let highest: Level | undefined;
  for (const level of levels) if (highest === undefined || level.value > highest.value) highest = level;
  return highest;
}

/**
 * Returns the cost of what is held. Where a part's cost is unknown, the first price at which the position could be sold
 * takes its place.
 */
function costOf({ portfolio }: EngineState, { strategy, mint, first }: GuardedPosition, held: Amount): bigint |
  undefined {
  return portfolio.book(strategy).costs.get(mint)
    ?? (first === undefined ? undefined : first.value * held / first.amount);
}

/** Says where the market went through a stop between two prices: the sale brings what it pays. */
function gapText(value: bigint, stop: bigint): string {
  const below = stop === 0n ? 0 : Number((stop - value) * WHOLE / stop);
  return below === 0 ? '' : `; the price went through the stop, and the market pays ${percentText(below)} less`;
}

function percentText(bps: number): string {
  return `${bps / 100} %`;
}
