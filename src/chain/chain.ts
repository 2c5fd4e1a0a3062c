import { createHash } from 'node:crypto';
import type { Lamports } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint, MintAccount } from '../market/token.ts';
import { TOKEN_DATA_SLICE, type AccountData } from '../solana/accounts.ts';
import { readTransactionFacts, type TransactionFacts } from '../solana/transaction.ts';
import type { LandedSwap } from '../trading/attempt.ts';
import type { SwapBuild } from '../trading/swap-terms.ts';
import { createBalanceHistory, type BalanceHistory } from './balance-history.ts';
import { createBalances, type Balances } from './balances.ts';
import { createClosingComposer, type ClosingComposer } from './close-accounts.ts';
import { createComposer, type ComposedTransaction, type Simulation } from './compose.ts';
import { createFinality, type Finality } from './finality.ts';
import { readLandedSwap, readOwnMoves, type SwapSide } from './landed-swap.ts';
import { readMintAccount, readMintDecimals } from './mint-account.ts';
import * as answers from './rpc-answers.ts';
import { createRpcClient, httpTransport, parseRpcUrl, type RpcClient, type RpcTransport } from './rpc-client.ts';
import { createSignerSearch, type HistoryEntry, type SignerSearch } from './signer-search.ts';
import type { SlotFloor } from './slot-floor.ts';
import { createWalletActivity, type ReadWalletActivity } from './wallet-activity.ts';

interface ChainOptions {
  readonly rpcUrl: string;
  readonly clock: Clock;
  /** The most that a composed transaction may pay for priority; 1,000,000 lamports by default. */
  readonly maxPriorityFeeLamports?: Lamports | undefined;
  /** For one call; 15 s by default. */
  readonly timeoutMs?: Millis | undefined;
  /** Aborts all calls under way. */
  readonly signal?: AbortSignal | undefined;
  /** HTTP to `rpcUrl` by default. */
  readonly transport?: RpcTransport | undefined;
}

/** A node's answer to signed bytes; `rejected` is no proof that they cannot land. */
type SendAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

/** The calls about transactions that have landed. */
interface LandedTransactions {
  /** Returns the effect of a landed transaction on a wallet; undefined while the node does not have it. */
  landedSwap(options: SwapSide & { readonly signature: string }): Promise<LandedSwap | undefined>;
  /**
   * Returns a wallet's token changes in a landed transaction that it signed; undefined while the node does not have it.
   */
  ownMoves(
    options: { readonly signature: string; readonly owner: string },
  ): Promise<ReadonlyMap<string, bigint> | undefined>;
  findBySigner: SignerSearch;
  balanceHistory: BalanceHistory;
  /**
   * Returns all signatures of a landed transaction, the fee payer's first; undefined while the node does not have it.
   */
  signaturesOf(signature: string): Promise<readonly string[] | undefined>;
  walletActivity: ReadWalletActivity;
  /** Returns a wallet's newest transactions, at most 100, newest first. */
  newestTransactions(owner: string): Promise<readonly HistoryEntry[]>;
}

/** One Solana node. All methods throw CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID. */
export interface Chain extends Omit<Finality, 'floor'>, Omit<Balances, 'nativeBalance'>, LandedTransactions {
  /** Identifies the node by a hash of its address, since the address may hold a key. */
  readonly node: string;
  /**
   * Returns a transaction made of a build, checked by simulation. Throws CHAIN_SIMULATION_FAILED and
   * CHAIN_TRANSACTION_INVALID too.
   */
  compose(build: SwapBuild, payer: string): Promise<ComposedTransaction>;
  /** Closes accounts of a wallet to itself, checked by simulation. */
  composeClosing: ClosingComposer;
  /** Sends signed bytes once, without the node's own simulation and without the node repeating it. */
  send(transaction: Uint8Array, call?: { readonly signal: AbortSignal }): Promise<SendAnswer>;
  /** Returns the facts in a transaction's own bytes. Throws CHAIN_TRANSACTION_INVALID only. */
  readTransaction(transaction: Uint8Array): TransactionFacts;
  /** Returns a mint's decimals, from the mint account itself. Throws MINT_INVALID where there is none. */
  mintDecimals(mint: Mint): Promise<number>;
  /**
   * Returns the content of a mint's account with its extensions of Token-2022. Throws MINT_INVALID where there is none.
   */
  mintAccount(mint: Mint): Promise<MintAccount>;
  /** Returns the node's version. */
  version(): Promise<string>;
  /** Returns the hash that distinguishes one network from another. */
  genesisHash(): Promise<string>;
  /** Ends at once; calls under way fail with CHAIN_UNREACHABLE. */
  close(): Promise<void>;
}

