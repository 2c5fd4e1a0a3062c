import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { createAddresses } from '../solana/addresses.ts';
import { MAX_TRANSACTION_BYTES } from '../solana/constants.ts';
import { writeUnsignedTransaction, type TableLookup } from '../solana/transaction.ts';
import type { SwapInstruction } from '../trading/swap-terms.ts';

const MAX_ACCOUNTS = 256;
const MAX_TABLE_ADDRESSES = 256;

interface TransactionParts {
  /** Pays the fee and signs; no other signer is supported. */
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly SwapInstruction[];
  /** Lookup table address → the addresses it holds. */
  readonly lookupTables: Readonly<Record<string, readonly string[]>>;
}

interface AccountRole {
  readonly address: string;
  isSigner: boolean;
  isWritable: boolean;
  isProgram: boolean;
}

/** Turns parts into the bytes of an unsigned transaction. Throws CHAIN_TRANSACTION_INVALID. */
type TransactionCompiler = (parts: TransactionParts) => Uint8Array;

/**
 * Returns a compiler of version 0 transactions with an empty signature slot. It throws CHAIN_TRANSACTION_INVALID for a
 * transaction that is too long, has another signer, or names an invalid address.
 */
export function createTransactionCompiler(): TransactionCompiler {
  const { bytesOf } = createAddresses();
  const decode = (address: string): Uint8Array => {
    const bytes = bytesOf(address);
    if (bytes !== undefined) return bytes;
    throw invalid(`expected an address of 32 bytes in base58, got "${printable(address, 60)}"`);
  };
  return (parts) => compileTransaction(parts, decode);
}

/**
 * Accounts come in the network's four groups, each in the order of first mention; tables serve all but signers and
 * programs.
 */
function compileTransaction(parts: TransactionParts, decode: (address: string) => Uint8Array): Uint8Array {
  const roles = collectRoles(parts);
  refuseOtherSigners(roles, parts.payer);
  const { lookups, loadedWritable, loadedReadonly } = extractLookups(roles, parts.lookupTables, decode);
  const others = [...roles.values()].filter((role) => !role.isSigner);
  const writable = others.filter((role) => role.isWritable);
  const readonly = others.filter((role) => !role.isWritable);
  const keys = [parts.payer, ...addresses(writable), ...addresses(readonly)];
  const indexes = new Map([...keys, ...loadedWritable, ...loadedReadonly].map((address, index) => [address, index]));
  if (indexes.size > MAX_ACCOUNTS) throw invalid(`expected at most ${MAX_ACCOUNTS} accounts, got ${indexes.size}`);

  const bytes = writeUnsignedTransaction({
    version: 0,
    header: { requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: readonly.length },
    accountKeys: keys.map(decode),
    blockhash: decode(parts.blockhash),
    instructions: parts.instructions.map(({ programId, accounts, data }) => ({
      programIndex: indexes.get(programId)!,
      accountIndexes: Uint8Array.from(accounts, ({ pubkey }) => indexes.get(pubkey)!),
      data,
    })),
    lookups,
  });
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw invalid(
      `expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${bytes.length}: a route with fewer accounts is needed`,
    );
  }
  return bytes;
}

/** Every account with the strongest role it has anywhere; the payer first. */
function collectRoles({ payer, instructions }: TransactionParts): Map<string, AccountRole> {
  const roles = new Map<string, AccountRole>();
  const roleOf = (address: string): AccountRole => {
    const known = roles.get(address);
    if (known !== undefined) return known;
    const role = { address, isSigner: false, isWritable: false, isProgram: false };
    roles.set(address, role);
    return role;
  };
  const payerRole = roleOf(payer);
  payerRole.isSigner = true;
  payerRole.isWritable = true;
  for (const { programId, accounts } of instructions) {
    roleOf(programId).isProgram = true;
    for (const { pubkey, isSigner, isWritable } of accounts) {
      const role = roleOf(pubkey);
      role.isSigner ||= isSigner;
      role.isWritable ||= isWritable;
    }
  }
  if (payerRole.isProgram) throw invalid('the payer cannot be a program');
  return roles;
}

function refuseOtherSigners(roles: ReadonlyMap<string, AccountRole>, payer: string): void {
  for (const role of roles.values()) {
    if (role.isSigner && role.address !== payer) {
      throw invalid(`expected no signer but the payer ${payer}, got ${printable(role.address, 44)} too: its signature `
        + 'would be missing');
    }
  }
}

/** Takes out of `roles` what the tables hold. */
function extractLookups(
  roles: Map<string, AccountRole>, tables: TransactionParts['lookupTables'], decode: (address: string) => Uint8Array,
) {
  const lookups: TableLookup[] = [];
  const loadedWritable: string[] = [];
  const loadedReadonly: string[] = [];
  for (const [table, held] of Object.entries(tables)) {
    const positions = positionsOf(held, table, roles);
    if (positions.size === 0) continue;
    const [writableIndexes, readonlyIndexes]: [number[], number[]] = [[], []];
    // In the order of the accounts' first mention, not of the table.
    for (const role of roles.values()) {
      const position = positions.get(role.address);
      if (position === undefined) continue;
      (role.isWritable ? writableIndexes : readonlyIndexes).push(position);
      (role.isWritable ? loadedWritable : loadedReadonly).push(role.address);
      roles.delete(role.address);
    }
    lookups.push({
      table: decode(table), writableIndexes: Uint8Array.from(writableIndexes),
      readonlyIndexes: Uint8Array.from(readonlyIndexes),
    });
  }
  return { lookups, loadedWritable, loadedReadonly };
}

/** The first position in a table of each account that may be looked up: neither signer nor program. */
function positionsOf(
  held: readonly string[], table: string, roles: ReadonlyMap<string, AccountRole>,
): Map<string, number> {
  if (held.length > MAX_TABLE_ADDRESSES) {
    throw invalid(
      `lookup table ${printable(table, 44)}: expected at most ${MAX_TABLE_ADDRESSES} addresses, got ${held.length}`,
    );
  }
  const positions = new Map<string, number>();
  for (const [position, address] of held.entries()) {
    const role = roles.get(address);
    if (role === undefined || role.isSigner || role.isProgram || positions.has(address)) continue;
    positions.set(address, position);
  }
  return positions;
}

function addresses(roles: readonly AccountRole[]): string[] {
  return roles.map((role) => role.address);
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', message);
}
