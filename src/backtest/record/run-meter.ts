import type { Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Intent, Outcome } from '../../trading/intent.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { EngineState } from '../../trading/state.ts';
import { priceAge } from '../../trading/valuation.ts';
import { halfSpreadBps } from '../metrics/half-spread.ts';
import { medianOf } from '../metrics/median.ts';
import { createExitMarks } from './exit-marks.ts';
import type { InstrumentRecord, RecordedFill, RunRecord, StrategyRecord } from './run-record.ts';

/** Looks on while a backtest runs, and changes nothing. It works by the step and by the fill, never by the event. */
export interface RunMeter {
  readonly everyMs: Millis;
  /** Looks at what everything is worth. */
  sample(at: Millis): void;
  /**
   * Does the same for an instant that is over, with all that came at it, where a price has come since the last look: one that is
   * only carried on makes no further point, so that figures see how thin the data are. Looks that go back are left out.
   */
  sampleNews(at: Millis): void;
  /** Takes note of what became of an intent, after the books have it. */
  observe(intent: Intent, outcome: Outcome, at: Millis): void;
  /** Returns what was seen. */
  record(): RunRecord;
  /** Returns what each strategy holds beside the currency that has a price, and what that rests on. */
  heldPrices(at: Millis): readonly HeldPrice[];
  /** What had no price when it was wanted. */
  readonly unpriced: { readonly fills: number; readonly feesLamports: bigint };
}

/** What the price of something that is held rests on. */
export interface HeldPrice {
  readonly strategy: string;
  readonly symbol: string;
  readonly ageMs: Millis;
  /** How many times the largest size that was recorded is held, where it is more. */
  readonly timesLargest: number;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Item)[] ? Item[] : T[Key] };

