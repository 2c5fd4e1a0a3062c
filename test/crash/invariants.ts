import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ChainReader, LandedTransaction } from './chain-reader.ts';

/** What the journal says, read with nothing of the code under test. */
export interface JournalReading {
  readonly intents: readonly { readonly id: string; readonly state: string }[];
  readonly attempts: readonly { readonly intentId: string; readonly number: number; readonly signature: string }[];
  /** The ledger's wallet by mint; undefined before the first snapshot. */
  readonly wallet: ReadonlyMap<string, bigint> | undefined;
  /**
   * What the daemon booked because the chain had other balances than its ledger; only the daemon moves money
   * here.
   */
  readonly adjustments: readonly string[];
  /** What SQLite itself says of the file: "ok". */
  readonly integrity: string;
}

const OPEN = new Set(['approved', 'building', 'signed', 'submitted', 'unknown']);

/** Returns what stands in the journal of a state directory; undefined where there is none yet. */
export function readJournal(stateDir: string): JournalReading | undefined {
  const path = join(stateDir, 'journal.sqlite');
  if (!existsSync(path)) return undefined;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const tables = new Set(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all().map((row) =>
      row['name']));
    if (!tables.has('snapshot')) return undefined;
    const snapshot = database.prepare('SELECT state FROM snapshot').get()?.['state'];
    const { wallet } = JSON.parse(String(snapshot ?? '{}')) as { readonly wallet?: Readonly<Record<string, string>> };
    return {
      intents: database.prepare('SELECT intent_id, state FROM intents ORDER BY number').all()
        .map((row) => ({ id: String(row['intent_id']), state: String(row['state']) })),
      attempts: database.prepare('SELECT intent_id, number, signature FROM attempts').all()
        .map((row) =>
          ({ intentId: String(row['intent_id']), number: Number(row['number']), signature: String(row['signature']) })),
      wallet: wallet === undefined ? undefined
        : new Map(Object.entries(wallet).map(([mint, amount]) => [mint, BigInt(amount)])),
      adjustments: database.prepare('SELECT mint, change, cause FROM adjustments').all()
        .map((row) => `${String(row['cause'])} of ${String(row['change'])} of ${String(row['mint'])}`),
      integrity: String(database.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check']),
    };
  } finally {
    database.close();
  }
}

/** Returns whether an intent in a state is still under way. */
export function isOpen(state: string): boolean {
  return OPEN.has(state);
}

/** Returns what is wrong once the daemon has recovered and has ended in order; nothing where all is well. */
export async function violationsOf(
  { stateDir, wallet, chain }: { readonly stateDir: string; readonly wallet: string; readonly chain: ChainReader },
): Promise<string[]> {
  const landed = await chain.landed(wallet);
  const journal = readJournal(stateDir);
  if (journal === undefined)
    return landed.length === 0 ? [] : [`${landed.length} transactions landed, and there is no journal`];
  return [
    ...(journal.integrity === 'ok' ? [] : [`the journal is damaged: ${journal.integrity}`]),
    ...withoutRow(journal, landed),
    ...journal.adjustments.map((adjustment) => `the ledger had to be set right: ${adjustment}`),
    ...journal.intents.flatMap(({ id, state }) => againstChain(id, state, landedOf(journal, landed, id))),
    ...ledgerAgainst(journal, await chain.balances(wallet)),
  ];
}

function withoutRow({ attempts }: JournalReading, landed: readonly LandedTransaction[]): string[] {
  const known = new Set(attempts.map(({ signature }) => signature));
  return landed.filter(({ ownSignature }) => !known.has(ownSignature)).map(({ id, ownSignature }) =>
    `transaction ${id} landed with the signature ${ownSignature}, which no attempt in the journal has`);
}

function landedOf(
  { attempts }: JournalReading, landed: readonly LandedTransaction[], intentId: string,
): readonly LandedTransaction[] {
  const own = new Set(attempts.filter((attempt) => attempt.intentId === intentId).map(({ signature }) => signature));
  return landed.filter(({ ownSignature }) => own.has(ownSignature));
}

function againstChain(id: string, state: string, landed: readonly LandedTransaction[]): string[] {
  const succeeded = landed.filter((transaction) => transaction.succeeded).length;
  const found = `${succeeded} swaps of it succeeded and ${landed.length - succeeded} failed on the chain`;
  if (succeeded > 1) return [`${id} was swapped ${succeeded} times`];
  if (OPEN.has(state)) return [`${id} is ${state} to the end; ${found}`];
  const isTrue = {
    confirmed: succeeded === 1, failed: succeeded === 0 && landed.length > 0, expired: succeeded === 0,
    abandoned: succeeded === 0,
  }[state];
  return isTrue === true ? [] : [`${id} is ${state} in the journal, but ${found}`];
}

function ledgerAgainst({ wallet }: JournalReading, balances: ReadonlyMap<string, bigint>): string[] {
  const mints = new Set([...(wallet?.keys() ?? []), ...balances.keys()]);
  return [...mints].filter((mint) => (wallet?.get(mint) ?? 0n) !== (balances.get(mint) ?? 0n))
    .map((mint) => `the ledger has ${wallet?.get(mint) ?? 0n} of ${mint}, the chain ${balances.get(mint) ?? 0n}`);
}
