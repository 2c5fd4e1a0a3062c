import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { currentValue } from '../exposure.ts';
import type { StrategyBook } from '../portfolio.ts';
import type { EngineState } from '../state.ts';
import type { EquityRecord, Heights } from './memory.ts';
import { ALL, dayOf } from './memory.ts';

/**
 * Looks at what each strategy is worth in its budget's token, and all of them together in the first budget's: what they
 * hold at what it would sell for, less the network fees. The wallet is left out, so that deposits are no profit. Where a
 * price is missing the last known value stays, marked.
 */
export function lookAtEquity(state: EngineState, at: Millis): void {
  let total: bigint | undefined = 0n;
  let currency: Mint | undefined;
  for (const name of state.strategies.keys()) {
    const book = state.portfolio.book(name);
    if (book.budget === undefined) continue;
    const record = lookAtBook(state, name, book, at);
    currency ??= book.budget.mint;
    const part = record === undefined ? undefined : signedValue(state, record.value, book.budget.mint, currency, at);
    total = total === undefined || part === undefined ? undefined : total + part;
  }
  if (currency === undefined || !state.protections.watchesTotal) return;
  state.protections.totalBasis ??= totalBasis(state, currency);
  keep(state, ALL, state.protections.totalBasis, total, at);
}

/** The token and whose equity is in it: strategies and their budgets are a run's own from its beginning to its end. */
function totalBasis({ strategies, portfolio }: EngineState, currency: Mint): string {
  return [currency, ...[...strategies.keys()].filter((name) => portfolio.book(name).budget !== undefined)].join(' ');
}

/** Returns what a strategy holds that has no price in its budget's token, undefined where everything has. */
export function unpricedOf(state: EngineState, name: string): Mint | undefined {
  const { balances, budget } = state.portfolio.book(name);
  if (budget === undefined) return undefined;
  for (const [mint, amount] of balances) {
    if (currentValue(state, { mint, amount }, budget.mint, state.protections.now) === undefined) return mint;
  }
  return undefined;
}

function lookAtBook(state: EngineState, name: string, book: StrategyBook, at: Millis): EquityRecord | undefined {
  const { mint: currency } = book.budget!;
  const held = valueOf(state, book, currency, at);
  const record = state.protections.equity.get(name) ?? keep(state, name, currency, held, at);
  if (record === undefined) return undefined;
  costFees(state, record, book, currency, at);
  return keep(state, name, currency, held === undefined ? undefined : held - record.feeCost, at);
}

function valueOf(state: EngineState, { balances }: StrategyBook, currency: Mint, at: Millis): bigint | undefined {
  let total = 0n;
  for (const [mint, amount] of balances) {
    const value = currentValue(state, { mint, amount }, currency, at);
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
  if (fresh <= 0n) return;
  const cost = currentValue(state, { mint: SOL_MINT, amount: fresh }, currency, at);
  if (cost === undefined) return;
  record.feeCost += cost;
  record.feesCosted = feesLamports;
}

/** Returns the record, undefined where there never was a value. */
function keep(state: EngineState, name: string, basis: string, value: bigint | undefined, at: Millis): EquityRecord | undefined {
  const { equity } = state.protections;
  const record = equity.get(name);
  const day = dayOf(at);
  if (record === undefined) {
    if (value === undefined) return undefined;
    const feesCosted = name === ALL ? 0n : state.portfolio.book(name).feesLamports;
    const begun: EquityRecord = { basis, value, isKnown: true, peak: value, day, dayStart: value, feeCost: 0n, feesCosted, anew: new Map() };
    equity.set(name, begun);
    return begun;
  }
  record.isKnown = value !== undefined && (record.basis === basis || rebase(record, basis, value));
  const lastValue = record.value;
  const isNewDay = day !== record.day;
  record.day = day;
  if (value !== undefined) record.value = value;
  raise(record, record.value, isNewDay ? lastValue : undefined);
  if (record.anew.size > 0) for (const heights of record.anew.values()) raise(heights, record.value, isNewDay ? lastValue : undefined);
  return record;
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
