import { DatabaseSync } from 'node:sqlite';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parseJson, stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import { OPEN_STATES, TERMINAL_STATES } from '../trading/intent.ts';
import type { Prepare, Transactor } from './database.ts';
import { BUSY_TIMEOUT_MS, createTransactor, pragma } from './database.ts';
import type { IntentRow } from './journal-rows.ts';
import { JOURNAL, JOURNAL_APPLICATION_ID, JOURNAL_FORMAT } from './journal-schema.ts';

/** A row of `fill_values`. */
export type ValuesRow = Readonly<Record<string, string | number | null>>;

/** The row of an intent with its number: the newest has the highest. */
export type NumberedIntent = IntentRow & { readonly number: number };

/** A finished intent as a packed record: its row, its end, and what it was worth. */
export interface PackedSwap {
  readonly intent: NumberedIntent;
  /** The number of the transition that ended it. */
  readonly transition: number;
  readonly attempt: number;
  readonly at: Millis;
  readonly outcome: string;
  readonly values: ValuesRow | null;
}

/** Packed records in one row, with what is needed to find them. */
interface PackedRow {
  readonly first_number: number;
  readonly last_number: number;
  readonly records: Uint8Array;
}

/** Finished intents that were packed; each function works within the transaction of the caller. */
interface PackedSwaps {
  /**
   * Returns packed records that ended after number `after`, oldest first: at least `limit` of them, or all. The result
   * is complete up to number `until`.
   */
  after(options: { readonly after: number; readonly limit: number }): {
    readonly swaps: readonly PackedSwap[]; readonly until: number;
  };
  /** Returns packed records that `isWanted` takes, newest first: at most `limit`, and none below the number `from`. */
  newest(options: {
    readonly isWanted: (swap: PackedSwap) => boolean; readonly limit: number; readonly from: number;
  }): readonly PackedSwap[];
  /** Returns a packed intent, undefined where there is none of this name. */
  find(intentId: string): PackedSwap | undefined;
}

