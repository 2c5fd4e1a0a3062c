import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import { MAX_TRANSACTION_BYTES } from './message-compiler.ts';

/** What a transaction's own bytes say, whatever the service claims. Addresses and blockhash are base58. */
export interface TransactionFacts {
  readonly blockhash: string;
  readonly feePayer: string;
  /** Required signers, the fee payer first. */
  readonly signers: readonly string[];
  /** Whether its first instruction advances a nonce: such a transaction never expires, so nothing can ever prove it dead. */
  readonly durableNonce: boolean;
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_FLAG = 0x80;
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
/** The System program's AdvanceNonceAccount. */
const ADVANCE_NONCE = 4;

/**
 * Returns what decides a legacy or version 0 transaction's life: its blockhash, its signers, and whether it hangs on a
 * nonce. What else it would do is for the signer to judge. Throws CHAIN_TRANSACTION_INVALID.
 */
export function readTransactionFacts(bytes: Uint8Array): TransactionFacts {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw invalid(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}`);
  const slots = readLength(bytes, 0);
  let offset = slots.next + slots.length * SIGNATURE_BYTES;
  const first = byteAt(bytes, offset);
  if ((first & VERSION_FLAG) !== 0) {
    if (first !== VERSION_FLAG) throw invalid(`expected a legacy transaction or version 0, got version ${first & ~VERSION_FLAG}`);
    offset += 1;
  }
  const requiredSignatures = byteAt(bytes, offset);
  const keys = readLength(bytes, offset + 3);
  const keyAt = (index: number): string => bs58.encode(take(bytes, keys.next + index * KEY_BYTES));
  if (requiredSignatures === 0 || requiredSignatures !== slots.length || requiredSignatures > keys.length) {
    throw invalid(`${requiredSignatures} required signatures, ${slots.length} slots and ${keys.length} keys do not fit together`);
  }
  const blockhash = keyAt(keys.length);
  const signers = Array.from({ length: requiredSignatures }, (_, index) => keyAt(index));
  const durableNonce = startsWithNonce(bytes, keys.next + (keys.length + 1) * KEY_BYTES, keyAt);
  return { blockhash, feePayer: signers[0]!, signers, durableNonce };
}

/** Looks at the first instruction, which is where the runtime looks for a nonce. */
function startsWithNonce(bytes: Uint8Array, offset: number, keyAt: (index: number) => string): boolean {
  const instructions = readLength(bytes, offset);
  if (instructions.length === 0) return false;
  const program = byteAt(bytes, instructions.next);
  const accounts = readLength(bytes, instructions.next + 1);
  const data = readLength(bytes, accounts.next + accounts.length);
  return data.length >= 4 && keyAt(program) === SYSTEM_PROGRAM && byteAt(bytes, data.next) === ADVANCE_NONCE
    && [1, 2, 3].every((position) => byteAt(bytes, data.next + position) === 0);
}

/** Compact-u16: seven bits a byte, low bits first; nothing in a packet needs more than two of them. */
function readLength(bytes: Uint8Array, offset: number): { readonly length: number; readonly next: number } {
  const low = byteAt(bytes, offset);
  if (low < 0x80) return { length: low, next: offset + 1 };
  const high = byteAt(bytes, offset + 1);
  if (high === 0 || high >= 0x80) throw invalid('a length that no transaction can have');
  return { length: (low & 0x7f) | (high << 7), next: offset + 2 };
}

function byteAt(bytes: Uint8Array, offset: number): number {
  const value = bytes[offset];
  if (value === undefined) throw invalid('the bytes end too early');
  return value;
}

function take(bytes: Uint8Array, offset: number): Uint8Array {
  if (offset + KEY_BYTES > bytes.length) throw invalid('the bytes end too early');
  return bytes.subarray(offset, offset + KEY_BYTES);
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', `transaction: ${message}`);
}
