import { formatDecimal } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { EquityCurve, PageFigure, PagePeriod, PageRange, PriceCurve } from '../../dashboard/page-state.ts';
import { symbolOf } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { HistoryReads, PricePoint } from '../../store/history.ts';
import { ALL_STRATEGIES, USD } from '../../store/history.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { IntentStory } from '../../store/journal-listing.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { dayOf } from '../../trading/protections/memory.ts';
import type { RunEquity } from '../control/run-equity.ts';
import { pageAmount, priceText } from './page-amount.ts';
import type { Pair } from './page-markets.ts';
import { USD_PLACES, latestPrice, pairNamed } from './page-markets.ts';
import { positionLevels } from './page-strategies.ts';

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;

/** How far the ranges of charts go back. */
const SPANS: Readonly<Record<PageRange, Millis>> =
  { '1h': HOUR, '1d': DAY, '7d': 7 * DAY, '30d': 30 * DAY, 'all': Infinity };
const POINTS_MAX = 500;
const SPARK_POINTS = 24;
const SPARKS_MAX = 40;
const SPARK_DIGITS = 4;
/** Samples come once a minute. */
const KEPT_MS: Millis = 60_000;
/** The newest swaps that are searched for fills of a pair. */
const FILLS_SEARCHED = 100;
const STORIES_KEPT = 500;

/** What the charts and the profit of the page read. */
interface HistorySources {
  readonly state: EngineState;
  /** Undefined where none is kept. */
  readonly history?: HistoryReads | undefined;
  readonly journal: Pick<JournalStore, 'listIntents' | 'showIntent'>;
}

/** The past of a run and of those before it, as the page shows it. Nothing that trades reads it. */
export class PageHistory {
  readonly #sources: HistorySources;
  readonly #sparks = new Map<string, { readonly at: Millis; readonly points: readonly number[] }>();
  /** Finished swaps do not change any more. */
  readonly #stories = new Map<string, IntentStory>();
  #bases: { readonly at: Millis; readonly day: number; readonly list: readonly PeriodBase[] } | undefined;

  constructor(sources: HistorySources) {
    this.#sources = sources;
  }

  /** Returns the equity of all strategies or of one; undefined for an unknown one. */
  equity({ range, strategy }: { readonly range: PageRange; readonly strategy?: string | undefined }, now: Millis):
  EquityCurve | undefined {
    const { state: { strategies, tokens, portfolio }, history } = this.#sources;
    if (strategy !== undefined && !strategies.has(strategy)) return undefined;
    const series = history?.equity(strategy ?? ALL_STRATEGIES, { ...spanOf(range, now), limit: POINTS_MAX });
    const currency = series?.currency ?? [...portfolio.books.values()].find(({ budget }) => budget)?.budget?.mint;
    const text = (units: bigint): string => formatDecimal(units, tokens.byMint(series!.currency)?.decimals ?? 0);
    return {
      currency: currency === undefined ? '' : symbolOf(tokens, currency),
      points: (series?.points ?? []).map(({ at, value, deposits, holding }) => ({
        at, equity: text(value), deposits: text(deposits), holding: holding === undefined ? null : text(holding),
      })),
    };
  }

  /** Returns the prices of a pair with the swaps and levels in it; undefined for an unknown one. */
  prices({ pair: name, range }: { readonly pair: string; readonly range: PageRange }, now: Millis):
  PriceCurve | undefined {
    const { state, history } = this.#sources;
    const pair = pairNamed(state.tokens, name);
    if (pair === undefined) return undefined;
    const { base, quote } = pair;
    const span = spanOf(range, now);
    const points = new Map<Millis, { at: Millis; buy: string | null; sell: string | null }>();
    const add = (side: 'buy' | 'sell', at: Millis, price: string | undefined): void => {
      if (price === undefined) return;
      points.set(at, { ...points.get(at) ?? { at, buy: null, sell: null }, [side]: price });
    };
    const read = (input: Mint, output: Mint | typeof USD): readonly PricePoint[] =>
      history?.prices({ input, output }, { ...span, limit: POINTS_MAX }) ?? [];
    for (const point of read(base, quote)) add('sell', point.at, pricesOf(state.tokens, pair, point));
    if (quote !== USD) for (const { at, amountIn, amountOut } of read(quote, base))
      add('buy', at, priceText(state.tokens, { mint: base, amount: amountOut }, { mint: quote, amount: amountIn }));
    const latest = latestPrice(state, pair, now);
    if (latest !== undefined) add('sell', latest.at, latest.price);
    return {
      pair: name,
      points: [...points.values()].toSorted((a, b) => a.at - b.at).slice(-POINTS_MAX),
      fills: quote === USD ? [] : this.#fills(base, quote, span.from),
      levels: quote === USD ? [] : positionLevels(state, base, quote),
    };
  }

