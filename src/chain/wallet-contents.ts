import {
  ExtensionType, TRANSFER_FEE_AMOUNT_SIZE, getExtensionData, getTransferFeeAmount, unpackAccount,
  type Account as TokenAccount,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { Amount, Lamports } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import { TOKEN_DATA_SLICE, type AccountData } from '../solana/accounts.ts';
import { SOL_DECIMALS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, isTokenProgram } from '../solana/constants.ts';
import type { OwnedTokenAccount } from './close-accounts.ts';
import { readMintDecimals } from './mint-decimals.ts';
import { lamportBalance, mintAccounts, ownTokenAccounts } from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';
import { checkedExtensions } from './token-extensions.ts';

const MINTS_PER_CALL = 100;

/** A token account with everything that concerns its owner. */
export interface WalletTokenAccount extends OwnedTokenAccount {
  /** Of its mint; undefined where the mint is closed. */
  readonly decimals: number | undefined;
  readonly isFrozen: boolean;
  /** May spend in the owner's place. */
  readonly delegate: string | undefined;
  readonly delegatedAmount: Amount;
}

/** The lamports of a wallet and its accounts of both token programs, in the order of the node. */
export interface WalletContents {
  /** Without wrapped SOL. */
  readonly lamports: Lamports;
  readonly accounts: readonly WalletTokenAccount[];
}

/**
 * Returns a wallet's SOL, native alone, and all its token accounts, empty ones too, at `confirmed`. Throws what the
 * calls throw, and CHAIN_RESPONSE_INVALID.
 */
export async function readWallet(rpc: RpcClient, owner: string): Promise<WalletContents> {
  const accountsOf = async (programId: string): Promise<Omit<WalletTokenAccount, 'decimals'>[]> => {
    // The whole data: the extensions after the base layout decide whether an account can be closed.
    const config = { encoding: 'base64', commitment: 'confirmed' };
    const { value } = await rpc.call('getTokenAccountsByOwner', [owner, { programId }, config], ownTokenAccounts);
    return value.map(({ pubkey, account }) => readOwnAccount(pubkey, account, owner));
  };
  const [native, ...accounts] = await Promise.all([
    rpc.call('getBalance', [owner, { commitment: 'confirmed' }], lamportBalance),
    accountsOf(TOKEN_PROGRAM), accountsOf(TOKEN_2022_PROGRAM),
  ]);
  const all = accounts.flat();
  const decimals = await readDecimals(rpc, [...new Set(all.map(({ mint }) => mint))]);
  return {
    lamports: native.value as Lamports,
    accounts: all.map((account) => ({ ...account, decimals: decimals.get(account.mint) })),
  };
}

function readOwnAccount(
  address: string, account: AccountData & { readonly lamports: bigint }, wallet: string,
): Omit<WalletTokenAccount, 'decimals'> {
  const invalid = (problem: string): GannetError =>
    new GannetError('CHAIN_RESPONSE_INVALID', `the token account ${address} cannot be read: ${problem}`);
  const unpacked = unpack(address, account, invalid);
  const { mint, owner, amount, delegatedAmount, isFrozen, delegate, closeAuthority, tlvData } = unpacked;
  if (owner.toBase58() !== wallet)
    throw invalid(`it belongs to ${owner.toBase58()}, the request was for those of ${wallet}`);
  checkedExtensions(tlvData, invalid);
  const withheldBytes = getExtensionData(ExtensionType.TransferFeeAmount, tlvData)?.length;
  if (withheldBytes !== undefined && withheldBytes < TRANSFER_FEE_AMOUNT_SIZE)
    throw invalid('its withheld fees are cut short');
  return {
    address, isFrozen,
    delegate: delegate?.toBase58(),
    closeAuthority: closeAuthority?.toBase58(),
    mint: mint.toBase58() as Mint,
    amount: amount as Amount,
    tokenProgram: account.owner,
    lamports: account.lamports as Lamports,
    delegatedAmount: delegatedAmount as Amount,
    withheldFee: (getTransferFeeAmount(unpacked)?.withheldAmount ?? 0n) as Amount,
  };
}

function unpack(
  address: string, { owner, data }: AccountData, invalid: (problem: string) => GannetError,
): TokenAccount {
  const noTokenAccount = (): GannetError => invalid(`it is no token account, but ${data.length} bytes of ${owner}`);
  if (!isTokenProgram(owner)) throw noTokenAccount();
  const program = new PublicKey(owner);
  let unpacked: TokenAccount;
  try {
    const key = new PublicKey(address);
    unpacked = unpackAccount(key, { owner: program, data, executable: false, lamports: 0 }, program);
  } catch {
    // It has another length, or says that it is another kind of account.
    throw noTokenAccount();
  }
  if (!unpacked.isInitialized) throw noTokenAccount();
  return unpacked;
}

async function readDecimals(rpc: RpcClient, mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> {
  const decimals = new Map<Mint, number>([[SOL_MINT, SOL_DECIMALS]]);
  const asked = mints.filter((mint) => !decimals.has(mint));
  const config = { encoding: 'base64', commitment: 'confirmed', dataSlice: TOKEN_DATA_SLICE };
  for (let at = 0; at < asked.length; at += MINTS_PER_CALL) {
    const chunk = asked.slice(at, at + MINTS_PER_CALL);
    const { value } = await rpc.call('getMultipleAccounts', [chunk, config], mintAccounts);
    if (value.length !== chunk.length) {
      const message = `getMultipleAccounts: expected ${chunk.length} accounts, got ${value.length}`;
      throw new GannetError('CHAIN_RESPONSE_INVALID', message);
    }
    for (const [index, account] of value.entries()) {
      // A mint can be closed while accounts of it remain.
      if (account !== null) decimals.set(chunk[index]!, readMintDecimals(chunk[index]!, account));
    }
  }
  return decimals;
}
