import { addressOf, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../chain/addresses.ts';
import type { Address } from '../chain/addresses.ts';
import type { Account } from '../chain/chain.ts';
import { isTokenProgram } from '../chain/token-layout.ts';
import { exactNumber } from '../json-text.ts';
import { parseSysvar } from './parsed-sysvars.ts';
import type { ParsedContent } from './parsed-token.ts';
import { parseTokenContent, tokenProgramName } from './parsed-token.ts';
import type { TokenDisplay } from './token-amounts.ts';

const SYSVAR_OWNER: Address = 'Sysvar1111111111111111111111111111111111111';
const UPGRADEABLE_LOADER: Address = 'BPFLoaderUpgradeab1e11111111111111111111111';

const NONCE_BYTES = 80;
const NONCE_INITIALIZED = 1;
const TABLE_HEADER_BYTES = 56;
const KEY_BYTES = 32;

/** An account's data as nodes describe it with `jsonParsed`. */
interface ParsedData {
  readonly program: string;
  readonly parsed: ParsedContent;
  readonly space: number;
}

/** Returns an account's data in parsed form, or undefined where nodes have no parser for it and give the bytes. */
export function parseAccount(
  address: Address, account: Account, displayOf: (mint: Address) => TokenDisplay | undefined,
): ParsedData | undefined {
  const { owner } = account;
  const bytes = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength);
  const wrap = (program: string, parsed: ParsedContent | undefined): ParsedData | undefined =>
    parsed && { program, parsed, space: bytes.length };
  if (isTokenProgram(owner)) return wrap(tokenProgramName(owner), parseTokenContent(account, displayOf));
  switch (owner) {
    case LOOKUP_TABLE_PROGRAM:
      return wrap('address-lookup-table', parseLookupTable(bytes));
    case SYSTEM_PROGRAM:
      return wrap('nonce', parseNonce(bytes));
    case SYSVAR_OWNER:
      return wrap('sysvar', parseSysvar(address, bytes));
    case UPGRADEABLE_LOADER:
      return wrap('bpf-upgradeable-loader', parseProgram(bytes));
    default:
      return undefined;
  }
}

function parseLookupTable(bytes: Buffer): ParsedContent | undefined {
  if (bytes.length < TABLE_HEADER_BYTES) return undefined;
  const kind = bytes.readUInt32LE(0);
  if (kind === 0) return { type: 'uninitialized' };
  if (kind !== 1 || (bytes.length - TABLE_HEADER_BYTES) % KEY_BYTES !== 0) return undefined;
  const addresses: Address[] = [];
  for (let at = TABLE_HEADER_BYTES; at < bytes.length; at += KEY_BYTES) addresses.push(keyAt(bytes, at));
  return { type: 'lookupTable', info: {
    deactivationSlot: bytes.readBigUInt64LE(4).toString(),
    lastExtendedSlot: bytes.readBigUInt64LE(12).toString(),
    lastExtendedSlotStartIndex: bytes.readUInt8(20),
    ...(bytes[21] === 1 ? { authority: keyAt(bytes, 22) } : {}),
    addresses,
  } };
}

/** Any account of the System program may have zeros of that size; only one in use is a nonce account. */
function parseNonce(bytes: Buffer): ParsedContent | undefined {
  if (bytes.length !== NONCE_BYTES || bytes.readUInt32LE(4) !== NONCE_INITIALIZED) return undefined;
  return { type: 'initialized', info: {
    authority: keyAt(bytes, 8), blockhash: keyAt(bytes, 40),
    feeCalculator: { lamportsPerSignature: bytes.readBigUInt64LE(72).toString() },
  } };
}

/** A program's account names the one that holds its code. */
function parseProgram(bytes: Buffer): ParsedContent | undefined {
  if (bytes.length < 4) return undefined;
  const authorityAt = (at: number): Address | null => (bytes[at] === 1 ? keyAt(bytes, at + 1) : null);
  const codeFrom = (at: number): [string, string] => [bytes.toString('base64', at), 'base64'];
  switch (bytes.readUInt32LE(0)) {
    case 0:
      return { type: 'uninitialized' };
    case 1:
      return bytes.length < 37 ? undefined
        : { type: 'buffer', info: { authority: authorityAt(4), data: codeFrom(37) } };
    case 2:
      return bytes.length < 36 ? undefined : { type: 'program', info: { programData: keyAt(bytes, 4) } };
    case 3:
      return bytes.length < 45 ? undefined : { type: 'programData', info: {
        slot: exactNumber(bytes.readBigUInt64LE(4)), authority: authorityAt(12), data: codeFrom(45),
      } };
    default:
      return undefined;
  }
}

function keyAt(bytes: Buffer, at: number): Address {
  return addressOf(bytes.subarray(at, at + KEY_BYTES));
}
