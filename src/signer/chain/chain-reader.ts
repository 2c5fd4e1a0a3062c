import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { AccountData, TokenAccountState } from '../../solana/accounts.ts';
import { TOKEN_DATA_SLICE, readLookupTable, readMint, readTokenAccount } from '../../solana/accounts.ts';
import type { JsonRpc } from './json-rpc.ts';
import { invalid, isRecord, refusalOf } from './json-rpc.ts';
import { SYSTEM_PROGRAM } from '../../solana/constants.ts';
import type { LookupTables } from '../policy/lookup-tables.ts';
import type { SimulatedChanges } from '../policy/simulation.ts';
import { isAddress } from '../../solana/addresses.ts';
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

interface SimulationOptions {
  readonly wallet: string;
  /** Gets SOL in the wallet's place. */
  readonly receiver?: string | undefined;
  /** Every account that the transaction can change. */
  readonly writable: readonly string[];
}

/** An account as a node returns it; the data may be its beginning alone. */
interface ReadAccount extends AccountData {
  readonly lamports: bigint;
}

/** Of getMultipleAccounts. */
const MAX_ACCOUNTS_PER_CALL = 100;
/** Of getSignaturesForAddress. */
const MAX_SIGNATURES = 1_000;
/** Each takes a request. */
const TRANSACTIONS_READ = 20;
/** A caller could name new tables and mints without end. */
const MAX_CACHED = 1_000;
const MAX_U64 = 2n ** 64n - 1n;

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

