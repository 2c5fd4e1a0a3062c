import { hash, sign } from 'node:crypto';
import bs58 from 'bs58';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { SecretKey } from './key.ts';
import type { ReadTransaction } from '../solana/transaction.ts';
import { readTransaction, writeMessage } from '../solana/transaction.ts';

/** Signs transactions as one address. */
export interface Signer {
  /** Base58. */
  readonly address: string;
  /**
   * Returns the transaction with this address's signature in its own slot, all other bytes as they were. Throws
   * SIGN_REFUSED.
   */
  sign(transaction: Uint8Array): Promise<SignedTransaction>;
}

export interface SignedTransaction {
  readonly transaction: Uint8Array;
  /** Of this address, base58. */
  readonly signature: string;
  /** The fee payer's, base58; undefined while that slot is empty. */
  readonly transactionId?: string | undefined;
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
}

/** Returns a signer of one key. */
export function createSigner(key: SecretKey): Signer {
  return { address: key.address, sign: async (transaction) => signTransaction(key, transaction) };
}

function signTransaction(key: SecretKey, bytes: Uint8Array): SignedTransaction {
  // A copy: the caller's bytes stay as they are, and cannot change between reading and signing.
  const signed = new Uint8Array(bytes);
  const transaction = readOrRefuse(signed);
  const slot = ownSlot(transaction, key);
  const signature = sign(null, transaction.message, key.privateKey);
  // The slots are views into `signed`: this is the only write.
  transaction.signatures[slot]!.set(signature);
  const ownSignature = bs58.encode(signature);
  return {
    transaction: signed,
    signature: ownSignature,
    transactionId: slot === 0 ? ownSignature : shownUnlessEmpty(transaction.signatures[0]!),
    messageHash: hash('sha256', transaction.message),
  };
}

function readOrRefuse(bytes: Uint8Array): ReadTransaction {
  let transaction: ReadTransaction;
  try {
    transaction = readTransaction(bytes);
  } catch (cause) {
    if (!isGannetError(cause)) throw cause;
    throw new GannetError('SIGN_REFUSED', `nothing was signed: ${cause.message}`, { cause });
  }
  if (Buffer.compare(writeMessage(transaction), transaction.message) !== 0) {
    throw refused('the message differs when it is written again');
  }
  return transaction;
}

/** The index of this key's slot among the required signers. */
function ownSlot({ accountKeys, header }: ReadTransaction, key: SecretKey): number {
  const positions = accountKeys.flatMap((accountKey, index) =>
    (Buffer.compare(accountKey, key.publicKey) === 0 ? [index] : []));
  const [position] = positions;
  if (positions.length > 1) throw refused(`${key.address} appears ${positions.length} times among the account keys`);
  if (position === undefined || position >= header.requiredSignatures) {
    throw refused(`the transaction does not ask for a signature of ${key.address}`);
  }
  return position;
}

function shownUnlessEmpty(signature: Uint8Array): string | undefined {
  return signature.every((byte) => byte === 0) ? undefined : bs58.encode(signature);
}

function refused(message: string): GannetError {
  return new GannetError('SIGN_REFUSED', `nothing was signed: ${message}`);
}
