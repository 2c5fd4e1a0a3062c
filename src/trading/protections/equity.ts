import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { StrategyBook } from '../portfolio.ts';
import type { EngineState } from '../engine-state.ts';
import { isManualBook } from '../manual/manual-book.ts';
import { currentValue, priceAge, valueIn } from '../valuation.ts';
import type { EquityRecord, Heights, ProtectionMemory, ValuedBook } from './memory.ts';
import { ALL, dayOf } from './memory.ts';

/** A value in smallest units of a token. */
interface Worth {
  readonly value: bigint;
  /** Whether all prices are fresh enough to trade on. */
  readonly isKnown: boolean;
}

/**
 * Updates the equity of each strategy in its budget's token, and of all together in the first budget's token: holdings
 * at their sale value, less the network fees. The wallet is left out, so that a deposit is no profit.
 *
 * A holding with a stale price keeps its last price while the others are valued at present prices, so that it hides no
 * loss elsewhere. A book without any price keeps its last value. In both cases the equity counts as unknown: entries
 * are refused, and peaks do not rise.
 */
export function updateEquity(state: EngineState, at: Millis): void {
  const { protections } = state;
  const valued = protections.valued ??= valuedBooks(state);
  const day = dayOf(at);
  for (let i = 0; i < valued.length; i++) {
    const { book, record } = valued[i]!;
    // Most books hold their budget's token alone, and change rarely.
    if (record === undefined || record.settled !== book.revision || record.day !== day)
      updateBookEquity(state, valued[i]!, at);
  }
  if (valued.length > 0 && protections.watchesTotal) updateTotal(state, valued, at);
}

function updateTotal(state: EngineState, valued: readonly ValuedBook[], at: Millis): void {
  const { protections } = state;
  const { currency } = valued[0]!;
  const basis = protections.totalBasis ??= [currency, ...valued.map(({ name }) => name)].join(' ');
  const total = totalWorth(state, valued, currency, at);
  const record = protections.equity.get(ALL)
    ?? beginRecord(protections, ALL, { basis, worth: total, feesCosted: 0n }, at);
  if (record !== undefined) keep(record, basis, total?.value, total?.isKnown === true, at);
}

/** Returns the equity of all strategies in a token; undefined where a part has no value yet. */
function totalWorth(
  state: EngineState, valued: readonly ValuedBook[], currency: Mint, at: Millis,
): Worth | undefined {
  let value = 0n;
  let isKnown = true;
  for (let i = 0; i < valued.length; i++) {
    const { record, currency: own } = valued[i]!;
    if (record === undefined) return undefined;
    if (own === currency) {
      value += record.value;
    } else {
      const part = signedWorth(state, record.value, own, currency, at);
      if (part === undefined) return undefined;
      value += part.value;
      isKnown &&= part.isKnown;
    }
    isKnown &&= record.isKnown;
  }
  return { value, isKnown };
}

/** Returns the strategies with a budget, which do not change during a run. Manual swaps are no part of the equity. */
function valuedBooks({ strategies, portfolio, protections }: EngineState): ValuedBook[] {
  return [...strategies.keys()].flatMap((name) => {
    const book = portfolio.book(name);
    return book.budget === undefined || isManualBook(name) ? []
      : [{ name, book, currency: book.budget.mint, record: protections.equity.get(name) }];
  });
}

/** A token without a price in another. */
interface MissingPrice {
  readonly mint: Mint;
  readonly currency: Mint;
}

