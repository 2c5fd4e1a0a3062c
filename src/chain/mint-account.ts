import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import type { Mint, MintAccount } from '../market/token.ts';
import { readMint, readTokenExtensions, type AccountData, type MintState } from '../solana/accounts.ts';

/** The token program's numbers of the extensions that a mint can carry. */
const MINT_EXTENSIONS: ReadonlyMap<number, string> = new Map([
  [1, 'transfer-fee'], [3, 'mint-close-authority'], [4, 'confidential-transfer'], [6, 'default-account-state'],
  [9, 'non-transferable'], [10, 'interest-bearing'], [12, 'permanent-delegate'], [14, 'transfer-hook'],
  [16, 'confidential-transfer-fee'], [18, 'metadata-pointer'], [19, 'metadata'], [20, 'group-pointer'], [21, 'group'],
  [22, 'group-member-pointer'], [23, 'group-member'], [24, 'confidential-mint-burn'], [25, 'scaled-ui-amount'],
  [26, 'pausable'],
]);

const BASE_BYTES = 82;
const ADDRESS_BYTES = 32;
/** Authority, authority to withdraw, withheld amount; then two fees of 18 bytes: epoch, maximum, basis points. */
const OLDER_FEE = 72;
const NEWER_FEE = 90;
const FROZEN = 2;

/**
 * Returns the content of a mint's account, all extensions of Token-2022 included. Throws MINT_INVALID on any other
 * account, and on one that is cut short.
 */
export function readMintAccount(mint: Mint, account: AccountData): MintAccount {
  const { decimals, supply, mintAuthority, freezeAuthority } = requireMint(mint, account);
  const { owner, data } = account;
  const extensions = data.length > BASE_BYTES ? readTokenExtensions(data, (problem) => invalid(mint, problem)) : [];
  const read = <T>(name: string, bytes: number, decode: (value: Buffer) => T): T | undefined => {
    const value = extensions.find(({ kind }) => MINT_EXTENSIONS.get(kind) === name)?.value;
    if (value === undefined) return undefined;
    if (value.length < bytes) throw invalid(mint, `its extension ${name} has ${value.length} bytes, expected ${bytes}`);
    return decode(value);
  };
  return {
    mint,
    tokenProgram: owner,
    decimals, supply, mintAuthority, freezeAuthority,
    extensions: extensions.map(({ kind }) => MINT_EXTENSIONS.get(kind) ?? `unknown-${kind}`),
    transferFee: read('transfer-fee', NEWER_FEE + 18, (value) => {
      const fees = [OLDER_FEE, NEWER_FEE].map((at) => ({
        maximum: value.readBigUInt64LE(at + 8), bps: value.readUInt16LE(at + 16),
      }));
      // The newer fee can apply from any epoch on: the worse of both counts.
      const [worst] = fees.sort((a, b) => b.bps - a.bps);
      return { ...worst!, authority: nonZeroAddress(value, 0) };
    }),
    permanentDelegate: read('permanent-delegate', ADDRESS_BYTES, (value) => nonZeroAddress(value, 0)),
    transferHook: read('transfer-hook', 2 * ADDRESS_BYTES, (value) => nonZeroAddress(value, ADDRESS_BYTES)),
    isFrozenByDefault: read('default-account-state', 1, (value) => value[0] === FROZEN),
  };
}

/** Returns the decimals in a mint account of either token program. Throws MINT_INVALID on any other account. */
export function readMintDecimals(mint: Mint, account: AccountData): number {
  return requireMint(mint, account).decimals;
}

function requireMint(mint: Mint, account: AccountData): MintState {
  const state = readMint(account);
  if (state !== undefined) return state;
  const { owner } = account;
  const message = `${mint} is an account of ${owner}, but no mint of a token program`;
  throw new GannetError('MINT_INVALID', message, { details: { mint, owner } });
}

function nonZeroAddress(value: Buffer, at: number): string | undefined {
  const address = value.subarray(at, at + ADDRESS_BYTES);
  return address.every((byte) => byte === 0) ? undefined : bs58.encode(address);
}

function invalid(mint: Mint, problem: string): GannetError {
  return new GannetError(
    'MINT_INVALID', `the account of the mint ${mint} cannot be read: ${problem}`, { details: { mint } },
  );
}
