import { getTransactionDecoder } from '@solana/kit';
import bs58 from 'bs58';
import { describe, expect, test } from 'vitest';
import { isGannetError } from '../../src/core/errors.ts';
import { seededRandom } from '../../src/core/random.ts';
import {
  readTransaction, readTransactionFacts, writeMessage, writeUnsignedTransaction,
} from '../../src/solana/transaction.ts';
import { mutate } from '../signer/random-transaction.ts';
import { randomV1Transaction } from '../signer/random-v1-transaction.ts';
import { outcome, plain, readByKit, readByWeb3 } from './reference-readers.ts';

describe('readTransaction reads version 1', () => {
  test('as kit writes it and as web3.js and kit read it, field by field', () => {
    const counts = { compared: 0, long: 0 };
    for (let seed = 0; seed < 200; seed++) {
      const bytes = randomV1Transaction(seededRandom(seed));
      if (bytes === undefined) continue;
      const read = readTransaction(bytes);
      expect(plain(read)).toEqual(plain(readByWeb3(bytes)));
      expect(plain(read)).toEqual(plain(readByKit(bytes)));
      expect(Buffer.compare(writeMessage(read), read.message)).toBe(0);
      expect(Buffer.compare(read.message, Uint8Array.from(getTransactionDecoder().decode(bytes).messageBytes))).toBe(0);
      expect(Buffer.compare(Buffer.concat([read.message, ...read.signatures]), bytes)).toBe(0);
      counts.compared += 1;
      if (bytes.length > 1_232) counts.long += 1;
    }
    expect(Math.min(counts.compared - 150, counts.long - 50)).toBeGreaterThan(0);
  });

  test('and refuses damaged bytes, or reads them as web3.js and kit do', () => {
    const counts = { refused: 0, read: 0, stricter: 0 };
    for (let seed = 0; seed < 60; seed++) {
      const bytes = randomV1Transaction(seededRandom(seed));
      if (bytes === undefined) continue;
      const random = seededRandom(`version 1 mutations ${seed}`);
      for (let round = 0; round < 20; round++) compareDamaged(mutate(random, bytes), counts);
    }
    expect(Math.min(counts.refused, counts.read)).toBeGreaterThan(200);
  });

  test('and agrees with web3.js and kit on every change of one byte of a small one, or is stricter', () => {
    const small = simpleV1();
    const counts = { refused: 0, read: 0, stricter: 0 };
    for (let at = 0; at < small.length; at++) {
      for (let value = 0; value < 256; value++)
        if (value !== small[at] && isHeadOrSample(at, value)) compareDamaged(small.with(at, value), counts);
    }
    expect(Math.min(counts.refused - 1_000, counts.read - 500, counts.stricter - 100)).toBeGreaterThan(0);
  });

  test.each<readonly [what: string, overrides: V1Overrides, message: string]>([
    ['an unknown bit of the mask', { mask: 0b100_0000 }, 'unknown bits'],
    ['the highest bit of the mask', { mask: 0x8000_0000 }, 'unknown bits'],
    ['the lower half of a priority fee', { mask: 0b01, values: [0, 0, 0, 0] }, 'half a priority fee'],
    ['the upper half of a priority fee', { mask: 0b10, values: [0, 0, 0, 0] }, 'half a priority fee'],
    ['a heap that is no multiple of 1,024', { mask: 0b1_0000, values: [1, 0x80, 0, 0] }, 'heap'],
    ['a heap below 32 KiB', { mask: 0b1_0000, values: [0, 0x7c, 0, 0] }, 'heap'],
    ['a heap above 256 KiB', { mask: 0b1_0000, values: [0, 4, 4, 0] }, 'heap'],
    ['an account that is named twice', { keys: [key(1), key(1)] }, 'named more than once'],
    ['no signer', { header: [0, 0, 1], signatures: 0 }, 'fee payer'],
    ['a fee payer that is read-only', { header: [1, 1, 1] }, 'fee payer'],
    ['more read-only accounts than accounts', { header: [1, 0, 2] }, 'account keys'],
    ['13 signers', { header: [13, 0, 0], keys: keys(14), signatures: 13 }, 'at most 12 signers'],
    ['65 accounts', { keys: keys(65) }, 'at most 64 accounts'],
    ['65 instructions', { instructions: Array.from({ length: 65 }, () => [1, 0, 0, 0]) }, 'at most 64 instructions'],
    ['a program that is the fee payer', { instructions: [[0, 0, 0, 0]] }, 'program index of 0'],
    ['a program that is nowhere', { instructions: [[2, 0, 0, 0]] }, 'program index of 2'],
    ['an account that is nowhere', { instructions: [[1, 1, 0, 0]], payload: [2] }, 'account index of 2'],
    ['data that ends before its length', { instructions: [[1, 0, 255, 255]], signatures: 0 }, 'end within'],
    ['one signature too few', { signatures: 0 }, 'end within a signature'],
    ['one signature too many', { signatures: 2 }, '64 bytes are left over'],
  ])('and refuses %s', (_what, overrides, message) => {
    expect(() => readTransaction(simpleV1(overrides))).toThrow(message);
  });

  test('and reads the largest of everything', () => {
    const crowded = simpleV1({ keys: keys(64), header: [12, 0, 0], signatures: 12 });
    expect(readTransaction(crowded).accountKeys).toHaveLength(64);
    const many = simpleV1({ instructions: Array.from({ length: 64 }, () => [1, 0, 0, 0]) });
    expect(readTransaction(many).instructions).toHaveLength(64);
    const rest = 4_096 - simpleV1().length;
    const full = simpleV1({ instructions: [[1, 0, rest & 0xff, rest >> 8]], payload: Array<number>(rest).fill(7) });
    expect([full.length, readTransaction(full).instructions[0]!.data.length]).toEqual([4_096, rest]);
    const costly = simpleV1({ mask: 0b1_1111, values: [...Array<number>(16).fill(255), 0, 0, 4, 0] });
    expect(readTransaction(costly).config).toEqual({
      priorityFeeLamports: 2n ** 64n - 1n, unitLimit: 2 ** 32 - 1, loadedBytes: 2 ** 32 - 1, heapBytes: 262_144,
    });
  });

  test('and says what is wrong in a word: the size, the version, an account twice, or the bytes', () => {
    const long = new Uint8Array(4_097);
    expect([
      problem(long.with(0, 0x81)), problem(new Uint8Array(1_233)), problem(simpleV1().with(0, 0x82)),
      problem(long.with(0, 0xff)), problem(simpleV1({ keys: [key(1), key(1)] })),
      problem(simpleV1().with(0, 0x80)), problem(behind(0x82)), problem(behind(0x81)),
      problem(new Uint8Array()),
    ]).toEqual(['size', 'size', 'version', 'version', 'duplicate', 'bytes', 'version', 'bytes', 'bytes']);
  });

  test('and tells its facts: who pays, the blockhash, and whether it begins with a nonce', () => {
    const system = key(0);
    const nonce = { keys: [key(1), system], payload: [4, 0, 0, 0] };
    const facts = readTransactionFacts(simpleV1({ ...nonce, instructions: [[1, 0, 4, 0]] }));
    expect(facts).toEqual({
      blockhash: bs58.encode(Uint8Array.from(key(9))), feePayer: bs58.encode(Uint8Array.from(key(1))),
      signers: [bs58.encode(Uint8Array.from(key(1)))], durableNonce: true, isWhole: false,
    });
    const later = simpleV1({ ...nonce, instructions: [[1, 0, 0, 0], [1, 0, 4, 0]] });
    expect(readTransactionFacts(later).durableNonce).toBe(false);
  });

  test('and the writer puts empty signatures behind the message', () => {
    const bytes = simpleV1();
    expect([...writeUnsignedTransaction(readTransaction(bytes))]).toEqual([...bytes]);
  });
});

