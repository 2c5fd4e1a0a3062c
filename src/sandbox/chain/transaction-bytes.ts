import type { Address } from './addresses.ts';
import { addressBytes, addressOf } from './addresses.ts';

/** The bytes that fit into one network packet; a longer transaction never reaches a leader. */
export const MAX_TRANSACTION_BYTES = 1232;
const MAX_ACCOUNTS = 256;
const VERSION_PREFIX = 0x80;

interface MessageHeader {
  numRequiredSignatures: number;
  numReadonlySignedAccounts: number;
  numReadonlyUnsignedAccounts: number;
}

interface CompiledInstruction {
  programIdIndex: number;
  accountIndexes: Uint8Array;
  data: Uint8Array;
}

interface TableLookup {
  table: Address;
  writableIndexes: Uint8Array;
  readonlyIndexes: Uint8Array;
}

export interface DecodedMessage {
  version: 'legacy' | 0;
  header: MessageHeader;
  staticKeys: readonly Address[];
  recentBlockhash: string;
  instructions: readonly CompiledInstruction[];
  lookups: readonly TableLookup[];
}

export interface DecodedTransaction {
  signatures: readonly Uint8Array[];
  message: DecodedMessage;
  /** The message written again from what was read: what the signatures must cover. */
  messageBytes: Uint8Array;
  /** The whole transaction written again from what was read; the only bytes that may reach the VM. */
  bytes: Uint8Array;
}

/** Says why bytes are no transaction; the callers of this module catch it. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/**
 * Returns the transaction in `bytes`, unversioned or version 0. Throws UndecodableError on anything the VM's own
 * decoder might refuse: there a refusal aborts the process. So this reader is as strict (canonical lengths, known
 * version, consistent header, indexes in range), and the bytes for the VM are written again from the decoded
 * transaction. Bytes after the transaction are dropped, as a node drops them.
 */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw new UndecodableError(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}`);
  }
  const reader = createReader(bytes);
  const signatures = reader.list(() => reader.bytes(64));
  const message = readMessage(reader);
  if (signatures.length !== message.header.numRequiredSignatures) {
    throw new UndecodableError(`expected ${message.header.numRequiredSignatures} signatures, got ${signatures.length}`);
  }
  const messageBytes = encodeMessage(message);
  return {
    signatures, message, messageBytes,
    bytes: Buffer.concat([listLength(signatures.length), ...signatures, messageBytes]),
  };
}

/** Returns the message in `bytes`, unversioned or version 0. Throws UndecodableError. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw new UndecodableError(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}`);
  }
  return readMessage(createReader(bytes));
}

/**
 * Returns whether the key at `index` of static keys, then writable and readonly looked-up keys, is locked for writing.
 */
export function isWritable(message: DecodedMessage, index: number): boolean {
  const { header, staticKeys } = message;
  if (index >= staticKeys.length) {
    const writableLookups = message.lookups.reduce((count, lookup) => count + lookup.writableIndexes.length, 0);
    return index < staticKeys.length + writableLookups;
  }
  return index < header.numRequiredSignatures
    ? index < header.numRequiredSignatures - header.numReadonlySignedAccounts
    : index < staticKeys.length - header.numReadonlyUnsignedAccounts;
}

function readMessage(reader: Reader): DecodedMessage {
  const first = reader.byte();
  let version: DecodedMessage['version'] = 'legacy';
  let numRequiredSignatures = first;
  if ((first & VERSION_PREFIX) !== 0) {
    if (first !== VERSION_PREFIX)
      throw new UndecodableError(`expected an unversioned or version 0 message, got version ${first & 0x7f}`);
    version = 0;
    numRequiredSignatures = reader.byte();
  }
  const header =
    { numRequiredSignatures, numReadonlySignedAccounts: reader.byte(), numReadonlyUnsignedAccounts: reader.byte() };
  const staticKeys = reader.list(() => addressOf(reader.bytes(32)));
  // A blockhash has the form of an address, and recurs, so its base58 is cached too.
  const recentBlockhash = addressOf(reader.bytes(32));
  const instructions = reader.list(() => ({
    programIdIndex: reader.byte(),
    accountIndexes: reader.byteList(),
    data: reader.byteList(),
  }));
  const lookups =
    version === 0
      ? reader.list(() => ({
        table: addressOf(reader.bytes(32)), writableIndexes: reader.byteList(), readonlyIndexes: reader.byteList(),
      }))
      : [];
  const message = { version, header, staticKeys, recentBlockhash, instructions, lookups };
  checkSanity(message);
  return message;
}

