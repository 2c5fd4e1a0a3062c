import {
  AddressLookupTableAccount, ComputeBudgetProgram, Connection, PublicKey, TransactionInstruction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'vitest';
import type { Build, OutsideSandbox, WireInstruction } from './outside-sandbox.ts';
import { instructionsOf, MINTS } from './outside-sandbox.ts';

/**
 * Returns a new connection. A connection keeps the blockhash of its first transaction for half a minute, which is more
 * than the short slots of these sandboxes allow: each test makes its own.
 */
export function connect(sandbox: OutsideSandbox): Connection {
  const { rpc_url: url, ws_url: wsEndpoint } = sandbox.addresses;
  return new Connection(url, { commitment: 'confirmed', wsEndpoint });
}

/** Returns a slot that has a block: the program of lookup tables knows no other. */
export async function recentSlot(connection: Connection): Promise<number> {
  const finalized = await connection.getSlot('finalized');
  return (await connection.getBlocks(finalized - 10, finalized, 'finalized')).at(-1)!;
}

/** What one transaction changed, in raw units: other transactions of the same moment do not count. */
export interface Changes {
  readonly feeLamports: bigint;
  /** Returns by how much an account's lamports changed. */
  lamports(address: PublicKey): bigint;
  /** Returns by how much a wallet's balance of a token changed; of SOL, wrapped or not. */
  token(wallet: PublicKey, mint: string): bigint;
}

/** Returns what a landed transaction changed. */
export async function changesOf(connection: Connection, signature: string): Promise<Changes> {
  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  const { meta, transaction: { message } } = landed!;
  expect(meta!.err).toBeNull();
  const { loadedAddresses, preBalances, postBalances, preTokenBalances, postTokenBalances, fee } = meta!;
  const keys = message.getAccountKeys(loadedAddresses ? { accountKeysFromLookups: loadedAddresses } : {})
    .keySegments().flat();
  const lamports = (address: PublicKey): bigint => {
    const at = keys.findIndex((key) => key.equals(address));
    return at < 0 ? 0n : BigInt(postBalances[at]!) - BigInt(preBalances[at]!);
  };
  const held = (balances: typeof preTokenBalances, wallet: PublicKey, mint: string): bigint =>
    (balances ?? []).filter((balance) => balance.owner === wallet.toBase58() && balance.mint === mint)
      .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n);
  return {
    feeLamports: BigInt(fee), lamports,
    token: (wallet, mint) => held(postTokenBalances, wallet, mint) - held(preTokenBalances, wallet, mint)
      + (mint === MINTS.sol ? lamports(wallet) : 0n),
  };
}

/** Composes and signs what `/build` answered, with a limit of compute units. */
export function composed(
  build: Build, options: { payer: PublicKey; signers: Keypair[]; units: number },
): VersionedTransaction {
  const tables = Object.entries(build.addressesByLookupTableAddress ?? {}).map(([key, addresses]) =>
    new AddressLookupTableAccount({ key: new PublicKey(key), state: {
      deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0,
      addresses: addresses.map((address) => new PublicKey(address)),
    } }));
  const message = new TransactionMessage({
    payerKey: options.payer,
    recentBlockhash: bs58.encode(Uint8Array.from(build.blockhashWithMetadata.blockhash)),
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: options.units }), ...instructionsOf(build).map(instruction),
    ],
  }).compileToV0Message(tables);
  const transaction = new VersionedTransaction(message);
  transaction.sign(options.signers);
  return transaction;
}

function instruction({ programId, accounts, data }: WireInstruction): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(programId), data: Buffer.from(data, 'base64'),
    keys: accounts.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: new PublicKey(pubkey), isSigner, isWritable })),
  });
}
