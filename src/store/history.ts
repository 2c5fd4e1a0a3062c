import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { GannetError, messageOf } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { DatabaseKind, Prepare, Transactor } from './database.ts';
import { BUSY_TIMEOUT_MS, FORMAT_TABLE, createTransactor, openFault, pragma } from './database.ts';
import type {
  EquitySample, FundingRecord, HistoryRange, HistorySample, PriceSample, Series, SeriesKind,
} from './history-rows.ts';
import { HistoryRows, readSeries } from './history-rows.ts';
import { isBroken, openSpareDatabase } from './spare-database.ts';

export type { EquitySample, FundingRecord, PriceSample } from './history-rows.ts';
export { ALL_STRATEGIES, USD } from './history-rows.ts';

/** A series of equity, oldest first. */
interface EquitySeries {
  readonly currency: Mint;
  readonly points: readonly (Pick<EquitySample, 'value' | 'deposits' | 'holding'> & { readonly at: Millis })[];
}

/** A price at an instant. */
export type PricePoint = Pick<PriceSample, 'amountIn' | 'amountOut'> & { readonly at: Millis };

/** The reads of a history. */
export interface HistoryReads {
  /** Returns the equity of a strategy in its newest currency; undefined where none was sampled. */
  equity(strategy: string, range: HistoryRange): EquitySeries | undefined;
  /** Returns the prices of one token in another, oldest first. */
  prices(pair: Pick<PriceSample, 'input' | 'output'>, range: HistoryRange): readonly PricePoint[];
  /** Returns the newest price of each pair. */
  lastPrices(): readonly (PriceSample & { readonly at: Millis })[];
}

/**
 * Durable samples of equity and prices, for people: nothing that trades reads them. Minutes are kept for two days,
 * quarter hours for 30 days, then hours, at most 2,000,000 samples in all.
 */
export interface HistoryStore extends HistoryReads {
  /** Keeps a sample, where the disk takes it. */
  add(sample: HistorySample): void;
  funding(): readonly FundingRecord[];
  close(): void;
}

const FIRST_FORMAT = `${FORMAT_TABLE}
CREATE TABLE series (
  series INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('equity', 'price')),
  -- Equity: the strategy, empty for all. A price: the mint of the amount in.
  first TEXT NOT NULL,
  -- Equity: the mint of the currency. A price: the mint of the amount out, or USD.
  second TEXT NOT NULL,
  UNIQUE (kind, first, second)
) STRICT;

-- Amounts are decimal strings: SQLite's integers end at 2^63 - 1.
CREATE TABLE samples (
  series INTEGER NOT NULL,
  -- 0 minutes, 1 quarter hours, 2 hours.
  level INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- Equity: its value, the deposits, the value of holding the start. A price: the amounts in and out.
  first TEXT NOT NULL,
  second TEXT NOT NULL,
  third TEXT,
  PRIMARY KEY (series, level, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE funding (
  strategy TEXT PRIMARY KEY,
  currency TEXT NOT NULL,
  mint TEXT NOT NULL,
  amount TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
`;

/** The kind of file of the history ("GNHI"). */
export const HISTORY: DatabaseKind = {
  name: 'history',
  applicationId: 0x47_4e_48_49,
  migrations: [FIRST_FORMAT],
  since: '0.2.0',
  codes: { invalid: 'HISTORY_INVALID', failed: 'HISTORY_FAILED' },
  remedy: 'it is set aside, and another one begins',
  // Trading waits meanwhile, and a sample is not worth that.
  busyTimeoutMs: 100,
};

/**
 * Opens the history at a path, and creates it where it is missing. Neither this nor its methods throw on a fault of the
 * file or the disk: a broken file is set aside and another begins; without room samples are left out until there is
 * room. `onFault` gets one message for each series of faults.
 */
export function openHistory({ path, onFault }: {
  readonly path: string; readonly onFault: (message: string) => void;
}): HistoryStore {
  return new History(path, onFault);
}

interface Opened {
  readonly transactor: Transactor;
  readonly rows: HistoryRows;
}

class History implements HistoryStore {
  readonly #path: string;
  readonly #onFault: (message: string) => void;
  #opened: Opened | undefined;
  #isFaulty = false;
  #isClosed = false;

  constructor(path: string, onFault: (message: string) => void) {
    this.#path = path;
    this.#onFault = onFault;
  }

