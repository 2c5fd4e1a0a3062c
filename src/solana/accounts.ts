import bs58 from 'bs58';
import { LOOKUP_TABLE_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_ACCOUNT_BYTES, TOKEN_PROGRAM } from './constants.ts';

/** An account as a node returns it; the data may be its beginning alone. */
export interface AccountData {
  /** The program that owns the account. */
  readonly owner: string;
  readonly data: Buffer;
}

/** The base layout of a mint, the same in both token programs. */
interface MintState {
  readonly decimals: number;
  readonly supply: bigint;
  readonly mintAuthority: string | undefined;
  readonly freezeAuthority: string | undefined;
}

/** The base layout of a token account, the same in both token programs. */
export interface TokenAccountState {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly delegate: string | undefined;
  readonly delegatedAmount: bigint;
  readonly closeAuthority: string | undefined;
  readonly isFrozen: boolean;
}

const KEY_BYTES = 32;
const MINT_BYTES = 82;
const MULTISIG_BYTES = 355;
/** The values of the byte after the base layout, which accounts with extensions have. */
const KIND_MINT = 1;
const KIND_TOKEN_ACCOUNT = 2;
const STATE_UNINITIALIZED = 0;
const STATE_FROZEN = 2;

const TABLE_HEADER_BYTES = 56;
const TABLE_STATE = 1;
const MAX_TABLE_ADDRESSES = 256;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;

/** The part of an account that distinguishes mints and token accounts from all others, and holds their base layouts. */
export const TOKEN_DATA_SLICE = { offset: 0, length: TOKEN_ACCOUNT_BYTES + 1 };

/** Returns the state of a mint of either token program; undefined for any other account. */
export function readMint(account: AccountData): MintState | undefined {
  const { data } = account;
  if (!hasLayout(account, MINT_BYTES, KIND_MINT) || data[45] !== 1) return undefined;
  return {
    mintAuthority: optionalKey(data, 0), supply: data.readBigUInt64LE(36), decimals: data.readUInt8(44),
    freezeAuthority: optionalKey(data, 46),
  };
}

/** Returns the state of a token account of either token program; undefined for any other account. */
export function readTokenAccount(account: AccountData): TokenAccountState | undefined {
  const { data } = account;
  if (!hasLayout(account, TOKEN_ACCOUNT_BYTES, KIND_TOKEN_ACCOUNT) || data[108] === STATE_UNINITIALIZED)
    return undefined;
  return {
    mint: keyAt(data, 0), owner: keyAt(data, 32), amount: data.readBigUInt64LE(64), delegate: optionalKey(data, 72),
    isFrozen: data[108] === STATE_FROZEN, delegatedAmount: data.readBigUInt64LE(121),
    closeAuthority: optionalKey(data, 129),
  };
}

/** Returns the addresses in a lookup table; undefined where the account is no table, or one that is being closed. */
export function readLookupTable({ owner, data }: AccountData): readonly string[] | undefined {
  if (owner !== LOOKUP_TABLE_PROGRAM) return undefined;
  const count = (data.length - TABLE_HEADER_BYTES) / KEY_BYTES;
  if (!Number.isInteger(count) || count < 0 || count > MAX_TABLE_ADDRESSES) return undefined;
  if (data.readUInt32LE(0) !== TABLE_STATE || data.readBigUInt64LE(4) !== NEVER_DEACTIVATED) return undefined;
  return Array.from({ length: count }, (_, index) => keyAt(data, TABLE_HEADER_BYTES + KEY_BYTES * index));
}

function hasLayout({ owner, data }: AccountData, baseBytes: number, kind: number): boolean {
  if (owner === TOKEN_PROGRAM) return data.length === baseBytes;
  if (owner !== TOKEN_2022_PROGRAM) return false;
  if (data.length === baseBytes) return true;
  return data.length > TOKEN_ACCOUNT_BYTES && data.length !== MULTISIG_BYTES && data[TOKEN_ACCOUNT_BYTES] === kind;
}

function keyAt(data: Buffer, at: number): string {
  return bs58.encode(data.subarray(at, at + KEY_BYTES));
}

function optionalKey(data: Buffer, at: number): string | undefined {
  return data.readUInt32LE(at) === 0 ? undefined : keyAt(data, at + 4);
}
