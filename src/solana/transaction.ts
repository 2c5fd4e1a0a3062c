import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import { MAX_TRANSACTION_BYTES, SYSTEM_PROGRAM } from './constants.ts';

/** The signed part of a transaction. All indexes count the account keys, then what the lookup tables load. */
interface TransactionMessage {
  readonly version: 'legacy' | 0;
  readonly header: MessageHeader;
  /** The keys in the message itself, the fee payer first; those of lookup tables are not among them. */
  readonly accountKeys: readonly Uint8Array[];
  readonly blockhash: Uint8Array;
  readonly instructions: readonly MessageInstruction[];
  /** Empty in a legacy transaction. */
  readonly lookups: readonly TableLookup[];
}

interface MessageHeader {
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
}

interface MessageInstruction {
  /** Into the account keys of the message; never the fee payer, never from a table. */
  readonly programIndex: number;
  /** Into the account keys, then the tables' writable accounts, then the tables' read-only ones. */
  readonly accountIndexes: Uint8Array;
  readonly data: Uint8Array;
}

/** The accounts that a message loads from one lookup table. */
interface TableLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** A transaction as its bytes state it. All byte arrays are views into the bytes that were read. */
export interface ReadTransaction extends TransactionMessage {
  /** One slot of 64 bytes for each required signer, in the order of the account keys; all zero while empty. */
  readonly signatures: readonly Uint8Array[];
  /** The bytes that are signed: everything after the signatures. */
  readonly message: Uint8Array;
}

/**
 * The parts of a transaction's own bytes that decide when it expires and who pays. Addresses and blockhash are base58.
 */
export interface TransactionFacts {
  readonly blockhash: string;
  readonly feePayer: string;
  /** Required signers, the fee payer first. */
  readonly signers: readonly string[];
  /** Whether its first instruction advances a nonce: such a transaction never expires, so no expiry proof exists. */
  readonly durableNonce: boolean;
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const MAX_ACCOUNTS = 256;
const VERSION_FLAG = 0x80;
/** The System program's AdvanceNonceAccount, as the four bytes that its data begins with. */
const ADVANCE_NONCE = Buffer.of(4, 0, 0, 0);

/**
 * Returns the content of a legacy or version 0 transaction, read as strictly as the network does: shortest lengths,
 * every index in range, no byte left over. Throws CHAIN_TRANSACTION_INVALID on anything else. Its details hold the
 * problem: `version` for an unknown version, else `bytes`.
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
  if (first !== VERSION_FLAG)
    throw invalid(`expected a legacy transaction or version 0, got version ${first & ~VERSION_FLAG}`, 'version');
  return 0;
}

function readInstruction(cursor: Cursor): MessageInstruction {
  return {
    programIndex: cursor.byte('a program index'),
    accountIndexes: cursor.bytes('account indexes'),
    data: cursor.bytes('instruction data'),
  };
}

function readLookup(cursor: Cursor): TableLookup {
  return {
    table: cursor.take(KEY_BYTES, 'a lookup table'),
    writableIndexes: cursor.bytes('writable indexes'),
    readonlyIndexes: cursor.bytes('read-only indexes'),
  };
}

function checkSigners({ signatures, header, accountKeys }: ReadTransaction): void {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  if (signatures.length !== requiredSignatures) {
    throw invalid(
      `expected a slot for each of the ${requiredSignatures} required signatures, got ${signatures.length}`,
    );
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

/** Returns the facts in a transaction's bytes, whatever the service states. Throws CHAIN_TRANSACTION_INVALID. */
export function readTransactionFacts(bytes: Uint8Array): TransactionFacts {
  const { header, accountKeys, blockhash, instructions: [first] } = readTransaction(bytes);
  const signers = accountKeys.slice(0, header.requiredSignatures).map((key) => bs58.encode(key));
  // The runtime accepts a nonce in the first instruction alone.
  const durableNonce = first !== undefined && Buffer.compare(first.data.subarray(0, 4), ADVANCE_NONCE) === 0
    && bs58.encode(accountKeys[first.programIndex]!) === SYSTEM_PROGRAM;
  return { blockhash: bs58.encode(blockhash), feePayer: signers[0]!, signers, durableNonce };
}

/** Returns the bytes of a message. Written from a reading, they must equal the bytes that were read. */
export function writeMessage(message: TransactionMessage): Uint8Array {
  const { version, header, accountKeys, blockhash, instructions, lookups } = message;
  const bytes = Buffer.allocUnsafe(messageLength(message));
  let offset = 0;
  const put = (part: ArrayLike<number>): void => {
    bytes.set(part, offset);
    offset += part.length;
  };
  // Compact-u16: seven bits a byte, low bits first. No length in a packet needs more than two bytes.
  const putLength = (length: number): void => {
    put(length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7]);
  };
  const putWithLength = (part: Uint8Array): void => {
    putLength(part.length);
    put(part);
  };
  if (version === 0) put([VERSION_FLAG]);
  put([header.requiredSignatures, header.readonlySigned, header.readonlyUnsigned]);
  putLength(accountKeys.length);
  accountKeys.forEach(put);
  put(blockhash);
  putLength(instructions.length);
  for (const { programIndex, accountIndexes, data } of instructions) {
    put([programIndex]);
    putWithLength(accountIndexes);
    putWithLength(data);
  }
  if (version !== 0) return bytes;
  putLength(lookups.length);
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    put(table);
    putWithLength(writableIndexes);
    putWithLength(readonlyIndexes);
  }
  return bytes;
}

function messageLength({ version, accountKeys, instructions, lookups }: TransactionMessage): number {
  const written = (length: number): number => sizeOfLength(length) + length;
  let length = (version === 0 ? 1 : 0) + 3 + sizeOfLength(accountKeys.length) + KEY_BYTES * (accountKeys.length + 1);
  length += sizeOfLength(instructions.length);
  for (const { accountIndexes, data } of instructions)
    length += 1 + written(accountIndexes.length) + written(data.length);
  if (version !== 0) return length;
  length += sizeOfLength(lookups.length);
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    length += KEY_BYTES + written(writableIndexes.length) + written(readonlyIndexes.length);
  }
  return length;
}

function sizeOfLength(length: number): 1 | 2 {
  return length < 0x80 ? 1 : 2;
}
