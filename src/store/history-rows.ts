import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Prepare } from './database.ts';

/** The name of the equity of all strategies together. */
export const ALL_STRATEGIES = '';

/** The second token of a price in US dollars; its amounts are 10^-12 dollars. */
export const USD = 'USD';

/** The equity of a strategy, or of all together, at one instant. Amounts are smallest units of its currency. */
export interface EquitySample {
  /** `ALL_STRATEGIES` for all together. */
  readonly strategy: string;
  readonly currency: Mint;
  readonly value: bigint;
  /** What was given to trade with until then, less what was taken back. */
  readonly deposits: bigint;
  /** What the given tokens would be worth without a trade; undefined without a price. */
  readonly holding: bigint | undefined;
}

/** The price of a token in another: `amountIn` of the one gave `amountOut` of the other. */
export interface PriceSample {
  readonly input: Mint;
  readonly output: Mint | typeof USD;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** What one strategy was given to trade with, in the currency of all strategies together. */
export interface FundingRecord {
  readonly strategy: string;
  readonly currency: Mint;
  readonly mint: Mint;
  readonly amount: bigint;
  /** Its equity at the last sample: what leaves with it when it is removed. */
  readonly value: bigint;
}

/** All that is sampled at one instant. */
export interface HistorySample {
  readonly at: Millis;
  readonly equity: readonly EquitySample[];
  readonly prices: readonly PriceSample[];
  /** Replaces the kept one; undefined leaves it. */
  readonly funding?: readonly FundingRecord[] | undefined;
}

/** A range of samples; `from` undefined begins with the first. */
export interface HistoryRange {
  readonly from?: Millis | undefined;
  readonly to: Millis;
  /** The most points that are returned. */
  readonly limit: number;
}

/** What a series is about. */
export type SeriesKind = 'equity' | 'price';

/** The row of a series. */
export interface Series {
  readonly series: number;
  readonly first: string;
  readonly second: string;
}

/** The row of a sample. */
interface SampleRow {
  readonly at: Millis;
  readonly first: string;
  readonly second: string;
  readonly third: string | null;
}

const MINUTE: Millis = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far apart samples of each level are, and how long they are kept. */
const LEVELS: readonly { readonly stepMs: Millis; readonly keptMs: Millis }[] = [
  { stepMs: MINUTE, keptMs: 2 * DAY },
  { stepMs: 15 * MINUTE, keptMs: 30 * DAY },
  { stepMs: HOUR, keptMs: 3 * 365 * DAY },
];
const [MINUTES, QUARTERS, HOURS] = [0, 1, 2];

/** The bound of the file: about 70 bytes a sample, 140 MB. */
const SAMPLES_MOST = 2_000_000;
/** So many series that each keeps its hours for a month at least. */
const SERIES_MOST = 300;
const SAMPLES_BELOW_HOURS = LEVELS.slice(MINUTES, HOURS)
  .reduce((sum, { stepMs, keptMs }) => sum + keptMs / stepMs, 0);
const THIN_EVERY_MS = 15 * MINUTE;

/** What is remembered of a series: its last sample of each level. */
interface Known {
  readonly series: number;
  readonly last: number[];
}

/** The rows of a history, within the transactions of the caller. */
export class HistoryRows {
  readonly #prepare: Prepare;
  #known = new Map<string, Known>();
  #isLoaded = false;
  #thinnedAt = Number.NEGATIVE_INFINITY;

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /** Reads which series there are, before the first transaction that writes. */
  begin(): void {
    if (this.#isLoaded) return;
    const rows = this.#prepare('SELECT series, kind, first, second FROM series').all();
    this.#known = new Map(rows.map((row) => {
      const series = Number(row['series']);
      const last = LEVELS.map((_, level) => Number(
        this.#prepare('SELECT max(at) AS at FROM samples WHERE series = ? AND level = ?').get(series, level)?.['at']
          ?? Number.NEGATIVE_INFINITY,
      ));
      return [nameOf(String(row['kind']), String(row['first']), String(row['second'])), { series, last }];
    }));
    this.#isLoaded = true;
  }

  /** Writes a sample. After an error of the transaction these rows are not used again. */
  add({ at, equity, prices, funding }: HistorySample): void {
    for (const { strategy, currency, value, deposits, holding } of equity)
      this.#put('equity', [strategy, currency], [at, String(value), String(deposits), holding?.toString() ?? null]);
    for (const { input, output, amountIn, amountOut } of prices)
      this.#put('price', [input, output], [at, String(amountIn), String(amountOut), null]);
    if (funding !== undefined) this.#fund(funding);
    if (Math.abs(at - this.#thinnedAt) < THIN_EVERY_MS) return;
    this.#thin(at);
    this.#thinnedAt = at;
  }

  funding(): FundingRecord[] {
    return this.#prepare('SELECT * FROM funding').all().map((row) => ({
      strategy: String(row['strategy']), currency: String(row['currency']) as Mint, mint: String(row['mint']) as Mint,
      amount: BigInt(String(row['amount'])), value: BigInt(String(row['value'])),
    }));
  }

  #fund(funding: readonly FundingRecord[]): void {
    this.#prepare('DELETE FROM funding').run();
    for (const { strategy, currency, mint, amount, value } of funding)
      this.#prepare('INSERT INTO funding VALUES (?, ?, ?, ?, ?)')
        .run(strategy, currency, mint, String(amount), String(value));
  }

  #put(kind: SeriesKind, [first, second]: readonly [string, string], values: readonly [Millis, ...unknown[]]): void {
    const known = this.#seriesOf(kind, first, second, values[0]);
    if (known === undefined) return;
    const [at, ...rest] = values as [Millis, string, string, string | null];
    for (const [level, { stepMs }] of LEVELS.entries()) {
      if (Math.floor(known.last[level]! / stepMs) === Math.floor(at / stepMs)) continue;
      this.#prepare('INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?)').run(known.series, level, at, ...rest);
      known.last[level] = at;
    }
  }

  /** Returns a series, a new one where there is room for it. */
  #seriesOf(kind: SeriesKind, first: string, second: string, at: Millis): Known | undefined {
    const name = nameOf(kind, first, second);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size >= SERIES_MOST && !this.#forgetOldest(at)) return undefined;
    const { lastInsertRowid } = this.#prepare('INSERT INTO series (kind, first, second) VALUES (?, ?, ?)')
      .run(kind, first, second);
    const made = { series: Number(lastInsertRowid), last: LEVELS.map(() => Number.NEGATIVE_INFINITY) };
    this.#known.set(name, made);
    return made;
  }

  /** Removes the series without a sample for the longest time, where that is longer than minutes are kept. */
  #forgetOldest(at: Millis): boolean {
    const [oldest] = [...this.#known].toSorted(([, a], [, b]) => a.last[MINUTES]! - b.last[MINUTES]!);
    if (oldest === undefined || oldest[1].last[MINUTES]! > at - LEVELS[MINUTES]!.keptMs) return false;
    this.#remove(...oldest);
    return true;
  }

  #remove(name: string, { series }: Known): void {
    this.#prepare('DELETE FROM samples WHERE series = ?').run(series);
    this.#prepare('DELETE FROM series WHERE series = ?').run(series);
    this.#known.delete(name);
  }

  #thin(at: Millis): void {
    const hoursKept = (SAMPLES_MOST / this.#known.size - SAMPLES_BELOW_HOURS) * HOUR;
    for (const [name, known] of this.#known) {
      for (const [level, { keptMs }] of LEVELS.entries()) {
        const kept = level === HOURS ? Math.min(keptMs, hoursKept) : keptMs;
        this.#prepare('DELETE FROM samples WHERE series = ? AND level = ? AND at < ?')
          .run(known.series, level, Math.floor(at - kept));
      }
      if (known.last[HOURS]! < at - LEVELS[HOURS]!.keptMs) this.#remove(name, known);
    }
  }
}

