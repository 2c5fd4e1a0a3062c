import { VersionedTransaction } from '@solana/web3.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { readTransaction, writeMessage } from '../../src/solana/transaction.ts';
import { integer, mutate, randomBytes, randomTransaction } from '../signer/random-transaction.ts';
import { outcome, plain, readByWeb3 } from './reference-readers.ts';

function serializable(seed: number): Uint8Array | undefined {
  try {
    const bytes = randomTransaction(seededRandom(seed)).serialize();
    return bytes.length <= 1_232 ? bytes : undefined;
  } catch {
    // The reference library refuses to serialise what does not fit in a packet.
    return undefined;
  }
}

describe('readTransaction', () => {
  test('reads what the reference library writes, field by field', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const bytes = serializable(seed);
        if (bytes === undefined) return;
        const read = readTransaction(bytes);
        expect(plain(read)).toEqual(plain(readByWeb3(bytes)));
        expect(Buffer.compare(read.message, VersionedTransaction.deserialize(bytes).message.serialize())).toBe(0);
        compared += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(compared).toBeGreaterThan(700);
  });

  test('refuses damaged bytes, or reads them exactly as the reference library does', () => {
    const counts = { refused: 0, read: 0 };
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const bytes = serializable(seed);
        if (bytes === undefined) return;
        const random = seededRandom(`mutations ${seed}`);
        for (let round = 0; round < 20; round++) {
          const damaged = mutate(random, bytes);
          const read = outcome(damaged);
          counts[read === 'refused' ? 'refused' : 'read'] += 1;
          if (read === 'refused') continue;
          expect(plain(read)).toEqual(plain(readByWeb3(damaged)));
          expect(Buffer.compare(writeMessage(read), read.message)).toBe(0);
        }
      }),
      { numRuns: 200 },
    );
    expect(counts.refused).toBeGreaterThan(500);
    expect(counts.read).toBeGreaterThan(500);
  });

  test('throws nothing but CHAIN_TRANSACTION_INVALID for random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 1_400 }), (bytes) => { outcome(bytes); }), { numRuns: 2_000 });
  });

  test('refuses a transaction that lacks its last byte or has one more', () => {
    const random = seededRandom('ends');
    for (let seed = 0; seed < 200; seed++) {
      const bytes = serializable(seed);
      if (bytes === undefined) continue;
      expect(outcome(bytes.subarray(0, -1))).toBe('refused');
      expect(outcome(Uint8Array.from([...bytes, integer(random, 0, 255)]))).toBe('refused');
    }
  });
});

function key(fill: number): number[] {
  return Array.from({ length: 32 }, () => fill);
}

function tableLookup(...indexes: number[]): number[] {
  return [1, ...key(7), ...indexes];
}

/** A transaction of the simplest kind, with the pieces that a test wants to be wrong. */
function handmade(overrides: Partial<
  Record<'signatureCount' | 'prefix' | 'header' | 'keyCount' | 'instruction' | 'lookups', readonly number[]>
> = {}): Uint8Array {
  const { signatureCount = [1], prefix = [0x80], header = [1, 0, 1], keyCount = [2] } = overrides;
  const { instruction = [1, 1, 0, 0], lookups = [0] } = overrides;
  return Uint8Array.from([
    ...signatureCount, ...Array.from({ length: 64 }, () => 0), ...prefix, ...header,
    ...keyCount, ...key(1), ...key(2), ...key(9), 1, ...instruction, ...lookups,
  ]);
}

describe('readTransaction is as strict as the network', () => {
  test('and reads the simplest transaction', () => {
    expect(readTransaction(handmade()).instructions).toHaveLength(1);
    expect(readTransaction(handmade({ prefix: [], lookups: [] })).version).toBe('legacy');
    expect(readTransaction(handmade({ lookups: tableLookup(1, 5, 0) })).lookups).toHaveLength(1);
  });

  test.each([
    ['version 1 behind signatures', { prefix: [0x81] }, 'version 1 stands behind signatures'],
    ['an unknown version behind signatures', { prefix: [0x82] }, 'version 2'],
    ['an unknown version before all else', { signatureCount: [0xff] }, 'version 127'],
    ['a length that is not in its shortest form', { signatureCount: [0x80, 0] }, 'shortest form'],
    ['a length of keys that is not in its shortest form', { keyCount: [0x82, 0] }, 'shortest form'],
    ['a length beyond 16 bits', { keyCount: [0xff, 0xff, 0x7f] }, '16 bits'],
    ['a length that goes on for ever', { keyCount: [0x82, 0x80, 0x80] }, '16 bits'],
    ['more items than there can be', { keyCount: [0xff, 0x7f] }, 'cannot fit'],
    ['fewer slots than required signatures', { header: [2, 0, 0] }, 'required signatures'],
    ['a fee payer that is read-only', { header: [1, 1, 0] }, 'fee payer'],
    ['more read-only accounts than accounts', { header: [1, 0, 2] }, 'account keys'],
    ['a program that is the fee payer', { instruction: [0, 1, 0, 0] }, 'program index of 0'],
    ['a program that is nowhere', { instruction: [2, 1, 0, 0] }, 'program index of 2'],
    ['a program from a table', { instruction: [2, 1, 0, 0], lookups: tableLookup(1, 5, 0) }, 'program index of 2'],
    ['an account that is nowhere', { instruction: [1, 1, 2, 0] }, 'account index of 2'],
    ['a lookup that loads nothing', { lookups: tableLookup(0, 0) }, 'loads nothing'],
    [
      'more accounts than there can be', { lookups: tableLookup(0xff, 1, ...randomBytes(seededRandom(1), 255), 0) },
      'at most 256 accounts',
    ],
  ])('and refuses %s', (_what, overrides, message) => {
    expect(() => readTransaction(handmade(overrides))).toThrow(message);
  });

  test('and refuses more bytes than a packet carries', () => {
    expect(() => readTransaction(new Uint8Array(1_233))).toThrow('at most 1232 bytes');
  });
});
