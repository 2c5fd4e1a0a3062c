import type { Millis } from '../../core/time.ts';
import type { Mint, Token } from '../../market/token.ts';
import type { Intent, Outcome } from '../../trading/intent.ts';
import type { MarketCache } from '../../trading/market-cache.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { RecordedIntervals } from '../sampling.ts';
import type { BenchmarkValues, BenchmarkWallets } from './benchmark-wallets.ts';
import { createBenchmarkWallets } from './benchmark-wallets.ts';
import { createExitMarks } from './exit-marks.ts';
import { Extremes } from './extremes.ts';
import type { InstrumentPrice, InstrumentPrices } from './instrument-prices.ts';
import { createInstrumentPrices } from './instrument-prices.ts';
import type { RunRecord } from './run-record.ts';
import { roundedAmount } from './run-record.ts';
import type { AccountValue, StrategyAccounts } from './strategy-accounts.ts';
import { createStrategyAccounts } from './strategy-accounts.ts';

/** Samples the equity of a backtest and changes nothing in it. It works per step and per fill, never per event. */
export interface EquitySampler extends Pick<StrategyAccounts, 'heldPrices' | 'returnDeposits' | 'unpriced'> {
  readonly everyMs: Millis;
  /** How often it checks for extremes between the samples; undefined where it does not. */
  readonly extremesEveryMs: Millis | undefined;
  /** Takes a sample. */
  sample(at: Millis): void;
  /**
   * Takes a sample of a past instant where a price has arrived since the last sample, so that figures show how sparse
   * the data are. An instant before the last sample is ignored.
   */
  sampleIfNew(at: Millis): void;
  /**
   * Checks for an extreme. Of what it checks, only the peaks and the troughs after them are kept, of equity and of the
   * market, and the first moment at which all that the benchmarks buy has a price. `seq` is the number of the engine's
   * last input or proposal.
   */
  readonly checkExtremes: (at: Millis, seq: number) => void;
  /** Takes note of an outcome that the portfolio already contains. */
  observe(intent: Intent, outcome: Outcome, at: Millis): void;
  /** Returns when the next purchase of a benchmark lands; Infinity where no purchase is left. */
  nextPurchaseAt(): Millis;
  /** Makes the benchmarks' purchases that land until an instant. */
  purchase(at: Millis): void;
  record(): RunRecord;
}

/** Values in the currency, and prices of whole tokens, at one instant. */
interface EquitySample {
  readonly at: Millis;
  readonly strategies: readonly AccountValue[];
  readonly prices: readonly InstrumentPrice[];
  readonly benchmarks: BenchmarkValues;
}

const NO_VALUES: BenchmarkValues = { buyAndHold: null, dca: null };

interface SamplerOptions {
  readonly state: EngineState;
  /** The market that values holdings and fills the benchmarks' purchases; the state's by default. */
  readonly market?: MarketCache | undefined;
  /** How often each feed was recorded: it bounds the age of the prices at which benchmarks buy. */
  readonly intervals?: RecordedIntervals | undefined;
  readonly currency: Token;
  readonly instruments: readonly Token[];
  readonly everyMs: Millis;
  /** Left out, drawdowns are as deep as the samples show. */
  readonly extremesEveryMs?: Millis | undefined;
  readonly model: SimulationModel;
  /** The end of the recording; left out, benchmarks follow from the prices of the instruments alone. */
  readonly endAt?: Millis | undefined;
}

/** Returns a sampler over a state. Its benchmarks buy `instruments` until `endAt`. */
export function createEquitySampler(options: SamplerOptions): EquitySampler {
  const { state, market = state.market, intervals, currency, instruments, everyMs, extremesEveryMs, model } = options;
  const { portfolio, tokens, limits } = state;
  const marks = createExitMarks({ market, tokens, currency, model });
  const accounts = createStrategyAccounts({ state, market, currency, marks });
  const spent = instruments.length === 0 ? 0n : accounts.budgetCash / BigInt(instruments.length);
  const prices = createInstrumentPrices({ market, marks, currency, instruments, spent, model });
  const wallets = options.endAt === undefined || spent === 0n ? undefined : createBenchmarkWallets({
    market, intervals, marks, currency, instruments, model, endAt: options.endAt, openAccounts: portfolio.wallet.keys(),
    maxSlippageBps: limits.maxSlippageBps,
  });
  const samples = createSamples({
    market, accounts, prices, wallets, currency, hasExtremes: extremesEveryMs !== undefined,
  });
  /** The samples contain every price until then. */
  let coveredUntil = -Infinity;
  return {
    everyMs,
    extremesEveryMs,
    unpriced: accounts.unpriced,
    heldPrices: accounts.heldPrices,
    returnDeposits: accounts.returnDeposits,
    sample: samples.take,
    sampleIfNew(at) {
      const last = samples.lastAt();
      if (at < last) return;
      const news = { after: coveredUntil, last };
      if (!tokens.all.some(({ mint }) => hasNewPrice(market, mint, currency.mint, news))) return;
      samples.take(at);
      prices.sampleHalfSpreads(at, accounts.swapSize);
      coveredUntil = at;
    },
    checkExtremes: samples.checkExtremes,
    observe(intent, outcome, at) {
      if (accounts.add(intent, outcome, at)) samples.take(at);
    },
    nextPurchaseAt: () => wallets?.nextAt() ?? Infinity,
    purchase: (at) => { wallets?.buy(at); },
    record() {
      const endAt = samples.times.at(-1) ?? 0;
      return {
        currency: currency.symbol, times: samples.times, fills: accounts.fills,
        ...(wallets?.cash === undefined ? {} : { benchmarks: { cash: wallets.cash, ...samples.benchmarks } }),
        strategies: accounts.records(), instruments: prices.records(endAt, wallets?.orderCosts(endAt)),
      };
    },
  };
}