  add(sample: HistorySample): void {
    this.#attempt(({ transactor, rows }) => {
      rows.begin();
      transactor.commit(() => { rows.add(sample); });
      this.#isFaulty = false;
    }, undefined, true);
  }

  funding(): readonly FundingRecord[] {
    return this.#attempt(({ transactor, rows }) => transactor.read(() => rows.funding()), [], true);
  }

  equity(strategy: string, range: HistoryRange): EquitySeries | undefined {
    return this.#attempt(({ transactor }) => readsOf(transactor).equity(strategy, range), undefined);
  }

  prices(pair: Pick<PriceSample, 'input' | 'output'>, range: HistoryRange): readonly PricePoint[] {
    return this.#attempt(({ transactor }) => readsOf(transactor).prices(pair, range), []);
  }

  lastPrices(): readonly (PriceSample & { readonly at: Millis })[] {
    return this.#attempt(({ transactor }) => readsOf(transactor).lastPrices(), []);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  /** Does the work on the open file. Only samples, and what they begin with, open it: the page reads often. */
  #attempt<T>(work: (opened: Opened) => T, otherwise: T, isOpening = false): T {
    if (this.#isClosed || (this.#opened === undefined && !isOpening)) return otherwise;
    try {
      this.#opened ??= this.#open();
      return work(this.#opened);
    } catch (error) {
      if (isBroken(error, HISTORY)) this.#drop();
      // What the rows remember of a transaction that was rolled back is not in the file.
      else if (this.#opened !== undefined) this.#opened = withNewRows(this.#opened.transactor);
      this.#fault(`the history of equity and prices cannot be kept: ${messageOf(error)}`);
      return otherwise;
    }
  }

  #open(): Opened {
    return withNewRows(openSpareDatabase(this.#path, HISTORY, (aside) => {
      this.#fault(`the history of equity and prices was broken: it is now ${aside}, and another one has begun`);
    }));
  }

  #drop(): void {
    try {
      this.#opened?.transactor.close();
    } catch (error) {
      this.#fault(`the history of equity and prices cannot be closed: ${messageOf(error)}`);
    }
    this.#opened = undefined;
  }

  #fault(message: string): void {
    if (!this.#isFaulty) this.#onFault(message);
    this.#isFaulty = true;
  }
}

function withNewRows(transactor: Transactor): Opened {
  return { transactor, rows: new HistoryRows(transactor.prepare) };
}

/**
 * Opens a history for reading while another process may write it; undefined without one. Throws HISTORY_INVALID on
 * another file or format, and HISTORY_FAILED where it cannot be read.
 */
export function openHistoryReader(path: string): (HistoryReads & { readonly close: () => void }) | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    if (pragma(database, 'application_id') !== HISTORY.applicationId
        || pragma(database, 'user_version') !== HISTORY.migrations.length) {
      throw new GannetError('HISTORY_INVALID', `${path}: expected a Gannet history of format ${
        HISTORY.migrations.length}, found another file`, { details: { path } });
    }
    const transactor = createTransactor(database, path, HISTORY);
    return { ...readsOf(transactor), close: transactor.close };
  } catch (cause) {
    database?.close();
    throw openFault(path, HISTORY, cause);
  }
}

function readsOf({ prepare, read }: Transactor): HistoryReads {
  return {
    equity: (strategy, range) => read(() => {
      const all = named(prepare, 'equity').filter(({ first }) => first === strategy);
      const newest = all.map((series) => ({ series, at: lastAt(prepare, series) }))
        .toSorted((a, b) => b.at - a.at)[0]?.series;
      if (newest === undefined) return undefined;
      const points = readSeries(prepare, newest.series, range).map(({ at, first, second, third }) => ({
        at, value: BigInt(first), deposits: BigInt(second), holding: third === null ? undefined : BigInt(third),
      }));
      return { currency: newest.second as Mint, points };
    }),
    prices: ({ input, output }, range) => read(() => {
      const series = named(prepare, 'price').find(({ first, second }) => first === input && second === output);
      return series === undefined ? [] : readSeries(prepare, series.series, range)
        .map(({ at, first, second }) => ({ at, amountIn: BigInt(first), amountOut: BigInt(second) }));
    }),
    lastPrices: () => read(() => named(prepare, 'price').flatMap(({ series, first, second }) => {
      const row = prepare('SELECT * FROM samples WHERE series = ? AND level = 2 ORDER BY at DESC LIMIT 1').get(series);
      const newer = prepare('SELECT * FROM samples WHERE series = ? AND level = 0 ORDER BY at DESC LIMIT 1')
        .get(series) ?? row;
      return newer === undefined ? [] : [{
        input: first as Mint, output: second as Mint, at: Number(newer['at']),
        amountIn: BigInt(String(newer['first'])), amountOut: BigInt(String(newer['second'])),
      }];
    })),
  };
}

function named(prepare: Prepare, kind: SeriesKind): Series[] {
  return prepare('SELECT series, first, second FROM series WHERE kind = ?').all(kind) as unknown as Series[];
}

function lastAt(prepare: Prepare, { series }: Series): Millis {
  const row = prepare('SELECT max(at) AS at FROM samples WHERE series = ? AND level = 2').get(series);
  return Number(row?.['at'] ?? 0);
}
