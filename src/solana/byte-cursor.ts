import { invalidTransaction } from './transaction-message.ts';

/** Reads bytes from the front. All methods throw CHAIN_TRANSACTION_INVALID where the bytes end before. */
export interface ByteCursor {
  position(): number;
  byte(what: string): number;
  /** Little-endian, as all numbers. */
  u16(what: string): number;
  u32(what: string): number;
  u64(what: string): bigint;
  /** A view into the bytes. */
  take(length: number, what: string): Uint8Array;
  /** Nothing may be left over after `what`. */
  end(what: string): void;
}

/** Returns a cursor at the first of the bytes. */
export function createByteCursor(bytes: Uint8Array): ByteCursor {
  let offset = 0;

  function take(length: number, what: string): Uint8Array {
    if (offset + length > bytes.length) throw invalidTransaction(`the bytes end within ${what}`);
    offset += length;
    return bytes.subarray(offset - length, offset);
  }

  function byte(what: string): number {
    const value = bytes[offset];
    if (value === undefined) throw invalidTransaction(`the bytes end before ${what}`);
    offset += 1;
    return value;
  }

  const u16 = (what: string): number => byte(what) + byte(what) * 0x100;
  const u32 = (what: string): number => u16(what) + u16(what) * 0x1_0000;
  return {
    position: () => offset,
    byte, take, u16, u32,
    u64: (what) => BigInt(u32(what)) + (BigInt(u32(what)) << 32n),
    end(what) {
      if (offset !== bytes.length)
        throw invalidTransaction(`${bytes.length - offset} bytes are left over after ${what}`);
    },
  };
}
