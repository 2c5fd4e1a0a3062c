import { createHash } from 'node:crypto';
import type { Amount, Lamports } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { MintAccount } from '../market/mint-account.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import type { LandedSwap } from '../trading/attempt.ts';
import type { SwapBuild } from '../trading/swap-order.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';
import { createBalanceReader, type TokenBalance } from './token-balance.ts';
import { createClosingComposer, type ClosingComposer } from './compose-closing.ts';
import { createComposer, type ComposedTransaction, type Simulation } from './compose.ts';
import { createFinality, type Finality } from './finality.ts';
import { createSignerSearch, type HistoryEntry, type SignerSearch } from './find-by-signer.ts';
import { readLandedSwap, readOwnMoves, type SwapSide } from './landed-swap.ts';
import { readMintAccount } from './mint-account.ts';
import * as answers from './rpc-answers.ts';
import { httpTransport, parseRpcUrl, type RpcTransport } from './rpc-transport.ts';
import { createRpcClient } from './rpc.ts';
import { TOKEN_DATA_SLICE, readMintDecimals, readTokenAccount, type AccountData } from './token-accounts.ts';
import { readTransactionError } from './transaction-error.ts';
import { readTransactionFacts, type TransactionFacts } from './transaction-facts.ts';
import { readWallet, type WalletContents } from './wallet-contents.ts';

export interface ChainOptions {
  readonly rpcUrl: string;
  readonly clock: Clock;
  /** The most that a composed transaction may pay for priority; 1,000,000 lamports where absent. */
  readonly maxPriorityFeeLamports?: Lamports | undefined;
  /** For one call; 15 s where absent. */
  readonly timeoutMs?: Millis | undefined;
  /** Gives up whatever is under way. */
  readonly signal?: AbortSignal | undefined;
  /** HTTP to `rpcUrl` where absent. */
  readonly transport?: RpcTransport | undefined;
}

/** What a node did with signed bytes; `rejected` is no proof that they cannot land. */
export type SendAnswer = { readonly kind: 'accepted' } | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

/** One Solana node. All methods throw CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID. */
export interface Chain extends Omit<Finality, 'floor'> {
  /** Names the node's address without telling it: a hash, since the address may hold a key. */
  readonly node: string;
  /** Returns a transaction made of a build, checked by simulation. Throws CHAIN_SIMULATION_FAILED, CHAIN_TRANSACTION_INVALID too. */
  compose(build: SwapBuild, payer: string): Promise<ComposedTransaction>;
  /** Returns a transaction that closes accounts of a wallet to itself, checked by simulation. Throws CHAIN_SIMULATION_FAILED too. */
  composeClosing: ClosingComposer;
  /** Sends signed bytes once, without the node's own trial run and without the node repeating it. */
  send(transaction: Uint8Array, call?: { readonly signal: AbortSignal }): Promise<SendAnswer>;
  /** Returns what a landed transaction did to a wallet; undefined while the node does not have it. */
  landedSwap(options: SwapSide & { readonly signature: string }): Promise<LandedSwap | undefined>;
  /** Returns by how much a wallet's tokens changed in a landed transaction that it signed; undefined while the node does not have it. */
  ownMoves(options: { readonly signature: string; readonly owner: string }): Promise<ReadonlyMap<string, bigint> | undefined>;
  findBySigner: SignerSearch;
  /** Returns all signatures of a landed transaction, the fee payer's first; undefined while the node does not have it. */
  signaturesOf(signature: string): Promise<readonly string[] | undefined>;
  /**
   * Returns what a wallet has of a mint, both token programs, native and wrapped SOL together, and as of which slot. Nodes
   * that are behind the newest finalized slot that was seen do not count.
   */
  tokenBalance(owner: string, mint: Mint): Promise<TokenBalance>;
  /** Returns what the bytes themselves say. Throws CHAIN_TRANSACTION_INVALID only. */
  readTransaction(transaction: Uint8Array): TransactionFacts;
  /**
   * Returns a wallet's balances by mint, both token programs; native and wrapped SOL together, mints of 0 left out.
   * They are three questions, so the answers belong together only while nothing of this wallet is landing. Nodes that are
   * behind what was seen to be finalized, or to have landed of ours, do not count.
   */
  balances(owner: string): Promise<Map<Mint, Amount>>;
  /** Returns a wallet's SOL, native alone, and all its token accounts, empty ones too. */
  wallet(owner: string): Promise<WalletContents>;
  /** Returns a wallet's newest transactions, at most 100, newest first. */
  newestTransactions(owner: string): Promise<readonly HistoryEntry[]>;
  /** Returns a mint's decimals, from the mint account itself. Throws MINT_INVALID where there is none. */
  mintDecimals(mint: Mint): Promise<number>;
  /** Returns what a mint's account says, extensions of Token-2022 included. Throws MINT_INVALID where there is none. */
  mintAccount(mint: Mint): Promise<MintAccount>;
  /** Returns the node's version. */
  version(): Promise<string>;
  /** Returns the hash that tells one network from another. */
  genesisHash(): Promise<string>;
  /** Ends at once; calls under way fail with CHAIN_UNREACHABLE. */
  close(): Promise<void>;
}

