import type { MessageCompiledInstruction, MessageV1 } from '@solana/web3.js';
import { PACKET_DATA_SIZE, VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { messageOf } from '../../core/errors.ts';
import type { Address } from './addresses.ts';
import { addressOf } from './addresses.ts';

/** The bytes that fit into one network packet: the longest transaction, unversioned or of version 0. */
export const MAX_TRANSACTION_BYTES = PACKET_DATA_SIZE;
/** The longest transaction of version 1. */
export const MAX_VERSION_1_BYTES = 4096;
/** The first byte of a transaction of version 1, and of a message of it. */
const VERSION_1_PREFIX = 0x81;
const MAX_ACCOUNTS = 256;
const VERSION_1_LIMITS = { signatures: 12, accounts: 64, instructions: 64 } as const;
const HEAP_BYTES = { min: 32_768, max: 262_144, step: 1_024 } as const;
const PRIORITY_FEE_BITS = 0b11;
const UNIT_LIMIT_BIT = 0b100;
const DATA_LIMIT_BIT = 0b1000;
const HEAP_BIT = 0b1_0000;

export interface DecodedMessage {
  readonly message: VersionedMessage;
  /** The keys and the instructions of `message`, which web3.js makes again each time they are asked for. */
  readonly staticKeys: readonly Address[];
  readonly instructions: readonly MessageCompiledInstruction[];
  /** The message written again from what was read: what the signatures must cover. */
  readonly messageBytes: Uint8Array;
}

export interface DecodedTransaction extends DecodedMessage {
  readonly signatures: readonly Uint8Array[];
  /** The whole transaction written again from what was read; the only bytes that may reach the VM. */
  readonly bytes: Uint8Array;
}

/** Says why bytes are no transaction; the callers of this module catch it. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/**
 * Returns the transaction in `bytes`. Throws UndecodableError on anything the VM's own decoder might refuse: there a
 * refusal aborts the process. web3.js reads more than a node accepts (lengths in several spellings, any order of
 * accounts), so the rules of a node follow, and what was read is written again and must give the bytes that came.
 * Bytes after a transaction without version or of version 0 are dropped, as a node drops them.
 */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction {
  const { message, signatures } = read(bytes, () => VersionedTransaction.deserialize(bytes));
  const decoded = sane(message);
  // A packet has no place for 128 signatures, so that their count is one byte.
  const written = Buffer.concat(message.version === 1 ? [decoded.messageBytes, ...signatures]
    : [Buffer.of(signatures.length), ...signatures, decoded.messageBytes]);
  checkSpelling(written, bytes);
  return { ...decoded, signatures, bytes: written };
}

/** Returns the message in `bytes`. Throws UndecodableError. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  const decoded = sane(read(bytes, () => VersionedMessage.deserialize(bytes)));
  checkSpelling(decoded.messageBytes, bytes);
  return decoded;
}

function read<Value>(bytes: Uint8Array, deserialize: () => Value): Value {
  const limit = bytes[0] === VERSION_1_PREFIX ? MAX_VERSION_1_BYTES : MAX_TRANSACTION_BYTES;
  if (bytes.length > limit) throw new UndecodableError(`expected at most ${limit} bytes, got ${bytes.length}`);
  try {
    return deserialize();
  } catch (cause) {
    // web3.js throws errors of many kinds, and all of them mean that it could not read the bytes.
    throw new UndecodableError(messageOf(cause), { cause });
  }
}

function checkSpelling(written: Uint8Array, bytes: Uint8Array): void {
  if (!Buffer.from(bytes).subarray(0, written.length).equals(written))
    throw new UndecodableError('expected each length in its shortest form, got a longer one');
}

/** Returns a message that keeps the rules that every validator checks before the signatures. */
function sane(message: VersionedMessage): DecodedMessage {
  const { header, addressTableLookups } = message;
  const staticKeys = message.staticAccountKeys.map((key) => addressOf(key.toBytes()));
  const instructions = message.compiledInstructions;
  if (header.numReadonlySignedAccounts >= header.numRequiredSignatures)
    throw new UndecodableError('expected a writable fee payer, got none');
  if (header.numRequiredSignatures + header.numReadonlyUnsignedAccounts > staticKeys.length) {
    throw new UndecodableError(`expected at least as many keys as the header names, got ${staticKeys.length}`);
  }
  let accounts = staticKeys.length;
  for (const { writableIndexes, readonlyIndexes } of addressTableLookups) {
    if (writableIndexes.length + readonlyIndexes.length === 0)
      throw new UndecodableError('expected a lookup table to be used, got no index');
    accounts += writableIndexes.length + readonlyIndexes.length;
  }
  if (accounts > MAX_ACCOUNTS) throw new UndecodableError(`expected at most ${MAX_ACCOUNTS} accounts, got ${accounts}`);
  for (const { programIdIndex, accountKeyIndexes } of instructions) {
    if (programIdIndex === 0 || programIdIndex >= staticKeys.length) {
      throw new UndecodableError(`expected a program among the static keys, got index ${programIdIndex}`);
    }
    const outside = accountKeyIndexes.find((index) => index >= accounts);
    if (outside !== undefined) throw new UndecodableError(`expected account indexes below ${accounts}, got ${outside}`);
  }
  if (message.version === 1) checkVersion1(message, staticKeys);
  return { message, staticKeys, instructions, messageBytes: serializeMessage(message) };
}

function checkVersion1({ header, compiledInstructions, transactionConfig }: MessageV1, keys: readonly Address[]): void {
  const counts = {
    signatures: header.numRequiredSignatures, accounts: keys.length, instructions: compiledInstructions.length,
  };
  for (const [name, limit] of Object.entries(VERSION_1_LIMITS)) {
    const count = counts[name as keyof typeof counts];
    if (count > limit) throw new UndecodableError(`expected at most ${limit} ${name} in version 1, got ${count}`);
  }
  if (new Set(keys).size < keys.length) throw new UndecodableError('expected each account once, got one twice');
  const { heapSize } = transactionConfig;
  const { min, max, step } = HEAP_BYTES;
  if (heapSize !== null && (heapSize < min || heapSize > max || heapSize % step !== 0))
    throw new UndecodableError(`expected a heap of ${min} to ${max} bytes in steps of ${step}, got ${heapSize}`);
}

/** Returns the bytes of a message. Those of version 1 web3.js can read, but not write. */
export function serializeMessage(message: VersionedMessage): Uint8Array {
  if (message.version !== 1) return message.serialize();
  const { header, staticAccountKeys, compiledInstructions } = message;
  return Buffer.concat([
    Buffer.of(
      VERSION_1_PREFIX, header.numRequiredSignatures, header.numReadonlySignedAccounts,
      header.numReadonlyUnsignedAccounts,
    ),
    configMask(message),
    bs58.decode(message.recentBlockhash),
    Buffer.of(compiledInstructions.length, staticAccountKeys.length),
    ...staticAccountKeys.map((key) => key.toBytes()),
    configValues(message),
    ...compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
      Buffer.of(programIdIndex, accountKeyIndexes.length, data.length & 0xff, data.length >> 8)),
    ...compiledInstructions.flatMap(({ accountKeyIndexes, data }) => [Uint8Array.from(accountKeyIndexes), data]),
  ]);
}

function configMask({ transactionConfig: config }: MessageV1): Buffer {
  const mask = Buffer.alloc(4);
  mask[0] = (config.priorityFee === null ? 0 : PRIORITY_FEE_BITS)
    | (config.computeUnitLimit === null ? 0 : UNIT_LIMIT_BIT)
    | (config.loadedAccountsDataSizeLimit === null ? 0 : DATA_LIMIT_BIT)
    | (config.heapSize === null ? 0 : HEAP_BIT);
  return mask;
}

/** Returns the values that the mask announces, in the order of its bits. */
function configValues({ transactionConfig: config }: MessageV1): Buffer {
  const parts: Buffer[] = [];
  if (config.priorityFee !== null) {
    const fee = Buffer.alloc(8);
    fee.writeBigUInt64LE(BigInt(config.priorityFee));
    parts.push(fee);
  }
  for (const value of [config.computeUnitLimit, config.loadedAccountsDataSizeLimit, config.heapSize]) {
    if (value === null) continue;
    const limit = Buffer.alloc(4);
    limit.writeUInt32LE(value);
    parts.push(limit);
  }
  return Buffer.concat(parts);
}
