import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import bs58 from 'bs58';

// DER wrapping of a raw 32-byte Ed25519 seed (RFC 8410), the form that node:crypto reads.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_KEY_BYTES = 32;

/** A key pair of the sandbox: known to everybody who knows the seed, worth nothing anywhere else. */
export interface SeededKey {
  readonly address: string;
  /** Base58 of the 64 bytes that wallets exchange: seed, then public key. */
  readonly privateKey: string;
  sign(message: Uint8Array): Buffer;
}

/** Returns the Ed25519 key pair that `seed` and `purpose` name: the same on every machine. */
export function seededKey(options: { seed: number; purpose: string }): SeededKey {
  const secret = createHash('sha256').update(`gannet sandbox ${options.seed} ${options.purpose}`).digest();
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_KEY_BYTES);
  return {
    address: bs58.encode(publicKey),
    privateKey: bs58.encode(Buffer.concat([secret, publicKey])),
    sign: (message) => sign(null, message, key),
  };
}
