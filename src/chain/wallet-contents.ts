import bs58 from 'bs58';
import type { Amount, Lamports } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';
import type { OwnedTokenAccount } from './close-accounts.ts';
import { lamportBalance, mintAccounts, ownTokenAccounts } from './rpc-answers.ts';
import type { RpcClient } from './rpc.ts';
import { TOKEN_DATA_SLICE, readMintDecimals, readTokenAccount, type AccountData } from './token-accounts.ts';
import { readTokenExtensions } from './token-extensions.ts';

/** A token account with all that its owner may want to know of it. */
export interface WalletTokenAccount extends OwnedTokenAccount {
  /** Of its mint; undefined where that one is gone. */
  readonly decimals: number | undefined;
  readonly isFrozen: boolean;
  /** Who may spend of it in the owner's place. */
  readonly delegate: string | undefined;
  readonly delegatedAmount: Amount;
}

/** What a wallet has: its own lamports, and its accounts of both token programs, in the order of the node. */
export interface WalletContents {
  /** Without what is wrapped. */
  readonly lamports: Lamports;
  readonly accounts: readonly WalletTokenAccount[];
}

const MINTS_PER_CALL = 100;
const WRAPPED_DECIMALS = 9;
const OWNER = 32;
const DELEGATE = 72;
const STATE = 108;
const FROZEN = 2;
const DELEGATED_AMOUNT = 121;
const CLOSE_AUTHORITY = 129;
/** The token program's number of the extension that holds the fees that were kept back. */
const TRANSFER_FEE_AMOUNT = 2;

/** Returns what a wallet has at `confirmed`. Throws what the calls throw, CHAIN_RESPONSE_INVALID too where an account is not the wallet's. */
export async function readWallet(rpc: Pick<RpcClient, 'call'>, owner: string): Promise<WalletContents> {
  const accountsOf = async (programId: string): Promise<Omit<WalletTokenAccount, 'decimals'>[]> => {
    // Whole: what comes behind the base decides whether it can be closed.
    const { value } = await rpc.call('getTokenAccountsByOwner', [owner, { programId }, { encoding: 'base64', commitment: 'confirmed' }], ownTokenAccounts);
    return value.map(({ pubkey, account }) => readOwnAccount(pubkey, account, owner));
  };
  const [native, ...accounts] = await Promise.all([
    rpc.call('getBalance', [owner, { commitment: 'confirmed' }], lamportBalance), accountsOf(TOKEN_PROGRAM), accountsOf(TOKEN_2022_PROGRAM),
  ]);
  const all = accounts.flat();
  const decimals = await readDecimals(rpc, [...new Set(all.map(({ mint }) => mint))]);
  return { lamports: native.value as Lamports, accounts: all.map((account) => ({ ...account, decimals: decimals.get(account.mint) })) };
}

function readOwnAccount(address: string, account: AccountData & { readonly lamports: bigint }, owner: string): Omit<WalletTokenAccount, 'decimals'> {
  const { data } = account;
  const { mint, amount } = readTokenAccount(address, account);
  const invalid = (problem: string): GannetError => new GannetError('CHAIN_RESPONSE_INVALID', `the token account ${address} cannot be read: ${problem}`);
  const holder = bs58.encode(data.subarray(OWNER, OWNER + 32));
  if (holder !== owner) throw invalid(`it belongs to ${holder}, asked was for those of ${owner}`);
  const withheld = readTokenExtensions(data, invalid).find(({ kind }) => kind === TRANSFER_FEE_AMOUNT)?.value;
  if (withheld !== undefined && withheld.length < 8) throw invalid('its withheld fees are cut short');
  return {
    address, mint, amount,
    tokenProgram: account.owner,
    lamports: account.lamports as Lamports,
    isFrozen: data[STATE] === FROZEN,
    delegate: optionalAddress(data, DELEGATE),
    delegatedAmount: data.readBigUInt64LE(DELEGATED_AMOUNT) as Amount,
    closeAuthority: optionalAddress(data, CLOSE_AUTHORITY),
    withheldFee: (withheld?.readBigUInt64LE(0) ?? 0n) as Amount,
  };
}

async function readDecimals(rpc: Pick<RpcClient, 'call'>, mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> {
  const decimals = new Map<Mint, number>([[SOL_MINT, WRAPPED_DECIMALS]]);
  const asked = mints.filter((mint) => !decimals.has(mint));
  for (let at = 0; at < asked.length; at += MINTS_PER_CALL) {
    const chunk = asked.slice(at, at + MINTS_PER_CALL);
    const { value } = await rpc.call('getMultipleAccounts', [chunk, { encoding: 'base64', commitment: 'confirmed', dataSlice: TOKEN_DATA_SLICE }], mintAccounts);
    if (value.length !== chunk.length) throw new GannetError('CHAIN_RESPONSE_INVALID', `getMultipleAccounts: expected ${chunk.length} accounts, got ${value.length}`);
    for (const [index, account] of value.entries()) {
      // A mint can be closed while accounts of it remain.
      if (account !== null) decimals.set(chunk[index]!, readMintDecimals(chunk[index]!, account));
    }
  }
  return decimals;
}

function optionalAddress(data: Buffer, at: number): string | undefined {
  return data.readUInt32LE(at) === 0 ? undefined : bs58.encode(data.subarray(at + 4, at + 36));
}
