import {
  AddressLookupTableAccount, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction,
  type MessageV0,
} from '@solana/web3.js';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { isAddress } from '../solana/addresses.ts';
import { MAX_TRANSACTION_BYTES } from '../solana/constants.ts';
import type { SwapInstruction } from '../trading/swap-terms.ts';

const MAX_ACCOUNTS = 256;
const MAX_TABLE_ADDRESSES = 256;
/** The tables of a service repeat from build to build. The cache is cleared at this many addresses. */
const CACHED_KEYS_MAX = 20_000;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;

interface TransactionParts {
  /** Pays the fee and signs; no other signer is supported. */
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly TransactionInstruction[];
  /** Lookup table address → the addresses it holds. */
  readonly lookupTables: Readonly<Record<string, readonly string[]>>;
}

const keys = new Map<string, PublicKey>();

/**
 * Returns the key of an address. Throws CHAIN_TRANSACTION_INVALID unless the text is the base58 of 32 bytes; the
 * library itself takes shorter ones.
 */
export function keyOf(address: string): PublicKey {
  const known = keys.get(address);
  if (known !== undefined) return known;
  if (!isAddress(address))
    throw invalid(`expected an address of 32 bytes in base58, got "${printable(address, 60)}"`);
  if (keys.size >= CACHED_KEYS_MAX) keys.clear();
  const key = new PublicKey(address);
  keys.set(address, key);
  return key;
}

/** Returns an instruction in the library's form. Throws CHAIN_TRANSACTION_INVALID on an address that is none. */
export function instructionOf({ programId, accounts, data }: SwapInstruction): TransactionInstruction {
  return new TransactionInstruction({
    programId: keyOf(programId),
    keys: accounts.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: keyOf(pubkey), isSigner, isWritable })),
    data: Buffer.from(data),
  });
}

/**
 * Returns a message of version 0, the version with lookup tables. Throws CHAIN_TRANSACTION_INVALID where it has another
 * signer or too many accounts, or names an invalid address.
 */
export function compileMessage({ payer, blockhash, instructions, lookupTables }: TransactionParts): MessageV0 {
  const payerKey = keyOf(payer);
  // A blockhash has the form of an address.
  keyOf(blockhash);
  refuseRoles(instructions, payerKey);
  const tables = Object.entries(lookupTables).map(([table, addresses]) => tableOf(table, addresses));
  try {
    return new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions: [...instructions] })
      .compileToV0Message(tables);
  } catch (error) {
    // All else that the library refuses was refused above.
    throw invalid(`expected at most ${MAX_ACCOUNTS} accounts, got more: ${messageOf(error)}`);
  }
}

/**
 * Returns the bytes of an unsigned transaction, with an empty slot for the payer's signature. Throws
 * CHAIN_TRANSACTION_INVALID where they are too many for a packet.
 */
export function unsignedBytes(message: MessageV0): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = new VersionedTransaction(message).serialize();
  } catch (error) {
    // The library writes messages into a buffer of one packet.
    if (error instanceof RangeError) throw tooLong();
    throw error;
  }
  if (bytes.length > MAX_TRANSACTION_BYTES) throw tooLong();
  return bytes;
}

function tooLong(): GannetError {
  return invalid(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got more: a route with fewer accounts is needed`);
}

function refuseRoles(instructions: readonly TransactionInstruction[], payer: PublicKey): void {
  for (const { programId, keys: accounts } of instructions) {
    if (programId.equals(payer)) throw invalid('the payer cannot be a program');
    for (const { pubkey, isSigner } of accounts) {
      if (!isSigner || pubkey.equals(payer)) continue;
      throw invalid(`expected no signer but the payer ${payer.toBase58()}, got ${pubkey.toBase58()} too: its signature `
        + 'would be missing');
    }
  }
}

function tableOf(table: string, addresses: readonly string[]): AddressLookupTableAccount {
  if (addresses.length > MAX_TABLE_ADDRESSES) {
    throw invalid(`lookup table ${printable(table, 44)}: expected at most ${MAX_TABLE_ADDRESSES} addresses, got `
      + `${addresses.length}`);
  }
  return new AddressLookupTableAccount({
    key: keyOf(table),
    state: {
      deactivationSlot: NEVER_DEACTIVATED, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
      addresses: addresses.map(keyOf),
    },
  });
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', message);
}