function behind(version: number): Uint8Array {
  return Uint8Array.of(1, ...new Uint8Array(64), version);
}

function problem(bytes: Uint8Array): unknown {
  try {
    return readTransaction(bytes).version;
  } catch (error) {
    return isGannetError(error) ? error.details['problem'] : error;
  }
}

/** The bytes that decide how the rest is cut are changed to every value, keys and signatures to a few. */
function isHeadOrSample(at: number, value: number): boolean {
  const isKeyOrSignature = (at >= 8 && at < 40) || (at >= 42 && at < 106) || at >= 110;
  return !isKeyOrSignature || value % 64 === 1;
}

/**
 * Compares readings of damaged bytes: what is read here is read alike by both libraries, so that what one of them
 * refuses is refused here.
 */
function compareDamaged(bytes: Uint8Array, counts: { refused: number; read: number; stricter: number }): void {
  const read = outcome(bytes);
  const [byWeb3, byKit] = [readByWeb3, readByKit].map((reader) => {
    try {
      return plain(reader(bytes));
    } catch {
      return 'refused';
    }
  });
  if (read !== 'refused') {
    counts.read += 1;
    expect(plain(read)).toEqual(byKit);
    // web3.js holds a priority fee as a double.
    if ((read.config?.priorityFeeLamports ?? 0n) < 2n ** 53n) expect(plain(read)).toEqual(byWeb3);
    expect(Buffer.compare(writeMessage(read), read.message)).toBe(0);
    return;
  }
  counts.refused += 1;
  // The libraries only cut the bytes; the rules of what was cut are the network's, and this reader's.
  if (byWeb3 !== 'refused' || byKit !== 'refused') counts.stricter += 1;
}

interface V1Overrides {
  readonly header?: readonly number[];
  readonly mask?: number;
  readonly values?: readonly number[];
  readonly keys?: readonly (readonly number[])[];
  readonly instructions?: readonly (readonly number[])[];
  readonly payload?: readonly number[];
  readonly signatures?: number;
}

function key(fill: number): number[] {
  return Array.from({ length: 32 }, () => fill);
}

function keys(count: number): number[][] {
  return Array.from({ length: count }, (_, index) => key(index + 1));
}

/** A version 1 transaction of the simplest kind, with the pieces that a test wants to be wrong. */
function simpleV1({
  header = [1, 0, 1], mask = 0, values = [], keys: named = keys(2), instructions = [[1, 0, 0, 0]], payload = [],
  signatures = 1,
}: V1Overrides = {}): Uint8Array {
  return Uint8Array.from([
    0x81, ...header, mask & 0xff, (mask >>> 8) & 0xff, (mask >>> 16) & 0xff, mask >>> 24, ...key(9),
    instructions.length, named.length, ...named.flat(), ...values, ...instructions.flat(), ...payload,
    ...Array<number>(64 * signatures).fill(0),
  ]);
}
