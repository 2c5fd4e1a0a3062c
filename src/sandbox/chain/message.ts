import bs58 from 'bs58';
import { assert } from '../../core/assert.ts';
import { addressBytes } from './addresses.ts';
import { listLength } from './transaction-bytes.ts';

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
  /** Position of each address. */
  readonly indexes: ReadonlyMap<string, number>;
}

/** Returns a table over `addresses` as the chain holds them. */
export function lookupTable(address: string, addresses: readonly string[]): LookupTable {
  return { address, addresses, indexes: new Map(addresses.map((entry, index) => [entry, index])) };
}

/** A message ready for signatures, in the order in which its signers must sign. */
export interface CompiledMessage {
  readonly bytes: Uint8Array;
  readonly signers: readonly string[];
  /** How many accounts the transaction locks. */
  readonly accounts: number;
}

const VERSION_0 = 0x80;
export const SIGNATURE_BYTES = 64;

interface Role {
  isSigner: boolean;
  isWritable: boolean;
  isProgram: boolean;
}

/**
 * Returns the message of `instructions`, paid by `payer`: of version 0 with a `table`, which supplies the accounts that
 * neither sign nor run, otherwise unversioned. Not built with web3.js, which takes ten times as long.
 */
export function compileMessage(options: {
  payer: string; instructions: readonly Instruction[]; blockhash: string; table: LookupTable | undefined;
}): CompiledMessage {
  const { table } = options;
  const roles = collectRoles(options.payer, options.instructions);
  const groups = {
    writableSigners: [] as string[], readonlySigners: [] as string[], writables: [] as string[],
    readonlys: [] as string[],
  };
  const writableLookups: string[] = [];
  const readonlyLookups: string[] = [];
  for (const [address, role] of roles) {
    if (role.isSigner) (role.isWritable ? groups.writableSigners : groups.readonlySigners).push(address);
    else if (!role.isProgram && table?.indexes.has(address) === true)
      (role.isWritable ? writableLookups : readonlyLookups).push(address);
    else (role.isWritable ? groups.writables : groups.readonlys).push(address);
  }
  const signers = [...groups.writableSigners, ...groups.readonlySigners];
  const staticKeys = [...signers, ...groups.writables, ...groups.readonlys];
  const positions = new Map([...staticKeys, ...writableLookups, ...readonlyLookups].map((address, index) =>
    [address, index]));
  const positionOf = (address: string): number => {
    const position = positions.get(address);
    assert(position !== undefined, `account ${address} has no place in the message`);
    return position;
  };
  const parts: Uint8Array[] = [
    ...(table === undefined ? [] : [Uint8Array.of(VERSION_0)]),
    Uint8Array.of(signers.length, groups.readonlySigners.length, groups.readonlys.length),
    listLength(staticKeys.length),
    ...staticKeys.map(addressBytes),
    bs58.decode(options.blockhash),
    listLength(options.instructions.length),
  ];
  for (const { programId, accounts, data } of options.instructions) {
    parts.push(Uint8Array.of(positionOf(programId)), listLength(accounts.length));
    parts.push(Uint8Array.from(accounts, ({ pubkey }) => positionOf(pubkey)), listLength(data.length), data);
  }
  if (table !== undefined) parts.push(...lookupParts(table, [writableLookups, readonlyLookups]));
  return { bytes: Buffer.concat(parts), signers, accounts: positions.size };
}

function lookupParts(
  table: LookupTable, [writables, readonlys]: readonly [readonly string[], readonly string[]],
): Uint8Array[] {
  if (writables.length + readonlys.length === 0) return [listLength(0)];
  const indexes = [writables, readonlys].flatMap((addresses) =>
    [listLength(addresses.length), Uint8Array.from(addresses, (address) => table.indexes.get(address)!)]);
  return [listLength(1), addressBytes(table.address), ...indexes];
}

/** Returns every account once with the highest role in any instruction; the payer first. */
function collectRoles(payer: string, instructions: readonly Instruction[]): Map<string, Role> {
  const roles = new Map<string, Role>([[payer, { isSigner: true, isWritable: true, isProgram: false }]]);
  const roleOf = (address: string): Role => {
    let role = roles.get(address);
    if (role === undefined) roles.set(address, (role = { isSigner: false, isWritable: false, isProgram: false }));
    return role;
  };
  for (const { programId, accounts } of instructions) {
    for (const { pubkey, isSigner, isWritable } of accounts) {
      const role = roleOf(pubkey);
      role.isSigner ||= isSigner;
      role.isWritable ||= isWritable;
    }
    roleOf(programId).isProgram = true;
  }
  return roles;
}

/** Returns a transaction with an empty place for each signature. */
export function unsignedTransaction({ bytes, signers }: Pick<CompiledMessage, 'bytes' | 'signers'>): Buffer {
  return Buffer.concat([Uint8Array.of(signers.length), Buffer.alloc(SIGNATURE_BYTES * signers.length), bytes]);
}
