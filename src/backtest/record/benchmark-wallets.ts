import type { Amount, Bps } from '../../core/amount.ts';
import { afterSlippage } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import { attemptCosts, createTokenAccounts } from '../models/swap-costs.ts';
import { isFirm } from '../models/landing.ts';
import { knownBefore, latencyAt } from '../models/latency.ts';
import { quoteFor } from '../models/market-ladder.ts';
import { createOwnImpact } from '../models/own-impact.ts';
import { isBeyond, largestSize } from '../models/quote-ladder.ts';
import { underSetting } from '../models/settings.ts';
import type { SimulatedPrice } from '../pricing.ts';
import { createPricing, isRefusal } from '../pricing.ts';
import type { RecordedIntervals } from '../sampling.ts';
import type { ExitMarks } from './exit-marks.ts';

/** The delay before a purchase at an outdated price is tried again. */
const RETRY_MS: Millis = 10_000;
const AT_ONCE: PurchasePlan = { orders: 1, everyMs: 1 };
const MEDIAN = 0.5;
const DAY_MS: Millis = 86_400_000;
const SHORT_ORDERS = 10;

/** Purchases for equal parts of the money: the first at once, and one after each interval. */
export interface PurchasePlan {
  readonly orders: number;
  readonly everyMs: Millis;
}

/** The value of each benchmark in the currency; null where a token that it holds has no price. */
export interface BenchmarkValues {
  readonly buyAndHold: number | null;
  readonly dca: number | null;
}

/** Wallets that buy and hold during a backtest, and pay what its strategies pay. */
export interface BenchmarkWallets {
  /** The initial money in the currency; undefined before they begin. */
  readonly cash: number | undefined;
  /** Begins with money in the currency's smallest units. Everything must have a price by then. */
  begin(cash: bigint, at: Millis): void;
  /** Returns when the next purchase lands; Infinity where none is left. */
  nextAt(): Millis;
  /** Makes the purchases that land until an instant. */
  buy(at: Millis): void;
  values(at: Millis): BenchmarkValues;
  /** Returns the cost of a purchase beside its price: bps of it, and an amount of the currency. */
  orderCosts(at: Millis): { readonly bps: number; readonly order: number };
}

/** A future purchase. */
interface Order {
  readonly mint: Mint;
  readonly amount: bigint;
  readonly at: Millis;
}

interface BenchmarkOptions {
  readonly market: MarketCache;
  readonly intervals?: RecordedIntervals | undefined;
  readonly marks: ExitMarks;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly model: SimulationModel;
  readonly openAccounts: Iterable<Mint>;
  readonly maxSlippageBps: Bps;
  readonly endAt: Millis;
}

/**
 * Returns the wallets of the benchmarks. A purchase takes a strategy's median time to land, fills at the price of a
 * strategy's swap, and pays the platform's fee, issuers' fees, network and priority fees, and the deposit of a token
 * account. A purchase above the largest recorded size is split into swaps of that size, each with its fee. Holdings are
 * valued as those of strategies. No purchase is lost: that would be chance.
 */
export function createBenchmarkWallets(options: BenchmarkOptions): BenchmarkWallets {
  const { currency, endAt } = options;
  const unit = 10 ** currency.decimals;
  const model = underSetting(options.model);
  const shared = { ...options, model, unit, existing: [...options.openAccounts] };
  let begun: { readonly cash: number; readonly buyAndHold: Wallet; readonly dca: Wallet } | undefined;
  const wallets = (): readonly Wallet[] => (begun === undefined ? [] : [begun.buyAndHold, begun.dca]);
  return {
    get cash() { return begun?.cash; },
    begin(cash, at) {
      begun ??= {
        cash: Number(cash) / unit, buyAndHold: createWallet(shared, { cash, plan: AT_ONCE, at }),
        dca: createWallet(shared, { cash, plan: averagingPlan(Math.max(1, endAt - at)), at }),
      };
    },
    // Asked at every check for extremes.
    nextAt: () => (begun === undefined ? Infinity : Math.min(begun.buyAndHold.nextAt(), begun.dca.nextAt())),
    buy(at) {
      for (const wallet of wallets()) wallet.buy(at);
    },
    orderCosts: (at) => ({
      bps: model.costs.platformFeeBps,
      order: lamportsWorth(attemptCosts(model.costs, model.row.priority).feeLamports, shared, at),
    }),
    values: (at) => ({ buyAndHold: begun?.buyAndHold.value(at) ?? null, dca: begun?.dca.value(at) ?? null }),
  };
}

interface Wallet {
  nextAt(): Millis;
  buy(at: Millis): void;
  value(at: Millis): number | null;
}

interface WalletOptions extends Omit<BenchmarkOptions, 'model'> {
  readonly model: ReturnType<typeof underSetting>;
  /** Smallest units of one token of the currency. */
  readonly unit: number;
  readonly existing: readonly Mint[];
}

