import bs58 from 'bs58';
import type { Json } from '../core/json.ts';
import { invalid, isRecord } from './json-rpc.ts';
import { isAddress } from './policy/addresses.ts';
import { isTokenProgram } from './policy/known-programs.ts';
import type { TokenAccountState } from './policy/simulation.ts';

/** An account as a node shows it; of its data perhaps only the beginning. */
export interface ReadAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly data: Buffer;
}

const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
const TABLE_HEADER_BYTES = 56;
const TABLE_STATE = 1;
const KEY_BYTES = 32;
const MAX_TABLE_PLACES = 256;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;

const MINT_BYTES = 82;
const MINT_DECIMALS_AT = 44;
const MINT_INITIALIZED_AT = 45;
const TOKEN_ACCOUNT_BYTES = 165;
/** What follows in an account with extensions: whether it is a mint (1) or holds tokens (2). */
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;
const MULTISIG_BYTES = 355;
/** How much of an account tells whether and which tokens it holds. */
export const TOKEN_ACCOUNT_HEAD_BYTES = TOKEN_ACCOUNT_BYTES + 1;
const STATE_FROZEN = 2;
const MAX_U64 = 2n ** 64n - 1n;

/** Returns an account of an answer, undefined where there is none. Throws CHAIN_RESPONSE_INVALID on anything that is no account. */
export function readAccount(value: Json | undefined, method: string): ReadAccount | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw invalid(method, 'an account or null');
  const { lamports, owner, data } = value;
  if (typeof owner !== 'string' || !isAddress(owner)) throw invalid(method, 'the owner of an account');
  if (!Array.isArray(data) || data.length !== 2 || data[1] !== 'base64' || typeof data[0] !== 'string') throw invalid(method, 'an account’s data in base64');
  const bytes = Buffer.from(data[0], 'base64');
  if (bytes.toString('base64') !== data[0]) throw invalid(method, 'an account’s data in base64');
  return { lamports: readU64(lamports, method), owner, data: bytes };
}

/** Returns a whole number of 64 bits. Throws CHAIN_RESPONSE_INVALID on anything else. */
export function readU64(value: Json | undefined, method: string): bigint {
  const whole = typeof value === 'bigint' ? value : typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : -1n;
  if (whole < 0n || whole > MAX_U64) throw invalid(method, 'a whole number of 64 bits');
  return whole;
}

/** Returns what a lookup table holds; undefined where an account is none, or is being closed. */
export function readLookupTable(account: ReadAccount | undefined): readonly string[] | undefined {
  if (account?.owner !== LOOKUP_TABLE_PROGRAM) return undefined;
  const { data } = account;
  const places = (data.length - TABLE_HEADER_BYTES) / KEY_BYTES;
  if (!Number.isInteger(places) || places < 0 || places > MAX_TABLE_PLACES || data.readUInt32LE(0) !== TABLE_STATE) return undefined;
  if (data.readBigUInt64LE(4) !== NEVER_DEACTIVATED) return undefined;
  return Array.from({ length: places }, (_, place) => bs58.encode(data.subarray(TABLE_HEADER_BYTES + KEY_BYTES * place, TABLE_HEADER_BYTES + KEY_BYTES * (place + 1))));
}

/** Returns the decimals of a mint; undefined where an account is none. */
export function readMintDecimals(account: ReadAccount | undefined): number | undefined {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const isMint = data.length === MINT_BYTES || (data.length > TOKEN_ACCOUNT_BYTES && data.length !== MULTISIG_BYTES && data[TOKEN_ACCOUNT_BYTES] === KIND_MINT);
  return isMint && data[MINT_INITIALIZED_AT] === 1 ? data[MINT_DECIMALS_AT] : undefined;
}

/** Returns what a token account holds, from its beginning or the whole of it; undefined where an account is none. */
export function readTokenAccount(account: ReadAccount | undefined): TokenAccountState | undefined {
  if (account === undefined || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const isAccount = data.length === TOKEN_ACCOUNT_BYTES || (data.length > TOKEN_ACCOUNT_BYTES && data[TOKEN_ACCOUNT_BYTES] === KIND_ACCOUNT);
  const state = data[108];
  if (!isAccount || state === 0) return undefined;
  const keyAt = (at: number): string => bs58.encode(data.subarray(at, at + KEY_BYTES));
  const optionalKeyAt = (at: number): string | undefined => (data.readUInt32LE(at) === 0 ? undefined : keyAt(at + 4));
  return {
    mint: keyAt(0), owner: keyAt(32), amount: data.readBigUInt64LE(64),
    delegate: optionalKeyAt(72), isFrozen: state === STATE_FROZEN, delegatedAmount: data.readBigUInt64LE(121), closeAuthority: optionalKeyAt(129),
  };
}