/** Returns a chain behind one JSON-RPC address. Throws CONFIG_INVALID on an address that is none; asks the node nothing yet. */
export function createChain(options: ChainOptions): Chain {
  const { rpcUrl, clock, timeoutMs, signal, maxPriorityFeeLamports } = options;
  const { host } = parseRpcUrl(rpcUrl);
  const transport = options.transport ?? httpTransport({ rpcUrl });
  const rpc = createRpcClient({ transport, clock, host, timeoutMs, signal });

  async function simulate(transaction: Uint8Array): Promise<Simulation> {
    const config = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' };
    const { value } = await rpc.call('simulateTransaction', [base64(transaction), config], answers.simulation);
    const error = readTransactionError(value.err);
    const { unitsConsumed = 0n } = value;
    if (error === undefined && unitsConsumed === 0n) {
      throw new GannetError('CHAIN_RESPONSE_INVALID', 'simulateTransaction: expected the compute units of a success, got none');
    }
    return { error, unitsConsumed, logs: value.logs ?? [] };
  }

  async function landedTransaction(signature: string): Promise<answers.LandedTransaction | undefined> {
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const found = await rpc.call('getTransaction', [signature, config], answers.landedTransaction);
    if (found !== null && found.transaction.signatures[0] !== signature) {
      throw new GannetError('CHAIN_RESPONSE_INVALID', `getTransaction: expected ${signature}, got ${found.transaction.signatures[0]}`);
    }
    return found ?? undefined;
  }

  async function tokenAccounts(owner: string, programId: string, asOf: bigint): Promise<ReturnType<typeof readTokenAccount>[]> {
    const config = { encoding: 'base64', commitment: 'confirmed', dataSlice: TOKEN_DATA_SLICE, minContextSlot: Number(asOf) };
    const { value } = await floor.ask({
      method: 'getTokenAccountsByOwner', asOf,
      call: () => rpc.call('getTokenAccountsByOwner', [owner, { programId }, config], answers.tokenAccounts),
      slotOf: ({ context }) => context.slot,
    });
    return value.map(({ pubkey, account }) => readTokenAccount(pubkey, account));
  }

  async function mintData(mint: Mint, dataSlice?: typeof TOKEN_DATA_SLICE): Promise<AccountData> {
    const config = { encoding: 'base64', commitment: 'confirmed', ...(dataSlice === undefined ? {} : { dataSlice }) };
    const { value } = await rpc.call('getAccountInfo', [mint, config], answers.accountInfo);
    if (value !== null) return value;
    throw new GannetError('MINT_INVALID', `there is no mint ${mint} on this chain; check the address and rpc_url`, { details: { mint } });
  }

  const { floor, ...finality } = createFinality(rpc, clock);
  const tokenBalance = createBalanceReader({ rpc, floor, finalizedBlockHeight: () => finality.finalizedBlockHeight() });

  const signaturesOf = async (signature: string): Promise<readonly string[] | undefined> => (await landedTransaction(signature))?.transaction.signatures;

  return {
    ...finality,
    node: createHash('sha256').update(rpcUrl).digest('hex').slice(0, 16),
    compose: createComposer({ simulate, maxPriorityFeeLamports }),
    composeClosing: createClosingComposer({
      simulate,
      latestBlockhash: async () => (await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], answers.latestBlockhash)).value,
    }),
    async send(transaction, call) {
      const config = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
      try {
        await rpc.call('sendTransaction', [base64(transaction), config], answers.signature, call);
        return { kind: 'accepted' };
      } catch (error) {
        if (!isGannetError(error) || error.code !== 'CHAIN_RPC_ERROR') throw error;
        const { transactionErrorCode, rpcCode, rpcMessage } = error.details;
        return { kind: 'rejected', code: String(transactionErrorCode ?? rpcCode), message: String(rpcMessage) };
      }
    },
    async landedSwap({ signature, ...swap }) {
      const transaction = await landedTransaction(signature);
      if (transaction === undefined) return undefined;
      floor.sawConfirmed(transaction.slot);
      return readLandedSwap(transaction, swap);
    },
    async ownMoves({ signature, owner }) {
      const transaction = await landedTransaction(signature);
      return transaction === undefined ? undefined : readOwnMoves(transaction, owner);
    },
    findBySigner: createSignerSearch({
      history(owner, page) {
        // "Not in it" is a proof only from a node that has come as far as the height that was seen; others refuse.
        const asOf = floor.finalized;
        const config = { ...page, commitment: 'confirmed', minContextSlot: Number(asOf) };
        return floor.ask({
          method: 'getSignaturesForAddress', asOf,
          call: () => rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory),
          slotOf: () => undefined,
        });
      },
      signaturesOf, clock,
    }),
    signaturesOf,
    tokenBalance,
    readTransaction: readTransactionFacts,
    async balances(owner) {
      const asOf = floor.confirmed;
      const [native, ...accounts] = await Promise.all([
        floor.ask({
          method: 'getBalance', asOf,
          call: () => rpc.call('getBalance', [owner, { commitment: 'confirmed', minContextSlot: Number(asOf) }], answers.lamportBalance),
          slotOf: ({ context }) => context.slot,
        }),
        tokenAccounts(owner, TOKEN_PROGRAM, asOf),
        tokenAccounts(owner, TOKEN_2022_PROGRAM, asOf),
      ]);
      const balances = new Map<Mint, Amount>();
      for (const { mint, amount } of [{ mint: SOL_MINT, amount: native.value }, ...accounts.flat()]) {
        if (amount > 0n) balances.set(mint, ((balances.get(mint) ?? 0n) + amount) as Amount);
      }
      return balances;
    },
    wallet: (owner) => readWallet(rpc, owner),
    newestTransactions: (owner) => rpc.call('getSignaturesForAddress', [owner, { limit: 100, commitment: 'confirmed' }], answers.signatureHistory),
    async mintDecimals(mint) {
      return readMintDecimals(mint, await mintData(mint, TOKEN_DATA_SLICE));
    },
    // Whole: what comes behind the base says what its issuer can do.
    mintAccount: async (mint) => readMintAccount(mint, await mintData(mint)),
    async version() {
      return (await rpc.call('getVersion', [], answers.nodeVersion))['solana-core'];
    },
    genesisHash: () => rpc.call('getGenesisHash', [], answers.genesisHash),
    close: () => rpc.close(),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
