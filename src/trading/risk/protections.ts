import type { Mint } from '../../market/token.ts';
import type { ProtectionAction } from '../protection.ts';
import { currencyOf, lossToday } from '../protections/conditions.ts';
import { missingPrice } from '../protections/equity.ts';
import { isOrderedOut } from '../protections/effective-trading.ts';
import type { Watch } from '../protections/memory.ts';
import { ALL, isLeftAlone } from '../protections/memory.ts';
import type { EngineState } from '../state.ts';
import { showMint } from './amount-text.ts';
import type { Denial } from './denial.ts';
import { unvalued } from './exposure.ts';
import type { Rule, SwapWish } from './swap-wish.ts';

/** The stronger speaks first. */
const STRENGTH: Readonly<Record<ProtectionAction, number>> = { halt: 3, flatten: 2, 'reduce-only': 1, deny: 0 };

/**
 * What has come on: a halt refuses exits as well, but for those that an operator ordered; everything else entries
 * alone.
 */
export const protections: Rule = (state, wish) => {
  if (state.protections.on === 0) return undefined;
  let strongest: Watch | undefined;
  for (const watch of state.protections.watches.values()) {
    if (watch.fired === undefined || !concerns(watch, wish)) continue;
    if (wish.isExit && isOrderedOut(state, wish.strategy.name)) continue;
    if (strongest === undefined || STRENGTH[watch.rule.protection.action] > STRENGTH[strongest.rule.protection.action])
      strongest = watch;
  }
  return strongest === undefined ? undefined : denialOf(strongest);

  function denialOf({ rule: { code, protection: { action, scope } }, subject, fired }: Watch): Denial {
    const whom = scope === 'global' ? '' : ` for ${scope === 'token' ? showMint(state, subject as Mint) : subject}`;
    return {
      code: action === 'halt' ? 'TRADING_HALTED' : code,
      reason: `${action === 'halt' ? 'trading is halted' : 'entries are refused'}${whom}: ${fired!.reason}`,
    };
  }
};

function concerns(
  { rule: { protection: { action, scope } }, subject }: Watch, { strategy, inputMint, outputMint, isExit }: SwapWish,
): boolean {
  if (action !== 'halt' && isExit) return false;
  if (scope === 'global') return true;
  if (scope === 'strategy') return subject === strategy.name;
  return subject === outputMint || (isExit && subject === inputMint);
}

/** Where losses bound a strategy, nothing may be added whose loss nobody could see. */
export const equityKnown: Rule = (state, { strategy: { name }, isExit }) => {
  const { equity, rules, watchesEquity } = state.protections;
  if (!watchesEquity || isExit || state.portfolio.book(name).budget === undefined) return undefined;
  for (const rule of rules) {
    const { protection: { trigger, scope } } = rule;
    if ((trigger.kind !== 'max-drawdown' && trigger.kind !== 'daily-loss') || isLeftAlone(state.protections, rule))
      continue;
    const subject = scope === 'global' ? ALL : name;
    const unknown = [name, subject].find((one) => equity.get(one)?.isKnown !== true);
    if (unknown !== undefined) return unseen(state, unknown);
    if (trigger.kind === 'daily-loss' && lossToday(state, subject, trigger.limit.mint) === undefined) {
      return unvalued(state, currencyOf(equity.get(subject)!.basis), trigger.limit.mint);
    }
  }
  return undefined;
};

function unseen(state: EngineState, subject: string): Denial {
  const missing = missingPrice(state, subject);
  if (missing === undefined) return { code: 'VALUE_UNKNOWN', reason: 'what it is worth was not looked at yet' };
  const { code, reason } = unvalued(state, missing.mint, missing.currency);
  const holder = holderOf(state, missing.mint);
  if (holder === undefined) return { code, reason };
  return { code, reason: `${reason}; ${holder} holds it, so nobody knows what was lost, and entries wait until it has `
    + 'a price again, is sold, or is sent out of the wallet' };
}

/** Returns who holds a token that is not the one of his budget. */
function holderOf({ strategies, portfolio }: EngineState, mint: Mint): string | undefined {
  return [...strategies.keys()].find((name) => {
    const { balances, budget } = portfolio.book(name);
    return budget?.mint !== mint && (balances.get(mint) ?? 0n) > 0n;
  });
}