/** Returns a meter over a state. `instruments` are what its benchmarks buy. */
export function createRunMeter({ state, currency, instruments, everyMs, model }: {
  readonly state: EngineState;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly everyMs: Millis;
  readonly model: SimulationModel;
}): RunMeter {
  const { portfolio, tokens } = state;
  const marks = createExitMarks({ market: state.market, tokens, currency, model });
  const unit = 10 ** currency.decimals;
  // What a run leaves is kept whole in its report: digits beyond the token's own would only be ballast there.
  const rounded = (value: number): number => Math.round(value * unit) / unit;
  const inCurrency = (mint: Mint, amount: bigint, at: Millis): number | undefined => {
    const value = marks.exit(mint, amount, at);
    return value === undefined ? undefined : Number(value) / unit;
  };
  const symbolOf = (mint: Mint): string => tokens.byMint(mint)?.symbol ?? mint;

  const times: Millis[] = [];
  const fills: RecordedFill[] = [];
  const unpriced = { fills: 0, feesLamports: 0n };
  const tracked = [...portfolio.books].filter(([, book]) => book.isConfigured && book.budget !== undefined).map(([name, book]) => ({
    book, paidLamports: 0n,
    /** What swaps that failed paid in fees, by the token that they were to trade, until one of it is filled. */
    fruitless: new Map<Mint, number>(),
    /** The slippage that the last swap of a token allowed. */
    allowed: new Map<Mint, Bps>(),
    kept: { name, equity: [], held: [], sent: 0, landed: 0, feesPaid: 0 } as Writable<StrategyRecord>,
  }));
  /** What the last swap of a token was worth, smallest units of the currency. */
  const swapped = new Map<Mint, bigint>();
  const priced = instruments.map((token) => ({ token, halfSpreads: [] as number[], kept: { symbol: token.symbol, decimals: token.decimals, bids: [], asks: [] } as Writable<InstrumentRecord> }));
  const startingCash = tracked.reduce((sum, { book }) => sum + (book.budget!.mint === currency.mint ? book.budget!.amount : 0n), 0n);
  const share = instruments.length === 0 || startingCash === 0n ? 0n : startingCash / BigInt(instruments.length);

  const heldBy = ({ book, allowed }: (typeof tracked)[number], at: Millis): number | undefined => {
    let held: number | undefined = 0;
    for (const [mint, amount] of book.balances) {
      if (mint === currency.mint || held === undefined) continue;
      const value = marks.proceeds(mint, amount, at, allowed.get(mint) ?? state.limits.maxSlippageBps);
      held = value === undefined ? undefined : held + Number(value) / unit;
    }
    return held;
  };
  const put = <T>(column: T[], value: T): void => { column[times.length - 1] = value; };

  /** All that came until then is in a look. */
  let seen = -Infinity;
  const sample = (at: Millis): void => {
    if (times.at(-1) !== at) times.push(at);
    for (const strategy of tracked) {
      const { book, kept } = strategy;
      const held = heldBy(strategy, at);
      put(kept.held, held === undefined ? null : rounded(held));
      put(kept.equity, held === undefined ? null : rounded(Number(book.balances.get(currency.mint) ?? 0n) / unit + held - kept.feesPaid));
    }
    for (const { token, kept } of priced) {
      // Nobody would trade at an older price: it is none.
      const price = share === 0n || priceAge(state.market, token.mint, currency.mint, at) > model.maxPriceAgeMs ? undefined : marks.bothWays(token.mint, share, at);
      const whole = 10 ** token.decimals / unit;
      put(kept.asks, price === undefined ? null : sevenDigits(price.ask * whole));
      put(kept.bids, price === undefined ? null : sevenDigits(price.bid * whole));
    }
  };

  /** Returns what the fees paid since the last look are worth now; undefined where SOL has no price. */
  const payFees = (strategy: (typeof tracked)[number], at: Millis): number | undefined => {
    const lamports = strategy.book.feesLamports - strategy.paidLamports;
    strategy.paidLamports = strategy.book.feesLamports;
    const value = inCurrency(SOL_MINT, lamports, at);
    if (value === undefined) unpriced.feesLamports += lamports;
    else strategy.kept.feesPaid += value;
    return value;
  };

  return {
    everyMs,
    sample,
    sampleNews: (at) => {
      const last = times.at(-1) ?? -Infinity;
      if (at < last || !tokens.all.some(({ mint }) => isHeardOf(state.market, { mint, currency: currency.mint, seen, last }))) return;
      sample(at);
      for (const { token: { mint }, halfSpreads } of priced) {
        const size = swapped.get(mint);
        const price = size === undefined ? undefined : marks.bothWays(mint, size, at);
        const halfSpread = halfSpreadBps(price?.bid, price?.ask);
        if (halfSpread !== undefined) halfSpreads.push(halfSpread);
      }
      seen = at;
    },
    heldPrices: (at) => tracked.flatMap(({ book, kept: { name } }) => [...book.balances].flatMap(([mint, amount]): HeldPrice[] => {
      const ageMs = mint === currency.mint ? Infinity : priceAge(state.market, mint, currency.mint, at);
      return ageMs === Infinity ? [] : [{ strategy: name, symbol: symbolOf(mint), ageMs, timesLargest: marks.timesLargest(mint, amount, at) }];
    })),
    unpriced,
    observe(intent, outcome, at) {
      const strategy = tracked.find(({ kept }) => kept.name === intent.strategy);
      if (strategy === undefined) return;
      if (outcome.state === 'signed') strategy.kept.sent += 1;
      if (!isTerminal(outcome.state)) return;
      const { inputMint, outputMint, maxSlippageBps } = intent;
      for (const mint of [inputMint, outputMint]) strategy.allowed.set(mint, maxSlippageBps);
      const fees = payFees(strategy, at);
      const traded = inputMint === currency.mint ? outputMint : inputMint;
      const before = strategy.fruitless.get(traded);
      const { fill, quotedOut } = outcome;
      if (fill === undefined) {
        if (fees !== undefined && fees !== 0) strategy.fruitless.set(traded, (before ?? 0) + fees);
      } else {
        strategy.fruitless.delete(traded);
        strategy.kept.landed += 1;
        const costs = fees === undefined ? before : fees + (before ?? 0);
        const value = fill.outputMint === currency.mint ? Number(fill.amountOut) / unit : inCurrency(fill.inputMint, fill.amountIn, at);
        if (value === undefined) unpriced.fills += 1;
        else for (const mint of [inputMint, outputMint]) swapped.set(mint, BigInt(Math.round(value * unit)));
        fills.push({
          at, strategy: intent.strategy, input: symbolOf(fill.inputMint), output: symbolOf(fill.outputMint), amountIn: String(fill.amountIn), amountOut: String(fill.amountOut),
          quotedOut: quotedOut === undefined ? null : String(quotedOut), value: value === undefined ? null : rounded(value), costs: costs === undefined ? null : sevenDigits(costs),
        });
      }
      if (fill !== undefined || fees !== 0) sample(at);
    },
    record: () => ({ currency: currency.symbol, times, strategies: tracked.map(({ kept }) => kept), instruments: priced.map(({ kept, halfSpreads }) => ({ ...kept, swapHalfSpreadBps: medianOf(halfSpreads) ?? undefined })), fills }),
  };
}

/** By quotes between a token and the currency, or by what is said of the token itself. Of what came at the time of a look the look may have had nothing yet. */
function isHeardOf(market: MarketCache, { mint, currency, seen, last }: { readonly mint: Mint; readonly currency: Mint; readonly seen: Millis; readonly last: Millis }): boolean {
  const isNew = (receivedAt: Millis): boolean => receivedAt > seen && receivedAt >= last;
  const isNews = (slot: number): boolean => isNew(market.latest(slot)!.receivedAt);
  return market.quoteSlots(mint, currency).some(isNews) || market.quoteSlots(currency, mint).some(isNews) || isNew(market.tokenStats(mint)?.receivedAt ?? -Infinity);
}

function sevenDigits(value: number): number {
  return Number(value.toPrecision(7));
}

const SECOND_MS = 1_000;
const STEPS_MS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 14_400, 86_400].map((seconds) => seconds * SECOND_MS);

/** Returns the least usual step that makes at most `most` of a span: they divide an hour or a day, as bars do. */
export function sampleStep(spanMs: Millis, most = 2_000): Millis {
  return STEPS_MS.find((step) => spanMs / step <= most) ?? STEPS_MS.at(-1)!;
}
