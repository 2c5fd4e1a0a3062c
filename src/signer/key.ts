import { createPrivateKey, createPublicKey, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';

/** A wallet's key, usable for signing only: printing, spreading or serialising it shows nothing of the secret. */
export interface SecretKey {
  /** Opaque: node:crypto never prints its contents. */
  readonly privateKey: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The public key as base58. */
  readonly address: string;
  /** Authenticates the counters of this wallet; opaque too. The wallet's key does not follow from it. */
  readonly countersKey: KeyObject;
}

const SEED_BYTES = 32;
const KEYPAIR_BYTES = 64;
/** More than any of the accepted forms needs, with generous white space. */
const MAX_KEY_CHARACTERS = 1_024;
/** RFC 8410: the fixed beginning of an Ed25519 private key in PKCS #8 DER; the 32-byte seed follows. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const COUNTERS_LABEL = 'gannet counters 1';
const ACCEPTED_FORMS = 'base58 of 64 bytes (or of a 32-byte seed), or a JSON array of 64 numbers';

/**
 * Returns the key in a text: base58 of 64 bytes or of a 32-byte seed, or a JSON array of 64 numbers.
 * Throws KEY_INVALID; neither its message nor its details nor a cause ever carries a part of the text.
 */
export function parseSecretKey(text: string): SecretKey {
  const trimmed = text.trim();
  if (trimmed === '') throw keyInvalid(`expected ${ACCEPTED_FORMS}, got nothing`);
  if (trimmed.length > MAX_KEY_CHARACTERS) throw keyInvalid(`expected ${ACCEPTED_FORMS}, got a far longer text`);
  const bytes = trimmed.startsWith('[') ? decodeJsonArray(trimmed) : decodeBase58(trimmed);
  try {
    return keyFromBytes(bytes);
  } finally {
    bytes.fill(0);
  }
}

function keyFromBytes(bytes: Uint8Array): SecretKey {
  if (bytes.length !== KEYPAIR_BYTES && bytes.length !== SEED_BYTES) {
    throw keyInvalid(`expected ${ACCEPTED_FORMS}, got ${bytes.length} bytes`);
  }
  const privateKey = privateKeyFromSeed(bytes.subarray(0, SEED_BYTES));
  const publicKey = derivePublicKey(privateKey);
  if (bytes.length === KEYPAIR_BYTES && !publicKey.equals(bytes.subarray(SEED_BYTES))) {
    throw keyInvalid(
      'the second half is not the public key of the first half: the key is damaged or combined from two',
    );
  }
  return { privateKey, publicKey, address: bs58.encode(publicKey), countersKey: countersKeyOf(bytes) };
}

function countersKeyOf(bytes: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', bytes.subarray(0, SEED_BYTES), '', COUNTERS_LABEL, 32)));
}

function privateKeyFromSeed(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0);
  }
}

function derivePublicKey(privateKey: KeyObject): Buffer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return Buffer.from(String(x), 'base64url');
}

function decodeBase58(text: string): Uint8Array {
  const bytes = bs58.decodeUnsafe(text);
  if (bytes === undefined) throw keyInvalid(`expected ${ACCEPTED_FORMS}, got characters that base58 does not have`);
  return bytes;
}

function decodeJsonArray(text: string): Uint8Array {
  const numbers = parseQuietly(text);
  if (!Array.isArray(numbers)) throw keyInvalid(`expected ${ACCEPTED_FORMS}, got an array that is not JSON`);
  if (numbers.length !== KEYPAIR_BYTES) throw keyInvalid(`expected a JSON array of 64 numbers, got ${numbers.length}`);
  const bad = numbers.findIndex((value) => !Number.isInteger(value) || Number(value) < 0 || Number(value) > 255);
  if (bad >= 0) throw keyInvalid(`expected a JSON array of 64 numbers of 0 to 255; the one at position ${bad} is not`);
  return Uint8Array.from(numbers as number[]);
}

function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes its input, a secret: it must not be passed on, not even as a cause.
    return undefined;
  }
}

function keyInvalid(message: string): GannetError {
  return new GannetError('KEY_INVALID', `secret key: ${message}`);
}
