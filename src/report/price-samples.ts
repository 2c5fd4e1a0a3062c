import type { DecisionRates, RecordedPrices, Silences } from './report-input.ts';
import type { MeasuredRun } from '../research/trials/measured-run.ts';
import type { InstrumentRecord, RunRecord } from '../backtest/record/run-record.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { mintsOf } from '../market/feeds/registry.ts';
import type { Quote } from '../market/quote.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import type { Recording } from '../recording/reader.ts';
import { MARKET_KINDS } from '../recording/format.ts';
import type { Intent } from '../trading/intent.ts';
import { showAmount } from '../market/market-text.ts';
import { watchGroups } from '../recording/check/silence.ts';
import type { RoundTrip } from '../research/metrics/round-trips.ts';
import { roundTrips } from '../research/metrics/round-trips.ts';
import { amountText } from '../research/metrics/value-text.ts';
import { tradeFills } from '../research/metrics/run-figures.ts';

/** The group of all feeds; no mint is empty. */
const ALL = '';

/** What a report shows of the recording itself. */
interface RecordingSamples {
  readonly silences: Silences;
  readonly prices: ReadonlyMap<string, RecordedPrices>;
  readonly decisionRates: DecisionRates;
}

/**
 * Reads a recording once, and returns its gaps, its prices within the windows of a run's swaps, and the rates quoted at
 * the decisions.
 */
export function sampleRecording(recording: Recording, { run: { record, result }, tokens, currency }: {
  readonly run: MeasuredRun; readonly tokens: TokenTable; readonly currency: Token;
}): RecordingSamples {
  // Where a recording has quotes, only they fill gaps in prices; token statistics and order books do not.
  const hasQuotes = recording.kinds.includes('quote');
  const silences = watchGroups(groupsOf);
  const collectors = record.instruments.flatMap(({ symbol }) => {
    const token = tokens.bySymbol(symbol);
    const windows = swapWindows(record, { symbol });
    return token === undefined || windows.length === 0 ? []
      : [priceCollector({ feeds: recording.feeds, record, tokens, token, currency, windows })];
  });
  const rates = decisionCollector(result.fills.map(({ intent }) => intent));
  const cursor = recording.cursor({ kinds: hasQuotes ? ['quote'] : MARKET_KINDS });
  while (cursor.next()) {
    const { input, at } = cursor;
    if (!('feed' in input)) continue;
    silences.hear(input, at);
    if (input.kind !== 'quote') continue;
    rates.take(input, at);
    for (const collector of collectors) collector.take(input, at);
  }
  return {
    silences: { all: silences.silences(ALL), bySymbol: new Map(tokens.all.map(({ mint, symbol }) =>
      [symbol, silences.silences(mint)])) },
    prices: new Map(collectors.flatMap(({ symbol, prices }) => {
      const known = prices();
      return known === undefined ? [] : [[symbol, known] as const];
    })),
    decisionRates: rates.done(),
  };
}

/** Returns the groups of feeds that an event belongs to. */
function groupsOf(event: MarketEvent): readonly string[] {
  return event.kind === 'feed-health' ? [ALL] : [ALL, ...mintsOf(event)];
}

/**
 * Returns a collector of the last quoted rate before each decision. Quotes are many more than decisions, so that it
 * only keeps the last quote of each pair until the next decision.
 */
function decisionCollector(
  intents: readonly Intent[],
): { readonly take: (quote: Quote, at: Millis) => void; readonly done: () => DecisionRates } {
  const waiting = intents.toSorted((a, b) => a.createdAt - b.createdAt);
  const known = new Map<string, number>();
  const byFeed = new Map<string, { last: Quote }>();
  const byPair = new Map<string, { last: Quote }>();
  let next = 0;
  const decideBefore = (at: Millis): void => {
    for (; next < waiting.length && waiting[next]!.createdAt < at; next++) {
      const { id, inputMint, outputMint } = waiting[next]!;
      const quote = byPair.get(pairKey(inputMint, outputMint))?.last;
      if (quote === undefined || quote.inAmount <= 0n || quote.outAmount <= 0n) continue;
      const rate = Number(quote.outAmount) / Number(quote.inAmount);
      known.set(id, quote.inputMint === inputMint ? rate : 1 / rate);
    }
  };
  return {
    take(quote, at) {
      if (next < waiting.length && waiting[next]!.createdAt < at) decideBefore(at);
      const pair = byFeed.get(quote.feed);
      if (pair !== undefined) {
        pair.last = quote;
        return;
      }
      const key = pairKey(quote.inputMint, quote.outputMint);
      const own = byPair.get(key) ?? { last: quote };
      own.last = quote;
      byPair.set(key, own);
      byFeed.set(quote.feed, own);
    },
    done() {
      decideBefore(Infinity);
      return known;
    },
  };
}

/** The same for both directions. */
function pairKey(one: Mint, other: Mint): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

interface PriceCollector {
  readonly symbol: string;
  take(quote: Quote, at: Millis): void;
  readonly prices: () => RecordedPrices | undefined;
}

