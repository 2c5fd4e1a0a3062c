import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const ADDRESS_BYTES = 32;

/** Turns base58 into 32 bytes. Throws CHAIN_TRANSACTION_INVALID on anything else. */
export type AddressDecoder = (address: string) => Uint8Array;

/**
 * Returns a decoder that remembers the addresses it saw last: programs, mints and our own accounts come back in every
 * swap, and decoding one costs more than all the rest of its part in composing.
 */
export function createAddressDecoder(capacity = 4_096): AddressDecoder {
  const known = new Map<string, Uint8Array>();
  return (address) => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const bytes = decodeAddress(address);
    // A map keeps the order of insertion, so the first key is the oldest.
    if (known.size >= capacity) known.delete(known.keys().next().value!);
    known.set(address, bytes);
    return bytes;
  };
}

function decodeAddress(address: string): Uint8Array {
  const bytes = address.length <= 44 ? bs58.decodeUnsafe(address) : undefined;
  if (bytes?.length !== ADDRESS_BYTES) {
    throw new GannetError('CHAIN_TRANSACTION_INVALID', `expected an address of 32 bytes in base58, got "${printable(address, 60)}"`);
  }
  return bytes;
}
