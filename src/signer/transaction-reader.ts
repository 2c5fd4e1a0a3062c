import { GannetError } from '../core/errors.ts';

/** What one transaction's bytes say. All byte arrays are views into the bytes that were read. */
export interface ReadTransaction {
  readonly version: 'legacy' | 0;
  /** One slot of 64 bytes for each required signer, in the order of the account keys; all zero while empty. */
  readonly signatures: readonly Uint8Array[];
  /** What is signed: everything after the signatures. */
  readonly message: Uint8Array;
  readonly header: MessageHeader;
  /** The keys written out in the message, the fee payer first; those of lookup tables are not among them. */
  readonly accountKeys: readonly Uint8Array[];
  readonly blockhash: Uint8Array;
  readonly instructions: readonly ReadInstruction[];
  /** Empty in a legacy transaction. */
  readonly lookups: readonly ReadLookup[];
}

export interface MessageHeader {
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

export interface ReadInstruction {
  /** Into the account keys written out; never the fee payer, never from a table. */
  readonly programIndex: number;
  /** Into the account keys, then the tables' writable ones, then the tables' read-only ones. */
  readonly accountIndexes: Uint8Array;
  readonly data: Uint8Array;
}

export interface ReadLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** What one packet of the network can carry, and so the longest transaction there is. */
export const MAX_TRANSACTION_BYTES = 1_232;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const MAX_ACCOUNTS = 256;
const VERSION_FLAG = 0x80;

/**
 * Returns what a transaction says, legacy or version 0, read strictly as the network does: shortest lengths, every
 * index in range, no byte left over. Throws CHAIN_TRANSACTION_INVALID on anything else (details: problem, `version` where it
 * is one that nobody here knows, else `bytes`).
 */
export function readTransaction(bytes: Uint8Array): ReadTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw invalid(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}`);
  }
  const cursor = createCursor(bytes);
  const signatures = cursor.list('signatures', () => cursor.take(SIGNATURE_BYTES, 'a signature'));
  const message = bytes.subarray(cursor.position());
  const version = readVersion(cursor, message);
  const header = {
    requiredSignatures: cursor.byte('the number of required signatures'),
    readonlySigned: cursor.byte('the number of read-only signers'),
    readonlyUnsigned: cursor.byte('the number of read-only accounts'),
  };
  const accountKeys = cursor.list('account keys', () => cursor.take(KEY_BYTES, 'an account key'));
  const blockhash = cursor.take(KEY_BYTES, 'the blockhash');
  const instructions = cursor.list('instructions', () => readInstruction(cursor));
  const lookups = version === 0 ? cursor.list('lookups', () => readLookup(cursor)) : [];
  cursor.end();

  const transaction = { version, signatures, message, header, accountKeys, blockhash, instructions, lookups };
  checkSigners(transaction);
  checkIndexes(transaction);
  return transaction;
}

function readVersion(cursor: Cursor, message: Uint8Array): 'legacy' | 0 {
  const first = message[0] ?? 0;
  if ((first & VERSION_FLAG) === 0) return 'legacy';
  cursor.byte('the version');
  if (first !== VERSION_FLAG) throw invalid(`expected a legacy transaction or version 0, got version ${first & ~VERSION_FLAG}`, 'version');
  return 0;
}

function readInstruction(cursor: Cursor): ReadInstruction {
  return {
    programIndex: cursor.byte('a program index'),
    accountIndexes: cursor.bytes('account indexes'),
    data: cursor.bytes('instruction data'),
  };
}

function readLookup(cursor: Cursor): ReadLookup {
  return {
    table: cursor.take(KEY_BYTES, 'a lookup table'),
    writableIndexes: cursor.bytes('writable indexes'),
    readonlyIndexes: cursor.bytes('read-only indexes'),
  };
}

function checkSigners({ signatures, header, accountKeys }: ReadTransaction): void {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  if (signatures.length !== requiredSignatures) {
    throw invalid(`expected a slot for each of the ${requiredSignatures} required signatures, got ${signatures.length}`);
  }
  if (readonlySigned >= requiredSignatures) throw invalid('expected a fee payer that signs and is writable');
  if (requiredSignatures + readonlyUnsigned > accountKeys.length) {
    throw invalid(`expected at least ${requiredSignatures + readonlyUnsigned} account keys, got ${accountKeys.length}`);
  }
}

function checkIndexes({ accountKeys, instructions, lookups }: ReadTransaction): void {
  let accountCount = accountKeys.length;
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) throw invalid('a lookup that loads nothing');
    accountCount += loaded;
  }
  if (accountCount > MAX_ACCOUNTS) throw invalid(`expected at most ${MAX_ACCOUNTS} accounts, got ${accountCount}`);
  for (const { programIndex, accountIndexes } of instructions) {
    if (programIndex === 0 || programIndex >= accountKeys.length) {
      throw invalid(`a program index of ${programIndex}, expected 1 to ${accountKeys.length - 1}`);
    }
    for (const index of accountIndexes) {
      if (index >= accountCount) throw invalid(`an account index of ${index}, expected at most ${accountCount - 1}`);
    }
  }
}

interface Cursor {
  position(): number;
  byte(what: string): number;
  take(length: number, what: string): Uint8Array;
  /** A length and that many bytes. */
  bytes(what: string): Uint8Array;
  /** A length and that many items. */
  list<T>(what: string, read: () => T): T[];
  end(): void;
}

function createCursor(bytes: Uint8Array): Cursor {
  let offset = 0;

  function take(length: number, what: string): Uint8Array {
    if (offset + length > bytes.length) throw invalid(`the bytes end within ${what}`);
    offset += length;
    return bytes.subarray(offset - length, offset);
  }

  function byte(what: string): number {
    const value = bytes[offset];
    if (value === undefined) throw invalid(`the bytes end before ${what}`);
    offset += 1;
    return value;
  }

  /** A length in compact-u16: seven bits a byte, low bits first. The network refuses longer spellings, and so do we. */
  function length(what: string): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const part = byte(`the number of ${what}`);
      value |= (part & 0x7f) << shift;
      if ((part & 0x80) === 0) {
        if (part === 0 && shift > 0) throw invalid(`the number of ${what} is not in its shortest form`);
        if (value > 0xffff) break;
        return value;
      }
    }
    throw invalid(`the number of ${what} does not fit in 16 bits`);
  }

  return {
    position: () => offset,
    byte,
    take,
    bytes: (what) => take(length(what), what),
    list: (what, read) => Array.from({ length: boundedCount(length(what), what) }, read),
    end() {
      if (offset !== bytes.length) throw invalid(`${bytes.length - offset} bytes are left over after the message`);
    },
  };
}

/** Every item takes at least one byte, so a larger count is a lie; refusing it early spares the work. */
function boundedCount(count: number, what: string): number {
  if (count > MAX_TRANSACTION_BYTES) throw invalid(`${count} ${what} cannot fit in ${MAX_TRANSACTION_BYTES} bytes`);
  return count;
}

function invalid(message: string, problem: 'version' | 'bytes' = 'bytes'): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', `transaction: ${message}`, { details: { problem } });
}
