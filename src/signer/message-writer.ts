import type { ReadTransaction } from './transaction-reader.ts';

const VERSION_0 = 0x80;

/** Returns the bytes of a message made anew from what was read of it; the same bytes, or the reading cannot be trusted. */
export function writeMessage(transaction: Omit<ReadTransaction, 'signatures' | 'message'>): Uint8Array {
  const { version, header, accountKeys, blockhash, instructions, lookups } = transaction;
  const parts: Uint8Array[] = [];
  if (version === 0) parts.push(Uint8Array.of(VERSION_0));
  parts.push(Uint8Array.of(header.requiredSignatures, header.readonlySigned, header.readonlyUnsigned));
  parts.push(compactLength(accountKeys.length), ...accountKeys, blockhash);
  parts.push(compactLength(instructions.length));
  for (const { programIndex, accountIndexes, data } of instructions) {
    parts.push(Uint8Array.of(programIndex), compactLength(accountIndexes.length), accountIndexes, compactLength(data.length), data);
  }
  if (version === 0) {
    parts.push(compactLength(lookups.length));
    for (const { table, writableIndexes, readonlyIndexes } of lookups) {
      parts.push(table, compactLength(writableIndexes.length), writableIndexes, compactLength(readonlyIndexes.length), readonlyIndexes);
    }
  }
  return Buffer.concat(parts);
}

/** A length in compact-u16; no part of a transaction is longer than two of its bytes can say. */
function compactLength(length: number): Uint8Array {
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
}
