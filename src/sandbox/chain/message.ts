import type { Message, MessageV0 } from '@solana/web3.js';
import { AddressLookupTableAccount, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { GannetError } from '../../core/errors.ts';
import { publicKeyOf } from './addresses.ts';

/** An instruction with addresses as texts, and the data as bytes. */
export interface Instruction {
  readonly programId: string;
  readonly accounts: readonly InstructionAccount[];
  readonly data: Uint8Array;
}

/** An account of an instruction. */
export interface InstructionAccount {
  readonly pubkey: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
}

/** A lookup table for transactions. */
export interface LookupTable {
  readonly address: string;
  readonly addresses: readonly string[];
  readonly account: AddressLookupTableAccount;
}

const NEVER_DEACTIVATED = 2n ** 64n - 1n;

/** Returns a table over `addresses` as the chain holds them. */
export function lookupTable(address: string, addresses: readonly string[]): LookupTable {
  const state = {
    deactivationSlot: NEVER_DEACTIVATED, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
    addresses: addresses.map(publicKeyOf),
  };
  return { address, addresses, account: new AddressLookupTableAccount({ key: publicKeyOf(address), state }) };
}

/** A message ready for signatures, in the order in which its signers must sign. */
export interface CompiledMessage {
  readonly bytes: Uint8Array;
  readonly signers: readonly string[];
  /** How many accounts the transaction locks. */
  readonly accounts: number;
}

export const SIGNATURE_BYTES = 64;

interface MessageParts {
  readonly payer: string;
  readonly instructions: readonly Instruction[];
  readonly blockhash: string;
  readonly table: LookupTable | undefined;
}

/**
 * Returns the message of `instructions`, paid by `payer`: of version 0 with a `table`, which supplies the accounts that
 * neither sign nor run, otherwise unversioned.
 */
export function messageFor({ payer, instructions, blockhash, table }: MessageParts): Message | MessageV0 {
  const message = new TransactionMessage({
    payerKey: publicKeyOf(payer),
    recentBlockhash: blockhash,
    instructions: instructions.map(({ programId, accounts, data }) => new TransactionInstruction({
      programId: publicKeyOf(programId),
      keys: accounts.map((account) => ({ ...account, pubkey: publicKeyOf(account.pubkey) })),
      data: Buffer.from(data),
    })),
  });
  return table === undefined ? message.compileToLegacyMessage() : message.compileToV0Message([table.account]);
}

/** Returns the message of `messageFor` in bytes. Throws CHAIN_TRANSACTION_INVALID where they outgrow a packet. */
export function compileMessage(parts: MessageParts): CompiledMessage {
  const message = messageFor(parts);
  const signers = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures)
    .map((key) => key.toBase58());
  const lookups = message.version === 0 ? message.numAccountKeysFromLookups : 0;
  try {
    return { bytes: message.serialize(), signers, accounts: message.staticAccountKeys.length + lookups };
  } catch (cause) {
    // web3.js writes into a buffer of the size of a packet.
    if (!(cause instanceof RangeError)) throw cause;
    throw new GannetError(
      'CHAIN_TRANSACTION_INVALID', 'expected a transaction that fits into a packet, got a longer one', { cause },
    );
  }
}

/** Returns a transaction with an empty place for each signature. */
export function unsignedTransaction({ bytes, signers }: Pick<CompiledMessage, 'bytes' | 'signers'>): Buffer {
  return Buffer.concat([Uint8Array.of(signers.length), Buffer.alloc(SIGNATURE_BYTES * signers.length), bytes]);
}
