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
import type { Pricing, SimulatedPrice } from '../pricing.ts';
import { createPricing, isRefusal } from '../pricing.ts';
import type { RecordedIntervals } from '../sampling.ts';
import type { ExitMarks } from './exit-marks.ts';

/** When a purchase is tried again whose price was too old. */
const RETRY_MS: Millis = 10_000;
const AT_ONCE: PurchasePlan = { orders: 1, everyMs: 1 };
const MEDIAN = 0.5;
const DAY_MS: Millis = 86_400_000;
const SHORT_ORDERS = 10;

/** Purchases for equal parts of the money, the first at once and one after each interval. */
export interface PurchasePlan {
  readonly orders: number;
  readonly everyMs: Millis;
}

/** What each benchmark is worth, in the currency; null where something it holds has no price. */
export interface BenchmarkValues {
  readonly buyAndHold: number | null;
  readonly dca: number | null;
}

/** Wallets that buy and hold while a backtest runs, and pay what its strategies pay. */
export interface BenchmarkWallets {
  /** What they began with, in the currency; undefined before they began. */
  readonly cash: number | undefined;
  /** Begins with so much of the currency's smallest units: prices of everything are known. */
  begin(cash: bigint, at: Millis): void;
  /** Returns when the next purchase lands; Infinity where none is to come. */
  nextAt(): Millis;
  /** Makes the purchases that land until an instant. */
  buy(at: Millis): void;
  values(at: Millis): BenchmarkValues;
  /**
   * Returns what a purchase pays beside its price, for who works with prices alone: bps of it, and an amount of the
   * currency.
   */
  orderCosts(at: Millis): { readonly bps: number; readonly order: number };
}

/** A purchase that is to come. */
interface Order {
  readonly mint: Mint;
  readonly amount: bigint;
  readonly at: Millis;
}

interface Wallet {
  cash: bigint;
  readonly held: Map<Mint, bigint>;
  /** Network fees and deposits, in the currency at the prices of their time. */
  paid: number;
  readonly orders: Order[];
  readonly pricing: Pricing;
  readonly noteSwap: (mint: Mint, amount: bigint, at: Millis) => void;
  readonly openAccount: (mint: Mint) => bigint;
}

/**
 * Returns the wallets of the benchmarks. A purchase lands as long after its time as a strategy's usually does, at the
 * price that a strategy's would fill at, and pays the platform's fee, those of token issuers, network and priority
 * fees, and the deposit of a token account. What is more than the largest recorded size is bought in pieces of that
 * size, each with its fee. What is held counts as what strategies hold does. No purchase is lost on its way: that would
 * be chance.
 */
