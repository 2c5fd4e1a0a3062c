import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { RoundTrip } from './round-trips.ts';
import { outcomeOf, tradeResults } from './round-trips.ts';
import { deviation, mean, quantile } from './statistics.ts';

/** How long trades were held; undefined without such trades. */
interface HoldingTimes {
  readonly mean: Millis | undefined;
  readonly median: Millis | undefined;
  readonly longest: Millis | undefined;
  readonly shortest: Millis | undefined;
  /** The mean of those that were won, and of those that were lost. */
  readonly winners: Millis | undefined;
  readonly losers: Millis | undefined;
}

type Timed = Pick<RoundTrip, 'openedAt' | 'closedAt' | 'profit' | 'entryValue'>;

/** Returns how long trades were held. */
export function holdingTimes(trades: readonly Timed[]): HoldingTimes {
  const held = (of: readonly Timed[]): number[] => of.map(({ openedAt, closedAt }) => closedAt - openedAt);
  const rising = held(trades).toSorted((a, b) => a - b);
  const won = trades.filter((trade) => outcomeOf(trade) > 0);
  const lost = trades.filter((trade) => outcomeOf(trade) < 0);
  return {
    mean: meanOf(rising), median: quantile(rising, 0.5), longest: rising.at(-1), shortest: rising[0],
    winners: meanOf(held(won)), losers: meanOf(held(lost)),
  };
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : mean(values);
}

/** Returns the longest rows of positive and of negative values; a value of 0 ends both. */
export function longestStreaks(outcomes: readonly number[]): { readonly winning: number; readonly losing: number } {
  const longest = { winning: 0, losing: 0 };
  let [won, lost] = [0, 0];
  for (const outcome of outcomes) {
    won = outcome > 0 ? won + 1 : 0;
    lost = outcome < 0 ? lost + 1 : 0;
    longest.winning = Math.max(longest.winning, won);
    longest.losing = Math.max(longest.losing, lost);
  }
  return longest;
}

/**
 * Returns the system quality number: √n · mean / standard deviation (ddof 1) of the results of n trades (V. Tharp,
 * "Trade Your Way to Financial Freedom"), with the result in the currency as its measure of risk. Undefined for fewer
 * than two results, and where they do not vary.
 */
export function systemQuality(profits: readonly number[]): number | undefined {
  const spread = deviation(profits);
  return spread === undefined || spread === 0 ? undefined : (Math.sqrt(profits.length) * mean(profits)) / spread;
}

/**
 * Returns the share of money that grows fastest when each trade risks it: W - (1 - W) / payoff ratio (J. Kelly, "A New
 * Interpretation of Information Rate", 1956). Below 0 no stake grows. Undefined unless trades were won and lost.
 */
export function kellyFraction(trades: readonly Pick<RoundTrip, 'profit' | 'entryValue'>[]): number | undefined {
  const { winRate, payoffRatio } = tradeResults(trades);
  return winRate === undefined || payoffRatio === undefined ? undefined : winRate - (1 - winRate) / payoffRatio;
}

/** The trades that share a name. */
export interface TradeGroup<Trade> {
  readonly name: string;
  readonly trades: readonly Trade[];
}

/** More groups would not fit on a page; the others are one group. */
const MOST_GROUPS = 20;
const OTHERS = 'all others';

/** Returns trades by name, the most frequent name first; of very many names the rarer ones are one group. */
export function tradeGroups<Trade>(
  trades: readonly Trade[], nameOf: (trade: Trade) => string,
): TradeGroup<Trade>[] {
  const byName = new Map<string, Trade[]>();
  for (const trade of trades) {
    const name = nameOf(trade);
    const own = byName.get(name);
    if (own === undefined) byName.set(name, [trade]);
    else own.push(trade);
  }
  const groups = [...byName].map(([name, own]) => ({ name, trades: own }))
    .toSorted((a, b) => b.trades.length - a.trades.length);
  if (groups.length <= MOST_GROUPS) return groups;
  const others = groups.slice(MOST_GROUPS - 1).flatMap(({ trades: own }) => own);
  return [...groups.slice(0, MOST_GROUPS - 1), { name: OTHERS, trades: others }];
}

