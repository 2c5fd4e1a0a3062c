import type { Millis } from '../../core/time.ts';
import type { Quote } from '../../market/quote.ts';
import type { Mint } from '../../market/token.ts';
import type { EquitySample, FundingRecord, HistoryStore, PriceSample } from '../../store/history.ts';
import { ALL_STRATEGIES, USD } from '../../store/history.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { currentValue, usdPriceOf } from '../../trading/valuation.ts';
import { bookEquity, budgetedBooks } from '../control/run-equity.ts';

const USD_SCALE = 1e12;
/** Longer than the intervals of most feeds. */
const QUOTE_MAX_AGE_MS: Millis = 15 * 60_000;

/** The equity of all strategies together, and what each of them was given. */
interface Whole {
  readonly sample: EquitySample;
  readonly funding: readonly FundingRecord[];
}

/**
 * Samples equity and prices of a run into its history. It only reads the state: no decision depends on it. The deposits
 * of all strategies together change with their budgets, and by its equity where a strategy comes or goes, so that
 * equity less deposits is the profit.
 */
export class HistoryRecorder {
  readonly #state: EngineState;
  readonly #history: HistoryStore;
  /** When the newest quote or price of each pair was received at the last sample. */
  readonly #received = new Map<string, Millis>();
  #funding: readonly FundingRecord[];
  #deposits: bigint;

  /** `isNewLedger` says that the books of the run began again: those of the history are gone. */
  constructor({ state, history, isNewLedger, at }: {
    readonly state: EngineState; readonly history: HistoryStore; readonly isNewLedger: boolean; readonly at: Millis;
  }) {
    this.#state = state;
    this.#history = history;
    const kept = history.funding();
    this.#funding = isNewLedger ? [] : kept;
    const deposits = history.equity(ALL_STRATEGIES, { to: at, limit: 1 })?.points.at(-1)?.deposits ?? 0n;
    const gone = isNewLedger ? kept : [];
    this.#deposits = deposits - gone.reduce((sum, { value }) => sum + value, 0n);
  }

  sample(at: Millis): void {
    const books = budgetedBooks(this.#state);
    // A manual swap in a process of its own samples nothing: its book is not the bot's equity.
    if (books.every(({ book }) => book.isManual)) return;
    const whole = this.#whole(at);
    const each = books.flatMap(({ name, book }): EquitySample[] => {
      const { mint } = book.budget;
      const value = bookEquity(this.#state, book, mint, at);
      const given = book.budget.amount + book.owed;
      return value === undefined ? []
        : [{ strategy: name, currency: mint, value, deposits: given, holding: given }];
    });
    this.#history.add({
      at, equity: whole === undefined ? each : [whole.sample, ...each],
      prices: [...this.#quotes(at), ...this.#usd(at)],
      funding: whole?.funding,
    });
  }

  /** Undefined where a price is missing. */
  #whole(at: Millis): Whole | undefined {
    const state = this.#state;
    const books = budgetedBooks(state);
    const currency = books[0]?.book.budget.mint;
    if (currency === undefined) return undefined;
    const funding: FundingRecord[] = [];
    let holding: bigint | undefined = 0n;
    let deposits = this.#funding[0]?.currency === currency || this.#funding.length === 0 ? this.#deposits : 0n;
    const before = new Map(this.#funding.filter((one) => one.currency === currency).map((one) => [one.strategy, one]));
    for (const { name, book } of books) {
      const { mint } = book.budget;
      const amount = book.budget.amount + book.owed;
      const value = bookEquity(state, book, currency, at);
      if (value === undefined) return undefined;
      const earlier = before.get(name);
      const given = earlier?.mint === mint ? amount - earlier.amount : undefined;
      const change = given === undefined ? value - (earlier?.value ?? 0n)
        : signed(given, (size) => currentValue(state, { mint, amount: size }, currency, at));
      if (change === undefined) return undefined;
      deposits += change;
      before.delete(name);
      const held = currentValue(state, { mint, amount }, currency, at);
      holding = holding === undefined || held === undefined ? undefined : holding + held;
      funding.push({ strategy: name, currency, mint, amount, value });
    }
    for (const { value } of before.values()) deposits -= value;
    this.#funding = funding;
    this.#deposits = deposits;
    return {
      sample: { strategy: ALL_STRATEGIES, currency, value: sum(funding), deposits, holding }, funding,
    };
  }

  /**
   * The quote of the smallest amount of each pair, where there is one since the last sample. One that was asked for
   * once, as for a manual swap, or whose feed has ended, does not hide those that go on.
   */
  #quotes(at: Millis): PriceSample[] {
    const { market } = this.#state;
    return market.quotedPairs().flatMap(([input, output]) => {
      const quote = smallest(market.quoteSlots(input, output).map((slot) => market.latest(slot))
        .filter((event): event is Quote => event?.kind === 'quote' && event.inAmount > 0n && event.outAmount > 0n
          && event.receivedAt > at - QUOTE_MAX_AGE_MS));
      return quote === undefined || !this.#isNew(input, output, quote.receivedAt) ? []
        : [{ input, output, amountIn: quote.inAmount, amountOut: quote.outAmount }];
    });
  }

  #usd(at: Millis): PriceSample[] {
    const { market, tokens } = this.#state;
    return market.tokensWithStats().flatMap((mint) => {
      const decimals = tokens.byMint(mint)?.decimals;
      const reading = usdPriceOf(market, mint, { at, maxAgeMs: Infinity });
      const amountOut = reading === undefined ? 0 : Math.round(reading.price * USD_SCALE);
      if (decimals === undefined || reading === undefined || !(amountOut > 0 && amountOut < Infinity)
          || !this.#isNew(mint, USD, at - reading.age)) return [];
      return [{ input: mint, output: USD, amountIn: 10n ** BigInt(decimals), amountOut: BigInt(amountOut) }];
    });
  }

  #isNew(input: Mint, output: string, receivedAt: Millis): boolean {
    const pair = `${input} ${output}`;
    if (this.#received.get(pair) === receivedAt) return false;
    this.#received.set(pair, receivedAt);
    return true;
  }
}

function smallest(quotes: readonly Quote[]): Quote | undefined {
  return quotes.reduce<Quote | undefined>(
    (least, quote) => (least === undefined || quote.inAmount < least.inAmount ? quote : least), undefined,
  );
}

function signed(change: bigint, valueOf: (size: bigint) => bigint | undefined): bigint | undefined {
  if (change >= 0n) return valueOf(change);
  const value = valueOf(-change);
  return value === undefined ? undefined : -value;
}

function sum(funding: readonly FundingRecord[]): bigint {
  return funding.reduce((total, { value }) => total + value, 0n);
}
