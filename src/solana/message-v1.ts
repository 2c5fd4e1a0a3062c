import type { ByteCursor } from './byte-cursor.ts';
import {
  invalidTransaction, KEY_BYTES, VERSION_FLAG, type TransactionConfig, type TransactionMessage,
} from './transaction-message.ts';

// The form of version 1 (SIMD-0385): numbers of fixed width, the budget in the message, instruction headers before all
// payloads, and no lookup tables.

/** The first byte of a version 1 transaction. */
export const VERSION_1 = VERSION_FLAG | 1;

const MAX_SIGNERS = 12;
const MAX_ACCOUNTS = 64;
const MAX_INSTRUCTIONS = 64;
const HEAP_STEP = 1_024;
const MIN_HEAP_BYTES = 32 * HEAP_STEP;
const MAX_HEAP_BYTES = 256 * HEAP_STEP;
/** Each bit of the mask stands for four bytes. The priority fee takes two bits, both or none. */
const MASK = { priorityFee: 0b11, unitLimit: 0b100, loadedBytes: 0b1000, heapBytes: 0b1_0000 } as const;
const KNOWN_BITS = MASK.priorityFee | MASK.unitLimit | MASK.loadedBytes | MASK.heapBytes;

/**
 * Returns the version 1 message at a cursor, by every rule of the network that needs no account. Signatures may follow.
 * Throws CHAIN_TRANSACTION_INVALID.
 */
export function readMessageV1(cursor: ByteCursor): TransactionMessage {
  cursor.byte('the version');
  const header = {
    requiredSignatures: atMost(cursor.byte('the number of required signatures'), MAX_SIGNERS, 'signers'),
    readonlySigned: cursor.byte('the number of read-only signers'),
    readonlyUnsigned: cursor.byte('the number of read-only accounts'),
  };
  const mask = cursor.u32('the mask of the configuration');
  const blockhash = cursor.take(KEY_BYTES, 'the blockhash');
  const instructionCount = atMost(cursor.byte('the number of instructions'), MAX_INSTRUCTIONS, 'instructions');
  const accountCount = atMost(cursor.byte('the number of accounts'), MAX_ACCOUNTS, 'accounts');
  const accountKeys = Array.from({ length: accountCount }, () => cursor.take(KEY_BYTES, 'an account key'));
  refuseDuplicates(accountKeys);
  const config = readConfig(cursor, mask);
  const shapes = Array.from({ length: instructionCount }, () => ({
    programIndex: cursor.byte('a program index'),
    accounts: cursor.byte('the number of account indexes'),
    bytes: cursor.u16('the length of instruction data'),
  }));
  const instructions = shapes.map(({ programIndex, accounts, bytes }) => ({
    programIndex,
    accountIndexes: cursor.take(accounts, 'account indexes'),
    data: cursor.take(bytes, 'instruction data'),
  }));
  return { version: 1, header, accountKeys, blockhash, instructions, lookups: [], config };
}

function atMost(count: number, most: number, what: string): number {
  if (count > most) throw invalidTransaction(`expected at most ${most} ${what} in version 1, got ${count}`);
  return count;
}

/** In version 1 the network takes no such transaction; in earlier ones it is for the policy to refuse. */
function refuseDuplicates(accountKeys: readonly Uint8Array[]): void {
  const seen = new Set<string>();
  for (const key of accountKeys) {
    const text = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
    if (seen.has(text)) throw invalidTransaction('an account key is named more than once', 'duplicate');
    seen.add(text);
  }
}

function readConfig(cursor: ByteCursor, mask: number): TransactionConfig {
  // The values of unknown bits have unknown lengths, so that nothing behind them could be read.
  if (mask > KNOWN_BITS) throw invalidTransaction(`the mask of the configuration has unknown bits: ${mask}`);
  const feeBits = mask & MASK.priorityFee;
  if (feeBits !== 0 && feeBits !== MASK.priorityFee) throw invalidTransaction('half a priority fee in the mask');
  const number = (bit: number, what: string): number | undefined =>
    ((mask & bit) === 0 ? undefined : cursor.u32(what));
  const config = {
    priorityFeeLamports: feeBits === 0 ? undefined : cursor.u64('the priority fee'),
    unitLimit: number(MASK.unitLimit, 'the limit of compute units'),
    loadedBytes: number(MASK.loadedBytes, 'the limit of loaded bytes'),
    heapBytes: number(MASK.heapBytes, 'the size of the heap'),
  };
  const { heapBytes } = config;
  if (heapBytes !== undefined
      && (heapBytes % HEAP_STEP !== 0 || heapBytes < MIN_HEAP_BYTES || heapBytes > MAX_HEAP_BYTES)) {
    throw invalidTransaction(`expected a heap of ${MIN_HEAP_BYTES} to ${MAX_HEAP_BYTES} bytes in steps of `
      + `${HEAP_STEP}, got ${heapBytes}`);
  }
  return config;
}

/** Returns the bytes of a version 1 message. */
export function writeMessageV1(message: TransactionMessage): Uint8Array {
  const { header, accountKeys, blockhash, instructions, config = {} } = message;
  const { priorityFeeLamports, unitLimit, loadedBytes, heapBytes } = config;
  const mask = (priorityFeeLamports === undefined ? 0 : MASK.priorityFee)
    | (unitLimit === undefined ? 0 : MASK.unitLimit) | (loadedBytes === undefined ? 0 : MASK.loadedBytes)
    | (heapBytes === undefined ? 0 : MASK.heapBytes);
  return Buffer.concat([
    Buffer.of(VERSION_1, header.requiredSignatures, header.readonlySigned, header.readonlyUnsigned),
    littleEndian(mask, 4), blockhash, Buffer.of(instructions.length, accountKeys.length), ...accountKeys,
    littleEndian(priorityFeeLamports, 8),
    ...[unitLimit, loadedBytes, heapBytes].map((value) => littleEndian(value, 4)),
    ...instructions.flatMap(({ programIndex, accountIndexes, data }) =>
      [Buffer.of(programIndex, accountIndexes.length), littleEndian(data.length, 2)]),
    ...instructions.flatMap(({ accountIndexes, data }) => [accountIndexes, data]),
  ]);
}

/** Returns no bytes for a value that is not stated. */
function littleEndian(value: number | bigint | undefined, length: 2 | 4 | 8): Uint8Array {
  if (value === undefined) return Buffer.alloc(0);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.subarray(0, length);
}
