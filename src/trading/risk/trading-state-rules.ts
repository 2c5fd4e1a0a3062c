import { roughDuration, timeOfDay } from '../../core/time.ts';
import { symbolOf } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { TradingState } from '../engine-command.ts';
import type { Denial, ProtectionAction } from '../limits.ts';
import { isManualBook } from '../manual/manual-book.ts';
import type { Pause } from '../manual/pauses.ts';
import { pauseAt } from '../manual/pauses.ts';
import { currencyOf, lossToday } from '../protections/conditions.ts';
import { missingPrice } from '../protections/equity.ts';
import type { Watch } from '../protections/memory.ts';
import { ALL, isIgnored } from '../protections/memory.ts';
import type { EngineState } from '../engine-state.ts';
import { unvalued } from './exposure-rules.ts';
import type { Rule, SwapCandidate } from './swap-candidate.ts';

/** Refuses entries into a pair, or of a strategy, that an operator paused. */
export const pauses: Rule = (state, { strategy, inputMint, outputMint, isExit, at }) => {
  if (state.pauses.size === 0 || isExit) return undefined;
  const pair = pauseAt(state.pauses, { pair: [inputMint, outputMint] }, at);
  const pause = pair ?? pauseAt(state.pauses, { strategy: strategy.name }, at);
  if (pause === undefined) return undefined;
  const what = pauseText(state.tokens, pause);
  const why = pause.reason === '' ? '' : ` (${pause.reason})`;
  const until = pause.until === null ? ''
    : ` until ${timeOfDay(pause.until)} (in ${roughDuration(pause.until - at)})`;
  return {
    code: pair === undefined ? 'STRATEGY_PAUSED' : 'PAIR_PAUSED',
    reason: `${what} is paused${until}${why}: sales go on, and "gannet resume ${what}" ends the pause`,
  };
};

/** Returns the name of what is paused, for people and for the command that ends it: "SOL/USDC", or a strategy. */
export function pauseText(tokens: TokenTable, { pair, strategy }: Pick<Pause, 'pair' | 'strategy'>): string {
  return pair?.map((mint) => symbolOf(tokens, mint)).join('/') ?? strategy ?? '';
}

/** Applies the trading state that commands set. Exits are refused only where trading is halted. */
export const tradingState: Rule = (state, { strategy, isExit }) => {
  const own = state.strategyTrading.get(strategy.name) ?? 'active';
  if (state.trading === 'halted') return { code: 'TRADING_HALTED', reason: 'trading is halted' };
  if (own === 'halted') return { code: 'TRADING_HALTED', reason: `trading is halted for ${strategy.name}` };
  if (isExit) return undefined;
  if (state.trading === 'reduce-only' || own === 'reduce-only') {
    return { code: 'TRADING_REDUCE_ONLY', reason: 'only swaps back into the budget’s token are allowed now' };
  }
  if (state.flattening.has(strategy.name)) {
    return {
      code: 'TRADING_REDUCE_ONLY',
      reason: `what ${strategy.name} holds is being sold; only swaps back into the budget’s token are allowed`,
    };
  }
  return undefined;
};

/** Refuses all swaps while the service refuses the API key or the region, and entries while it does not answer. */
export const serviceAccess: Rule = (state, { isExit }) => {
  if (state.serviceAccess === 'granted') return undefined;
  if (state.serviceAccess === 'silent') {
    // An exit is tried: its own request may be the first that is answered.
    return isExit ? undefined
      : { code: 'SERVICE_SILENT', reason: 'the service does not answer; entries go on as soon as it does' };
  }
  return state.serviceAccess === 'forbidden' ? {
    code: 'SERVICE_FORBIDDEN',
    reason: 'the service refuses your region, address or key; trading goes on by itself once it takes them again',
  } : {
    code: 'SERVICE_UNAUTHORIZED',
    reason: 'the service refuses the API key; trading goes on by itself once it takes it again',
  };
};

/** The order of actions: the denial names the strongest. */
const STRENGTH: Readonly<Record<ProtectionAction, number>> = { halt: 3, flatten: 2, 'reduce-only': 1, deny: 0 };

/**
 * Applies triggered protections. They refuse entries; a halt also refuses exits, except for a flatten that an operator
 * ordered.
 */
