import bs58 from 'bs58';
import { createByteCursor } from './byte-cursor.ts';
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES, SYSTEM_PROGRAM } from './constants.ts';
import { readList, readMessageV0, writeMessageV0 } from './message-v0.ts';
import { readMessageV1, VERSION_1, writeMessageV1 } from './message-v1.ts';
import { invalidTransaction, SIGNATURE_BYTES, VERSION_FLAG, type TransactionMessage } from './transaction-message.ts';

/** A transaction as its bytes state it. All byte arrays are views into the bytes that were read. */
export interface ReadTransaction extends TransactionMessage {
  /** One slot of 64 bytes for each required signer, in the order of the account keys; all zero while empty. */
  readonly signatures: readonly Uint8Array[];
  /** The bytes that are signed: everything but the signatures. They stand before it, in version 1 behind it. */
  readonly message: Uint8Array;
}

/**
 * The parts of a transaction's own bytes that decide when it expires and who pays. Addresses and blockhash are base58.
 */
export interface TransactionFacts {
  readonly blockhash: string;
  readonly feePayer: string;
  /** Required signers, the fee payer first. */
  readonly signers: readonly string[];
  /** Whether its first instruction advances a nonce: such a transaction never expires, so no expiry proof exists. */
  readonly durableNonce: boolean;
  /** Whether no slot of a signature is empty; whether they are valid is not checked. */
  readonly isWhole: boolean;
}

/** With those of lookup tables. */
const MAX_ACCOUNTS = 256;
/** The System program's AdvanceNonceAccount, as the four bytes that its data begins with. */
const ADVANCE_NONCE = Buffer.of(4, 0, 0, 0);

/**
 * Returns the content of a transaction of a known version, read as strictly as the network does: its one spelling,
 * every index in range, no byte left over. Throws CHAIN_TRANSACTION_INVALID on anything else, with the problem in its
 * details: `version` for an unknown version, `size`, `duplicate` for an account that version 1 names twice, else
 * `bytes`.
 */
export function readTransaction(bytes: Uint8Array): ReadTransaction {
  const transaction = bytes[0] === VERSION_1 ? readV1(bytes) : readV0(bytes);
  checkSigners(transaction);
  checkIndexes(transaction);
  return transaction;
}

function readV1(bytes: Uint8Array): ReadTransaction {
  refuseLonger(bytes, MAX_V1_TRANSACTION_BYTES);
  const cursor = createByteCursor(bytes);
  const message = readMessageV1(cursor);
  const length = cursor.position();
  const signatures = Array.from({ length: message.header.requiredSignatures }, () =>
    cursor.take(SIGNATURE_BYTES, 'a signature'));
  cursor.end('the signatures');
  return { ...message, signatures, message: bytes.subarray(0, length) };
}

function readV0(bytes: Uint8Array): ReadTransaction {
  // So many signatures cannot fit: the byte is a version, which since version 1 stands before all else.
  const version = (bytes[0] ?? 0) & ~VERSION_FLAG;
  if (version !== bytes[0] && version > 1) {
    throw invalidTransaction(
      `expected a legacy transaction, version 0 or version 1, got version ${version}`, 'version',
    );
  }
  refuseLonger(bytes, MAX_TRANSACTION_BYTES);
  const cursor = createByteCursor(bytes);
  const signatures = readList(cursor, 'signatures', () => cursor.take(SIGNATURE_BYTES, 'a signature'));
  const message = bytes.subarray(cursor.position());
  return { ...readMessageV0(cursor), signatures, message };
}

function refuseLonger({ length }: Uint8Array, most: number): void {
  if (length > most) throw invalidTransaction(`expected at most ${most} bytes, got ${length}`, 'size');
}

function checkSigners({ signatures, header, accountKeys }: ReadTransaction): void {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  if (signatures.length !== requiredSignatures) {
    throw invalidTransaction(
      `expected a slot for each of the ${requiredSignatures} required signatures, got ${signatures.length}`,
    );
  }
  if (readonlySigned >= requiredSignatures) throw invalidTransaction('expected a fee payer that signs and is writable');
  if (requiredSignatures + readonlyUnsigned > accountKeys.length) {
    throw invalidTransaction(
      `expected at least ${requiredSignatures + readonlyUnsigned} account keys, got ${accountKeys.length}`,
    );
  }
}

function checkIndexes({ accountKeys, instructions, lookups }: ReadTransaction): void {
  let accountCount = accountKeys.length;
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) throw invalidTransaction('a lookup that loads nothing');
    accountCount += loaded;
  }
  if (accountCount > MAX_ACCOUNTS)
    throw invalidTransaction(`expected at most ${MAX_ACCOUNTS} accounts, got ${accountCount}`);
  for (const { programIndex, accountIndexes } of instructions) {
    if (programIndex === 0 || programIndex >= accountKeys.length) {
      throw invalidTransaction(`a program index of ${programIndex}, expected 1 to ${accountKeys.length - 1}`);
    }
    for (const index of accountIndexes) {
      if (index >= accountCount)
        throw invalidTransaction(`an account index of ${index}, expected at most ${accountCount - 1}`);
    }
  }
}

/** Returns the facts in a transaction's bytes, whatever the service states. Throws CHAIN_TRANSACTION_INVALID. */
export function readTransactionFacts(bytes: Uint8Array): TransactionFacts {
  const { header, accountKeys, blockhash, signatures, instructions: [first] } = readTransaction(bytes);
  const signers = accountKeys.slice(0, header.requiredSignatures).map((key) => bs58.encode(key));
  // The runtime accepts a nonce in the first instruction alone.
  const durableNonce = first !== undefined && Buffer.compare(first.data.subarray(0, 4), ADVANCE_NONCE) === 0
    && bs58.encode(accountKeys[first.programIndex]!) === SYSTEM_PROGRAM;
  const isWhole = signatures.every((signature) => signature.some((byte) => byte !== 0));
  return { blockhash: bs58.encode(blockhash), feePayer: signers[0]!, signers, durableNonce, isWhole };
}

/** Returns the bytes of a message. Written from a reading, they must equal the bytes that were read. */
export function writeMessage(message: TransactionMessage): Uint8Array {
  return message.version === 1 ? writeMessageV1(message) : writeMessageV0(message);
}

/** Returns a transaction of a message with an empty slot for each required signature. */
export function writeUnsignedTransaction(message: TransactionMessage): Uint8Array {
  const { version, header: { requiredSignatures } } = message;
  const slots = Buffer.alloc(requiredSignatures * SIGNATURE_BYTES);
  return version === 1 ? Buffer.concat([writeMessageV1(message), slots])
    : Buffer.concat([Uint8Array.of(requiredSignatures), slots, writeMessageV0(message)]);
}