/** Applies the rules that every validator checks before the signatures. */
function checkSanity(message: DecodedMessage): void {
  const { header, staticKeys } = message;
  if (header.numReadonlySignedAccounts >= header.numRequiredSignatures)
    throw new UndecodableError('expected a writable fee payer, got none');
  if (header.numRequiredSignatures + header.numReadonlyUnsignedAccounts > staticKeys.length) {
    throw new UndecodableError(`expected at least as many keys as the header names, got ${staticKeys.length}`);
  }
  let accounts = staticKeys.length;
  for (const { writableIndexes, readonlyIndexes } of message.lookups) {
    if (writableIndexes.length + readonlyIndexes.length === 0)
      throw new UndecodableError('expected a lookup table to be used, got no index');
    accounts += writableIndexes.length + readonlyIndexes.length;
  }
  if (accounts > MAX_ACCOUNTS) throw new UndecodableError(`expected at most ${MAX_ACCOUNTS} accounts, got ${accounts}`);
  for (const { programIdIndex, accountIndexes } of message.instructions) {
    if (programIdIndex === 0 || programIdIndex >= staticKeys.length) {
      throw new UndecodableError(`expected a program among the static keys, got index ${programIdIndex}`);
    }
    const outside = accountIndexes.find((index) => index >= accounts);
    if (outside !== undefined) throw new UndecodableError(`expected account indexes below ${accounts}, got ${outside}`);
  }
}

function encodeMessage(message: DecodedMessage): Uint8Array {
  const { header } = message;
  const parts: Uint8Array[] = [
    Uint8Array.of(
      ...(message.version === 0 ? [VERSION_PREFIX] : []),
      header.numRequiredSignatures,
      header.numReadonlySignedAccounts,
      header.numReadonlyUnsignedAccounts,
    ),
    listLength(message.staticKeys.length),
    ...message.staticKeys.map(addressBytes),
    addressBytes(message.recentBlockhash),
    listLength(message.instructions.length),
  ];
  for (const { programIdIndex, accountIndexes, data } of message.instructions) {
    parts.push(
      Uint8Array.of(programIdIndex), listLength(accountIndexes.length), accountIndexes, listLength(data.length), data,
    );
  }
  if (message.version === 0) {
    parts.push(listLength(message.lookups.length));
    for (const { table, writableIndexes, readonlyIndexes } of message.lookups) {
      parts.push(
        addressBytes(table), listLength(writableIndexes.length), writableIndexes, listLength(readonlyIndexes.length),
        readonlyIndexes,
      );
    }
  }
  return Buffer.concat(parts);
}

/** Returns the length prefix of a list: 7 bits a byte, least significant first ("compact-u16"). */
export function listLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  return Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
}

interface Reader {
  byte: () => number;
  bytes: (count: number) => Uint8Array;
  list: <Item>(readItem: () => Item) => Item[];
  byteList: () => Uint8Array;
}

function createReader(source: Uint8Array): Reader {
  let at = 0;

  function bytes(count: number): Uint8Array {
    if (at + count > source.length)
      throw new UndecodableError(`expected ${count} more bytes at ${at}, got ${source.length - at}`);
    at += count;
    return source.subarray(at - count, at);
  }

  function byte(): number {
    return bytes(1)[0]!;
  }

  // Two bytes of length reach 16,383, far beyond a packet; a zero last byte would be a second spelling of a shorter
  // one.
  function length(): number {
    const low = byte();
    if (low < 0x80) return low;
    const high = byte();
    if (high === 0 || high >= 0x80) throw new UndecodableError(`expected a canonical list length at ${at - 2}`);
    return (low & 0x7f) | (high << 7);
  }

  return {
    byte,
    bytes,
    list: (readItem) => Array.from({ length: length() }, readItem),
    byteList: () => bytes(length()),
  };
}