/** Returns a chain behind one JSON-RPC address, without a first call. Throws CONFIG_INVALID on an invalid address. */
export function createChain(options: ChainOptions): Chain {
  const { rpcUrl, clock, timeoutMs, signal, maxPriorityFeeLamports } = options;
  const { host } = parseRpcUrl(rpcUrl);
  const transport = options.transport ?? httpTransport({ rpcUrl });
  const rpc = createRpcClient({ transport, clock, host, timeoutMs, signal });
  const simulate = (transaction: Uint8Array): Promise<Simulation> => simulateTransaction(rpc, transaction);
  const latestBlockhash = async (): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }> =>
    (await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], answers.latestBlockhash)).value;
  const { floor, ...finality } = createFinality(rpc, clock);
  const { nativeBalance, ...balances } =
    createBalances({ rpc, floor, finalizedBlockHeight: () => finality.finalizedBlockHeight() });

  return {
    ...finality,
    ...balances,
    ...createLandedTransactions({ rpc, floor, clock, nativeBalance }),
    node: createHash('sha256').update(rpcUrl).digest('hex').slice(0, 16),
    compose: createComposer({ simulate, maxPriorityFeeLamports }),
    composeClosing: createClosingComposer({ simulate, latestBlockhash }),
    send: (transaction, call) => sendTransaction(rpc, transaction, call),
    readTransaction: readTransactionFacts,
    async mintDecimals(mint) {
      return readMintDecimals(mint, await mintData(rpc, mint, TOKEN_DATA_SLICE));
    },
    // The whole data: the extensions after the base layout are the issuer's powers.
    mintAccount: async (mint) => readMintAccount(mint, await mintData(rpc, mint)),
    async version() {
      return (await rpc.call('getVersion', [], answers.nodeVersion))['solana-core'];
    },
    genesisHash: () => rpc.call('getGenesisHash', [], answers.genesisHash),
    close: () => rpc.close(),
  };
}

function createLandedTransactions({ rpc, floor, clock, nativeBalance }: Pick<Balances, 'nativeBalance'> & {
  readonly rpc: RpcClient; readonly floor: SlotFloor; readonly clock: Clock;
}): LandedTransactions {
  async function landedTransaction(
    signature: string, call?: AbortSignal,
  ): Promise<answers.LandedTransaction | undefined> {
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const found = await rpc.call('getTransaction', [signature, config], answers.landedTransaction, given(call));
    const first = found?.transaction.signatures[0];
    if (found === null || first === signature) return found ?? undefined;
    throw new GannetError('CHAIN_RESPONSE_INVALID', `getTransaction: expected ${signature}, got ${first}`);
  }

  async function signaturesOf(signature: string): Promise<readonly string[] | undefined> {
    return (await landedTransaction(signature))?.transaction.signatures;
  }

  function history(
    owner: string, page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<readonly HistoryEntry[]> {
    // "Not in it" is a proof only from a node that has reached the finalized slot; others refuse.
    const asOf = floor.finalized;
    const config = { ...page, commitment: 'confirmed', minContextSlot: Number(asOf) };
    return floor.ask({
      method: 'getSignaturesForAddress', asOf,
      call: () => rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory),
      slotOf: () => undefined,
    });
  }

  return {
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
    findBySigner: createSignerSearch({ history, signaturesOf, clock }),
    balanceHistory: createBalanceHistory({
      native: nativeBalance, history, transaction: (signature) => landedTransaction(signature),
    }),
    signaturesOf,
    walletActivity: createWalletActivity({
      slot: (signal) => rpc.call('getSlot', [{ commitment: 'confirmed' }], answers.slot, given(signal)),
      history: async (owner, page, signal) => {
        const config = { ...page, commitment: 'confirmed' };
        const entries =
          await rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory, given(signal));
        return entries.slice(0, page.limit);
      },
      transaction: landedTransaction,
    }),
    newestTransactions(owner) {
      const config = { limit: 100, commitment: 'confirmed' };
      return rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory);
    },
  };
}

function given(signal: AbortSignal | undefined): { readonly signal: AbortSignal } | undefined {
  return signal === undefined ? undefined : { signal };
}

async function simulateTransaction(rpc: RpcClient, transaction: Uint8Array): Promise<Simulation> {
  const config = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' };
  const { value } = await rpc.call('simulateTransaction', [base64(transaction), config], answers.simulation);
  const error = answers.readTransactionError(value.err);
  const { unitsConsumed = 0n } = value;
  if (error === undefined && unitsConsumed === 0n) {
    const message = 'simulateTransaction: expected the compute units of a success, got none';
    throw new GannetError('CHAIN_RESPONSE_INVALID', message);
  }
  return { error, unitsConsumed, logs: value.logs ?? [] };
}

async function sendTransaction(
  rpc: RpcClient, transaction: Uint8Array, call?: { readonly signal: AbortSignal },
): Promise<SendAnswer> {
  const config = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
  try {
    await rpc.call('sendTransaction', [base64(transaction), config], answers.signature, call);
    return { kind: 'accepted' };
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CHAIN_RPC_ERROR') throw error;
    const { transactionErrorCode, rpcCode, rpcMessage } = error.details;
    return { kind: 'rejected', code: String(transactionErrorCode ?? rpcCode), message: String(rpcMessage) };
  }
}

async function mintData(rpc: RpcClient, mint: Mint, dataSlice?: typeof TOKEN_DATA_SLICE): Promise<AccountData> {
  const config = { encoding: 'base64', commitment: 'confirmed', ...(dataSlice === undefined ? {} : { dataSlice }) };
  const { value } = await rpc.call('getAccountInfo', [mint, config], answers.accountInfo);
  if (value !== null) return value;
  const message = `there is no mint ${mint} on this chain; check the address and rpc_url`;
  throw new GannetError('MINT_INVALID', message, { details: { mint } });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
