import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import {
  AccountRole, address, appendTransactionMessageInstructions, assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime, compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromBytes, createSolanaRpc, createSolanaRpcSubscriptions, createTransactionMessage, devnet,
  estimateAndSetResourceLimitsFactory, estimateResourceLimitsFactory,
  getBase58Decoder, getBase58Encoder, getBase64Encoder, getBase64EncodedWireTransaction, getSignatureFromTransaction,
  getTransactionDecoder, partiallySignTransaction, pipe, sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner, setTransactionMessageConfig, setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import type {
  Address, Blockhash, Instruction, KeyPairSigner, RpcDevnet, RpcSubscriptionsDevnet, Signature, SolanaRpcApi,
  SolanaRpcSubscriptionsApi, TransactionMessage, TransactionMessageWithBlockhashLifetime,
  TransactionMessageWithFeePayer,
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
  /** Sends instructions of the wallet in version 0, and waits until they are confirmed. */
  send(
    instructions: readonly Instruction[],
    options?: { lifetime?: Lifetime; tables?: Record<Address, Address[]> },
  ): Promise<Signature>;
  /** The same in version 1, which has limits of its own in place of instructions, and no lookup tables. */
  sendVersion1(instructions: readonly Instruction[], options?: { lifetime?: Lifetime }): Promise<Signature>;
}

/** Enough for every swap here; kit estimates the other limit that version 1 needs. */
const LIMITS = { computeUnitLimit: 400_000, priorityFeeLamports: 1_234n };

/** Returns kit's client of a sandbox. */
export async function kitClient({ addresses }: OutsideSandbox): Promise<KitClient> {
  const rpc = createSolanaRpc(devnet(addresses.rpc_url));
  const subscriptions = createSolanaRpcSubscriptions(devnet(addresses.ws_url));
  const me = await createKeyPairSignerFromBytes(getBase58Encoder().encode(addresses.wallet.private_key));
  const confirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: subscriptions });
  const limit = estimateAndSetResourceLimitsFactory(estimateResourceLimitsFactory({ rpc }));
  const sign = async (
    message: TransactionMessage & TransactionMessageWithFeePayer & TransactionMessageWithBlockhashLifetime,
  ): Promise<Signature> => {
    const transaction = await signTransactionMessageWithSigners(message);
    assertIsSendableTransaction(transaction);
    assertIsTransactionWithBlockhashLifetime(transaction);
    await confirm(transaction, { commitment: 'confirmed' });
    return getSignatureFromTransaction(transaction);
  };
  return {
    rpc, subscriptions, me,
    async send(instructions, { lifetime, tables = {} } = {}) {
      const { value: latest } = await rpc.getLatestBlockhash().send();
      return sign(pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(me, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime ?? latest, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
        (message) => compressTransactionMessageUsingAddressLookupTables(message, tables),
      ));
    },
    async sendVersion1(instructions, { lifetime } = {}) {
      const { value: latest } = await rpc.getLatestBlockhash().send();
      return sign(await limit(pipe(
        createTransactionMessage({ version: 1 }),
        (message) => setTransactionMessageConfig(LIMITS, message),
        (message) => setTransactionMessageFeePayerSigner(me, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime ?? latest, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
      )));
    },
  };
}

/** Signs the transaction of an order as the wallet; others may have to sign it too. */
export async function signedOrder(me: KeyPairSigner, transaction: string): Promise<string> {
  const decoded = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  return getBase64EncodedWireTransaction(await partiallySignTransaction([me.keyPair], decoded));
}

/** Composes what `/build` answered, lands it, and returns its signature. */
export async function landBuild(client: KitClient, build: Build, version: 0 | 1): Promise<Signature> {
  const { blockhash, lastValidBlockHeight } = build.blockhashWithMetadata;
  const tables = Object.entries(build.addressesByLookupTableAddress ?? {})
    .map(([table, held]) => [address(table), held.map((each) => address(each))] as const);
  const lifetime = {
    blockhash: getBase58Decoder().decode(Uint8Array.from(blockhash)) as Blockhash,
    lastValidBlockHeight: BigInt(lastValidBlockHeight),
  };
  const withoutBudget = instructionsOf({ ...build, computeBudgetInstructions: [] });
  const of = (instructions: readonly WireInstruction[]): Instruction[] =>
    instructions.map((instruction) => instructionOf(instruction, client.me));
  if (version === 1) return client.sendVersion1(of(withoutBudget), { lifetime });
  return client.send(
    [getSetComputeUnitLimitInstruction({ units: LIMITS.computeUnitLimit }), ...of(instructionsOf(build))],
    { lifetime, tables: Object.fromEntries(tables) },
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
    signature, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 1 },
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
