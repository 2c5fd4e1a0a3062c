import { createPrivateKey, hash, sign } from 'node:crypto';
import { AddressLookupTableAccount, Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import type { TransactionInstruction } from '@solana/web3.js';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { Address } from '../../../src/sandbox/chain/addresses.ts';
import { createChain } from '../../../src/sandbox/chain/chain.ts';
import type { Landed, LandResult, SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { customErrorCode } from '../../../src/sandbox/chain/transaction-error.ts';
import { publicKey } from './web3.ts';

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface Wallet {
  address: Address;
  keypair: Keypair;
  sign: (message: Uint8Array) => Uint8Array;
}

/** Returns a wallet that is the same for the same name. */
export function walletOf(name: string): Wallet {
  const keypair = Keypair.fromSeed(hash('sha256', name, 'buffer'));
  const key = createPrivateKey({
    format: 'der', type: 'pkcs8', key: Buffer.concat([PKCS8_ED25519_PREFIX, keypair.secretKey.subarray(0, 32)]),
  });
  return { address: keypair.publicKey.toBase58(), keypair, sign: (message) => sign(null, message, key) };
}

/** Returns an address that is the same for the same name. */
export function addressNamed(name: string): Address {
  return walletOf(name).address;
}

/** Mints of both token programs: USD has 6 decimals, BIG 5, NEW 8 on Token-2022, EXTRA 6 on Token-2022. */
export const MINTS = {
  usd: addressNamed('mint USD'),
  big: addressNamed('mint BIG'),
  fresh: addressNamed('mint NEW'),
  extra: addressNamed('mint EXTRA'),
  sol: NATIVE_MINT,
} as const;

/** The refusals of the swap program as `Custom` codes, with the numbers of `src/sandbox/program/swap.c`. */
export const SWAP_ERRORS = {
  accountsMalformed: 6000,
  belowMinimum: 6001,
  poolInvalid: 6002,
  signerMissing: 6003,
  liquidityInsufficient: 6004,
  instructionMalformed: 6005,
  mintMismatch: 6006,
  vaultMismatch: 6007,
  mintUnsupported: 6008,
  tokenProgramUnsupported: 6009,
} as const;

export interface MarketFixture {
  chain: SandboxChain;
  user: Wallet;
}

/** Returns a chain with four mints and a user who has 10 SOL. */
export function createMarketFixture(options: Partial<Parameters<typeof createChain>[0]> = {}): MarketFixture {
  const chain = createChain({ genesisUnixSeconds: 1_780_000_000, seed: 7, ...options });
  const mints = [
    [MINTS.usd, 6, TOKEN_PROGRAM],
    [MINTS.big, 5, TOKEN_PROGRAM],
    [MINTS.fresh, 8, TOKEN_2022_PROGRAM],
    [MINTS.extra, 6, TOKEN_2022_PROGRAM],
  ] as const;
  for (const [mint, decimals, tokenProgram] of mints)
    chain.createMint({ mint, decimals, tokenProgram, supply: 10n ** 16n });
  const user = walletOf('user');
  chain.airdrop(user.address, 10_000_000_000n);
  return { chain, user };
}

export interface TransactionOptions {
  chain: SandboxChain;
  payer: Wallet;
  signers?: readonly Wallet[];
  instructions: TransactionInstruction[];
  lookupTables?: readonly Address[];
  blockhash?: string;
}

/** Returns a signed version 0 transaction on the newest blockhash. */
export function signedTransaction(options: TransactionOptions): Uint8Array {
  const { chain, payer, signers = [] } = options;
  const tables = (options.lookupTables ?? []).map((table) => {
    const { data } = chain.account(table)!;
    return new AddressLookupTableAccount({ key: publicKey(table), state: AddressLookupTableAccount.deserialize(data) });
  });
  const message = new TransactionMessage({
    payerKey: publicKey(payer.address),
    recentBlockhash: options.blockhash ?? chain.latestBlockhash('processed').blockhash,
    instructions: options.instructions,
  }).compileToV0Message(tables);
  const bytes = message.serialize();
  const wallets = [payer, ...signers];
  const signatures = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures).map((key) => {
    const wallet = wallets.find((candidate) => candidate.address === key.toBase58());
    return wallet ? wallet.sign(bytes) : new Uint8Array(64);
  });
  return new VersionedTransaction(message, signatures).serialize();
}

/** Returns a landing that must have happened. */
export function landed(result: LandResult): Landed {
  if (result.kind === 'rejected') throw new Error(`expected a landed transaction, got ${JSON.stringify(result)}`);
  return result;
}

/** Returns the program's own error code of a landing that failed on chain. */
export function customCode(result: LandResult): number | undefined {
  return customErrorCode(landed(result).error);
}
