import type { Bps } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Fill, Intent, Outcome } from '../../trading/intent.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { EngineState } from '../../trading/state.ts';
import { priceAge } from '../../trading/valuation.ts';
import type { InstrumentRecord, RecordedFill, RunRecord, StrategyRecord } from './run-record.ts';
import { halfSpreadBps } from './run-record.ts';
import { medianOf } from '../../core/median.ts';
import type { RecordedIntervals } from '../sampling.ts';
import type { BenchmarkValues } from './benchmark-wallets.ts';
import { createBenchmarkWallets } from './benchmark-wallets.ts';
import { createExitMarks } from './exit-marks.ts';
import { Extremes } from './extremes.ts';

/** Looks on while a backtest runs, and changes nothing. It works by the step and by the fill, never by the event. */
export interface EquitySampler {
  readonly everyMs: Millis;
  /** How often it glances at what happens between; undefined where it does not. */
  readonly extremesEveryMs: Millis | undefined;
  /** Looks at what everything is worth. */
  sample(at: Millis): void;
  /**
   * Does the same for an instant that is over, with all that came at it, where a price has come since the last look:
   * one that is only carried on makes no further point, so that figures see how thin the data are. Looks that go back
   * are left out.
   */
  sampleIfPriced(at: Millis): void;
  /**
   * Does the same in passing: of what is seen only the peaks and the troughs after them are kept, of equity and of the
   * market, and the first moment at which all that benchmarks buy has a price.
   */
  sampleExtremes(at: Millis): void;
  /** Takes note of what became of an intent, after the books have it. */
  observe(intent: Intent, outcome: Outcome, at: Millis): void;
  /** Takes note that the accounts of some tokens were closed: what was laid down for them is back. */
  returnDeposits(mints: Iterable<Mint>): void;
  /** Returns when the next purchase of a benchmark lands; Infinity where none is to come. */
  nextPurchaseAt(): Millis;
  /** Makes the benchmarks' purchases that land until an instant. */
  purchase(at: Millis): void;
  /** Returns what was seen. */
  record(): RunRecord;
  /** Returns what each strategy holds beside the currency that has a price, and what that rests on. */
  heldPrices(at: Millis): readonly HeldPrice[];
  /** What had no price when it was wanted. */
  readonly unpriced: { readonly fills: number; readonly feesLamports: bigint; readonly depositLamports: bigint };
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

/** What is seen in a look: values in the currency, prices of whole tokens; null where there is none. */
interface EquitySample {
  readonly at: Millis;
  readonly strategies: readonly { readonly equity: number | null; readonly held: number | null }[];
  readonly prices: readonly { readonly ask: number | null; readonly bid: number | null }[];
  readonly benchmarks: BenchmarkValues;
}

const NO_VALUES: BenchmarkValues = { buyAndHold: null, dca: null };

function hasPrices({ prices }: Pick<EquitySample, 'prices'>): boolean {
  return prices.every(({ ask }) => ask !== null);
}

/** Returns a meter over a state. `instruments` are what its benchmarks buy, over as long as `endAt` says. */
export function createEquitySampler({
  state, market = state.market, intervals, currency, instruments, everyMs, extremesEveryMs, model, endAt,
}: {
  readonly state: EngineState;
  /** What everything is valued by, and what benchmarks buy from; the state's unless given. */
  readonly market?: MarketCache | undefined;
  /** How often each feed was recorded: it bounds the age of the prices at which benchmarks buy. */
  readonly intervals?: RecordedIntervals | undefined;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly everyMs: Millis;
  /** Left out, drawdowns are as deep as they were at the looks. */
  readonly extremesEveryMs?: Millis | undefined;
  readonly model: SimulationModel;
  /** Where the recording ends; left out, benchmarks follow from the prices of the instruments alone. */
  readonly endAt?: Millis | undefined;
}): EquitySampler {
  const { portfolio, tokens } = state;
  const marks = createExitMarks({ market, tokens, currency, model });
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
  const unpriced = { fills: 0, feesLamports: 0n, depositLamports: 0n };
  const tracked = [...portfolio.books].filter(([, book]) => book.isConfigured && book.budget !== undefined)
    .map(([name, book]) => ({
      book, paidLamports: 0n,
      /** What was laid down for the account of a token, in the currency. */
      deposits: new Map<Mint, number>(),
      /** What swaps that failed paid in fees, by the token that they were to trade, until one of it is filled. */
      fruitless: new Map<Mint, number>(),
      /** The slippage that the last swap of a token allowed. */
      allowed: new Map<Mint, Bps>(),
      kept: {
        name, equity: [], held: [], sent: 0, landed: 0, feesPaid: 0, deposited: 0, returned: 0,
      } as Writable<StrategyRecord> & { deposited: number; returned: number },
    }));
  /** What the last swap of a token was worth, smallest units of the currency. */
  const swapped = new Map<Mint, bigint>();
  const priced = instruments.map((token) => ({
    token, halfSpreads: [] as number[],
    kept: { symbol: token.symbol, decimals: token.decimals, bids: [], asks: [] } as Writable<InstrumentRecord>,
  }));
  const startingCash =
    tracked.reduce((sum, { book }) => sum + (book.budget!.mint === currency.mint ? book.budget!.amount : 0n), 0n);
  const share = instruments.length === 0 || startingCash === 0n ? 0n : startingCash / BigInt(instruments.length);

  const wallets = endAt === undefined || share === 0n ? undefined : createBenchmarkWallets({
    market, intervals, marks, currency, instruments, model, endAt, openAccounts: portfolio.wallet.keys(),
    maxSlippageBps: state.limits.maxSlippageBps,
  });
  const columns = { buyAndHold: [] as (number | null)[], dca: [] as (number | null)[] };
  const heldBy = ({ book, allowed }: (typeof tracked)[number], at: Millis): number | undefined => {
    let held: number | undefined = 0;
    for (const [mint, amount] of book.balances) {
      if (mint === currency.mint || held === undefined) continue;
      const value = marks.proceeds(mint, amount, at, allowed.get(mint) ?? state.limits.maxSlippageBps);
      held = value === undefined ? undefined : held + Number(value) / unit;
    }
    return held;
  };
  /** What is gone in fees, and what is laid down and not back: a sale of what is held brings neither. */
  const outgo = ({ kept }: (typeof tracked)[number]): number => kept.feesPaid + kept.deposited;
  /** Not a number where something has no price. */
  const totalEquity = (at: Millis): number => tracked.reduce((sum, strategy) => {
    const held = heldBy(strategy, at);
    return held === undefined ? NaN
      : sum + Number(strategy.book.balances.get(currency.mint) ?? 0n) / unit + held - outgo(strategy);
  }, 0);

  const lookAt = (at: Millis): EquitySample => ({
    at,
    strategies: tracked.map((strategy) => {
      const held = heldBy(strategy, at);
      if (held === undefined) return { equity: null, held: null };
      return {
        equity: rounded(Number(strategy.book.balances.get(currency.mint) ?? 0n) / unit + held - outgo(strategy)),
        held: rounded(held),
      };
    }),
    prices: priced.map(({ token }) => {
      // Nobody would trade at an older price: it is none.
      const price = share === 0n || priceAge(market, token.mint, currency.mint, at) > model.maxPriceAgeMs ? undefined
        : marks.bothWays(token.mint, share, at);
      const whole = 10 ** token.decimals / unit;
      return price === undefined ? { ask: null, bid: null }
        : { ask: sevenDigits(price.ask * whole), bid: sevenDigits(price.bid * whole) };
    }),
    benchmarks: wallets?.values(at) ?? NO_VALUES,
  });
  const put = ({ at, strategies, prices, benchmarks }: EquitySample): void => {
    if (times.at(-1) !== at) times.push(at);
    const row = times.length - 1;
    for (const [i, { kept }] of tracked.entries()) {
      kept.equity[row] = strategies[i]!.equity;
      kept.held[row] = strategies[i]!.held;
    }
    for (const [i, { kept }] of priced.entries()) {
      kept.asks[row] = prices[i]!.ask;
      kept.bids[row] = prices[i]!.bid;
    }
    const begins = !hasAllPrices && hasPrices({ prices });
    hasAllPrices ||= begins;
    if (wallets === undefined) return;
    if (begins) wallets.begin(cashAt(strategies), at);
    const { buyAndHold, dca } = begins ? wallets.values(at) : benchmarks;
    columns.buyAndHold[row] = buyAndHold === null ? null : rounded(buyAndHold);
    columns.dca[row] = dca === null ? null : rounded(dca);
  };
  /** What all strategies are worth, or their budgets where something has no price. */
  const cashAt = (strategies: EquitySample['strategies']): bigint => {
    const worth = strategies.reduce((sum, { equity }) => sum + (equity ?? NaN), 0);
    return worth > 0 ? BigInt(Math.floor(worth * unit)) : startingCash;
  };

  const equityExtremes = new Extremes<EquitySample>();
  const marketExtremes = new Extremes<EquitySample>();
  let hasAllPrices = false;
  /** All that came until then is in a look. */
  let seen = -Infinity;
  const sample = (at: Millis): void => {
    const look = lookAt(at);
    if (extremesEveryMs !== undefined) {
      const between =
        [...equityExtremes.keep(totalEquity(at)), ...marketExtremes.keep(marketIndex(market, priced, currency.mint))];
      for (const extreme of between.toSorted((a, b) => a.at - b.at))
        if (extreme.at > (times.at(-1) ?? -Infinity) && extreme.at < at) put(extreme);
    }
    put(look);
  };

  /** Takes what a fill laid down for an account out of the equity. */
  const layDown = (strategy: (typeof tracked)[number], { outputMint, rentLamports }: Fill, at: Millis): void => {
    if (rentLamports === 0n) return;
    const value = inCurrency(SOL_MINT, rentLamports, at);
    if (value === undefined) unpriced.depositLamports += rentLamports;
    strategy.deposits.set(outputMint, (strategy.deposits.get(outputMint) ?? 0) + (value ?? 0));
    strategy.kept.deposited += value ?? 0;
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
    extremesEveryMs,
    sample,
    sampleExtremes: (at) => {
      if (at <= (times.at(-1) ?? -Infinity)) return;
      const look = (): EquitySample => lookAt(at);
      if (!hasAllPrices && hasPrices(look())) sample(at);
      equityExtremes.pass(totalEquity(at), look);
      marketExtremes.pass(marketIndex(market, priced, currency.mint), look);
    },
    sampleIfPriced: (at) => {
      const last = times.at(-1) ?? -Infinity;
      if (at < last || !tokens.all.some(({ mint }) => isHeardOf(market, { mint, currency: currency.mint, seen, last })))
        return;
      sample(at);
      for (const { token: { mint }, halfSpreads } of priced) {
        const size = swapped.get(mint);
        const price = size === undefined ? undefined : marks.bothWays(mint, size, at);
        const halfSpread = halfSpreadBps(price?.bid, price?.ask);
        if (halfSpread !== undefined) halfSpreads.push(halfSpread);
      }
      seen = at;
    },
    heldPrices: (at) =>
      tracked.flatMap(({ book, kept: { name } }) => [...book.balances].flatMap(([mint, amount]): HeldPrice[] => {
        const ageMs = mint === currency.mint ? Infinity : priceAge(market, mint, currency.mint, at);
        return ageMs === Infinity ? []
          : [{ strategy: name, symbol: symbolOf(mint), ageMs, timesLargest: marks.timesLargest(mint, amount, at) }];
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
        layDown(strategy, fill, at);
        const costs = fees === undefined ? before : fees + (before ?? 0);
        const value = fill.outputMint === currency.mint ? Number(fill.amountOut) / unit
          : inCurrency(fill.inputMint, fill.amountIn, at);
        if (value === undefined) unpriced.fills += 1;
        else for (const mint of [inputMint, outputMint]) swapped.set(mint, BigInt(Math.round(value * unit)));
        fills.push({
          at, strategy: intent.strategy, input: symbolOf(fill.inputMint), output: symbolOf(fill.outputMint),
          amountIn: String(fill.amountIn), amountOut: String(fill.amountOut),
          quotedOut: quotedOut === undefined ? null : String(quotedOut),
          value: value === undefined ? null : rounded(value), costs: costs === undefined ? null : sevenDigits(costs),
        });
      }
      if (fill !== undefined || fees !== 0) sample(at);
    },
    returnDeposits(mints) {
      for (const mint of mints) {
        for (const { deposits, kept } of tracked) {
          const value = deposits.get(mint) ?? 0;
          deposits.delete(mint);
          kept.deposited -= value;
          kept.returned += value;
        }
      }
    },
    nextPurchaseAt: () => wallets?.nextAt() ?? Infinity,
    purchase: (at) => { wallets?.buy(at); },
    record: () => ({
      currency: currency.symbol, times, fills,
      ...(wallets?.cash === undefined ? {} : { benchmarks: { cash: wallets.cash, ...columns } }),
      strategies: tracked.map(({ kept }) => kept),
      instruments: priced.map(({ token, kept, halfSpreads }) => ({
        ...kept, swapHalfSpreadBps: medianOf(halfSpreads) ?? undefined, costs: wallets?.orderCosts(times.at(-1) ?? 0),
        turnedBps: marks.isTurned(token.mint, times.at(-1) ?? 0) ? model.otherSideHaircutBps : undefined,
      })),
    }),
  };
}

/**
 * By quotes between a token and the currency, or by what is said of the token itself. Of what came at the time of a
 * look the look may have had nothing yet.
 */
function isHeardOf(market: MarketCache, { mint, currency, seen, last }: {
  readonly mint: Mint; readonly currency: Mint; readonly seen: Millis; readonly last: Millis;
}): boolean {
  const isNew = (receivedAt: Millis): boolean => receivedAt > seen && receivedAt >= last;
  const isNews = (slot: number): boolean => isNew(market.latest(slot)!.receivedAt);
  return market.quoteSlots(mint, currency).some(isNews) || market.quoteSlots(currency, mint).some(isNews)
    || isNew(market.tokenStats(mint)?.receivedAt ?? -Infinity);
}

/**
 * Returns how the market stands, by the last quote of each token at any size: good for telling when it turns, and for
 * nothing else. Not a number where one has none.
 */
function marketIndex(market: MarketCache, instruments: readonly { readonly token: Token }[], currency: Mint): number {
  return instruments.reduce((sum, { token: { mint } }) => {
    const [selling] = market.quoteSlots(mint, currency);
    const [buying] = market.quoteSlots(currency, mint);
    const quote = market.latest(selling ?? buying ?? -1);
    if (quote?.kind !== 'quote') return NaN;
    return sum + (selling === undefined ? 1 / quote.rate : quote.rate);
  }, 0);
}

function sevenDigits(value: number): number {
  return Number(value.toPrecision(7));
}

const SECOND_MS = 1_000;
const STEPS_MS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 14_400, 86_400].map((seconds) => seconds * SECOND_MS);

const GLANCES_MOST = 300_000;

/**
 * Returns how far glances are apart over a span: so near that no trough of a recording of weeks goes unseen, at a cost
 * of a second at most.
 */
export function extremesStep(spanMs: Millis): Millis {
  return Math.max(1, Math.ceil(spanMs / GLANCES_MOST / SECOND_MS)) * SECOND_MS;
}

/** Returns the least usual step that makes at most `most` of a span: they divide an hour or a day, as bars do. */
export function sampleStep(spanMs: Millis, most = 2_000): Millis {
  return STEPS_MS.find((step) => spanMs / step <= most) ?? STEPS_MS.at(-1)!;
}
