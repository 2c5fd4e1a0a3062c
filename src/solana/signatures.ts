import type { KeyObject } from 'node:crypto';
import { createPublicKey, hash, verify } from 'node:crypto';
import bs58 from 'bs58';
import { readTransaction } from './transaction.ts';
import { SIGNATURE_BYTES } from './transaction-message.ts';

/** The slot of one required signature, the fee payer's first. */
interface SignatureSlot {
  readonly signer: string;
  /** Base58; undefined while the slot is empty. */
  readonly signature: string | undefined;
  /** Whether the signature is the signer's own of this message. */
  readonly isValid: boolean;
}

/** DER wrapping of a raw 32-byte Ed25519 public key (RFC 8410), the form that node:crypto reads. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The signatures of a transaction, with what they sign. */
interface TransactionSignatures {
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
  readonly slots: readonly SignatureSlot[];
}

/** Returns a transaction's signatures. Throws CHAIN_TRANSACTION_INVALID. */
export function readSignatures(bytes: Uint8Array): TransactionSignatures {
  const { signatures, accountKeys, message } = readTransaction(bytes);
  const slots = signatures.map((signature, index) => {
    const key = accountKeys[index]!;
    const signer = bs58.encode(key);
    if (signature.every((byte) => byte === 0)) return { signer, signature: undefined, isValid: false };
    return { signer, signature: bs58.encode(signature), isValid: verify(null, message, publicKeyOf(key), signature) };
  });
  return { messageHash: hash('sha256', message), slots };
}

/**
 * Returns a check whether an id is that of a transaction: a signature of its message by its fee payer, whatever a node
 * says of it. Throws CHAIN_TRANSACTION_INVALID.
 */
export function idCheck(bytes: Uint8Array): (id: string) => boolean {
  const { accountKeys: [feePayer], message } = readTransaction(bytes);
  const key = publicKeyOf(feePayer!);
  return (id) => {
    const signature = bs58.decodeUnsafe(id);
    return signature?.length === SIGNATURE_BYTES && verify(null, message, key, signature);
  };
}

function publicKeyOf(key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' });
}
