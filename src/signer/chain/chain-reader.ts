import { isGannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { readLookupTable, readMint } from '../../solana/accounts.ts';
import type { JsonRpc } from './json-rpc.ts';
import { invalid, isRecord, refusalOf } from './json-rpc.ts';
import type { LookupTables } from '../policy/lookup-tables.ts';
import type { SimulatedChanges } from '../policy/simulation.ts';
import { readAccounts } from './node-accounts.ts';
import { simulate, type SimulationOptions } from './simulate.ts';
import {
  FORMER_VERSION, NEWEST_VERSION, isLaterVersion, isReadVersion,
} from '../../solana/transaction-versions.ts';

/**
 * Reads the chain from the signer's own node. All methods throw CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or
 * CHAIN_RESPONSE_INVALID.
 */
export interface ChainReader {
  /**
   * Returns the contents of tables, each at least up to the given index. Missing tables and those being closed are left
   * out, too short ones are returned short.
   */
  lookupTables(highestPlaces: ReadonlyMap<string, number>): Promise<LookupTables>;
  /** Returns the decimals of a mint; undefined where there is none. */
  decimalsOf(mint: string): Promise<number | undefined>;
  /**
   * Returns the changes that a transaction would make to the wallet. Throws CHAIN_SIMULATION_FAILED where it would
   * fail.
   */
  simulate(transaction: Uint8Array, options: SimulationOptions): Promise<SimulatedChanges>;
  close(): void;
}

/** The same with the past of a wallet. */
interface HistoryReader extends ChainReader {
  /**
   * Returns the number of transactions with the signature of a wallet since a time, failed ones included. Above a small
   * number all transactions that name the wallet count.
   */
  signedSince(wallet: string, since: Millis): Promise<number>;
}

/** Of getSignaturesForAddress. */
const MAX_SIGNATURES = 1_000;
/** Each takes a request. */
const TRANSACTIONS_READ = 20;
/** A caller could name new tables and mints without end. */
const MAX_CACHED = 1_000;
/**
 * Returns a reader over one node. A table is read again only for indexes beyond its known end: its entries never
 * change, its address is never reused, and a table being closed is refused at the first reading. A simulation compares
 * only the token accounts that the transaction can change: no other balance can fall.
 */
export function createChainReader(rpc: JsonRpc): HistoryReader {
  const tables = new Map<string, readonly string[]>();
  const decimals = new Map<string, number>();

  return {
    async lookupTables(highestPlaces) {
      const missing = [...highestPlaces].filter(([table, place]) => (tables.get(table)?.length ?? 0) <= place)
        .map(([table]) => table);
      if (missing.length > 0) {
        const { accounts } = await readAccounts(rpc, missing, { commitment: 'confirmed' });
        for (const [index, table] of missing.entries()) {
          const account = accounts[index];
          const held = account === undefined ? undefined : readLookupTable(account);
          if (held === undefined) tables.delete(table);
          else cache(tables, table, held);
        }
      }
      return new Map([...highestPlaces.keys()].flatMap((table) => {
        const held = tables.get(table);
        return held === undefined ? [] : [[table, held] as const];
      }));
    },

    async decimalsOf(mint) {
      const known = decimals.get(mint);
      if (known !== undefined) return known;
      const { accounts: [account] } = await readAccounts(rpc, [mint], { commitment: 'confirmed' });
      const read = account === undefined ? undefined : readMint(account)?.decimals;
      if (read !== undefined) cache(decimals, mint, read);
      return read;
    },

    simulate: (transaction, options) => simulate(rpc, transaction, options),

    async signedSince(wallet, since) {
      const method = 'getSignaturesForAddress';
      const answer = await rpc.call(method, [wallet, { limit: MAX_SIGNATURES, commitment: 'confirmed' }]);
      if (!Array.isArray(answer)) throw invalid(method, 'a list of signatures');
      const recent = answer.filter((entry: Json) => {
        const time = isRecord(entry) ? entry['blockTime'] : undefined;
        return time === undefined || time === null || Number(time) * 1_000 >= since;
      });
      const own = await Promise.all(recent.slice(0, TRANSACTIONS_READ)
        .map((entry: Json) => isSignedBy(rpc, wallet, entry)));
      return own.filter(Boolean).length + Math.max(0, recent.length - TRANSACTIONS_READ);
    },

    close: () => { rpc.close(); },
  };
}

/**
 * Returns whether a transaction carries the signature of a wallet; true where no node gives it in a form that can be
 * read. One of a version that this signer does not read was never signed here, so it is no lost count (D-345).
 */
async function isSignedBy(rpc: JsonRpc, wallet: string, entry: Json): Promise<boolean> {
  const signature = isRecord(entry) ? entry['signature'] : undefined;
  if (!isRecord(entry) || typeof signature !== 'string')
    throw invalid('getSignaturesForAddress', 'the signature of each transaction');
  let answer: Json;
  try {
    answer = await landedTransaction(rpc, signature);
    if (answer === null) return await isInBlock(rpc, entry);
  } catch (error) {
    const refusal = isGannetError(error) ? refusalOf(error) : undefined;
    if (refusal === undefined) throw error;
    return refusal.kind === 'parameter' || !isLaterVersion(refusal.version);
  }
  const version = isRecord(answer) ? answer['version'] : undefined;
  if (!isReadVersion(version)) return !isLaterVersion(version);
  const parts = isRecord(answer) ? answer['transaction'] : undefined;
  const message = isRecord(parts) ? parts['message'] : undefined;
  const { accountKeys, header }: { readonly [key: string]: Json } = isRecord(message) ? message : {};
  const signers = isRecord(header) ? header['numRequiredSignatures'] : undefined;
  if (!Array.isArray(accountKeys) || typeof signers !== 'number' || !(signers >= 1 && signers <= accountKeys.length))
    return true;
  return (accountKeys as readonly Json[]).slice(0, signers).includes(wallet);
}

/**
 * Returns whether the block of a listed transaction holds it; true where the node does not give the block. A node that
 * lists what it does not give may have dropped it, or list what no block holds.
 */
async function isInBlock(rpc: JsonRpc, entry: { readonly [key: string]: Json }): Promise<boolean> {
  const config = { transactionDetails: 'signatures', rewards: false, commitment: 'confirmed' };
  try {
    const block = await rpc.call('getBlock', [entry['slot'] ?? null, config]);
    const signatures = isRecord(block) ? block['signatures'] : undefined;
    return !Array.isArray(signatures) || signatures.includes(entry['signature']);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return true;
  }
}

/** A node that knows no version 1 refuses the request itself, whatever the version of the transaction. */
async function landedTransaction(rpc: JsonRpc, signature: string): Promise<Json> {
  // Not in base64: the signers stand at the same place in every version that a node can show.
  const ask = (version: number): Promise<Json> => rpc.call('getTransaction', [
    signature, { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: version },
  ]);
  try {
    return await ask(NEWEST_VERSION);
  } catch (error) {
    if (!isGannetError(error) || refusalOf(error)?.kind !== 'parameter') throw error;
    return ask(FORMER_VERSION);
  }
}

function cache<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  // A map keeps the order of insertion, so the first key is the oldest.
  if (entries.size >= MAX_CACHED && !entries.has(key)) entries.delete(entries.keys().next().value!);
  entries.set(key, value);
}