/** The samples taken so far. */
interface Samples {
  readonly times: readonly Millis[];
  readonly benchmarks: { readonly buyAndHold: readonly (number | null)[]; readonly dca: readonly (number | null)[] };
  /** Returns the time of the last sample; -Infinity before the first. */
  lastAt(): Millis;
  /** Takes a sample, after those of the extremes since the last one. */
  readonly take: (at: Millis) => void;
  readonly checkExtremes: EquitySampler['checkExtremes'];
}

function createSamples({ market, accounts, prices, wallets, currency, hasExtremes }: {
  readonly market: MarketCache; readonly accounts: StrategyAccounts; readonly prices: InstrumentPrices;
  readonly wallets: BenchmarkWallets | undefined; readonly currency: Token; readonly hasExtremes: boolean;
}): Samples {
  const unit = 10 ** currency.decimals;
  const times: Millis[] = [];
  const benchmarks = { buyAndHold: [] as (number | null)[], dca: [] as (number | null)[] };
  const extremes = { equity: new Extremes<EquitySample>(), market: new Extremes<EquitySample>() };
  let hasAllPrices = false;
  let checked = { seq: -1, revision: -1 };
  const lastAt = (): Millis => times.at(-1) ?? -Infinity;
  const sampleOf = (at: Millis): EquitySample => (
    { at, strategies: accounts.values(at), prices: prices.pricesAt(at), benchmarks: wallets?.values(at) ?? NO_VALUES });
  /** The equity of all strategies, or their budgets where a token has no price. */
  const startingCash = (strategies: readonly AccountValue[]): bigint => {
    const worth = strategies.reduce((sum, { equity }) => sum + (equity ?? NaN), 0);
    return worth > 0 ? BigInt(Math.floor(worth * unit)) : accounts.budgetCash;
  };
  const store = (sample: EquitySample): void => {
    if (times.at(-1) !== sample.at) times.push(sample.at);
    const row = times.length - 1;
    accounts.store(row, sample.strategies);
    prices.store(row, sample.prices);
    const begins = !hasAllPrices && isPriced(sample);
    hasAllPrices ||= begins;
    if (wallets === undefined) return;
    if (begins) wallets.begin(startingCash(sample.strategies), sample.at);
    const { buyAndHold, dca } = begins ? wallets.values(sample.at) : sample.benchmarks;
    benchmarks.buyAndHold[row] = buyAndHold === null ? null : roundedAmount(buyAndHold, unit);
    benchmarks.dca[row] = dca === null ? null : roundedAmount(dca, unit);
  };
  const take = (at: Millis): void => {
    const now = sampleOf(at);
    const isNew = at > lastAt();
    if (hasExtremes) {
      const between = [
        ...extremes.equity.keep(accounts.totalEquity(at)), ...extremes.market.keep(prices.observeRates()),
      ];
      for (const extreme of between.toSorted((a, b) => a.at - b.at)) {
        if (extreme.at > lastAt() && extreme.at < at) store(extreme);
      }
    }
    store(now);
    if (hasExtremes && isNew) prices.storeRanges(times.length - 1);
  };
  return {
    times, benchmarks, lastAt, take,
    checkExtremes(at, seq) {
      if (at <= lastAt()) return;
      const { revision } = market;
      // The books change with the engine's inputs, and the prices with the market: nothing is new.
      if (seq === checked.seq && revision === checked.revision) return;
      checked = { seq, revision };
      const now = (): EquitySample => sampleOf(at);
      if (!hasAllPrices && isPriced(now())) take(at);
      extremes.equity.pass(accounts.totalEquity(at), now);
      extremes.market.pass(prices.observeRates(), now);
    },
  };
}

function isPriced({ prices }: EquitySample): boolean {
  return prices.every(({ ask }) => ask !== null);
}

/**
 * Returns whether a quote between a token and the currency, or the token's statistics or record, arrived after an
 * instant. A price of the instant of the last sample counts: that sample may have been taken before it arrived.
 */
function hasNewPrice(
  market: MarketCache, mint: Mint, currency: Mint, { after, last }: { readonly after: Millis; readonly last: Millis },
): boolean {
  const isNew = (receivedAt: Millis): boolean => receivedAt > after && receivedAt >= last;
  const isRenewed = (slot: number): boolean => isNew(market.latest(slot)!.receivedAt);
  return market.quoteSlots(mint, currency).some(isRenewed) || market.quoteSlots(currency, mint).some(isRenewed)
    || market.statsSlots(mint).some(isRenewed);
}

const SECOND_MS = 1_000;
const STEPS_MS = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 14_400, 86_400].map((seconds) => seconds * SECOND_MS);
const MOST_CHECKS = 300_000;

/**
 * Returns how often to check for extremes over a span: often enough for every trough of a recording of weeks, at a cost
 * of about a second.
 */
export function extremesStep(spanMs: Millis): Millis {
  return Math.max(1, Math.ceil(spanMs / MOST_CHECKS / SECOND_MS)) * SECOND_MS;
}

/** Returns the smallest usual step that divides a span into at most `most` parts. Steps divide an hour or a day. */
export function sampleStep(spanMs: Millis, most = 2_000): Millis {
  return STEPS_MS.find((step) => spanMs / step <= most) ?? STEPS_MS.at(-1)!;
}