const NUMBER = /(?<![\p{L}\p{N}_])[-+]?\d+(?:[.,_:]\d+)*(?:e[-+]?\d+)?/gu;
const REASON_NAME_CHARACTERS = 80;
const NO_REASON = 'no reason recorded';

/** Returns the name of a reason's group: the reason with "…" for each number, so "at 5.1" and "at 5.2" are one. */
export function reasonName(reason: string | undefined): string {
  const name = (reason ?? '').replace(NUMBER, '…').trim();
  if (name === '') return NO_REASON;
  return name.length <= REASON_NAME_CHARACTERS ? name : `${name.slice(0, REASON_NAME_CHARACTERS - 1)}…`;
}

/** Percentiles of a figure. */
export interface Percentiles {
  readonly p5: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
}

/** What the order and the choice of trades contributed to a result, by repeated drawing. */
interface TradeOrders {
  /** The number of drawings of either kind. */
  readonly orders: number;
  /** The deepest fall of the trades in their own order, as a share of the peak. */
  readonly drawdown: number;
  /** That fall where the same trades come in another order; their sum stays the same. */
  readonly shuffled: { readonly drawdown: Percentiles };
  /** Where as many trades are drawn from them, some twice and some never. */
  readonly resampled: {
    /** The final result in the currency. */
    readonly profit: Percentiles;
    readonly drawdown: Percentiles;
    /** The share of drawings that end with a loss. */
    readonly losing: number;
  };
}

const MOST_ORDERS = 1_000;
const FEWEST_ORDERS = 100;
/** Many trades are drawn less often, so that the wait stays below a second. */
const MOST_DRAWS = 10_000_000;

/**
 * Returns how results of trades, one after the other on `cash`, would have differed with their order and their choice.
 * Results are amounts and are added, because the sizes of a configuration are amounts. Equity is seen between the
 * trades only. Drawings repeat: their seed is fixed. Undefined for fewer than two trades, without money, and for more
 * trades than can be drawn often enough.
 */
export function tradeOrders(profits: readonly number[], cash: number): TradeOrders | undefined {
  const orders = Math.min(MOST_ORDERS, Math.floor(MOST_DRAWS / profits.length));
  if (profits.length < 2 || !(cash > 0) || orders < FEWEST_ORDERS) return undefined;
  const random = seededRandom('trade-order');
  const [shuffles, falls, results]: [number[], number[], number[]] = [[], [], []];
  const order = [...profits];
  for (let n = 0; n < orders; n++) {
    // Fisher and Yates: each order is equally likely.
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    shuffles.push(runOf(order, cash).drawdown);
    const drawn = runOf(profits.map(() => profits[Math.floor(random() * profits.length)]!), cash);
    falls.push(drawn.drawdown);
    results.push(drawn.result);
  }
  return {
    orders, drawdown: runOf(profits, cash).drawdown, shuffled: { drawdown: percentiles(shuffles) },
    resampled: {
      profit: percentiles(results), drawdown: percentiles(falls),
      losing: results.filter((result) => result < 0).length / orders,
    },
  };
}

function runOf(profits: readonly number[], cash: number): { readonly result: number; readonly drawdown: number } {
  let [equity, peak, drawdown] = [cash, cash, 0];
  for (const profit of profits) {
    equity += profit;
    peak = Math.max(peak, equity);
    drawdown = Math.max(drawdown, 1 - equity / peak);
  }
  return { result: equity - cash, drawdown };
}

function percentiles(values: readonly number[]): Percentiles {
  const rising = values.toSorted((a, b) => a - b);
  const at = (share: number): number => quantile(rising, share)!;
  return { p5: at(0.05), p25: at(0.25), p50: at(0.5), p75: at(0.75), p95: at(0.95) };
}