  /** Returns the prices of the last hour, up to now; empty for pairs beyond the first forty. */
  spark(pair: Pair, index: number, now: Millis, price: string | null): readonly number[] {
    if (index >= SPARKS_MAX || this.#sources.history === undefined) return [];
    let known = this.#sparks.get(pair.name);
    if (known === undefined || isOver(known, now)) {
      known = { at: now, points: this.#sparkOf(pair, now) };
      this.#sparks.set(pair.name, known);
    }
    return price === null ? known.points : [...known.points, rounded(price)];
  }

  /** Returns the profit of the usual spans: what equity has gained beyond what was paid in. */
  periods(now: Millis, equity: RunEquity | null, asOf: Millis): PagePeriod[] {
    const { state } = this.#sources;
    if (this.#bases === undefined || isOver(this.#bases, now) || this.#bases.day !== dayOf(now))
      this.#bases = { at: now, day: dayOf(now), list: this.#periodBases(now) };
    return this.#bases.list.map(({ period, currency, before, deposits, from }) => ({
      period, from, profit: equity === null || equity.mint !== currency ? null : {
        amount: pageAmount(state.tokens, currency, BigInt(equity.value) - deposits - before), as_of: asOf,
        is_known: equity.is_known, explanation: PERIOD_TEXT,
      } satisfies PageFigure,
    }));
  }

  #periodBases(now: Millis): PeriodBase[] {
    const read = (to: Millis): ReturnType<HistoryReads['equity']> =>
      this.#sources.history?.equity(ALL_STRATEGIES, { to, limit: 1 });
    const newest = read(now);
    const last = newest?.points.at(-1);
    if (newest === undefined || last === undefined) return [];
    const { currency } = newest;
    const first = this.#sources.history?.equity(ALL_STRATEGIES, { to: now, limit: POINTS_MAX })?.points[0]?.at ?? null;
    const starts: readonly (readonly [PagePeriod['period'], Millis])[] =
      [['today', dayOf(now) * DAY], ['7d', now - 7 * DAY], ['30d', now - 30 * DAY], ['all', -Infinity]];
    return starts.map(([period, start]) => {
      const earlier = start === -Infinity ? undefined : read(start);
      const point = earlier?.currency === currency ? earlier.points.at(-1) : undefined;
      return {
        period, currency, deposits: last.deposits, from: point?.at ?? first,
        before: point === undefined ? 0n : point.value - point.deposits,
      };
    });
  }

  #sparkOf(pair: Pair, now: Millis): readonly number[] {
    const { state: { tokens }, history } = this.#sources;
    const range = { ...spanOf('1h', now), limit: SPARK_POINTS };
    return (history?.prices({ input: pair.base, output: pair.quote }, range) ?? []).flatMap((point) => {
      const price = pricesOf(tokens, pair, point);
      return price === undefined ? [] : [rounded(price)];
    });
  }

  #fills(base: Mint, quote: Mint, from: Millis | undefined): PriceCurve['fills'] {
    const { state: { tokens }, journal } = this.#sources;
    const isOfPair = (input: string, output: string): boolean =>
      (input === base && output === quote) || (input === quote && output === base);
    return journal.listIntents({ state: 'confirmed', limit: FILLS_SEARCHED })
      .filter((one) => isOfPair(one.input_mint, one.output_mint) && one.created_at >= (from ?? -Infinity))
      .flatMap(({ intent_id: id }) => {
        const story = this.#storyOf(id);
        if (story === undefined || story.amount_out === null) return [];
        const isBuy = story.output_mint === base;
        const [paid, got] = [BigInt(story.amount_in), BigInt(story.amount_out)];
        const [amount, counter] = isBuy ? [got, paid] : [paid, got];
        const price = priceText(tokens, { mint: base, amount }, { mint: quote, amount: counter });
        return price === undefined ? [] : [{
          at: story.transitions.at(-1)?.at ?? story.created_at, strategy: story.strategy, price, intent_id: id,
          side: isBuy ? 'buy' as const : 'sell' as const, reason: story.reason,
          amount: formatDecimal(amount, tokens.byMint(base)?.decimals ?? 0),
        }];
      }).toSorted((a, b) => a.at - b.at);
  }

  #storyOf(id: string): IntentStory | undefined {
    const known = this.#stories.get(id) ?? this.#sources.journal.showIntent(id);
    if (known === undefined) return undefined;
    this.#stories.set(id, known);
    const [oldest] = this.#stories.keys();
    if (this.#stories.size > STORIES_KEPT && oldest !== undefined) this.#stories.delete(oldest);
    return known;
  }
}

/** Returns whether what was read at a time is read again; a clock that was set back ends it too. */
function isOver({ at }: { readonly at: Millis }, now: Millis): boolean {
  return now < at || now - at >= KEPT_MS;
}

/** Where the profit of a span begins. */
interface PeriodBase {
  readonly period: PagePeriod['period'];
  readonly currency: Mint;
  /** Equity less deposits at its start. */
  readonly before: bigint;
  readonly deposits: bigint;
  readonly from: Millis | null;
}

const PERIOD_TEXT = 'Equity now less equity at the start of the span, less what was paid in since, plus what was paid '
  + 'out. Where the history begins later, the span begins with it.';

function spanOf(range: PageRange, now: Millis): { readonly from: Millis | undefined; readonly to: Millis } {
  const from = now - SPANS[range];
  return { from: from === -Infinity ? undefined : from, to: now };
}

/** Returns the price in a sample of the sale of the first token. */
function pricesOf(tokens: TokenTable, { base, quote }: Pair, { amountIn, amountOut }: PricePoint): string | undefined {
  if (quote !== USD) return priceText(tokens, { mint: base, amount: amountIn }, { mint: quote, amount: amountOut });
  const decimals = tokens.byMint(base)?.decimals;
  return decimals === undefined || amountIn <= 0n ? undefined
    : formatDecimal(amountOut * 10n ** BigInt(decimals) / amountIn, USD_PLACES);
}

function rounded(price: string): number {
  return Number(Number(price).toPrecision(SPARK_DIGITS));
}
