import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { SwapInstruction } from '../trading/swap-order.ts';
import type { AddressDecoder } from './addresses.ts';

/** What one packet of the network can carry. */
export const MAX_TRANSACTION_BYTES = 1_232;
const MAX_ACCOUNTS = 256;
const MAX_TABLE_ADDRESSES = 256;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_0 = 0x80;

export interface TransactionParts {
  /** Pays the fee and signs; the only signer there may be. */
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

interface TableLookup {
  readonly table: string;
  readonly writableIndexes: number[];
  readonly readonlyIndexes: number[];
}

/**
 * Returns the bytes of an unsigned version 0 transaction (the signature slot is all zero). Accounts come in the
 * network's four groups, each in the order of first mention; what a table holds is looked up there, except signers and
 * programs. Throws CHAIN_TRANSACTION_INVALID where it cannot be: too long, another signer, an address that is none.
 */
export function compileTransaction(parts: TransactionParts, decode: AddressDecoder): Uint8Array {
  const roles = collectRoles(parts);
  refuseOtherSigners(roles, parts.payer);
  const { lookups, loadedWritable, loadedReadonly } = extractLookups(roles, parts.lookupTables);
  const all = [...roles.values()];
  const writable = all.filter((role) => role.isWritable && !role.isSigner);
  const readonly = all.filter((role) => !role.isWritable && !role.isSigner);
  const keys = [parts.payer, ...addresses(writable), ...addresses(readonly)];
  const indexes = new Map([...keys, ...loadedWritable, ...loadedReadonly].map((address, index) => [address, index]));
  if (indexes.size > MAX_ACCOUNTS) throw invalid(`expected at most ${MAX_ACCOUNTS} accounts, got ${indexes.size}`);

  const bytes = allocate(keys.length, parts.instructions, lookups);
  const writer = createWriter(bytes);
  writer.length(1);
  writer.zeros(SIGNATURE_BYTES);
  writer.bytes([VERSION_0, 1, 0, readonly.length]);
  writer.length(keys.length);
  for (const key of keys) writer.bytes(decode(key));
  writer.bytes(decode(parts.blockhash));
  writer.length(parts.instructions.length);
  for (const { programId, accounts, data } of parts.instructions) {
    writer.bytes([indexes.get(programId)!]);
    writer.length(accounts.length);
    for (const { pubkey } of accounts) writer.bytes([indexes.get(pubkey)!]);
    writer.length(data.length);
    writer.bytes(data);
  }
  writer.length(lookups.length);
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    writer.bytes(decode(table));
    writer.length(writableIndexes.length);
    writer.bytes(writableIndexes);
    writer.length(readonlyIndexes.length);
    writer.bytes(readonlyIndexes);
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
      throw invalid(`expected no signer but the payer ${payer}, got ${printable(role.address, 44)} too: it could never be complete`);
    }
  }
}

/** Takes out of `roles` what the tables hold. */
function extractLookups(roles: Map<string, AccountRole>, tables: TransactionParts['lookupTables']) {
  const lookups: TableLookup[] = [];
  const loadedWritable: string[] = [];
  const loadedReadonly: string[] = [];
  for (const [table, held] of Object.entries(tables)) {
    const positions = positionsOf(held, table, roles);
    if (positions.size === 0) continue;
    const lookup: TableLookup = { table, writableIndexes: [], readonlyIndexes: [] };
    // In the order of the accounts' first mention, not of the table.
    for (const role of roles.values()) {
      const position = positions.get(role.address);
      if (position === undefined) continue;
      (role.isWritable ? lookup.writableIndexes : lookup.readonlyIndexes).push(position);
      (role.isWritable ? loadedWritable : loadedReadonly).push(role.address);
      roles.delete(role.address);
    }
    lookups.push(lookup);
  }
  return { lookups, loadedWritable, loadedReadonly };
}

/** The first position in a table of each account that may be looked up: neither signer nor program. */
function positionsOf(held: readonly string[], table: string, roles: ReadonlyMap<string, AccountRole>): Map<string, number> {
  if (held.length > MAX_TABLE_ADDRESSES) {
    throw invalid(`lookup table ${printable(table, 44)}: expected at most ${MAX_TABLE_ADDRESSES} addresses, got ${held.length}`);
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

function allocate(keyCount: number, instructions: readonly SwapInstruction[], lookups: readonly TableLookup[]): Buffer {
  let size = 1 + SIGNATURE_BYTES + 1 + 3 + lengthSize(keyCount) + KEY_BYTES * keyCount + KEY_BYTES;
  size += lengthSize(instructions.length);
  for (const { accounts, data } of instructions) {
    size += 1 + lengthSize(accounts.length) + accounts.length + lengthSize(data.length) + data.length;
  }
  size += lengthSize(lookups.length);
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    size += KEY_BYTES + lengthSize(writableIndexes.length) + writableIndexes.length;
    size += lengthSize(readonlyIndexes.length) + readonlyIndexes.length;
  }
  if (size > MAX_TRANSACTION_BYTES) {
    throw invalid(`expected at most ${MAX_TRANSACTION_BYTES} bytes, got ${size}: a route with fewer accounts is needed`);
  }
  return Buffer.alloc(size);
}

/** Writes into bytes that are known to suffice, and to be all zero. */
function createWriter(bytes: Buffer) {
  let offset = 0;
  const writeBytes = (part: ArrayLike<number>): void => {
    bytes.set(part, offset);
    offset += part.length;
  };
  return {
    bytes: writeBytes,
    zeros(count: number): void {
      offset += count;
    },
    /** Compact-u16: seven bits a byte, low bits first; nothing in a packet is longer than two of them can say. */
    length(count: number): void {
      writeBytes(lengthSize(count) === 1 ? [count] : [(count & 0x7f) | 0x80, count >> 7]);
    },
  };
}

function lengthSize(count: number): 1 | 2 {
  return count < 0x80 ? 1 : 2;
}

function invalid(message: string): GannetError {
  return new GannetError('CHAIN_TRANSACTION_INVALID', message);
}