export function createBenchmarkWallets({
  market, intervals, marks, currency, instruments, model: configured, openAccounts, maxSlippageBps, endAt,
}: {
  readonly market: MarketCache;
  readonly intervals?: RecordedIntervals | undefined;
  readonly marks: ExitMarks;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly model: SimulationModel;
  readonly openAccounts: Iterable<Mint>;
  readonly maxSlippageBps: Bps;
  readonly endAt: Millis;
}): BenchmarkWallets {
  const model = underSetting(configured);
  const { row, latency, landing } = model;
  const unit = 10 ** currency.decimals;
  const { feeLamports } = attemptCosts(model.costs, row.priority);
  const existing = [...openAccounts];
  const worthOf = (lamports: bigint, at: Millis): number => Number(marks.exit(SOL_MINT, lamports, at) ?? 0n) / unit;
  const takes = (at: Millis): Millis => latencyAt(knownBefore(latency.quote, at, 'order'), MEDIAN) * row.quoteLatency
    + (latencyAt(latency.sign, MEDIAN) + latencyAt(knownBefore(latency.land, at, 'order'), MEDIAN)) * row.landLatency;

  const walletOf = (cash: bigint, { orders, everyMs }: PurchasePlan, begunAt: Millis): Wallet => {
    const ownImpact = createOwnImpact(model.ownImpact, model.recordedSwaps);
    const accounts = createTokenAccounts(existing, (mint) => model.transferFees.has(mint));
    const parts = BigInt(orders * instruments.length);
    const partOf = (n: number): bigint => (cash * BigInt(n + 1)) / parts - (cash * BigInt(n)) / parts;
    return {
      cash, held: new Map(), paid: 0, pricing: createPricing({ market, model, ownImpact, intervals }),
      orders: Array.from({ length: orders }, (_, n) => begunAt + n * everyMs)
        .flatMap((at, n) => instruments.map(({ mint }, i): Order =>
          ({ mint, amount: partOf(n * instruments.length + i), at: at + takes(at) }))),
      noteSwap: (mint, amount, at) => { ownImpact.add(currency.mint, mint, amount, at); },
      openAccount: (mint) => accounts.open(mint),
    };
  };

  /** What of a price is paid: all of it where it is firm or as quoted, else less what fills fall short by. */
  const received = ({ outAmount, from, traded }: SimulatedPrice): Amount => {
    if (row.fill === 'quoted' || isFirm(quoteFor(from, traded).router)) return outAmount;
    return afterSlippage(outAmount, row.fill === 'threshold' ? maxSlippageBps : landing.adverseBps);
  };
  /** Returns whether the order is done with; one whose price is too old to fill a strategy's swap waits for another. */
  const buyOne = (wallet: Wallet, { mint, amount }: Order, at: Millis): boolean => {
    let isStale = false;
    const price = (amountIn: bigint): SimulatedPrice | undefined => {
      const found = wallet.pricing.price(
        { inputMint: currency.mint, outputMint: mint, amountIn: amountIn as Amount, purpose: 'entry' },
        { at, isUnderWay: true, isFresh: true },
      );
      if (!isRefusal(found)) return found;
      isStale ||= found.code === 'QUOTE_STALE';
      return undefined;
    };
    const whole = price(amount);
    if (whole === undefined || amount === 0n) return !isStale;
    const largest = isBeyond(whole.from.ladder, whole.traded) ? largestSize(whole.from.ladder) : amount;
    const pieces = largest === 0n ? 1n : amount / largest;
    const piece = pieces === 0n ? amount : largest;
    const rest = amount - pieces * piece;
    const [each, last] = piece === amount ? [whole, undefined] : [price(piece), rest === 0n ? undefined : price(rest)];
    if (each === undefined) return true;
    const swaps = pieces + (last === undefined ? 0n : 1n);
    const out = pieces * received(each) + (last === undefined ? 0n : received(last));
    wallet.cash -= amount;
    wallet.held.set(mint, (wallet.held.get(mint) ?? 0n) + out);
    wallet.paid += worthOf(swaps * feeLamports + wallet.openAccount(mint), at);
    wallet.noteSwap(mint, each.traded, at);
    return true;
  };
  const valueOf = ({ cash, held, paid }: Wallet, at: Millis): number | null => {
    let value: number | null = Number(cash) / unit - paid;
    for (const [mint, amount] of held) {
      const proceeds = marks.proceeds(mint, amount as Amount, at, maxSlippageBps);
      value = value === null || proceeds === undefined ? null : value + Number(proceeds) / unit;
    }
    return value;
  };

  let begun: { readonly cash: number; readonly buyAndHold: Wallet; readonly dca: Wallet } | undefined;
  const wallets = (): readonly Wallet[] => (begun === undefined ? [] : [begun.buyAndHold, begun.dca]);
  return {
    get cash() { return begun?.cash; },
    begin(cash, at) {
      begun ??= {
        cash: Number(cash) / unit, buyAndHold: walletOf(cash, AT_ONCE, at),
        dca: walletOf(cash, averagingPlan(Math.max(1, endAt - at)), at),
      };
    },
    nextAt: () => Math.min(Infinity, ...wallets().map(({ orders }) => orders[0]?.at ?? Infinity)),
    buy(at) {
      for (const wallet of wallets()) {
        for (let [order] = wallet.orders; order !== undefined && order.at <= at; [order] = wallet.orders) {
          wallet.orders.shift();
          if (buyOne(wallet, order, at)) continue;
          wallet.orders.push({ ...order, at: at + RETRY_MS });
          wallet.orders.sort((a, b) => a.at - b.at);
        }
      }
    },
    orderCosts: (at) => ({ bps: model.costs.platformFeeBps, order: worthOf(feeLamports, at) }),
    values: (at) => (begun === undefined ? { buyAndHold: null, dca: null }
      : { buyAndHold: valueOf(begun.buyAndHold, at), dca: valueOf(begun.dca, at) }),
  };
}

/**
 * Returns the plan of the benchmark "DCA" over a span: each day that begins in it, or ten times where it is shorter
 * than two days.
 */
export function averagingPlan(spanMs: Millis): PurchasePlan {
  if (spanMs < 2 * DAY_MS) return { everyMs: spanMs / SHORT_ORDERS, orders: SHORT_ORDERS };
  return { everyMs: DAY_MS, orders: Math.ceil(spanMs / DAY_MS) };
}