/** Returns a collector of prices from one feed per direction, the one whose size is nearest to that of the swaps. */
function priceCollector({ feeds, record, tokens, token, currency, windows }: {
  readonly feeds: readonly string[]; readonly record: RunRecord; readonly tokens: TokenTable; readonly token: Token;
  readonly currency: Token; readonly windows: readonly SwapWindow[];
}): PriceCollector {
  const sizes = (input: string): number[] =>
    record.fills.filter((fill) => fill.input === input && (fill.input === token.symbol || fill.output === token.symbol))
      .map(({ amountIn }) => Number(amountIn));
  const [buy, sell] = [
    nearestFeed(feeds, { from: currency, to: token, sizes: sizes(currency.symbol) }),
    nearestFeed(feeds, { from: token, to: currency, sizes: sizes(token.symbol) }),
  ];
  const times: Millis[] = [];
  const columns = { buy: [] as (number | null)[], sell: [] as (number | null)[] };
  let [asked, bid]: [number | null, number | null] = [null, null];
  return {
    symbol: token.symbol,
    take({ feed, inAmount, outAmount }, at) {
      if (feed !== buy?.feed && feed !== sell?.feed) return;
      if (inAmount <= 0n || outAmount <= 0n) return;
      if (feed === buy?.feed) asked = whole(inAmount, currency) / whole(outAmount, token);
      else bid = whole(outAmount, currency) / whole(inAmount, token);
      if (!windows.some(({ from, until }) => at >= from && at <= until)) return;
      if (times.at(-1) !== at) times.push(at);
      columns.buy[times.length - 1] = asked;
      columns.sell[times.length - 1] = bid;
    },
    prices() {
      if (times.length === 0) return undefined;
      const sides = [
        ...(buy === undefined ? [] : [{
          label: 'a purchase takes', values: columns.buy,
          of: `${showAmount(tokens, currency.mint, buy.amount)} into ${token.symbol}`,
        }]),
        ...(sell === undefined ? [] : [{
          label: 'a sale brings', values: columns.sell,
          of: `${showAmount(tokens, token.mint, sell.amount)} into ${currency.symbol}`,
        }]),
      ];
      return { times, lines: sides, source: `As recorded: ${sides.map(({ of }) => of).join(', and ')}.` };
    },
  };
}

function nearestFeed(feeds: readonly string[], { from, to, sizes }: {
  readonly from: Token; readonly to: Token; readonly sizes: readonly number[];
}): { readonly feed: string; readonly amount: bigint } | undefined {
  const beginning = `quote:${from.mint}:${to.mint}:`;
  const known = feeds.filter((feed) => feed.startsWith(beginning))
    .map((feed) => ({ feed, amount: BigInt(feed.slice(beginning.length)) }));
  const usual = sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length / 2)];
  const distance = ({ amount }: { readonly amount: bigint }): number =>
    (usual === undefined ? Number(amount) : Math.abs(Math.log(Number(amount) / usual)));
  return known.toSorted((a, b) => distance(a) - distance(b))[0];
}

function whole(amount: bigint, { decimals }: Token): number {
  return Number(amount) / 10 ** decimals;
}

/** A span of a run that a chart of its own shows. */
export interface SwapWindow {
  readonly title: string;
  readonly from: Millis;
  readonly until: Millis;
}

/** The most swaps that one chart can show separately. */
const MOST_MARKS = 40;
const MOST_INSTRUMENTS = 4;
const LEAST_ROOM_MS = 600_000;

/**
 * Returns the windows that show an instrument's swaps: the last swaps, and the trades with the largest loss and
 * gain. Empty where one chart can show all swaps.
 */
export function swapWindows(record: RunRecord, { symbol }: Pick<InstrumentRecord, 'symbol'>): SwapWindow[] {
  const { fills, times, instruments, currency } = record;
  const swaps = fills.filter(({ input, output }) => input === symbol || output === symbol);
  const [begin, end] = [times[0], times.at(-1)];
  if (swaps.length <= MOST_MARKS || instruments.length > MOST_INSTRUMENTS || begin === undefined || end === undefined)
    return [];
  const around = (title: string, from: Millis, until: Millis, room: Millis): SwapWindow =>
    ({ title, from: Math.max(begin, from - room), until: Math.min(end, until + room) });
  const [first, last] = [swaps.at(-MOST_MARKS)!, swaps.at(-1)!];
  const trips = roundTrips(tradeFills(record)).trips.filter(({ instrument }) => instrument.startsWith(`${symbol} of `));
  const ofTrip = (title: string, { openedAt, closedAt }: RoundTrip): SwapWindow =>
    around(title, openedAt, closedAt, Math.max(LEAST_ROOM_MS, 2 * (closedAt - openedAt)));
  const byProfit = trips.toSorted((a, b) => a.profit - b.profit);
  const [worst, best] = [byProfit[0], byProfit.at(-1)];
  return [
    around(`the last ${MOST_MARKS} swaps`, first.at, last.at, (last.at - first.at) / 50),
    ...(worst === undefined || worst === best ? []
      : [ofTrip(`the worst trade, ${amountText(worst.profit)} ${currency}`, worst)]),
    ...(best === undefined ? [] : [ofTrip(`the best trade, ${amountText(best.profit)} ${currency}`, best)]),
  ];
}
