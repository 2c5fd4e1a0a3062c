import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import type { MintAccount } from '../market/mint-account.ts';
import type { Mint } from '../market/token.ts';
import type { AccountData } from './token-accounts.ts';
import { readMintDecimals } from './token-accounts.ts';
import { readTokenExtensions } from './token-extensions.ts';

/** The token program's numbers of the extensions that a mint can carry. */
const MINT_EXTENSIONS: ReadonlyMap<number, string> = new Map([
  [1, 'transfer-fee'], [3, 'mint-close-authority'], [4, 'confidential-transfer'], [6, 'default-account-state'],
  [9, 'non-transferable'], [10, 'interest-bearing'], [12, 'permanent-delegate'], [14, 'transfer-hook'],
  [16, 'confidential-transfer-fee'], [18, 'metadata-pointer'], [19, 'metadata'], [20, 'group-pointer'], [21, 'group'],
  [22, 'group-member-pointer'], [23, 'group-member'], [24, 'confidential-mint-burn'], [25, 'scaled-ui-amount'], [26, 'pausable'],
]);

const MINT_AUTHORITY = 0;
const SUPPLY = 36;
const FREEZE_AUTHORITY = 46;
const BASE_BYTES = 82;
const ADDRESS_BYTES = 32;
/** Authority, authority to withdraw, withheld amount; then two fees of 18 bytes: epoch, maximum, basis points. */
const OLDER_FEE = 72;
const NEWER_FEE = 90;
const FROZEN = 2;

/** Returns what a mint's account says, all extensions of Token-2022 included. Throws MINT_INVALID on any other account, and on one that is cut short. */
export function readMintAccount(mint: Mint, account: AccountData): MintAccount {
  const decimals = readMintDecimals(mint, account);
  const { owner, data } = account;
  const extensions = data.length > BASE_BYTES ? readTokenExtensions(data, (problem) => invalid(mint, problem)) : [];
  const valueOf = (name: string): Buffer | undefined => extensions.find(({ kind }) => MINT_EXTENSIONS.get(kind) === name)?.value;
  const read = <T>(name: string, bytes: number, decode: (value: Buffer) => T): T | undefined => {
    const value = valueOf(name);
    if (value !== undefined && value.length < bytes) throw invalid(mint, `its extension ${name} has ${value.length} bytes, expected ${bytes}`);
    return value === undefined ? undefined : decode(value);
  };
  return {
    mint,
    tokenProgram: owner,
    decimals,
    supply: data.readBigUInt64LE(SUPPLY),
    mintAuthority: optionalAddress(data, MINT_AUTHORITY),
    freezeAuthority: optionalAddress(data, FREEZE_AUTHORITY),
    extensions: extensions.map(({ kind }) => MINT_EXTENSIONS.get(kind) ?? `unknown-${kind}`),
    transferFee: read('transfer-fee', NEWER_FEE + 18, (value) => {
      const fees = [OLDER_FEE, NEWER_FEE].map((at) => ({ maximum: value.readBigUInt64LE(at + 8), bps: value.readUInt16LE(at + 16) }));
      // The later one may come into force at any epoch's turn: the worse of both counts.
      const [worst] = fees.sort((a, b) => b.bps - a.bps);
      return { ...worst!, authority: nonZeroAddress(value, 0) };
    }),
    permanentDelegate: read('permanent-delegate', ADDRESS_BYTES, (value) => nonZeroAddress(value, 0)),
    transferHook: read('transfer-hook', 2 * ADDRESS_BYTES, (value) => nonZeroAddress(value, ADDRESS_BYTES)),
    isFrozenByDefault: read('default-account-state', 1, (value) => value[0] === FROZEN),
  };
}

function optionalAddress(data: Buffer, at: number): string | undefined {
  return data.readUInt32LE(at) === 0 ? undefined : bs58.encode(data.subarray(at + 4, at + 4 + ADDRESS_BYTES));
}

function nonZeroAddress(value: Buffer, at: number): string | undefined {
  const address = value.subarray(at, at + ADDRESS_BYTES);
  return address.every((byte) => byte === 0) ? undefined : bs58.encode(address);
}

function invalid(mint: Mint, problem: string): GannetError {
  return new GannetError('MINT_INVALID', `the account of the mint ${mint} cannot be read: ${problem}`, { details: { mint } });
}
