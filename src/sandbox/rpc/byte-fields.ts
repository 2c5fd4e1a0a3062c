import bs58 from 'bs58';
import { exactNumber } from '../json-text.ts';

/** Reads the fields of an instruction or a sysvar in order. Throws RangeError where there are none left. */
export interface Fields {
  u8(): number;
  u64(): number | bigint;
  i64(): number | bigint;
  f64(): number;
  flag(): boolean;
  /** Amounts of tokens, and numbers that may exceed a double, are texts. */
  amount(): string;
  u128(): string;
  key(): string;
  /** Returns a key with a byte in front that tells whether there is one. */
  optionalKey(): string | null;
  text(): string;
  /** Returns as many items as the count in front of them says. */
  list<Item>(read: () => Item): Item[];
}

/** Returns a reader that begins at the first of the bytes. */
export function fieldsOf(bytes: Buffer): Fields {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const big = (): bigint => take(8).readBigUInt64LE(0);
  const u8 = (): number => take(1)[0]!;
  const key = (): string => bs58.encode(take(32));
  return {
    u8, key,
    u64: () => exactNumber(big()),
    i64: () => exactNumber(take(8).readBigInt64LE(0)),
    f64: () => take(8).readDoubleLE(0),
    flag: () => u8() === 1,
    amount: () => big().toString(),
    u128: () => (big() + (big() << 64n)).toString(),
    optionalKey: () => (u8() === 0 ? null : key()),
    text: () => take(Number(big())).toString('utf8'),
    list(read) {
      const count = big();
      // An item takes at least one byte.
      if (count > BigInt(bytes.length)) throw new RangeError('the bytes count more items than they hold');
      return Array.from({ length: Number(count) }, read);
    },
  };
}
