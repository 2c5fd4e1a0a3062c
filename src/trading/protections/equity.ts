import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { currentValue } from '../exposure.ts';
import type { StrategyBook } from '../portfolio.ts';
import type { EngineState } from '../state.ts';
import type { EquityRecord, Heights, ProtectionMemory, ValuedBook } from './memory.ts';
import { ALL, dayOf } from './memory.ts';

/**
 * Looks at what each strategy is worth in its budget's token, and all of them together in the first budget's: what they
 * hold at what it would sell for, less the network fees. The wallet is left out, so that deposits are no profit. Where a
 * price is missing the last known value stays, marked.
 */
export function lookAtEquity(state: EngineState, at: Millis): void {
  const { protections } = state;
  protections.valued ??= valuedBooks(state);
  let total: bigint | undefined = 0n;
  let currency: Mint | undefined;
  for (const valued of protections.valued) {
    lookAtBook(state, valued, at);
    currency ??= valued.currency;
    const part = valued.record === undefined ? undefined : signedValue(state, valued.record.value, valued.currency, currency, at);
    total = total === undefined || part === undefined ? undefined : total + part;
  }
  if (currency === undefined || !protections.watchesTotal) return;
  protections.totalBasis ??= [currency, ...protections.valued.map(({ name }) => name)].join(' ');
  const record = protections.equity.get(ALL) ?? beginRecord(protections, ALL, { basis: protections.totalBasis, value: total, feesCosted: 0n }, at);
  if (record !== undefined) keep(record, protections.totalBasis, total, at);
}

/** Strategies and their budgets are a run's own from its beginning to its end. */
function valuedBooks({ strategies, portfolio, protections }: EngineState): ValuedBook[] {
  return [...strategies.keys()].flatMap((name) => {
    const book = portfolio.book(name);
    return book.budget === undefined ? [] : [{ name, book, currency: book.budget.mint, record: protections.equity.get(name) }];
  });
}

/** A token that has no price in another. */
interface MissingPrice {
  readonly mint: Mint;
  readonly currency: Mint;
}

/** Returns for want of which price nobody can say what a strategy, or all of them, is worth; undefined where there are all. */
export function missingPrice(state: EngineState, subject: string): MissingPrice | undefined {
  let total: Mint | undefined;
  for (const name of subject === ALL ? state.strategies.keys() : [subject]) {
    const { balances, budget } = state.portfolio.book(name);
    if (budget === undefined) continue;
    total ??= budget.mint;
    const parts = [...balances].map(([mint, amount]) => ({ mint, amount, currency: budget.mint }));
    const missing = [...parts, { mint: budget.mint, amount: 1n, currency: total }].find(({ currency, ...part }) => currentValue(state, part, currency, state.protections.now) === undefined);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function lookAtBook(state: EngineState, valued: ValuedBook, at: Millis): void {
  const { name, book, currency } = valued;
  const held = valueOf(state, book, currency, at);
  valued.record ??= beginRecord(state.protections, name, { basis: currency, value: held, feesCosted: book.feesLamports }, at);
  const { record } = valued;
  if (record === undefined) return;
  if (book.feesLamports !== record.feesCosted || record.basis !== currency) costFees(state, record, book, currency, at);
  keep(record, currency, held === undefined ? undefined : held - record.feeCost, at);
}

function valueOf(state: EngineState, { balances }: StrategyBook, currency: Mint, at: Millis): bigint | undefined {
  let total = 0n;
  for (const [mint, amount] of balances) {
    const value = mint === currency ? amount : currentValue(state, { mint, amount }, currency, at);
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
}

/** Each fee is valued once, at the first price of SOL after it: its cost is not to move with the market. */
function costFees(state: EngineState, record: EquityRecord, { feesLamports }: StrategyBook, currency: Mint, at: Millis): void {
  if (record.basis !== currency) {
    // What was counted in another token is in the heights that are carried over.
    record.feeCost = 0n;
    record.feesCosted = feesLamports;
  }
  const fresh = feesLamports - record.feesCosted;
  if (fresh <= 0n || (currency !== SOL_MINT && !state.market.speaksOf(SOL_MINT))) return;
  const cost = currentValue(state, { mint: SOL_MINT, amount: fresh }, currency, at);
  if (cost === undefined) return;
  record.feeCost += cost;
  record.feesCosted = feesLamports;
}

/** Returns the record of what had no value before, undefined where it has none now. */
function beginRecord({ equity }: ProtectionMemory, name: string, { basis, value, feesCosted }: { readonly basis: string; readonly value: bigint | undefined; readonly feesCosted: bigint }, at: Millis): EquityRecord | undefined {
  if (value === undefined) return undefined;
  const begun: EquityRecord = { basis, value, isKnown: true, peak: value, day: dayOf(at), dayStart: value, feeCost: 0n, feesCosted, anew: new Map() };
  equity.set(name, begun);
  return begun;
}

function keep(record: EquityRecord, basis: string, value: bigint | undefined, at: Millis): void {
  const day = dayOf(at);
  record.isKnown = value !== undefined && (record.basis === basis || rebase(record, basis, value));
  const lastValue = record.value;
  const isNewDay = day !== record.day;
  record.day = day;
  if (value !== undefined) record.value = value;
  raise(record, record.value, isNewDay ? lastValue : undefined);
  if (record.anew.size > 0) for (const heights of record.anew.values()) raise(heights, record.value, isNewDay ? lastValue : undefined);
}

/** A day begins with what the one before ended with, also where nobody looked in between. */
function raise(heights: Heights, value: bigint, dayStart: bigint | undefined): void {
  if (value > heights.peak) heights.peak = value;
  if (dayStart !== undefined) heights.dayStart = dayStart;
}

/** Another token, or other strategies: it is as far under its heights as it was before. */
function rebase(record: EquityRecord, basis: string, value: bigint): true {
  const scaled = (height: bigint): bigint => (record.value > 0n && value > 0n ? (height * value) / record.value : value);
  for (const heights of [record, ...record.anew.values()]) {
    heights.peak = scaled(heights.peak);
    heights.dayStart = scaled(heights.dayStart);
  }
  record.value = value;
  record.basis = basis;
  return true;
}

function signedValue(state: EngineState, amount: bigint, mint: Mint, currency: Mint, at: Millis): bigint | undefined {
  if (mint === currency) return amount;
  const value = currentValue(state, { mint, amount: amount < 0n ? -amount : amount }, currency, at);
  return value === undefined || amount >= 0n ? value : -value;
}
