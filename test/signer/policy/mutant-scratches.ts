import bs58 from 'bs58';
import type { Random } from '../../../src/core/random.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import { readTransaction } from '../../../src/solana/transaction.ts';
import { randomBytes } from '../random-transaction.ts';
import type { Victim } from './victim.ts';

type Bytewise = (bytes: Uint8Array, victim: Victim, random: Random) =>
  readonly [code: PolicyCode, bytes: Uint8Array] | undefined;

/** What is done to the bytes themselves. */
export const SCRATCHES: Readonly<Record<string, Bytewise>> = {
  'a byte left over': (bytes) =>
    (bytes.length >= 1_232 ? undefined : ['BYTES_NOT_CANONICAL', Buffer.concat([bytes, Buffer.of(0)])]),
  'a byte missing': (bytes) => ['BYTES_NOT_CANONICAL', bytes.subarray(0, -1)],
  'nothing': () => ['BYTES_NOT_CANONICAL', new Uint8Array()],
  'too many bytes': (bytes) => ['SIZE_EXCEEDED', Buffer.concat([bytes, Buffer.alloc(1_233 - bytes.length)])],
  'a newer version': (bytes) => {
    const at = bytes.length - readTransaction(bytes).message.length;
    return bytes[at] === 0x80 ? ['VERSION_UNKNOWN', withByte(bytes, at, 0x81)]
      : ['VERSION_UNKNOWN', withByte(bytes, at, 0xff)];
  },
  'a count in a longer spelling': (bytes) => (bytes.length >= 1_232 ? undefined
    : ['BYTES_NOT_CANONICAL', Buffer.concat([Buffer.of(bytes[0]! | 0x80, 0), bytes.subarray(1)])]),
  'a key named twice': (bytes) => {
    const { accountKeys } = readTransaction(bytes);
    const copy = Uint8Array.from(bytes);
    copy.set(accountKeys[0]!, accountKeys.at(-1)!.byteOffset - bytes.byteOffset);
    return ['ACCOUNT_DUPLICATE', copy];
  },
  'an unknown table': (bytes, _victim, random) => {
    const [lookup] = readTransaction(bytes).lookups;
    if (lookup === undefined) return undefined;
    const copy = Uint8Array.from(bytes);
    copy.set(randomBytes(random, 32), lookup.table.byteOffset - bytes.byteOffset);
    return ['TABLE_UNREAD', copy];
  },
  'a place that the table does not have': (bytes) => {
    const [lookup] = readTransaction(bytes).lookups;
    if (lookup === undefined) return undefined;
    const { writableIndexes, readonlyIndexes } = lookup;
    const places = writableIndexes.length > 0 ? writableIndexes : readonlyIndexes;
    return ['TABLE_UNREAD', withByte(bytes, places.byteOffset - bytes.byteOffset, 255)];
  },
  'another in the wallet’s place': (bytes, { wallet }, random) => {
    const own = readTransaction(bytes).accountKeys.find((candidate) => bs58.encode(candidate) === wallet)!;
    const copy = Uint8Array.from(bytes);
    copy.set(randomBytes(random, 32), own.byteOffset - bytes.byteOffset);
    return ['SIGNER_MISSING', copy];
  },
};

function withByte(bytes: Uint8Array, at: number, value: number): Uint8Array {
  return Uint8Array.from(bytes).with(at, value);
}
