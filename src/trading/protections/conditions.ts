import { formatDecimal } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { ProtectionTrigger } from '../limits.ts';
import type { EngineState, StrategyRecord } from '../engine-state.ts';
import { currentValue } from '../valuation.ts';
import type { ProtectionRule } from './catalogue.ts';
import type { Noted, Watch } from './memory.ts';
import { ALL, dayOf, isLater } from './memory.ts';
import { feesOf } from './record-outcome.ts';

type Kind = ProtectionTrigger['kind'];
type Condition<K extends Kind> =
  (state: EngineState, watch: Watch, trigger: Extract<ProtectionTrigger, { readonly kind: K }>) => string | undefined;

/** Returns why a protection's condition holds, undefined where it does not. */
export function condition(state: EngineState, watch: Watch): string | undefined {
  const { trigger } = watch.rule.protection;
  return (CONDITIONS[trigger.kind] as Condition<Kind>)(state, watch, trigger);
}

const CONDITIONS: { readonly [K in Kind]: Condition<K> } = {
  cooldown: (_state, { memory, reset }, { after }) => {
    const last = after === 'loss' ? memory.lastLoss : memory.lastTrade;
    return last !== undefined && isLater(last, reset)
      ? `a swap closed${after === 'loss' ? ' with a loss' : ''}` : undefined;
  },

  'loss-streak': (state, { memory, reset }, { losses, withinMs }) => {
    const first = firstOfLatest(memory.exits, losses, reset);
    if (first === undefined || state.protections.now - first.at >= withinMs
        || memory.exits.slice(-losses).some(({ profit }) => profit >= 0n)) return undefined;
    return `${losses} losing exits in a row within ${formatDuration(withinMs)}`;
  },

  'low-profit': (state, { memory, reset }, { trades, withinMs, leastBps }) => {
    const first = firstOfLatest(memory.exits, trades, reset);
    if (first === undefined || state.protections.now - first.at >= withinMs) return undefined;
    const latest = memory.exits.slice(-trades);
    const profit = latest.reduce((sum, exit) => sum + exit.profit, 0n);
    const cost = latest.reduce((sum, exit) => sum + exit.cost, 0n);
    if (profit * 10_000n >= cost * BigInt(Math.ceil(leastBps))) return undefined;
    const brought = cost === 0n ? 'no profit' : `${formatDecimal((profit * 1_000_000n) / cost, 2)} bps of their cost`;
    return `${trades} exits within ${formatDuration(withinMs)} brought ${brought}, at least ${leastBps} bps are wanted`;
  },

  'max-drawdown': (state, { subject, rule }, { limitPct }) => {
    const record = state.protections.equity.get(subject === '' ? ALL : subject);
    if (record === undefined) return undefined;
    const { resetHeights, value } = record;
    const { peak } = (resetHeights.size === 0 ? undefined : resetHeights.get(rule)) ?? record;
    if (peak <= value || peak <= 0n || isFarAbove(value, peak, limitPct)) return undefined;
    const lost = peak - value;
    if (lost * 1_000_000n < peak * rule.drawdownLimit) return undefined;
    return `equity is ${formatDecimal((lost * 10_000n) / peak, 2)} % below its peak, allowed are less than `
      + `${limitPct} %`;
  },

  'daily-loss': (state, { subject, rule }, { limit }) => {
    const lost = lossToday(state, subject, limit.mint, rule);
    if (lost === undefined || lost === 0n || lost < limit.amount) return undefined;
    return `${showAmount(state.tokens, limit.mint, lost)} lost since the day began (UTC), allowed are less `
      + `than ${showAmount(state.tokens, limit.mint, limit.amount)}`;
  },

  'fee-budget': (state, { memory, feesBefore }, { limitLamports }) => {
    const day = dayOf(state.protections.now);
    const spent = feesOf(memory, day) - (feesBefore?.day === day ? feesBefore.fees : 0n);
    if (spent <= 0n || spent < limitLamports) return undefined;
    return `${showAmount(state.tokens, SOL_MINT, spent)} of network fees today (UTC), the budget `
      + `is ${showAmount(state.tokens, SOL_MINT, limitLamports)}`;
  },

  'stale-feed': (state, { subject, reset }, { afterMs }) => {
    if (subject !== '') return silenceOf(state, state.strategies.get(subject), reset, afterMs);
    for (const strategy of state.strategies.values()) {
      const reason = silenceOf(state, strategy, reset, afterMs);
      if (reason !== undefined) return reason;
    }
    return undefined;
  },

  'blind-execution': (_state, { memory, reset }, { unknowns }) =>
    (firstOfLatest(memory.unknowns, unknowns, reset) === undefined ? undefined
      : `the outcomes of the latest ${unknowns} swaps are unknown`),

  'unresolved-intent': (state, { subject, reset }, { afterMs }) => {
    const { now: at, unknownSince } = state.protections;
    if (unknownSince.size === 0) return undefined;
    for (const [id, since] of unknownSince) {
      const { intent } = state.intents.get(id) ?? {};
      if (intent === undefined || (subject !== '' && intent.strategy !== subject) || !isLater(since, reset)) continue;
      if (!(at - since.at < afterMs))
        return `the outcome of ${id} has been unknown for ${formatDuration(at - since.at)}`;
    }
    return undefined;
  },

  'error-rate': (state, { memory, reset }, { failures, withinMs }) => {
    const first = firstOfLatest(memory.failures, failures, reset);
    if (first === undefined || state.protections.now - first.at >= withinMs) return undefined;
    return `${failures} signed swaps failed or expired within ${formatDuration(withinMs)}`;
  },

  'reconciliation-mismatch': (state, { subject, reset }) => {
    for (const [mint, missing] of state.protections.missing) {
      if ((subject === '' || subject === mint) && isLater(missing, reset))
        return `the chain has ${showAmount(state.tokens, mint, missing.amount)} less than the ledger`;
    }
    return undefined;
  },

  'dead-man': (state, { reset }, { afterMs }) => {
    const { now: at, presenceAt = at } = state.protections;
    const absentMs = at - Math.max(presenceAt, reset?.at ?? -Infinity);
    return absentMs < afterMs ? undefined : `no operator has been present for ${formatDuration(absentMs)}`;
  },
};

