import bs58 from 'bs58';
import type { Random } from '../../../src/core/random.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import { readTransaction } from '../../../src/solana/transaction.ts';
import { integer, randomBytes } from '../random-transaction.ts';
import { mostBytes } from './decompile.ts';
import type { Victim } from './victim.ts';

type Bytewise = (bytes: Uint8Array, victim: Victim, random: Random) =>
  readonly [code: PolicyCode, bytes: Uint8Array] | undefined;

/** What is done to the bytes themselves. */
export const SCRATCHES: Readonly<Record<string, Bytewise>> = {
  'a byte left over': (bytes) =>
    (bytes.length >= mostBytes(bytes) ? undefined : ['BYTES_NOT_CANONICAL', Buffer.concat([bytes, Buffer.of(0)])]),
  'a byte missing': (bytes) => ['BYTES_NOT_CANONICAL', bytes.subarray(0, -1)],
  'nothing': () => ['BYTES_NOT_CANONICAL', new Uint8Array()],
  'too many bytes': (bytes) => 
    ['SIZE_EXCEEDED', Buffer.concat([bytes, Buffer.alloc(mostBytes(bytes) + 1 - bytes.length)])],
  'a newer version': (bytes, _victim, random) => {
    const at = isV1(bytes) ? 0 : bytes.length - readTransaction(bytes).message.length;
    return ['VERSION_UNKNOWN', withByte(bytes, at, 0x80 | integer(random, 2, 127))];
  },
  'a newer version before all else': (bytes, _victim, random) =>
    ['VERSION_UNKNOWN', withByte(bytes, 0, 0x80 | integer(random, 2, 127))],
  'the other place of version 1': (bytes) => (isV1(bytes) ? ['BYTES_NOT_CANONICAL', withByte(bytes, 0, 0x80)]
    : ['BYTES_NOT_CANONICAL', withByte(bytes, bytes.length - readTransaction(bytes).message.length, 0x81)]),
  'a count in a longer spelling': (bytes) => {
    if (isV1(bytes) || bytes.length >= mostBytes(bytes)) return undefined;
    const [key] = readTransaction(bytes).accountKeys;
    const at = key!.byteOffset - bytes.byteOffset - 1;
    return [
      'BYTES_NOT_CANONICAL',
      Buffer.concat([bytes.subarray(0, at), Buffer.of(bytes[at]! | 0x80, 0), bytes.subarray(at + 1)]),
    ];
  },
  'an unknown bit of the mask': (bytes, _victim, random) =>
    (isV1(bytes) ? ['BYTES_NOT_CANONICAL', withByte(bytes, integer(random, 5, 7), 1 << integer(random, 0, 7))]
      : undefined),
  'half a priority fee': (bytes, _victim, random) =>
    (isV1(bytes) ? ['BYTES_NOT_CANONICAL', withByte(bytes, 4, bytes[4]! ^ (1 << integer(random, 0, 1)))] : undefined),
  'a heap that was not asked for': (bytes) =>
    (isV1(bytes) ? ['BYTES_NOT_CANONICAL', withByte(bytes, 4, bytes[4]! ^ 0b1_0000)] : undefined),
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

function isV1(bytes: Uint8Array): boolean {
  return bytes[0] === 0x81;
}

function withByte(bytes: Uint8Array, at: number, value: number): Uint8Array {
  return Uint8Array.from(bytes).with(at, value);
}