function createWallet(options: WalletOptions, begin: {
  readonly cash: bigint; readonly plan: PurchasePlan; readonly at: Millis;
}): Wallet {
  const { market, intervals, currency, model, unit, existing } = options;
  const { feeLamports } = attemptCosts(model.costs, model.row.priority);
  const ownImpact = createOwnImpact(model.ownImpact, model.recordedSwaps);
  const pricing = createPricing({ market, model, ownImpact, intervals });
  const accounts = createTokenAccounts(existing, (mint) => model.transferFees.has(mint));
  const orders = ordersOf(options, begin);
  const held = new Map<Mint, bigint>();
  let { cash } = begin;
  /** Network fees and deposits, in the currency at the prices of their time. */
  let paid = 0;

  /**
   * Returns whether the order is finished. An order whose price is too old to fill a strategy's swap waits for a newer
   * one.
   */
  const buyOne = ({ mint, amount }: Order, at: Millis): boolean => {
    let isStale = false;
    const price = (amountIn: bigint): SimulatedPrice | undefined => {
      const found = pricing.price(
        { inputMint: currency.mint, outputMint: mint, amountIn: amountIn as Amount, purpose: 'entry' },
        { at, isUnderWay: true, isFresh: true },
      );
      if (!isRefusal(found)) return found;
      isStale ||= found.code === 'QUOTE_STALE';
      return undefined;
    };
    const whole = price(amount);
    if (whole === undefined || amount === 0n) return !isStale;
    const { count, size, rest } = piecesOf(whole, amount);
    const [each, last] = size === amount ? [whole, undefined] : [price(size), rest === 0n ? undefined : price(rest)];
    if (each === undefined) return true;
    const swaps = count + (last === undefined ? 0n : 1n);
    const out = count * outputOf(each, options) + (last === undefined ? 0n : outputOf(last, options));
    cash -= amount;
    held.set(mint, (held.get(mint) ?? 0n) + out);
    paid += lamportsWorth(swaps * feeLamports + accounts.open(mint), options, at);
    ownImpact.add(currency.mint, mint, each.traded, at);
    return true;
  };
  return {
    nextAt: () => orders[0]?.at ?? Infinity,
    buy(at) {
      for (let [order] = orders; order !== undefined && order.at <= at; [order] = orders) {
        orders.shift();
        if (buyOne(order, at)) continue;
        orders.push({ ...order, at: at + RETRY_MS });
        orders.sort((a, b) => a.at - b.at);
      }
    },
    value: (at) => valueOf({ money: Number(cash) / unit - paid, held }, options, at),
  };
}

function ordersOf({ instruments, model: { latency, row } }: WalletOptions, { cash, plan: { orders, everyMs }, at }: {
  readonly cash: bigint; readonly plan: PurchasePlan; readonly at: Millis;
}): Order[] {
  const landingMs = (from: Millis): Millis => {
    const quoteMs = latencyAt(knownBefore(latency.quote, from, 'order'), MEDIAN);
    const landMs = latencyAt(latency.sign, MEDIAN) + latencyAt(knownBefore(latency.land, from, 'order'), MEDIAN);
    return quoteMs * row.quoteLatency + landMs * row.landLatency;
  };
  const parts = BigInt(orders * instruments.length);
  const partOf = (n: number): bigint => (cash * BigInt(n + 1)) / parts - (cash * BigInt(n)) / parts;
  return Array.from({ length: orders }, (_, n) => at + n * everyMs).flatMap((from, n) => (
    instruments.map(({ mint }, i): Order => (
      { mint, amount: partOf(n * instruments.length + i), at: from + landingMs(from) }))));
}

function valueOf({ money, held }: { readonly money: number; readonly held: ReadonlyMap<Mint, bigint> }, {
  marks, maxSlippageBps, unit,
}: WalletOptions, at: Millis): number | null {
  let value = money;
  for (const [mint, amount] of held) {
    const proceeds = marks.proceeds(mint, amount as Amount, at, maxSlippageBps);
    if (proceeds === undefined) return null;
    value += Number(proceeds) / unit;
  }
  return value;
}

/** Splits an amount above the largest recorded size into swaps of that size and a rest. */
function piecesOf({ from: { ladder }, traded }: SimulatedPrice, amount: bigint): {
  readonly count: bigint; readonly size: bigint; readonly rest: bigint;
} {
  const largest = isBeyond(ladder, traded) ? largestSize(ladder) : amount;
  const count = largest === 0n ? 1n : amount / largest;
  const size = count === 0n ? amount : largest;
  return { count, size, rest: amount - count * size };
}

/** Returns the output of a price: all of it where it is firm or as quoted, else less the setting's shortfall. */
function outputOf(
  { outAmount, from, traded }: SimulatedPrice, { model: { row, landing }, maxSlippageBps }: WalletOptions,
): Amount {
  if (row.fill === 'quoted' || isFirm(quoteFor(from, traded).router)) return outAmount;
  return afterSlippage(outAmount, row.fill === 'threshold' ? maxSlippageBps : landing.adverseBps);
}

/** Returns the value of SOL in the currency; 0 without a price. */
function lamportsWorth(lamports: bigint, { marks, unit }: Pick<WalletOptions, 'marks' | 'unit'>, at: Millis): number {
  return Number(marks.exit(SOL_MINT, lamports, at) ?? 0n) / unit;
}

/**
 * Returns the purchases of the benchmark "DCA" over a span: one on each day that begins in it, or ten where the span is
 * shorter than two days.
 */
export function averagingPlan(spanMs: Millis): PurchasePlan {
  if (spanMs < 2 * DAY_MS) return { everyMs: spanMs / SHORT_ORDERS, orders: SHORT_ORDERS };
  return { everyMs: DAY_MS, orders: Math.ceil(spanMs / DAY_MS) };
}