/** Returns the packed records of a journal of the present format. */
export function createPackedSwaps(prepare: Prepare): PackedSwaps {
  return {
    after: ({ after, limit }) => {
      const rows = prepare(`SELECT first_number, last_number, records FROM packed_swaps WHERE last_number > ?
        ORDER BY first_number`).iterate(after) as Iterable<unknown> as Iterable<PackedRow>;
      const swaps: PackedSwap[] = [];
      for (const row of rows) {
        // The rows before this one hold everything up to here.
        const until = row.first_number - 1;
        if (swaps.length >= limit && swaps.filter(({ transition }) => transition <= until).length >= limit)
          return { swaps: inOrder(swaps, until), until };
        swaps.push(...unpacked(row).filter(({ transition }) => transition > after));
      }
      return { swaps: inOrder(swaps, Infinity), until: Infinity };
    },
    newest: ({ isWanted, limit, from }) => {
      const rows = prepare('SELECT records FROM packed_swaps ORDER BY first_number DESC')
        .iterate() as Iterable<unknown> as Iterable<PackedRow>;
      const swaps: PackedSwap[] = [];
      for (const row of rows) {
        const isEnough = swaps.length >= limit;
        const own = unpacked(row).filter(({ intent }) => intent.number >= from);
        swaps.push(...own.filter(isWanted));
        // Swaps end in about the order in which they began: one row more holds what began late.
        if (isEnough || own.length === 0) break;
      }
      return swaps.sort((a, b) => b.intent.number - a.intent.number).slice(0, limit);
    },
    find: (intentId) => {
      const { strategy, count } = placeOf(intentId);
      const rows = prepare(`SELECT records FROM packed_swaps, json_each(strategies) AS span
        WHERE span.key = ?1 AND json_extract(span.value, '$[0]') <= ?2 AND json_extract(span.value, '$[1]') >= ?2`)
        .all(strategy, count) as unknown as PackedRow[];
      for (const row of rows) {
        const found = unpacked(row).find(({ intent }) => intent.intent_id === intentId);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

function inOrder(swaps: readonly PackedSwap[], until: number): PackedSwap[] {
  return swaps.filter(({ transition }) => transition <= until).sort((a, b) => a.transition - b.transition);
}

function unpacked({ records }: Pick<PackedRow, 'records'>): PackedSwap[] {
  return parseJson(zstdDecompressSync(records).toString('utf8')) as unknown as PackedSwap[];
}

/** An intent's id is the name of its strategy and a count. */
function placeOf(intentId: string): { readonly strategy: string; readonly count: number } {
  const dash = intentId.lastIndexOf('-');
  return { strategy: intentId.slice(0, dash), count: Number(intentId.slice(dash + 1)) };
}

const quoted = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ');

/** The swaps in a row: more compress better, fewer take less time at once. */
const SWAPS_IN_ROW = 100;
/** The newest intents stay as they are, because people ask for them most. */
const KEPT_WHOLE = 1_000;
/** Orders of people are found by their key for as long as the journal exists, so that none is made twice. */
const KEY_OF_ORDERS = 'order.*';

/**
 * Finished intents that nothing but profit, tax file and people need any more. No row is packed that holds the last
 * number of its table, from which the extent of the journal is known; none that ended after the beginning of an open
 * intent, whose balance is explained by it; and not the last landed swap, at which the wallet's history is continued.
 */
const FINISHED = `
  FROM transitions JOIN intents ON intents.intent_id = transitions.intent_id AND intents.state = transitions.state
  WHERE transitions.number <= ?1 AND transitions.at < ?2 AND transitions.state IN (${quoted(TERMINAL_STATES)})
    AND intents.settled = 1
    AND (intents.seen = 1 OR NOT EXISTS (SELECT 1 FROM strategy_state WHERE strategy = intents.strategy))
    AND (intents.key IS NULL OR NOT intents.key GLOB '${KEY_OF_ORDERS}')
    AND intents.number <= (SELECT max(number) FROM intents) - ?3
    AND intents.number <= coalesce((SELECT last_intent FROM snapshot), 0)
    AND transitions.number < (SELECT max(number) FROM transitions)
    AND transitions.number < coalesce((
      SELECT min(begun.number) FROM intents AS open JOIN transitions AS begun ON begun.intent_id = open.intent_id
      WHERE open.state IN (${quoted(OPEN_STATES)})), 9e15)
    AND transitions.number <> coalesce((
      SELECT landed.number FROM transitions AS landed
      WHERE landed.state IN ('confirmed', 'failed') AND json_extract(landed.outcome, '$.signature') IS NOT NULL
      ORDER BY landed.number DESC LIMIT 1), 0)
    AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.intent_id = intents.intent_id
      AND attempts.rowid = (SELECT max(rowid) FROM attempts))`;
const SOME_FINISHED = `
  SELECT intents.*, transitions.number AS transition, transitions.attempt, transitions.at AS ended_at,
    transitions.outcome ${FINISHED} ORDER BY transitions.number LIMIT ${SWAPS_IN_ROW}`;

/** Returns the last transition before an instant by halving: reading the times of all takes long in a large journal. */
function lastBefore(prepare: Prepare, before: Millis): number {
  const next = prepare('SELECT number, at FROM transitions WHERE number >= ? ORDER BY number LIMIT 1');
  const last = prepare('SELECT coalesce(max(number), 0) AS number FROM transitions').get();
  let [low, high] = [0, Number(last?.['number'])];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (Number(next.get(middle)?.['at']) < before) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Free pages are used again. More than this share of the file is given back to the disk, some pages at a time. */
const FREE_SHARE = 0.25;
const PAGES_AT_ONCE = 64;

/** Packs finished intents of a journal, in small steps beside its daemon. */
interface SwapPacker {
  /** Packs at most 100 intents that ended before an instant, in one transaction. Returns how many. */
  step(before: Millis): number;
  /** Returns how many intents that ended before an instant would be packed. */
  count(before: Millis): number;
  close(): void;
}

/**
 * Opens a journal to pack its finished intents; undefined without one of the present format. It is not checked, because
 * that takes long: a daemon does so when it opens it. Its methods throw JOURNAL_FAILED.
 */
export function openSwapPacker(
  path: string, { keptWhole = KEPT_WHOLE }: { readonly keptWhole?: number | undefined } = {},
): SwapPacker | undefined {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  if (pragma(database, 'application_id') !== JOURNAL_APPLICATION_ID
      || pragma(database, 'user_version') !== JOURNAL_FORMAT.version) {
    database.close();
    return undefined;
  }
  const transactor = createTransactor(database, path, JOURNAL);
  return {
    step: (before) => {
      const packed = packSome(transactor, { before, keptWhole });
      if (packed > 0) shrink(database);
      return packed;
    },
    count: (before) => transactor.read(() => {
      const { prepare } = transactor;
      const row = prepare(`SELECT count(*) AS swaps ${FINISHED}`).get(lastBefore(prepare, before), before, keptWhole);
      return Number(row?.['swaps']);
    }),
    close: transactor.close,
  };
}

type FinishedRow = NumberedIntent & {
  readonly transition: number; readonly attempt: number; readonly ended_at: Millis;
  readonly outcome: string;
};

function packSome(
  { prepare, commit }: Transactor, { before, keptWhole }: { readonly before: Millis; readonly keptWhole: number },
): number {
  let packed = 0;
  commit(() => {
    const rows = prepare(SOME_FINISHED)
      .all(lastBefore(prepare, before), before, keptWhole) as unknown as FinishedRow[];
    if (rows.length === 0) return;
    packed = rows.length;
    const values = prepare('SELECT * FROM fill_values WHERE intent_id = ?');
    const swaps = rows.map(({ transition, attempt, ended_at: at, outcome, ...intent }): PackedSwap => ({
      intent, transition, attempt, at, outcome, values: (values.get(intent.intent_id) ?? null) as ValuesRow | null,
    }));
    const spans: Record<string, [number, number]> = {};
    for (const { intent } of swaps) {
      const { strategy, count } = placeOf(intent.intent_id);
      const [first, last] = spans[strategy] ?? [count, count];
      spans[strategy] = [Math.min(first, count), Math.max(last, count)];
    }
    prepare(`INSERT INTO packed_swaps (first_number, last_number, swaps, strategies, records) VALUES (?, ?, ?, ?, ?)`)
      .run(swaps[0]!.transition, swaps.at(-1)!.transition, swaps.length, stringifyJson(spans),
        zstdCompressSync(stringifyJson(swaps), { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }));
    for (const table of ['fill_values', 'proofs', 'attempts', 'transitions', 'intents']) {
      const remove = prepare(`DELETE FROM ${table} WHERE intent_id = ?`);
      for (const { intent } of swaps) remove.run(intent.intent_id);
    }
  });
  return packed;
}

const LEVEL = 9;

/** Only a journal that began with this release gives pages back; an older one uses its free pages again. */
function shrink(database: DatabaseSync): void {
  const number = (name: string): number => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  if (number('freelist_count') > FREE_SHARE * number('page_count'))
    database.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
}
