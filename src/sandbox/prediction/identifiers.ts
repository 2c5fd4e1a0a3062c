import { createHash } from 'node:crypto';
import bs58 from 'bs58';

/** Names of accounts, orders and transactions that a seed gives to things which are on no chain. */
export interface Identifiers {
  /** Returns the 32 bytes of an account's address. */
  bytes(purpose: string): Buffer;
  address(purpose: string): string;
  signature(purpose: string): string;
  hex(purpose: string): string;
  /** Returns an identifier in the form of a UUID. */
  uuid(purpose: string): string;
}

/** Returns the identifiers of a seed. */
export function createIdentifiers(seed: string): Identifiers {
  const bytes = (purpose: string): Buffer => createHash('sha256').update(`${seed}:${purpose}`).digest();
  return {
    bytes,
    address: (purpose) => bs58.encode(bytes(purpose)),
    signature: (purpose) => bs58.encode(createHash('sha512').update(`${seed}:${purpose}`).digest()),
    hex: (purpose) => bytes(purpose).toString('hex'),
    uuid(purpose) {
      const hex = bytes(purpose).toString('hex');
      return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)]
        .join('-');
    },
  };
}