function nameOf(kind: string, first: string, second: string): string {
  return `${kind} ${first} ${second}`;
}

/**
 * Returns at most `limit` samples of a series, oldest first, each the last of an equal part of the range: of the
 * coarsest level that has one for each part, and at the end the newest sample of all.
 */
export function readSeries(prepare: Prepare, series: number, { from, to, limit }: HistoryRange): SampleRow[] {
  const rowsOf = (level: number, begin: Millis): SampleRow[] =>
    prepare('SELECT at, first, second, third FROM samples WHERE series = ? AND level = ? AND at >= ? AND at <= ? '
      + 'ORDER BY at').all(series, level, begin, to) as unknown as SampleRow[];
  const firstOf = (level: number): Millis => Number(
    prepare('SELECT min(at) AS at FROM samples WHERE series = ? AND level = ?').get(series, level)?.['at'] ?? Infinity,
  );
  const newest = prepare('SELECT at, first, second, third FROM samples WHERE series = ? AND level = 0 AND at <= ? '
    + 'ORDER BY at DESC LIMIT 1').get(series, to) as SampleRow | undefined;
  const begin = Math.max(from ?? Number.NEGATIVE_INFINITY, firstOf(HOURS!));
  // A young history is shown in its own span.
  const end = Math.min(to, newest?.at ?? to);
  if (!Number.isFinite(begin) || begin > end) return [];
  const part = Math.max(1, Math.ceil((end - begin + 1) / Math.max(1, limit)));
  const level = [MINUTES, QUARTERS].find((each) =>
    part < LEVELS[each! + 1]!.stepMs && firstOf(each!) <= begin) ?? HOURS;
  const lasts = new Map<number, SampleRow>();
  for (const row of rowsOf(level!, Math.floor(begin))) lasts.set(Math.floor((row.at - begin) / part), row);
  if (newest !== undefined && newest.at >= begin) lasts.set(Math.floor((newest.at - begin) / part), newest);
  return [...lasts.values()];
}