/** How far a value must be above a limit for doubles to decide, whose error is far smaller. */
const FAR = 1e-6;

/** Returns whether a value is so far above the limit of a drawdown that doubles can tell; they are faster. */
function isFarAbove(value: bigint, peak: bigint, limitPct: number): boolean {
  return 1 - Number(value) / Number(peak) < limitPct / 100 - FAR;
}

/**
 * Returns the loss of a strategy, or of all, in a token since the beginning of the UTC day, or since today's reset of a
 * protection; undefined without a price.
 */
export function lossToday(
  state: EngineState, subject: string, currency: Mint, rule?: ProtectionRule,
): bigint | undefined {
  const record = state.protections.equity.get(subject === '' ? ALL : subject);
  if (record === undefined) return 0n;
  const { dayStart } = (rule && record.resetHeights.get(rule)) ?? record;
  const lost = dayStart - record.value;
  if (lost <= 0n) return 0n;
  return currentValue(state, { mint: currencyOf(record.basis), amount: lost }, currency, state.protections.now);
}

function silenceOf(
  state: EngineState, strategy: StrategyRecord | undefined, reset: Noted | undefined, afterMs: Millis,
): string | undefined {
  if (strategy === undefined) return undefined;
  const { now: at, startedAt = at } = state.protections;
  const { inputs } = strategy;
  for (let i = 0; i < inputs.length; i++) {
    const event = state.market.latest(inputs[i]!);
    // Most feeds answered lately.
    if (event !== undefined && at - event.receivedAt < afterMs) continue;
    const silentMs = at - Math.max(event?.receivedAt ?? -Infinity, startedAt, reset?.at ?? -Infinity);
    if (!(silentMs < afterMs))
      return `${event?.feed ?? `a feed of ${strategy.name}`} has not answered for ${formatDuration(silentMs)}`;
  }
  return undefined;
}

/** Returns the token of a basis, which begins with its mint. */
export function currencyOf(basis: string): Mint {
  return basis.split(' ', 1)[0] as Mint;
}

/**
 * Returns the oldest of the latest `count` entries where all of them count; undefined where there are fewer. It copies
 * nothing, because most checks end here.
 */
function firstOfLatest<T extends Noted>(list: readonly T[], count: number, reset: Noted | undefined): T | undefined {
  const first = list.length < count ? undefined : list[list.length - count];
  return first !== undefined && isLater(first, reset) ? first : undefined;
}
