import bs58 from 'bs58';
import { exactNumber } from '../json-text.ts';

/** A System instruction as nodes write it for people. */
export interface ParsedInstruction {
  readonly type: string;
  readonly info: Readonly<Record<string, string | number | bigint>>;
}

type Info = ParsedInstruction['info'];

/** Reads the fields behind the instruction's number, in order. Throws RangeError where there are none left. */
interface Fields {
  u64(): number | bigint;
  key(): string;
  text(): string;
}

/** The names of the accounts in order, and the fields of the data, by the instruction's number. */
interface Layout {
  readonly type: string;
  readonly accounts: readonly string[];
  readonly fields: (fields: Fields) => Info;
}

const LAYOUTS: readonly Layout[] = [
  { type: 'createAccount', accounts: ['source', 'newAccount'], fields: (f) =>
    ({ lamports: f.u64(), space: f.u64(), owner: f.key() }) },
  { type: 'assign', accounts: ['account'], fields: (f) => ({ owner: f.key() }) },
  { type: 'transfer', accounts: ['source', 'destination'], fields: (f) => ({ lamports: f.u64() }) },
  {
    type: 'createAccountWithSeed', accounts: ['source', 'newAccount'],
    fields: (f) => ({ base: f.key(), seed: f.text(), lamports: f.u64(), space: f.u64(), owner: f.key() }),
  },
  { type: 'advanceNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority'], fields: () => ({}) },
  {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', 'recentBlockhashesSysvar', 'rentSysvar', 'nonceAuthority'],
    fields: (f) => ({ lamports: f.u64() }),
  },
  { type: 'initializeNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'rentSysvar'], fields: (f) =>
    ({ nonceAuthority: f.key() }) },
  { type: 'authorizeNonce', accounts: ['nonceAccount', 'nonceAuthority'], fields: (f) => ({ newAuthorized: f.key() }) },
  { type: 'allocate', accounts: ['account'], fields: (f) => ({ space: f.u64() }) },
  { type: 'allocateWithSeed', accounts: ['account'], fields: (f) =>
    ({ base: f.key(), seed: f.text(), space: f.u64(), owner: f.key() }) },
  { type: 'assignWithSeed', accounts: ['account'], fields: (f) => ({ base: f.key(), seed: f.text(), owner: f.key() }) },
  {
    type: 'transferWithSeed', accounts: ['source', 'sourceBase', 'destination'],
    fields: (f) => ({ lamports: f.u64(), sourceSeed: f.text(), sourceOwner: f.key() }),
  },
  { type: 'upgradeNonce', accounts: ['nonceAccount'], fields: () => ({}) },
];

/**
 * Returns what a System instruction does, or undefined where it is none that the program knows: nodes show its bytes
 * then.
 */
export function parseSystemInstruction(accounts: readonly string[], data: Uint8Array): ParsedInstruction | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const layout = bytes.length < 4 ? undefined : LAYOUTS[bytes.readUInt32LE(0)];
  if (layout === undefined || accounts.length < layout.accounts.length) return undefined;
  try {
    const named = Object.fromEntries(layout.accounts.map((name, index) => [name, accounts[index]!]));
    return { type: layout.type, info: { ...named, ...layout.fields(fieldsOf(bytes)) } };
  } catch (error) {
    // Data that is cut off is no instruction of the program.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldsOf(bytes: Buffer): Fields {
  let at = 4;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the data ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  return {
    u64: () => exactNumber(take(8).readBigUInt64LE(0)),
    key: () => bs58.encode(take(32)),
    text: () => take(Number(take(8).readBigUInt64LE(0))).toString('utf8'),
  };
}
