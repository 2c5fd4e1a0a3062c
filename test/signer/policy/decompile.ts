import { AccountRole, address, type V1TransactionConfig } from '@solana/kit';
import { PACKET_DATA_SIZE } from '@solana/web3.js';
import bs58 from 'bs58';
import { isGannetError } from '../../../src/core/errors.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import {
  compileMessage, lookupTable, unsignedTransaction, type LookupTable,
} from '../../../src/sandbox/chain/message.ts';
import type { LookupTables } from '../../../src/signer/policy/lookup-tables.ts';
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES } from '../../../src/solana/constants.ts';
import { readTransaction } from '../../../src/solana/transaction.ts';
import type { TransactionConfig } from '../../../src/solana/transaction-message.ts';
import { composeV1 } from '../random-v1-transaction.ts';

/** A transaction taken apart, so that it can be put together again with something changed. */
export interface Parts {
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
  /** Of version 1; such parts are put together as version 1 again. */
  readonly config?: V1TransactionConfig | undefined;
}

/** Returns the parts of a transaction, every account with its address and role. */
export function decompile(bytes: Uint8Array, tables: LookupTables): Parts {
  const { accountKeys, header, lookups, instructions, blockhash, config } = readTransaction(bytes);
  const { requiredSignatures: signed, readonlySigned, readonlyUnsigned } = header;
  const written = accountKeys.map((key, index) => ({
    pubkey: bs58.encode(key),
    isSigner: index < signed,
    isWritable: index < signed ? index < signed - readonlySigned : index < accountKeys.length - readonlyUnsigned,
  }));
  const loaded = ([true, false] as const)
    .flatMap((isWritable) => lookups.flatMap(({ table, writableIndexes, readonlyIndexes }) =>
      Array.from(isWritable ? writableIndexes : readonlyIndexes, (index) =>
        ({ pubkey: tables.get(bs58.encode(table))![index]!, isSigner: false, isWritable }))));
  const accounts = [...written, ...loaded];
  return {
    payer: written[0]!.pubkey,
    blockhash: bs58.encode(blockhash),
    instructions: instructions.map(({ programIndex, accountIndexes, data }) => ({
      programId: written[programIndex]!.pubkey,
      accounts: Array.from(accountIndexes, (index) => accounts[index]!),
      data: Uint8Array.from(data),
    })),
    config: config === undefined ? undefined : configOf(config),
  };
}

function configOf({ priorityFeeLamports, unitLimit, loadedBytes, heapBytes }: TransactionConfig): V1TransactionConfig {
  return {
    ...(priorityFeeLamports === undefined ? {} : { priorityFeeLamports }),
    ...(unitLimit === undefined ? {} : { computeUnitLimit: unitLimit }),
    ...(loadedBytes === undefined ? {} : { loadedAccountsDataSizeLimit: loadedBytes }),
    ...(heapBytes === undefined ? {} : { heapSize: heapBytes }),
  };
}

/** Returns how long a transaction of the version of some bytes may be. */
export function mostBytes(bytes: Uint8Array): number {
  return bytes[0] === 0x81 ? MAX_V1_TRANSACTION_BYTES : MAX_TRANSACTION_BYTES;
}

const HIDING_PLACE = bs58.encode(Buffer.alloc(32, 77));

/**
 * Returns the transaction of some parts; `hidden` puts every account that can be there into a table, `shared` only
 * those of no participant: mints, programs, and what a swap goes through; a list, the accounts on
 * it. Version 1 has no tables.
 */
export function recompile(
  parts: Parts, where: 'legacy' | 'written' | 'shared' | 'hidden' | readonly string[],
): { readonly bytes: Uint8Array; readonly tables: LookupTables } {
  if (parts.config !== undefined) return { bytes: recompileV1(parts, parts.config), tables: new Map() };
  const everywhere = parts.instructions.flatMap(({ accounts }) => accounts.map(({ pubkey }) => pubkey));
  const own = new Set(parts.instructions.flatMap(ownAccounts));
  const held = typeof where !== 'string' ? where : where === 'hidden' ? [...new Set(everywhere)]
    : where === 'shared' ? [...new Set(everywhere.filter((account) => !own.has(account)))] : [];
  const table: LookupTable | undefined = where === 'legacy' ? undefined : lookupTable(HIDING_PLACE, held);
  return { bytes: unsigned({ ...parts, table }), tables: new Map([[HIDING_PLACE, held]]) };
}

const ROLES = {
  readonly: { free: AccountRole.READONLY, signing: AccountRole.READONLY_SIGNER },
  writable: { free: AccountRole.WRITABLE, signing: AccountRole.WRITABLE_SIGNER },
} as const;

function recompileV1({ payer, blockhash, instructions }: Parts, config: V1TransactionConfig): Uint8Array {
  return composeV1({
    payer, blockhash, config,
    instructions: instructions.map(({ programId, accounts, data }) => ({
      programAddress: address(programId), data,
      accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
        address: address(pubkey), role: ROLES[isWritable ? 'writable' : 'readonly'][isSigner ? 'signing' : 'free'],
      })),
    })),
  });
}

/**
 * The owned accounts of an instruction: of a swap user, source and destination, of an opening all but mint
 * and programs.
 */
function ownAccounts({ programId, accounts }: Instruction): string[] {
  const places = programId === SWAP_PROGRAM_ID || programId === ASSOCIATED_TOKEN_PROGRAM
    ? accounts.slice(0, 3) : accounts;
  return places.map(({ pubkey }) => pubkey);
}

/** Returns the transaction; one that outgrows a packet cannot be written, and is only longer than that. */
function unsigned(parts: Parameters<typeof compileMessage>[0]): Uint8Array {
  try {
    return unsignedTransaction(compileMessage(parts));
  } catch (error) {
    if (isGannetError(error) && error.code === 'CHAIN_TRANSACTION_INVALID') return new Uint8Array(PACKET_DATA_SIZE + 1);
    throw error;
  }
}