/** Returns the price that is missing for the equity of a strategy, or of all; undefined where none is missing. */
export function missingPrice(state: EngineState, subject: string): MissingPrice | undefined {
  let total: Mint | undefined;
  for (const name of subject === ALL ? state.strategies.keys() : [subject]) {
    const { balances, budget } = state.portfolio.book(name);
    if (budget === undefined || isManualBook(name)) continue;
    total ??= budget.mint;
    const parts = [...balances].map(([mint, amount]) => ({ mint, amount, currency: budget.mint }));
    const missing = [...parts, { mint: budget.mint, amount: 1n, currency: total }]
      .find(({ currency, ...part }) => currentValue(state, part, currency, state.protections.now) === undefined);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function updateBookEquity(state: EngineState, valued: ValuedBook, at: Millis): void {
  const { name, book, currency } = valued;
  // The worth of the budget's token alone depends on no price.
  const flat = book.balances.size === 1 ? book.balances.get(currency) : undefined;
  const held = flat === undefined ? worthOf(state, book, currency, at) : undefined;
  const value = flat ?? held?.value;
  const isKnown = flat !== undefined || held?.isKnown === true;
  valued.record ??= beginRecord(state.protections, name, {
    basis: currency, worth: value === undefined ? undefined : { value, isKnown }, feesCosted: book.feesLamports,
  }, at);
  const { record } = valued;
  if (record === undefined) return;
  if (book.feesLamports !== record.feesCosted || record.basis !== currency) costFees(state, record, book, currency, at);
  const { feeCost } = record;
  keep(record, currency, value === undefined || feeCost === 0n ? value : value - feeCost, isKnown, at);
  record.settled = flat !== undefined && record.feesCosted === book.feesLamports ? book.revision : -1;
}

function worthOf(state: EngineState, { balances }: StrategyBook, currency: Mint, at: Millis): Worth | undefined {
  let value = 0n;
  let isKnown = true;
  for (const [mint, amount] of balances) {
    const part = partWorth(state, { mint, amount }, currency, at);
    if (part === undefined) return undefined;
    value += part.value;
    isKnown &&= part.isKnown;
  }
  return { value, isKnown };
}

/**
 * Returns a value by a fresh price, else by the youngest stale one. The preference among kinds of prices applies to
 * fresh prices only: the preferred feed may have been silent for days.
 */
function partWorth(
  state: EngineState, { mint, amount }: { readonly mint: Mint; readonly amount: bigint }, currency: Mint, at: Millis,
): Worth | undefined {
  const fresh = mint === currency ? amount : currentValue(state, { mint, amount }, currency, at);
  if (fresh !== undefined) return { value: fresh, isKnown: true };
  const maxAgeMs = priceAge(state.market, mint, currency, at);
  const last = maxAgeMs === Infinity ? undefined
    : valueIn(state.market, state.tokens, { mint, amount, currency }, { at, maxAgeMs });
  return last === undefined ? undefined : { value: last, isKnown: false };
}

/** Values each fee once, at the first price of SOL after it, so that its cost does not move with the market. */
function costFees(
  state: EngineState, record: EquityRecord, { feesLamports }: StrategyBook, currency: Mint, at: Millis,
): void {
  if (record.basis !== currency) {
    // The costs in the other token are contained in the scaled peak and day start.
    record.feeCost = 0n;
    record.feesCosted = feesLamports;
  }
  const fresh = feesLamports - record.feesCosted;
  if (fresh <= 0n || (currency !== SOL_MINT && !state.market.hasSeen(SOL_MINT))) return;
  const cost = currentValue(state, { mint: SOL_MINT, amount: fresh }, currency, at);
  if (cost === undefined) return;
  record.feeCost += cost;
  record.feesCosted = feesLamports;
}

/** Starts the record of a book at its first known value; returns undefined where the value is unknown. */
function beginRecord({ equity }: ProtectionMemory, name: string, { basis, worth, feesCosted }: {
  readonly basis: string; readonly worth: Worth | undefined; readonly feesCosted: bigint;
}, at: Millis): EquityRecord | undefined {
  if (worth?.isKnown !== true) return undefined;
  const { value } = worth;
  const begun: EquityRecord = {
    basis, value, isKnown: true, peak: value, day: dayOf(at), dayStart: value, feeCost: 0n, feesCosted,
    changes: 0, settled: -1, resetHeights: new Map(),
  };
  equity.set(name, begun);
  return begun;
}

/** Takes a new value; without one, the record keeps its last. */
function keep(record: EquityRecord, basis: string, value: bigint | undefined, isKnown: boolean, at: Millis): void {
  const day = dayOf(at);
  if (value === record.value && isKnown === record.isKnown && day === record.day && basis === record.basis) return;
  record.changes += 1;
  record.isKnown = isKnown;
  if (value !== undefined && record.basis !== basis) rebase(record, basis, value);
  const lastValue = record.value;
  const isNewDay = day !== record.day;
  record.day = day;
  if (value !== undefined) record.value = value;
  raise(record, record, isNewDay ? lastValue : undefined);
  if (record.resetHeights.size > 0)
    for (const heights of record.resetHeights.values()) raise(heights, record, isNewDay ? lastValue : undefined);
}

/** Raises the peak. A day starts with the last value of the day before, even where updates were far apart. */
function raise(heights: Heights, { value, isKnown }: Worth, dayStart: bigint | undefined): void {
  if (isKnown && value > heights.peak) heights.peak = value;
  if (dayStart !== undefined) heights.dayStart = dayStart;
}

/** Scales a record to another token or other strategies, so that its drawdown stays the same. */
function rebase(record: EquityRecord, basis: string, value: bigint): void {
  const scaled = (height: bigint): bigint =>
    (record.value > 0n && value > 0n ? (height * value) / record.value : value);
  for (const heights of [record, ...record.resetHeights.values()]) {
    heights.peak = scaled(heights.peak);
    heights.dayStart = scaled(heights.dayStart);
  }
  record.value = value;
  record.basis = basis;
}

function signedWorth(state: EngineState, amount: bigint, mint: Mint, currency: Mint, at: Millis): Worth | undefined {
  const worth = partWorth(state, { mint, amount: amount < 0n ? -amount : amount }, currency, at);
  return worth === undefined || amount >= 0n ? worth : { ...worth, value: -worth.value };
}