export const protections: Rule = (state, swap) => {
  if (state.protections.on === 0) return undefined;
  let strongest: Watch | undefined;
  for (const watch of state.protections.watches.values()) {
    if (watch.fired === undefined || !concerns(watch, swap)) continue;
    if (swap.isExit && isOrderedOut(state, swap.strategy.name)) continue;
    if (strongest === undefined || STRENGTH[watch.rule.protection.action] > STRENGTH[strongest.rule.protection.action])
      strongest = watch;
  }
  return strongest === undefined ? undefined : denialOf(strongest);

  function denialOf({ rule: { code, protection: { action, scope } }, subject, fired }: Watch): Denial {
    const whom = scope === 'global' ? ''
      : ` for ${scope === 'token' ? symbolOf(state.tokens, subject) : subject}`;
    return {
      code: action === 'halt' ? 'TRADING_HALTED' : code,
      reason: `${action === 'halt' ? 'trading is halted' : 'entries are refused'}${whom}: ${fired!.reason}`,
    };
  }
};

function concerns(
  { rule: { protection: { action, scope } }, subject }: Watch,
  { strategy, inputMint, outputMint, isExit }: SwapCandidate,
): boolean {
  if (action !== 'halt' && isExit) return false;
  if (scope === 'global') return true;
  if (scope === 'strategy') return subject === strategy.name;
  return subject === outputMint || (isExit && subject === inputMint);
}

/** Refuses entries of a strategy with a loss limit while its equity is unknown. */
export const equityKnown: Rule = (state, { strategy: { name }, isExit }) => {
  const { equity, rules, watchesEquity } = state.protections;
  if (!watchesEquity || isExit || state.portfolio.book(name).budget === undefined) return undefined;
  for (const rule of rules) {
    const { protection: { trigger, scope } } = rule;
    if ((trigger.kind !== 'max-drawdown' && trigger.kind !== 'daily-loss') || isIgnored(state.protections, rule))
      continue;
    const subject = scope === 'global' ? ALL : name;
    // The equity of manual swaps is no part of that of all strategies.
    if (isManualBook(name) && scope === 'strategy') continue;
    const unknown = (isManualBook(name) ? [subject] : [name, subject])
      .find((one) => equity.get(one)?.isKnown !== true);
    if (unknown !== undefined) return unseen(state, unknown);
    if (trigger.kind === 'daily-loss' && lossToday(state, subject, trigger.limit.mint) === undefined) {
      return unvalued(state, currencyOf(equity.get(subject)!.basis), trigger.limit.mint);
    }
  }
  return undefined;
};

function unseen(state: EngineState, subject: string): Denial {
  const missing = missingPrice(state, subject);
  if (missing === undefined) return { code: 'VALUE_UNKNOWN', reason: 'its equity has not been valued yet' };
  const { code, reason } = unvalued(state, missing.mint, missing.currency);
  const holder = holderOf(state, missing.mint);
  if (holder === undefined) return { code, reason };
  return { code, reason: `${reason}; ${holder} holds it, so the loss is unknown, and entries wait until it has a `
    + 'price again, is sold, or is sent out of the wallet' };
}

/** Returns a strategy that holds a token other than the one of its budget. */
function holderOf({ strategies, portfolio }: EngineState, mint: Mint): string | undefined {
  return [...strategies.keys()].find((name) => {
    const { balances, budget } = portfolio.book(name);
    return budget?.mint !== mint && (balances.get(mint) ?? 0n) > 0n;
  });
}

/** Returns the triggered protections in the order of the configuration. */
export function firedProtections(state: EngineState): Watch[] {
  return [...state.protections.watches.values()].filter(({ fired }) => fired !== undefined);
}

/** Returns the effective trading state of all or of one strategy: the stricter one of commands and protections. */
export function effectiveTrading(state: EngineState, strategy?: string): TradingState {
  const own = strategy === undefined ? 'active' : state.strategyTrading.get(strategy) ?? 'active';
  const actions = firedProtections(state)
    .filter(({ rule: { protection: { scope } }, subject }) =>
      scope === 'global' || (scope === 'strategy' && subject === strategy))
    .map(({ rule: { protection: { action } } }) => action);
  const isFlattenOrdered = strategy !== undefined && isOrderedOut(state, strategy);
  if (state.trading === 'halted' || own === 'halted' || (actions.includes('halt') && !isFlattenOrdered))
    return 'halted';
  const isReducing = state.trading === 'reduce-only' || own === 'reduce-only'
    || actions.some((action) => action !== 'deny');
  return isReducing || (strategy !== undefined && state.flattening.has(strategy)) ? 'reduce-only' : 'active';
}

/** Returns whether an operator ordered to flatten a strategy: no protection refuses such a flatten. */
function isOrderedOut(state: EngineState, strategy: string): boolean {
  return state.flattenOrders.has(strategy);
}
