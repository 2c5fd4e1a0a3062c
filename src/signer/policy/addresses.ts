import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { isOnCurve } from './curve.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from './known-programs.ts';

const ADDRESS_BYTES = 32;
const MAX_BASE58_LENGTH = 44;
const MAX_SEED_BYTES = 32;
const DERIVED_MARKER = Buffer.from('ProgramDerivedAddress');

/** Turns keys into addresses and derives those of token accounts, remembering the last ones. */
export interface Addresses {
  /** Returns the base58 of 32 bytes. */
  readonly addressOf: (bytes: Uint8Array) => string;
  /** Returns an owner's associated token account for a mint; undefined where one of the three is no address. */
  readonly associated: (owner: string, mint: string, tokenProgram: string) => string | undefined;
  /** Returns the address that `base` has under a seed for accounts of `owner`; undefined where there is none. */
  readonly seeded: (base: string, seed: Uint8Array, owner: string) => string | undefined;
}

/** Returns address arithmetic that forgets everything when it remembers `capacity` things: hostile transactions bring ever new keys. */
export function createAddresses(capacity = 20_000): Addresses {
  const encoded = new Map<string, string>();
  const decoded = new Map<string, Uint8Array | undefined>();
  const derived = new Map<string, string | undefined>();

  function bytesOf(address: string): Uint8Array | undefined {
    return remembered(decoded, address, () => {
      const bytes = address.length > MAX_BASE58_LENGTH ? undefined : bs58.decodeUnsafe(address);
      return bytes?.length === ADDRESS_BYTES ? bytes : undefined;
    });
  }

  function addressOf(bytes: Uint8Array): string {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    return remembered(encoded, key, () => bs58.encode(bytes));
  }

  function remembered<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known as Value;
    if (cache.size >= capacity) cache.clear();
    const made = make();
    cache.set(key, made);
    return made;
  }

  return {
    addressOf,
    associated(owner, mint, tokenProgram) {
      return remembered(derived, `${owner}:${mint}:${tokenProgram}`, () => {
        const seeds = [owner, tokenProgram, mint].map(bytesOf);
        return seeds.every((seed) => seed !== undefined) ? programAddress(seeds, bytesOf(ASSOCIATED_TOKEN_PROGRAM)!) : undefined;
      });
    },
    seeded(base, seed, owner) {
      const [baseBytes, ownerBytes] = [bytesOf(base), bytesOf(owner)];
      if (baseBytes === undefined || ownerBytes === undefined || seed.length > MAX_SEED_BYTES) return undefined;
      return addressOf(hash('sha256', Buffer.concat([baseBytes, seed, ownerBytes]), 'buffer'));
    },
  };
}

/** The first address from bump 255 downward that is nobody's public key. */
function programAddress(seeds: readonly Uint8Array[], program: Uint8Array): string | undefined {
  for (let bump = 255; bump >= 0; bump--) {
    const candidate = hash('sha256', Buffer.concat([...seeds, Uint8Array.of(bump), program, DERIVED_MARKER]), 'buffer');
    if (!isOnCurve(candidate)) return bs58.encode(candidate);
  }
  return undefined;
}

/** Returns whether a text is an address: base58 of 32 bytes. */
export function isAddress(text: string): boolean {
  return text.length <= MAX_BASE58_LENGTH && bs58.decodeUnsafe(text)?.length === ADDRESS_BYTES;
}
