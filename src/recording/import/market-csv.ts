import type { Amount, Bps } from '../../core/amount.ts';
import { amount as toAmount, parseRaw, U64_MAX } from '../../core/amount.ts';
import { isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import type { FeedKey } from '../../market/event-base.ts';
import { feedKey } from '../../market/feed.ts';
import type { Quote } from '../../market/quote.ts';
import { rateOf } from '../../market/quote.ts';
import type { Mint, Pair, TokenAmount } from '../../market/token.ts';
import { mint } from '../../market/token.ts';
import type { CsvPlace, CsvRow } from './csv.ts';
import { csvError, readNumberCell, readTimeCell } from './csv.ts';
import type { ColumnMap, Field } from './market-csv-header.ts';
import { EXPECTED_COLUMNS, headerOf } from './market-csv-header.ts';

/** How candles become quotes. */
interface CandleMapping {
  readonly pair: Pair | undefined;
  /** The amounts that are quoted at each price, in a token of the pair. */
  readonly sizes: readonly TokenAmount[];
  /** The length of a candle. Default: the most frequent distance between candles. */
  readonly intervalMs?: Millis | undefined;
}

/** A span without candles: from the end of a candle to the time of the next one. */
interface MissingCandles {
  readonly from: Millis;
  readonly until: Millis;
}

/** The contents of a file; the quotes of candles are created while iterating. */
interface CsvMarket {
  readonly form: 'candles' | 'quotes';
  readonly quotes: Iterable<Quote>;
  /** The number of quotes. */
  readonly events: number;
  readonly startAt: Millis;
  readonly mints: ReadonlySet<Mint>;
  /** For candles: the length of one, and where they are missing. */
  readonly intervalMs?: Millis | undefined;
  readonly missing: readonly MissingCandles[];
}

interface Candle {
  readonly at: Millis;
  readonly close: number;
  readonly row: number;
}

const FIRST_RECORDABLE: Millis = Date.parse('0000-01-01T00:00:00Z');
const END_OF_RECORDABLE: Millis = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/**
 * Reads quotes, or candles as quotes, from CSV rows. A candle becomes quotes of its close at its end: its time plus the
 * interval, but at most the time of the next candle. Open, high and low are checked and not used. Throws CSV_INVALID
 * with file and row for times that go backwards, duplicate candles and quotes, prices and amounts of zero, and
 * unreadable cells.
 */
export async function readMarketCsv(
  rows: AsyncIterable<CsvRow>, { map, ...mapping }: CandleMapping & { readonly map: ColumnMap },
): Promise<CsvMarket> {
  const quotes: Quote[] = [];
  const candles: Candle[] = [];
  const shared = createSharedTexts();
  let header: readonly (Field | undefined)[] | undefined;
  let place: CsvRow | undefined;
  let before = -Infinity;
  /** The row of each feed at the present time: a second one would contradict it. */
  const rowsOfInstant = new Map<string, number>();
  for await (const row of rows) {
    place = row;
    if (header === undefined) {
      header = headerOf(row, map);
      if (header.includes('close') && mapping.pair === undefined)
        throw csvError(row, 'candles say nothing of what is traded: name it with --pair, such as --pair SOL/USDC');
      continue;
    }
    const values = cellsOf(row, header);
    const at = timeOf(row, values, before);
    const isCandle = values.has('close');
    if (at < before || (isCandle && at === before))
      throw csvError({ ...row, column: 'time' }, `time ${at < before ? 'goes backwards' : 'is there twice'}: `
        + `${printable(values.get('time')!, 40)} comes after ${new Date(before).toISOString()}`);
    if (at > before) rowsOfInstant.clear();
    before = at;
    if (isCandle) {
      candles.push({ at, close: closeOf(row, values), row: row.row });
      continue;
    }
    const read = quoteOf(row, values, { at, shared });
    const other = rowsOfInstant.get(read.feed);
    if (other !== undefined)
      throw csvError(row, `${read.inAmount} of ${read.inputMint} to ${read.outputMint} is quoted twice at `
        + `${new Date(at).toISOString()}, also in row ${other}: keep one of them`);
    rowsOfInstant.set(read.feed, row.row);
    quotes.push(read);
  }
  if (place === undefined || (quotes.length === 0 && candles.length === 0)) throw csvError(
    place ?? { file: 'the file', row: 1 }, `${EXPECTED_COLUMNS}, found ${place === undefined ? 'nothing' : 'no rows'}`,
  );
  if (candles.length > 0) return candleMarket(candles, { file: place.file, ...mapping });
  const mints = new Set<Mint>();
  for (const { inputMint, outputMint } of quotes) mints.add(inputMint).add(outputMint);
  return { form: 'quotes', quotes, events: quotes.length, startAt: quotes[0]!.receivedAt, mints, missing: [] };
}

function cellsOf(row: CsvRow, header: readonly (Field | undefined)[]): ReadonlyMap<Field, string> {
  if (row.cells.length !== header.length)
    throw csvError(row, `expected ${header.length} cells as in the header, got ${row.cells.length}`);
  return new Map(header.flatMap((field, index) => (field === undefined ? [] : [[field, row.cells[index]!] as const])));
}

function timeOf(row: CsvRow, values: ReadonlyMap<Field, string>, before: Millis): Millis {
  return recordable(
    Math.floor(readTimeCell(values.get('time')!, { ...row, column: 'time' }, before === -Infinity)), row,
  );
}

/** Segments are named by their hour in ISO 8601, whose years have four digits. */
function recordable(at: Millis, row: CsvPlace): Millis {
  if (at >= FIRST_RECORDABLE && at < END_OF_RECORDABLE) return at;
  throw csvError(
    { ...row, column: 'time' }, `expected a time in the years 0 to 9999, got ${new Date(at).toISOString()}`,
  );
}

function closeOf(row: CsvRow, values: ReadonlyMap<Field, string>): number {
  const [open, high, low, close] = (['open', 'high', 'low', 'close'] as const).map((column) => {
    const value = readNumberCell(values.get(column)!, { ...row, column });
    if (value <= 0) throw csvError({ ...row, column }, `expected a price above 0 for ${column}, got ${value}`);
    return value;
  }) as [number, number, number, number];
  if (low > Math.min(open, close) || high < Math.max(open, close)) throw csvError(
    row, `expected low <= open, close <= high, got open ${open}, high ${high}, low ${low}, close ${close}`,
  );
  const volume = values.get('volume');
  if (volume !== undefined && volume !== '' && readNumberCell(volume, { ...row, column: 'volume' }) < 0)
    throw csvError({ ...row, column: 'volume' }, `expected a volume of 0 or more, got ${volume}`);
  return close;
}

function quoteOf(
  row: CsvRow, values: ReadonlyMap<Field, string>,
  { at, shared }: { readonly at: Millis; readonly shared: SharedTexts },
): Quote {
  const [inputMint, outputMint] =
    [shared(mintOf(row, values, 'input_mint')), shared(mintOf(row, values, 'output_mint'))];
  if (inputMint === outputMint) throw csvError(row, 'expected two different mints');
  const inAmount = amountOf(row, values, 'in_amount');
  return quote({
    at, inputMint, outputMint, inAmount, outAmount: amountOf(row, values, 'out_amount'),
    feed: shared(feedOf({ inputMint, outputMint, inAmount })),
  });
}

/** Returns one copy of equal texts, so that millions of quotes share their mints and feeds. */
type SharedTexts = <T extends string>(text: T) => T;

function createSharedTexts(): SharedTexts {
  const known = new Map<string, string>();
  return <T extends string>(text: T): T => {
    const before = known.get(text);
    if (before !== undefined) return before as T;
    known.set(text, text);
    return text;
  };
}

function mintOf(row: CsvRow, values: ReadonlyMap<Field, string>, column: 'input_mint' | 'output_mint'): Mint {
  try {
    return mint(values.get(column)!);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    throw csvError({ ...row, column }, error.message);
  }
}

/** Whole numbers in the token's smallest units. */
function amountOf(row: CsvRow, values: ReadonlyMap<Field, string>, column: 'in_amount' | 'out_amount'): Amount {
  const text = values.get(column)!;
  const expected = `expected a whole number of smallest units from 1 to ${U64_MAX} for ${column}, `
    + `got ${text === '' ? 'nothing' : printable(text, 40)}`;
  try {
    const value = parseRaw(text);
    if (value > 0n) return value;
  } catch (error) {
    if (!isGannetError(error)) throw error;
  }
  throw csvError({ ...row, column }, expected);
}

/**
 * Prices are quote tokens for one base token. All errors are found here: an error while writing would leave a part of
 * the file.
 */
function candleMarket(
  candles: readonly Candle[], { file, pair, sizes, intervalMs: given }: CandleMapping & { readonly file: string },
): CsvMarket {
  const { base, quote: counter } = pair!;
  const usual = usualSpacing(candles);
  const intervalMs = given ?? usual;
  if (intervalMs === undefined) throw csvError({ file, row: candles[0]!.row }, 'one candle does not say when it ends: '
    + 'name how long it lasts with --interval, such as --interval 1h, or give at least two candles');
  if (usual !== undefined && usual < intervalMs)
    throw csvError({ file, row: candles[1]!.row }, `candles are mostly ${shortDuration(usual)} apart, and --interval `
      + `says that one lasts ${shortDuration(intervalMs)}: expected at most that`);
  const endOf = (index: number): Millis =>
    Math.min(candles[index]!.at + intervalMs, candles[index + 1]?.at ?? Infinity);
  recordable(endOf(candles.length - 1), { file, row: candles.at(-1)!.row });
  const ladder = sizes.map(({ token, amount: size }) => {
    const amount = toAmount(size);
    const buys = token.mint === counter.mint;
    const perClose = buys ? 10 ** (base.decimals - counter.decimals) : 10 ** (counter.decimals - base.decimals);
    const ends = { inputMint: token.mint, outputMint: buys ? base.mint : counter.mint, inAmount: amount };
    return { symbol: token.symbol, ends: { ...ends, feed: feedOf(ends) }, out: (close: number) =>
      Math.floor(Number(amount) * (buys ? perClose / close : close * perClose)) };
  });
  for (const { close, row } of candles) {
    for (const { symbol, ends, out } of ladder) {
      const brought = out(close);
      if (!(brought >= 1 && brought < 2 ** 64))
        throw csvError({ file, row }, `at a price of ${close}, ${ends.inAmount} smallest units of ${symbol} bring `
          + `${brought}: choose another --size, or check --pair and the decimals`);
    }
  }
  return {
    form: 'candles', events: candles.length * ladder.length, startAt: endOf(0), intervalMs,
    missing: missingCandles(candles, endOf),
    mints: new Set(ladder.flatMap(({ ends: { inputMint, outputMint } }) => [inputMint, outputMint])),
    quotes: {
      *[Symbol.iterator]() {
        for (const [index, { close }] of candles.entries()) {
          const at = endOf(index);
          for (const { ends, out } of ladder) yield quote({ at, ...ends, outAmount: BigInt(out(close)) as Amount });
        }
      },
    },
  };
}

/**
 * Returns the most frequent distance between candles, of equally frequent ones the shorter; undefined for a single
 * candle.
 */
function usualSpacing(candles: readonly Candle[]): Millis | undefined {
  const counts = new Map<Millis, number>();
  for (let index = 1; index < candles.length; index++) {
    const spacing = candles[index]!.at - candles[index - 1]!.at;
    counts.set(spacing, (counts.get(spacing) ?? 0) + 1);
  }
  const [most] = [...counts].toSorted(([a, ofA], [b, ofB]) => ofB - ofA || a - b);
  return most?.[0];
}

function missingCandles(candles: readonly Candle[], endOf: (index: number) => Millis): MissingCandles[] {
  return candles.slice(1).map(({ at: until }, index): MissingCandles => ({ from: endOf(index), until }))
    .filter(({ from, until }) => until > from);
}

function feedOf({ inputMint, outputMint, inAmount }: Pick<Quote, 'inputMint' | 'outputMint' | 'inAmount'>): FeedKey {
  return feedKey({ kind: 'quote', inputMint, outputMint, amount: inAmount, everyMs: 1 });
}

function quote({
  at, ...ends
}: { readonly at: Millis } & Pick<Quote, 'feed' | 'inputMint' | 'outputMint' | 'inAmount' | 'outAmount'>): Quote {
  const { inAmount, outAmount } = ends;
  return {
    kind: 'quote', ...ends, receivedAt: at, threshold: outAmount, router: 'import', feeBps: 0 as Bps,
    rate: rateOf(inAmount, outAmount),
  };
}
