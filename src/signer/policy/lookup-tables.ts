import { isGannetError } from '../../core/errors.ts';
import type { ReadTransaction } from '../../solana/transaction.ts';
import type { Addresses } from '../../solana/addresses.ts';
import { readTransaction, writeMessage } from '../../solana/transaction.ts';
import type { TransactionConfig, TransactionProblem, TransactionVersion } from '../../solana/transaction-message.ts';
import type { Finding } from './verdict.ts';

/** The contents of lookup tables by their addresses, as the signer read them from the chain. */
export type LookupTables = ReadonlyMap<string, readonly string[]>;

/** An instruction with all its accounts by address. */
export interface ResolvedInstruction {
  readonly index: number;
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** A transaction with all its accounts by address. */
export interface ResolvedTransaction {
  readonly version: TransactionVersion;
  readonly bytes: number;
  /** What a version 1 message states of its costs; undefined in earlier versions, where instructions do. */
  readonly config: TransactionConfig | undefined;
  readonly blockhash: string;
  /** The fee payer first. */
  readonly signers: readonly string[];
  readonly lookupTables: readonly string[];
  /** The accounts that come from tables. */
  readonly loaded: ReadonlySet<string>;
  readonly instructions: readonly ResolvedInstruction[];
}

/** A transaction that was read once, strictly, and is the same when it is written again. */
export interface CheckedTransaction {
  /** Nothing changes them afterwards but the signature. */
  readonly bytes: Uint8Array;
  /** Views into `bytes`. */
  readonly read: ReadTransaction;
}

const UNREADABLE: Readonly<Record<TransactionProblem, Finding['code']>> = {
  size: 'SIZE_EXCEEDED', version: 'VERSION_UNKNOWN', duplicate: 'ACCOUNT_DUPLICATE', bytes: 'BYTES_NOT_CANONICAL',
};

/** Returns the transaction in `bytes`, or why it cannot be read. Never throws. */
export function checkTransaction(bytes: Uint8Array): CheckedTransaction | { readonly finding: Finding } {
  let read: ReadTransaction;
  try {
    read = readTransaction(bytes);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return refused(UNREADABLE[error.details['problem'] as TransactionProblem], error.message);
  }
  if (Buffer.compare(writeMessage(read), read.message) !== 0) {
    return refused('BYTES_NOT_CANONICAL', 'the message differs when it is written again');
  }
  return { bytes, read };
}

/** Returns a transaction with its tables looked up, or why it cannot be read. Never throws. */
export function resolveTransaction(
  given: Uint8Array | CheckedTransaction,
  { tables, addresses }: { readonly tables: LookupTables; readonly addresses: Addresses },
): { readonly transaction: ResolvedTransaction } | { readonly finding: Finding } {
  const checked = given instanceof Uint8Array ? checkTransaction(given) : given;
  if ('finding' in checked) return checked;
  const { bytes, read } = checked;
  const written = read.accountKeys.map(addresses.addressOf);
  const loaded = loadAccounts(read, { tables, addresses });
  if ('finding' in loaded) return loaded;
  const accounts = [...written, ...loaded.accounts];
  const twice = accounts.find((account, index) => accounts.indexOf(account) !== index);
  if (twice !== undefined) return refused('ACCOUNT_DUPLICATE', `${twice} is named more than once`);
  return {
    transaction: {
      version: read.version,
      bytes: bytes.length,
      config: read.config,
      blockhash: addresses.addressOf(read.blockhash),
      signers: written.slice(0, read.header.requiredSignatures),
      lookupTables: loaded.used,
      loaded: new Set(loaded.accounts),
      instructions: read.instructions.map(({ programIndex, accountIndexes, data }, index) => ({
        index,
        program: written[programIndex]!,
        accounts: Array.from(accountIndexes, (place) => accounts[place]!),
        data,
      })),
    },
  };
}

/** The tables' accounts in the network's order: the writable ones of all tables first. */
function loadAccounts(
  { lookups }: ReadTransaction, { tables, addresses }: { readonly tables: LookupTables; readonly addresses: Addresses },
): { readonly accounts: readonly string[]; readonly used: readonly string[] } | { readonly finding: Finding } {
  const writable: string[] = [];
  const readonly: string[] = [];
  const used: string[] = [];
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    const address = addresses.addressOf(table);
    const held = tables.get(address);
    if (held === undefined)
      return refused('TABLE_UNREAD', `the lookup table ${address} has not been read from the chain`);
    used.push(address);
    for (const [indexes, target] of [[writableIndexes, writable], [readonlyIndexes, readonly]] as const) {
      for (const index of indexes) {
        const account = held[index];
        if (account === undefined) return refused(
          'TABLE_UNREAD', `the lookup table ${address} has ${held.length} addresses, so none at index ${index}`,
        );
        target.push(account);
      }
    }
  }
  return { accounts: [...writable, ...readonly], used };
}

function refused(code: Finding['code'], message: string): { readonly finding: Finding } {
  return { finding: { code, instruction: undefined, message } };
}
