import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { GannetError } from '../../core/errors.ts';

/** A 32-byte public key in base58. */
export type Address = string;

export const SYSTEM_PROGRAM: Address = '11111111111111111111111111111111';
export const TOKEN_PROGRAM: Address = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM: Address = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ASSOCIATED_TOKEN_PROGRAM: Address = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const LOOKUP_TABLE_PROGRAM: Address = 'AddressLookupTab1e1111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM: Address = 'ComputeBudget111111111111111111111111111111';
export const MEMO_PROGRAM: Address = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** The mint of wrapped SOL. */
export const NATIVE_MINT: Address = 'So11111111111111111111111111111111111111112';

const MAX_BASE58_LENGTH = 44;
const PROGRAM_ADDRESS_MARKER = Buffer.from('ProgramDerivedAddress');
/** Of Ed25519. */
const FIELD_PRIME = 2n ** 255n - 19n;
const CURVE_D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
// Long-lived sandboxes meet ever new addresses; a cache that is full starts over instead of growing for months.
const CACHE_LIMIT = 100_000;

const bytesByAddress = new Map<Address, Uint8Array>();
const addressesByBytes = new Map<string, Address>();
const derivedAddresses = new Map<string, ProgramAddress>();

interface ProgramAddress {
  address: Address;
  bump: number;
}

/** Returns whether a text is the base58 of exactly 32 bytes. */
export function isAddress(text: string): boolean {
  if (text.length > MAX_BASE58_LENGTH) return false;
  return bytesByAddress.has(text) || bs58.decodeUnsafe(text)?.length === 32;
}

/**
 * Returns the 32 bytes of an address, cached; callers must not write to them. Throws CHAIN_TRANSACTION_INVALID on any
 * other text.
 */
export function addressBytes(address: Address): Uint8Array {
  const cached = bytesByAddress.get(address);
  if (cached) return cached;
  const bytes = address.length > MAX_BASE58_LENGTH ? undefined : bs58.decodeUnsafe(address);
  if (bytes?.length !== 32) {
    const found = address.slice(0, 64);
    throw new GannetError(
      'CHAIN_TRANSACTION_INVALID', `expected the base58 of 32 bytes, got ${JSON.stringify(found)}`,
      { details: { found } },
    );
  }
  return remember(bytesByAddress, address, bytes);
}

/** Returns the address of 32 bytes, cached: base58 costs more than anything else on the way of a transaction. */
export function addressOf(bytes: Uint8Array): Address {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return addressesByBytes.get(key) ?? remember(addressesByBytes, key, bs58.encode(bytes));
}

/** Returns the program address of `seeds`, cached: the search for the bump costs 0.2 to 0.6 ms. */
export function programAddress(seeds: readonly Uint8Array[], program: Address): ProgramAddress {
  const key = `${program}:${seeds.map((seed) => Buffer.from(seed).toString('base64')).join(':')}`;
  const cached = derivedAddresses.get(key);
  if (cached) return cached;
  const parts = [...seeds, addressBytes(program), PROGRAM_ADDRESS_MARKER];
  for (let bump = 255; bump >= 0; bump--) {
    const found = hash('sha256', Buffer.concat(parts.toSpliced(seeds.length, 0, Buffer.of(bump))), 'buffer');
    if (!isPoint(found)) return remember(derivedAddresses, key, { address: addressOf(found), bump });
  }
  throw new GannetError('CHAIN_TRANSACTION_INVALID', `no bump gives an address of program ${program}`);
}

/**
 * Whether 32 bytes encode a point of Ed25519, with y taken modulo p: then an address could have a private key. It is
 * one where x² = (y² - 1) / (d y² + 1) has a root, and a quotient is a square exactly where the product is.
 */
function isPoint(bytes: Uint8Array): boolean {
  const y2 = (BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) % (1n << 255n)) ** 2n % FIELD_PRIME;
  return isSquare((y2 - 1n + FIELD_PRIME) * (CURVE_D * y2 + 1n) % FIELD_PRIME, FIELD_PRIME);
}

/**
 * Whether `value` is a square modulo an odd prime, by the Jacobi symbol: some 150 divisions, a tenth of the time of
 * Euler's criterion.
 */
function isSquare(value: bigint, prime: bigint): boolean {
  if (value === 0n) return true;
  let [top, bottom] = [value, prime];
  let isNegative = false;
  for (;;) {
    const low = Number(BigInt.asUintN(32, top));
    const twos = low === 0 ? 32 : 31 - Math.clz32(low & -low);
    top >>= BigInt(twos);
    if (low === 0) continue;
    const rest = Number(BigInt.asUintN(3, bottom));
    if (twos % 2 === 1 && (rest === 3 || rest === 5)) isNegative = !isNegative;
    if (top === 1n) return !isNegative;
    if (rest % 4 === 3 && BigInt.asUintN(2, top) === 3n) isNegative = !isNegative;
    [top, bottom] = [bottom % top, top];
  }
}

/** Returns an owner's associated token account for a mint, cached; the owner may be a program address. */
export function associatedTokenAddress(owner: Address, mint: Address, tokenProgram: Address): Address {
  return programAddress(
    [addressBytes(owner), addressBytes(tokenProgram), addressBytes(mint)], ASSOCIATED_TOKEN_PROGRAM,
  ).address;
}

/**
 * Returns the address that `base` may create accounts at under a seed of up to 32 characters, for an owning program.
 */
export function seededAddress(base: Address, seed: string, owner: Address): Address {
  return addressOf(
    hash('sha256', Buffer.concat([addressBytes(base), Buffer.from(seed), addressBytes(owner)]), 'buffer'),
  );
}

function remember<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value): Value {
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(key, value);
  return value;
}
