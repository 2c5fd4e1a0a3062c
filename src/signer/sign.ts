import { hash, sign } from 'node:crypto';
import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import type { SecretKey } from './key.ts';
import type { ReadTransaction } from '../solana/transaction.ts';
import { checkTransaction, type CheckedTransaction } from './policy/lookup-tables.ts';

/** Signs transactions as one address. */
export interface Signer {
  /** Base58. */
  readonly address: string;
  /**
   * Returns the transaction with this address's signature in its own slot, all other bytes as they were. Of a checked
   * transaction the bytes themselves are signed. Throws SIGN_REFUSED.
   */
  sign(transaction: Uint8Array | CheckedTransaction): Promise<SignedTransaction>;
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

function signTransaction(key: SecretKey, given: Uint8Array | CheckedTransaction): SignedTransaction {
  // A copy: the caller's bytes stay as they are, and cannot change between reading and signing.
  const { bytes: signed, read: transaction } =
    given instanceof Uint8Array ? checkedOrRefused(new Uint8Array(given)) : given;
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

function checkedOrRefused(bytes: Uint8Array): CheckedTransaction {
  const checked = checkTransaction(bytes);
  if ('finding' in checked) throw refused(checked.finding.message);
  return checked;
}

/** The index of this key's slot among the required signers. */
function ownSlot({ accountKeys, header }: ReadTransaction, key: SecretKey): number {
  const positions: number[] = [];
  // A call into the system for each key would take longer than the rest.
  for (const [index, accountKey] of accountKeys.entries())
    if (accountKey[0] === key.publicKey[0] && Buffer.compare(accountKey, key.publicKey) === 0) positions.push(index);
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