async function simulate(
  rpc: JsonRpc, transaction: Uint8Array, { wallet, receiver, writable }: SimulationOptions,
): Promise<SimulatedChanges> {
  const asked = [...new Set([wallet, ...writable])];
  // Both at the newest block: a change that has just landed must not count as one of this transaction.
  const before = await readAccounts(rpc, asked, { commitment: 'processed', dataSlice: TOKEN_DATA_SLICE });
  const beforeOf = new Map(asked.map((address, index) => [address, before.accounts[index]] as const));
  // Accounts with other data belong to other programs and hold no money of the wallet.
  const watched = asked.filter((address) =>
    address === wallet || address === receiver || mayHoldTokens(beforeOf.get(address)));
  const after = await simulatedAccounts(rpc, transaction, watched, before.slot);
  const afterOf = new Map(watched.map((address, index) => [address, after[index]] as const));
  return {
    wallet: {
      before: beforeOf.get(wallet)?.lamports ?? 0n, after: afterOf.get(wallet)?.lamports ?? 0n,
      programAfter: afterOf.get(wallet)?.owner ?? SYSTEM_PROGRAM,
    },
    receiver: receiver === undefined ? undefined
      : { before: beforeOf.get(receiver)?.lamports ?? 0n, after: afterOf.get(receiver)?.lamports ?? 0n },
    tokenAccounts: watched.flatMap((address) => {
      const states = { before: tokenAccountOf(beforeOf.get(address)), after: tokenAccountOf(afterOf.get(address)) };
      return states.before === undefined && states.after === undefined ? [] : [{ address, ...states }];
    }),
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

async function readAccounts(rpc: JsonRpc, addresses: readonly string[], options: {
  readonly commitment: 'processed' | 'confirmed';
  readonly dataSlice?: { readonly offset: number; readonly length: number };
}): Promise<{ readonly slot: number; readonly accounts: readonly (ReadAccount | undefined)[] }> {
  const method = 'getMultipleAccounts';
  const chunks = Array.from({ length: Math.ceil(addresses.length / MAX_ACCOUNTS_PER_CALL) }, (_, index) =>
    addresses.slice(index * MAX_ACCOUNTS_PER_CALL, (index + 1) * MAX_ACCOUNTS_PER_CALL));
  const answers = await Promise.all(chunks.map(async (chunk) => {
    const { slot, value } = atSlot(await rpc.call(method, [chunk, { encoding: 'base64', ...options }]), method);
    return { slot, accounts: accountList(value, { method, length: chunk.length }) };
  }));
  return {
    slot: Math.max(0, ...answers.map(({ slot }) => slot)), accounts: answers.flatMap(({ accounts }) => accounts),
  };
}

async function simulatedAccounts(
  rpc: JsonRpc, transaction: Uint8Array, addresses: readonly string[], minContextSlot: number,
): Promise<readonly (ReadAccount | undefined)[]> {
  const method = 'simulateTransaction';
  const { value } = atSlot(await rpc.call(method, [Buffer.from(transaction).toString('base64'), {
    encoding: 'base64', commitment: 'processed', sigVerify: false, replaceRecentBlockhash: true, minContextSlot,
    accounts: { encoding: 'base64', addresses },
  }]), method);
  if (!isRecord(value)) throw invalid(method, 'a simulation');
  if (value['err'] === undefined) throw invalid(method, 'whether it succeeded');
  if (value['err'] !== null)
    throw new GannetError('CHAIN_SIMULATION_FAILED', `it would fail on the chain: ${errorText(value['err'])}`);
  return accountList(value['accounts'], { method, length: addresses.length });
}

/** The levels that errors of the chain have: a node may send a thousand. */
function errorText(error: Json, levels = 4): string {
  if (typeof error !== 'object' || error === null) return printable(String(error), 100);
  if (levels === 0) return '…';
  const members = Object.entries(error).slice(0, 4)
    .map(([key, value]) => `${printable(key, 60)}: ${errorText(value, levels - 1)}`);
  return `{${members.join(', ')}}`;
}

/** Whether an account is a token account, or may become one since it is empty. */
function mayHoldTokens(account: ReadAccount | undefined): boolean {
  return account === undefined || account.data.length === 0 || readTokenAccount(account) !== undefined;
}

function tokenAccountOf(account: ReadAccount | undefined): TokenAccountState | undefined {
  return account === undefined ? undefined : readTokenAccount(account);
}

function atSlot(answer: Json, method: string): { readonly slot: number; readonly value: Json | undefined } {
  const context = isRecord(answer) ? answer['context'] : undefined;
  if (!isRecord(answer) || !isRecord(context)) throw invalid(method, 'a value with its slot');
  return { slot: Number(readU64(context['slot'], method)), value: answer['value'] };
}

function accountList(
  value: Json | undefined, { method, length }: { readonly method: string; readonly length: number },
): readonly (ReadAccount | undefined)[] {
  if (!Array.isArray(value) || value.length !== length) throw invalid(method, `${length} accounts`);
  return value.map((account) => readAccount(account as Json, method));
}

function cache<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  // A map keeps the order of insertion, so the first key is the oldest.
  if (entries.size >= MAX_CACHED && !entries.has(key)) entries.delete(entries.keys().next().value!);
  entries.set(key, value);
}

/** Returns an account of an answer, undefined where there is none. Throws CHAIN_RESPONSE_INVALID on any other value. */
function readAccount(value: Json | undefined, method: string): ReadAccount | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw invalid(method, 'an account or null');
  const { lamports, owner, data } = value;
  if (typeof owner !== 'string' || !isAddress(owner)) throw invalid(method, 'the owner of an account');
  const inBase64 = 'the data of an account in base64';
  const [text, encoding] = Array.isArray(data) && data.length === 2 ? data as readonly Json[] : [];
  if (typeof text !== 'string' || encoding !== 'base64') throw invalid(method, inBase64);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalid(method, inBase64);
  return { lamports: readU64(lamports, method), owner, data: bytes };
}

/** Returns a whole number of 64 bits. Throws CHAIN_RESPONSE_INVALID on anything else. */
function readU64(value: Json | undefined, method: string): bigint {
  const isSafe = typeof value === 'number' && Number.isSafeInteger(value);
  const whole = typeof value === 'bigint' ? value : isSafe ? BigInt(value) : -1n;
  if (whole < 0n || whole > MAX_U64) throw invalid(method, 'a whole number of 64 bits');
  return whole;
}
