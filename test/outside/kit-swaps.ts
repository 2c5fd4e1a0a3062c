import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import {
  AccountRole, address, appendTransactionMessageInstructions, assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime, compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromBytes, createSolanaRpc, createSolanaRpcSubscriptions, createTransactionMessage, devnet,
  getBase58Decoder, getBase58Encoder, getBase64Encoder, getBase64EncodedWireTransaction, getSignatureFromTransaction,
  getTransactionDecoder, partiallySignTransaction, pipe, sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner, setTransactionMessageLifetimeUsingBlockhash, signTransactionMessageWithSigners,
} from '@solana/kit';
import type {
  Address, Blockhash, Instruction, KeyPairSigner, RpcDevnet, RpcSubscriptionsDevnet, Signature, SolanaRpcApi,
  SolanaRpcSubscriptionsApi,
} from '@solana/kit';
import { expect } from 'vitest';
import type { Build, OutsideSandbox, WireInstruction } from './outside-sandbox.ts';
import { instructionsOf, MINTS } from './outside-sandbox.ts';

/** Where there is a faucet, kit knows the methods of a development network. */
type Rpc = RpcDevnet<SolanaRpcApi>;

interface Lifetime {
  readonly blockhash: Blockhash;
  readonly lastValidBlockHeight: bigint;
}

/** What kit needs to work on a sandbox: its RPC, its subscriptions and the wallet. */
export interface KitClient {
  readonly rpc: Rpc;
  readonly subscriptions: RpcSubscriptionsDevnet<SolanaRpcSubscriptionsApi>;
  readonly me: KeyPairSigner;
  /** Sends instructions of the wallet, and waits until they are confirmed. */
  send(
    instructions: readonly Instruction[],
    options?: { lifetime?: Lifetime; tables?: Record<Address, Address[]> },
  ): Promise<Signature>;
}

/** Returns kit's client of a sandbox. */
export async function kitClient({ addresses }: OutsideSandbox): Promise<KitClient> {
  const rpc = createSolanaRpc(devnet(addresses.rpc_url));
  const subscriptions = createSolanaRpcSubscriptions(devnet(addresses.ws_url));
  const me = await createKeyPairSignerFromBytes(getBase58Encoder().encode(addresses.wallet.private_key));
  const confirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: subscriptions });
  return {
    rpc, subscriptions, me,
    async send(instructions, { lifetime, tables = {} } = {}) {
      const { value: latest } = await rpc.getLatestBlockhash().send();
      const transaction = await signTransactionMessageWithSigners(pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(me, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime ?? latest, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
        (message) => compressTransactionMessageUsingAddressLookupTables(message, tables),
      ));
      assertIsSendableTransaction(transaction);
      assertIsTransactionWithBlockhashLifetime(transaction);
      await confirm(transaction, { commitment: 'confirmed' });
      return getSignatureFromTransaction(transaction);
    },
  };
}

/** Signs the transaction of an order as the wallet; others may have to sign it too. */
export async function signedOrder(me: KeyPairSigner, transaction: string): Promise<string> {
  const decoded = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  return getBase64EncodedWireTransaction(await partiallySignTransaction([me.keyPair], decoded));
}

/** Composes what `/build` answered, lands it, and returns its signature. */
export async function landBuild(client: KitClient, build: Build): Promise<Signature> {
  const { blockhash, lastValidBlockHeight } = build.blockhashWithMetadata;
  const tables = Object.entries(build.addressesByLookupTableAddress ?? {})
    .map(([table, held]) => [address(table), held.map((each) => address(each))] as const);
  return client.send(
    [
      getSetComputeUnitLimitInstruction({ units: 400_000 }),
      ...instructionsOf(build).map((instruction) => instructionOf(instruction, client.me)),
    ],
    {
      lifetime: {
        blockhash: getBase58Decoder().decode(Uint8Array.from(blockhash)) as Blockhash,
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
      },
      tables: Object.fromEntries(tables),
    },
  );
}

function instructionOf({ programId, accounts, data }: WireInstruction, me: KeyPairSigner): Instruction {
  return {
    programAddress: address(programId),
    accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey),
      role: isSigner ? (isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER)
        : isWritable ? AccountRole.WRITABLE : AccountRole.READONLY,
      ...(isSigner && pubkey === me.address ? { signer: me } : {}),
    })),
    data: getBase64Encoder().encode(data),
  };
}

/** Returns by how much a landed transaction changed the wallet's balances, of SOL wrapped or not, and its fee. */
export async function walletChanges(
  { rpc, me }: KitClient, signature: Signature,
): Promise<{ readonly fee: bigint; of(mint: string): bigint }> {
  const landed = await rpc.getTransaction(
    signature, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 },
  ).send();
  const { meta, transaction: { message } } = landed!;
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = meta!;
  expect(err).toBeNull();
  const at = message.accountKeys.indexOf(me.address);
  const held = (balances: typeof preTokenBalances, mint: string): bigint => (balances ?? [])
    .filter((balance) => String(balance.owner) === me.address && String(balance.mint) === mint)
    .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n);
  return {
    fee,
    of: (mint) => held(postTokenBalances, mint) - held(preTokenBalances, mint)
      + (mint === MINTS.sol ? postBalances[at]! - preBalances[at]! : 0n),
  };
}
