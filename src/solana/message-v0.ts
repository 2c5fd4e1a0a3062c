import type { ByteCursor } from './byte-cursor.ts';
import { MAX_TRANSACTION_BYTES } from './constants.ts';
import {
  invalidTransaction, KEY_BYTES, VERSION_FLAG, type MessageInstruction, type TableLookup, type TransactionMessage,
} from './transaction-message.ts';

// The form of legacy messages and of version 0: lists with their lengths before them, in compact-u16.

/** Returns the legacy or version 0 message at a cursor. Throws CHAIN_TRANSACTION_INVALID. */
export function readMessageV0(cursor: ByteCursor): TransactionMessage {
  const first = cursor.byte('the message');
  const version = versionOf(first);
  const header = {
    requiredSignatures: version === 'legacy' ? first : cursor.byte('the number of required signatures'),
    readonlySigned: cursor.byte('the number of read-only signers'),
    readonlyUnsigned: cursor.byte('the number of read-only accounts'),
  };
  const accountKeys = readList(cursor, 'account keys', () => cursor.take(KEY_BYTES, 'an account key'));
  const blockhash = cursor.take(KEY_BYTES, 'the blockhash');
  const instructions = readList(cursor, 'instructions', () => readInstruction(cursor));
  const lookups = version === 0 ? readList(cursor, 'lookups', () => readLookup(cursor)) : [];
  cursor.end('the message');
  return { version, header, accountKeys, blockhash, instructions, lookups };
}

function versionOf(first: number): 'legacy' | 0 {
  if ((first & VERSION_FLAG) === 0) return 'legacy';
  const version = first & ~VERSION_FLAG;
  if (version === 0) return 0;
  throw version === 1 ? invalidTransaction('version 1 stands behind signatures, expected before all else')
    : invalidTransaction(`expected a legacy transaction, version 0 or version 1, got version ${version}`, 'version');
}

function readInstruction(cursor: ByteCursor): MessageInstruction {
  return {
    programIndex: cursor.byte('a program index'),
    accountIndexes: readBytes(cursor, 'account indexes'),
    data: readBytes(cursor, 'instruction data'),
  };
}

function readLookup(cursor: ByteCursor): TableLookup {
  return {
    table: cursor.take(KEY_BYTES, 'a lookup table'),
    writableIndexes: readBytes(cursor, 'writable indexes'),
    readonlyIndexes: readBytes(cursor, 'read-only indexes'),
  };
}

/** Returns the items behind their number. Throws CHAIN_TRANSACTION_INVALID. */
export function readList<T>(cursor: ByteCursor, what: string, read: () => T): T[] {
  return Array.from({ length: boundedCount(readLength(cursor, what), what) }, read);
}

function readBytes(cursor: ByteCursor, what: string): Uint8Array {
  return cursor.take(readLength(cursor, what), what);
}

/** A length in compact-u16: seven bits a byte, low bits first. The network refuses longer spellings, and so do we. */
function readLength(cursor: ByteCursor, what: string): number {
  let value = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const part = cursor.byte(`the number of ${what}`);
    value |= (part & 0x7f) << shift;
    if ((part & 0x80) === 0) {
      if (part === 0 && shift > 0) throw invalidTransaction(`the number of ${what} is not in its shortest form`);
      if (value > 0xffff) break;
      return value;
    }
  }
  throw invalidTransaction(`the number of ${what} does not fit in 16 bits`);
}

/** Every item takes at least one byte, so a larger count is a lie; refusing it early spares the work. */
function boundedCount(count: number, what: string): number {
  if (count > MAX_TRANSACTION_BYTES)
    throw invalidTransaction(`${count} ${what} cannot fit in ${MAX_TRANSACTION_BYTES} bytes`);
  return count;
}

/** Returns the bytes of a legacy or version 0 message. */
export function writeMessageV0(message: TransactionMessage): Uint8Array {
  const { version, header, accountKeys, blockhash, instructions, lookups } = message;
  return Buffer.concat([
    Buffer.of(...(version === 0 ? [VERSION_FLAG] : [])),
    Buffer.of(header.requiredSignatures, header.readonlySigned, header.readonlyUnsigned),
    lengthOf(accountKeys), ...accountKeys, blockhash,
    lengthOf(instructions), ...instructions.flatMap(({ programIndex, accountIndexes, data }) =>
      [Buffer.of(programIndex), lengthOf(accountIndexes), accountIndexes, lengthOf(data), data]),
    ...(version !== 0 ? [] : [lengthOf(lookups)]),
    ...lookups.flatMap(({ table, writableIndexes, readonlyIndexes }) =>
      [table, lengthOf(writableIndexes), writableIndexes, lengthOf(readonlyIndexes), readonlyIndexes]),
  ]);
}

/** Returns a length in compact-u16. None in a packet needs more than two bytes. */
function lengthOf({ length }: ArrayLike<unknown>): Uint8Array {
  return length < 0x80 ? Buffer.of(length) : Buffer.of((length & 0x7f) | 0x80, length >> 7);
}
