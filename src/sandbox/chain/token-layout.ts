import {
  ACCOUNT_SIZE, AccountLayout, AccountState, AccountType, ExtensionType, getAccountLen, getMintLen, getTypeLen,
  MINT_SIZE, MintLayout, TransferFeeConfigLayout,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { Address } from './addresses.ts';
import { addressOf, NATIVE_MINT, publicKeyOf, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';

/** What a mint keeps of every transfer: a share, at most `maximum` smallest units. */
export interface TransferFee {
  readonly bps: number;
  readonly maximum: bigint;
}
export const MINT_BYTES = MINT_SIZE;
export const TOKEN_ACCOUNT_BYTES = ACCOUNT_SIZE;
const AMOUNT_OFFSET = 64;
const STATE_OFFSET = 108;
/** Where Token-2022 says what an account with extensions is. */
const ACCOUNT_TYPE_OFFSET = ACCOUNT_SIZE;

interface MintState {
  mintAuthority: Address | null;
  supply: bigint;
  decimals: number;
  isInitialized: boolean;
  freezeAuthority: Address | null;
}

interface TokenAccountState {
  mint: Address;
  owner: Address;
  amount: bigint;
  delegate: Address | null;
  delegatedAmount: bigint;
  state: 'initialized' | 'frozen';
  /** For wrapped SOL the rent it must keep, in lamports; null for every other mint. */
  rentExemptReserve: bigint | null;
  closeAuthority: Address | null;
}

/** Returns whether a program is one of the two token programs. */
export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

/** Returns the 82 bytes of a mint. */
export function encodeMint(mint: MintState): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES);
  const [mintAuthority, freezeAuthority] = [optional(mint.mintAuthority), optional(mint.freezeAuthority)];
  MintLayout.encode({
    mintAuthorityOption: mintAuthority.option, mintAuthority: mintAuthority.key, supply: mint.supply,
    decimals: mint.decimals, isInitialized: mint.isInitialized,
    freezeAuthorityOption: freezeAuthority.option, freezeAuthority: freezeAuthority.key,
  }, data);
  return data;
}

/** Returns the bytes of a mint that withholds part of every transfer. It names no authority over either. */
export function encodeWithholdingMint(mint: MintState, { bps, maximum }: TransferFee): Uint8Array {
  const data = Buffer.alloc(getMintLen([ExtensionType.TransferFeeConfig]));
  data.set(encodeMint(mint));
  const fee = { epoch: 0n, maximumFee: maximum, transferFeeBasisPoints: bps };
  const config = data.subarray(writeExtension(data, ExtensionType.TransferFeeConfig, ACCOUNT_TYPE_OFFSET + 1));
  data.writeUInt8(AccountType.Mint, ACCOUNT_TYPE_OFFSET);
  TransferFeeConfigLayout.encode({
    transferFeeConfigAuthority: PublicKey.default, withdrawWithheldAuthority: PublicKey.default, withheldAmount: 0n,
    olderTransferFee: fee, newerTransferFee: fee,
  }, config);
  return data;
}

/** Writes the header of an extension, and returns where its content begins. */
function writeExtension(data: Buffer, kind: ExtensionType, at: number): number {
  data.writeUInt16LE(kind, at);
  data.writeUInt16LE(getTypeLen(kind), at + 2);
  return at + 4;
}

/** Returns the mint in an account of a token program, or undefined when it holds something else. */
export function decodeMint(data: Uint8Array): MintState | undefined {
  if (data.length !== MINT_BYTES && data[ACCOUNT_TYPE_OFFSET] !== AccountType.Mint) return undefined;
  const { supply, decimals, isInitialized, ...raw } = MintLayout.decode(data);
  return {
    mintAuthority: addressIn(raw.mintAuthorityOption, raw.mintAuthority), supply, decimals, isInitialized,
    freezeAuthority: addressIn(raw.freezeAuthorityOption, raw.freezeAuthority),
  };
}

/** Returns the bytes of a fresh token account as the associated-token program lays them out. */
export function encodeTokenAccount(
  account: {
    mint: Address; owner: Address; amount: bigint; tokenProgram: Address; rentExemptReserve: bigint; withholds: boolean;
  },
): Uint8Array {
  const extended = account.tokenProgram === TOKEN_2022_PROGRAM;
  const extensions =
    [ExtensionType.ImmutableOwner, ...(account.withholds ? [ExtensionType.TransferFeeAmount] : [])];
  const data = Buffer.alloc(extended ? getAccountLen(extensions) : TOKEN_ACCOUNT_BYTES);
  const isNative = account.mint === NATIVE_MINT;
  AccountLayout.encode({
    mint: publicKeyOf(account.mint), owner: publicKeyOf(account.owner), amount: account.amount, delegateOption: 0,
    delegate: PublicKey.default, state: AccountState.Initialized, isNativeOption: isNative ? 1 : 0,
    isNative: isNative ? account.rentExemptReserve : 0n, delegatedAmount: 0n, closeAuthorityOption: 0,
    closeAuthority: PublicKey.default,
  }, data);
  if (extended) {
    data.writeUInt8(AccountType.Account, ACCOUNT_TYPE_OFFSET);
    let at = ACCOUNT_TYPE_OFFSET + 1;
    for (const kind of extensions) at = writeExtension(data, kind, at) + getTypeLen(kind);
  }
  return data;
}

/** Returns whether an account of a token program holds tokens (rather than a mint, a multisig or nothing yet). */
function isTokenAccountData(data: Uint8Array): boolean {
  return (data.length === TOKEN_ACCOUNT_BYTES
    || (data.length > TOKEN_ACCOUNT_BYTES && data[ACCOUNT_TYPE_OFFSET] === AccountType.Account))
    && data[STATE_OFFSET] !== AccountState.Uninitialized;
}

/** Returns the token account in an account of a token program, or undefined when it holds something else. */
export function decodeTokenAccount(data: Uint8Array): TokenAccountState | undefined {
  if (!isTokenAccountData(data)) return undefined;
  const raw = AccountLayout.decode(data);
  return {
    mint: addressOf(raw.mint.toBytes()),
    owner: addressOf(raw.owner.toBytes()),
    amount: raw.amount,
    delegate: addressIn(raw.delegateOption, raw.delegate),
    state: raw.state === AccountState.Frozen ? 'frozen' : 'initialized',
    rentExemptReserve: raw.isNativeOption === 1 ? raw.isNative : null,
    delegatedAmount: raw.delegatedAmount,
    closeAuthority: addressIn(raw.closeAuthorityOption, raw.closeAuthority),
  };
}

/** Returns a copy of a token account's bytes with another amount. */
export function withTokenAmount(data: Uint8Array, amount: bigint): Uint8Array {
  const copy = Buffer.from(data);
  copy.writeBigUInt64LE(amount, AMOUNT_OFFSET);
  return copy;
}

function optional(address: Address | null): { option: 0 | 1; key: PublicKey } {
  return address === null ? { option: 0, key: PublicKey.default } : { option: 1, key: publicKeyOf(address) };
}

function addressIn(option: 0 | 1, key: PublicKey): Address | null {
  return option === 1 ? addressOf(key.toBytes()) : null;
}
