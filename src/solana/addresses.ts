import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { ASSOCIATED_TOKEN_PROGRAM } from './constants.ts';
import { isOnCurve } from './curve.ts';

const ADDRESS_BYTES = 32;
const MAX_BASE58_LENGTH = 44;
const MAX_SEED_BYTES = 32;
const DERIVED_MARKER = Buffer.from('ProgramDerivedAddress');

/** The characters and lengths of an address; `isAddress` checks its bytes as well. */
export const ADDRESS_FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** The characters and lengths of a signature. */
export const SIGNATURE_FORM = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** Converts addresses, derives those of token accounts, and caches the results. */
export interface Addresses {
  /** Returns the base58 of 32 bytes. */
  readonly addressOf: (bytes: Uint8Array) => string;
  /** Returns the 32 bytes of an address; undefined for any other text. */
  readonly bytesOf: (address: string) => Uint8Array | undefined;
  /** Returns an owner's associated token account for a mint; undefined where one of the three is no address. */
  readonly associated: (owner: string, mint: string, tokenProgram: string) => string | undefined;
  /** Returns the address that `base` and a seed give for accounts of `owner`; undefined where there is none. */
  readonly seeded: (base: string, seed: Uint8Array, owner: string) => string | undefined;
}

/**
 * Returns a converter whose caches are cleared at `capacity` entries: hostile transactions bring new keys each time.
 */
export function createAddresses(capacity = 20_000): Addresses {
  const encoded = new Map<string, string>();
  const decoded = new Map<string, Uint8Array | undefined>();
  const derived = new Map<string, string | undefined>();

  function bytesOf(address: string): Uint8Array | undefined {
    return cached(decoded, address, () => addressBytes(address));
  }

  function addressOf(bytes: Uint8Array): string {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    return cached(encoded, key, () => bs58.encode(bytes));
  }

  function cached<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known as Value;
    if (cache.size >= capacity) cache.clear();
    const made = make();
    cache.set(key, made);
    return made;
  }

  return {
    addressOf,
    bytesOf,
    associated(owner, mint, tokenProgram) {
      return cached(derived, `${owner}:${mint}:${tokenProgram}`, () => {
        const seeds = [owner, tokenProgram, mint].map(bytesOf);
        if (!seeds.every((seed) => seed !== undefined)) return undefined;
        return programAddress(seeds, bytesOf(ASSOCIATED_TOKEN_PROGRAM)!);
      });
    },
    seeded(base, seed, owner) {
      const [baseBytes, ownerBytes] = [bytesOf(base), bytesOf(owner)];
      if (baseBytes === undefined || ownerBytes === undefined || seed.length > MAX_SEED_BYTES) return undefined;
      return addressOf(hash('sha256', Buffer.concat([baseBytes, seed, ownerBytes]), 'buffer'));
    },
  };
}

/** The first address from bump 255 downward that is no public key. */
function programAddress(seeds: readonly Uint8Array[], program: Uint8Array): string | undefined {
  for (let bump = 255; bump >= 0; bump--) {
    const parts = [...seeds, Uint8Array.of(bump), program, DERIVED_MARKER];
    const candidate = hash('sha256', Buffer.concat(parts), 'buffer');
    if (!isOnCurve(candidate)) return bs58.encode(candidate);
  }
  return undefined;
}

/** Returns whether a text is an address: the base58 of 32 bytes. */
export function isAddress(text: string): boolean {
  return addressBytes(text) !== undefined;
}

function addressBytes(text: string): Uint8Array | undefined {
  const bytes = text.length <= MAX_BASE58_LENGTH ? bs58.decodeUnsafe(text) : undefined;
  return bytes?.length === ADDRESS_BYTES ? bytes : undefined;
}
