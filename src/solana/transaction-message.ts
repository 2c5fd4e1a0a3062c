import { GannetError } from '../core/errors.ts';

/**
 * The signed part of a transaction, in the terms of every version. All indexes count the account keys, then what the
 * lookup tables load.
 */
export interface TransactionMessage {
  readonly version: TransactionVersion;
  readonly header: MessageHeader;
  /** The keys in the message itself, the fee payer first; those of lookup tables are not among them. */
  readonly accountKeys: readonly Uint8Array[];
  readonly blockhash: Uint8Array;
  readonly instructions: readonly MessageInstruction[];
  /** Of version 0; empty in every other version. */
  readonly lookups: readonly TableLookup[];
  /** Of version 1, in place of compute-budget instructions; absent in earlier versions. */
  readonly config?: TransactionConfig | undefined;
}

/** The versions that are read here. */
export type TransactionVersion = 'legacy' | 0 | 1;

interface MessageHeader {
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

export interface MessageInstruction {
  /** Into the account keys of the message; never the fee payer, never from a table. */
  readonly programIndex: number;
  /** Into the account keys, then the tables' writable accounts, then the tables' read-only ones. */
  readonly accountIndexes: Uint8Array;
  readonly data: Uint8Array;
}

/** The accounts that a message loads from one lookup table. */
export interface TableLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** What a version 1 message states of its costs. A missing limit of units or of loaded bytes means none of them. */
export interface TransactionConfig {
  /** In total, not a compute unit. */
  readonly priorityFeeLamports?: bigint | undefined;
  readonly unitLimit?: number | undefined;
  /** The most bytes of accounts that may be loaded. */
  readonly loadedBytes?: number | undefined;
  readonly heapBytes?: number | undefined;
}

/** Why bytes are no transaction: too many, an unknown version, an account twice, or no form that the network takes. */
export type TransactionProblem = 'size' | 'version' | 'duplicate' | 'bytes';

export const SIGNATURE_BYTES = 64;
export const KEY_BYTES = 32;
/** The bit of a first byte that says that a version follows. */
export const VERSION_FLAG = 0x80;

/** Returns CHAIN_TRANSACTION_INVALID with the problem in its details. */
export function invalidTransaction(message: string, problem: TransactionProblem = 'bytes'): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', `transaction: ${message}`, { details: { problem } });
}
