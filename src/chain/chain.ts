import { createHash } from 'node:crypto';
import type { Lamports } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint, MintAccount } from '../market/token.ts';
import { TOKEN_DATA_SLICE, type AccountData } from '../solana/accounts.ts';
import { readTransactionFacts, type TransactionFacts } from '../solana/transaction.ts';
import type { SwapBuild } from '../trading/swap-terms.ts';
import { createAgreement, type SendAnswer } from './agreement.ts';
import { createBalances, type Balances } from './balances.ts';
import type { OwnedTokenAccount } from './close-accounts.ts';
import type { ComposedTransaction, Simulation } from './compose.ts';
import type { ClosingComposer } from './compose-closing.ts';
import { createChainHints, type ChainHints } from './chain-hints.ts';
import { createFinality, type Finality } from './finality.ts';
import { createLandedTransactions, type LandedTransactions } from './landed-transactions.ts';
import { readMintDecimals } from './mint-decimals.ts';
import { createNodeSocket } from './node-socket.ts';
import { NodeHealth, type NodeStats } from './node-health.ts';
import { countedClient, createNodePool, type NodeEvent } from './node-pool.ts';
import * as answers from './rpc-answers.ts';
import { createRpcClient, httpTransport, parseRpcUrl, type RpcClient, type RpcTransport } from './rpc-client.ts';

interface ChainOptions {
  readonly rpcUrl: string;
  /** Where nodes take subscriptions: they only say when to ask. None by default. */
  readonly wsUrls?: readonly string[] | undefined;
  /** Further nodes of the same network. With any, money is decided by the agreement of two (see `createAgreement`). */
  readonly furtherRpcUrls?: readonly string[] | undefined;
  readonly clock: Clock;
  /** The most that a composed transaction may pay for priority; 1,000,000 lamports by default. */
  readonly maxPriorityFeeLamports?: Lamports | undefined;
  /** For one call; 15 s by default. */
  readonly timeoutMs?: Millis | undefined;
  /** Aborts all calls under way. */
  readonly signal?: AbortSignal | undefined;
  /** HTTP to `rpcUrl` by default. */
  readonly transport?: RpcTransport | undefined;
  /** Returns the transport to each address where there are further ones; HTTP by default. */
  readonly transportTo?: ((rpcUrl: string) => RpcTransport) | undefined;
}

/** Beside the arguments of a call. */
interface Agreed {
  /** Where there are several nodes, two must give the same answer; else CHAIN_UNAGREED is thrown. */
  readonly agreed?: boolean | undefined;
}

/** What is known of the nodes behind a chain. */
export interface ChainNodes {
  stats(): readonly NodeStats[];
  /** Calls `hear` for each event, at first for what is wrong already; returns what ends that. One node has none. */
  onEvent(hear: (event: NodeEvent) => void): () => void;
}

/**
 * One Solana node, or several as one. All methods throw CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID;
 * with several nodes, those that decide about money throw CHAIN_UNAGREED too.
 */
export interface Chain extends Omit<Finality, 'floor'>, Pick<Balances, 'wallet'>, LandedTransactions {
  /** Returns hints to ask about a transaction; none where no node takes subscriptions. */
  transactionHints$: ChainHints['transaction$'];
  /** Returns hints to ask about a wallet, in the same way. */
  walletHints$: ChainHints['wallet$'];
  /** Identifies the node, or all of them, by a hash of the addresses, since an address may hold a key. */
  readonly node: string;
  readonly nodes: ChainNodes;
  tokenBalance(owner: string, mint: Mint, how?: Agreed): ReturnType<Balances['tokenBalance']>;
  balances(owner: string, how?: Agreed): ReturnType<Balances['balances']>;
  /**
   * Loads the packages that compose, 60 to 110 ms once in a process: what never composes does without them, and what
   * will, loads them while it waits for the build.
   */
  loadComposer(): Promise<void>;
  /**
   * Returns a transaction made of a build, checked by simulation. Throws CHAIN_SIMULATION_FAILED and
   * CHAIN_TRANSACTION_INVALID too.
   */
  compose(build: SwapBuild, payer: string): Promise<ComposedTransaction>;
  /** Runs an unsigned transaction without landing it, whatever its blockhash and signatures. */
  simulate(transaction: Uint8Array): Promise<Simulation>;
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

/** Returns a chain behind its addresses, without a first call. Throws CONFIG_INVALID on an invalid address. */
export function createChain(options: ChainOptions): Chain {
  const { rpcUrl, furtherRpcUrls = [], wsUrls = [], clock } = options;
  const hints = createChainHints({ clock, sockets: wsUrls.map((wsUrl) => createNodeSocket({ wsUrl, clock })) });
  const chain = furtherRpcUrls.length === 0 ? oneNode(options, hints)
    : severalNodes(options, [rpcUrl, ...furtherRpcUrls], hints);
  return {
    ...chain,
    transactionHints$: (signature) => hints.transaction$(signature),
    walletHints$: (owner) => hints.wallet$(owner),
    async signatureStatus(signature, how) {
      const status = await chain.signatureStatus(signature, how);
      if (status !== undefined && status.confirmation !== 'processed') hints.sawConfirmed(signature);
      return status;
    },
    close() {
      hints.close();
      return chain.close();
    },
  };
}

type AskedChain = Omit<Chain, 'transactionHints$' | 'walletHints$'>;

function oneNode(options: ChainOptions, hints: ChainHints): AskedChain {
  const { rpcUrl } = options;
  const { clock, timeoutMs = CALL_TIMEOUT_MS, signal } = options;
  const { host } = parseRpcUrl(rpcUrl);
  const transport = options.transport ?? httpTransport({ rpcUrl });
  const health = new NodeHealth(host, clock, 'healthy');
  const client = createRpcClient({ transport, clock, host, timeoutMs, signal });
  const { floor: _floor, ...calls } = nodeCalls(countedClient({ client, health, clock, timeoutMs }), options, hints);
  return {
    ...calls,
    node: hashOf([rpcUrl]),
    nodes: { stats: () => [health.stats()], onEvent: () => () => undefined },
    close: () => client.close(),
  };
}

/** Reads fail over from node to node; what decides about money comes from two nodes, each with its own slot floor. */
function severalNodes(options: ChainOptions, urls: readonly string[], hints: ChainHints): AskedChain {
  const { clock, signal, transportTo = (rpcUrl) => httpTransport({ rpcUrl }) } = options;
  // All nodes together take no longer than the one call would.
  const timeoutMs = Math.min(NODE_TIMEOUT_MS, (options.timeoutMs ?? CALL_TIMEOUT_MS) / urls.length);
  const names = nodeNames(urls.map((url) => parseRpcUrl(url).host));
  const pool = createNodePool({ clock, timeoutMs, nodes: urls.map((url, index) => ({
    name: names[index]!,
    client: createRpcClient({ transport: transportTo(url), clock, host: names[index]!, timeoutMs, signal }),
  })) });
  const { floor, ...reads } = nodeCalls(pool.reads, options, hints);
  const members = pool.clients.map(({ client, ...member }) => {
    const { floor: ownFloor, ...chain } = nodeCalls(client, options, hints);
    return { ...member, chain, ownFloor };
  });
  const agreement = createAgreement({
    members,
    ready: () => pool.ready(),
    onCompared: (subject, contradiction) => { pool.compared(subject, contradiction); },
    onLanded: (slot) => {
      for (const each of [floor, ...members.map(({ ownFloor }) => ownFloor)]) each.sawConfirmed(slot);
    },
  });
  return {
    ...reads,
    ...agreement,
    async finalizedBlockHeight(how) {
      try {
        return await agreement.finalizedBlockHeight(how);
      } finally {
        // No read may be behind what two nodes have finalized, or the only one that answers.
        const slots = members.filter(({ isUsable }) => isUsable()).map(({ ownFloor }) => ownFloor.finalized)
          .filter((slot) => slot > 0n).toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0));
        const reached = slots[1] ?? slots[0];
        if (reached !== undefined) floor.sawFinalized(reached);
      }
    },
    tokenBalance: (owner, mint, how) => (how?.agreed === true ? agreement : reads).tokenBalance(owner, mint),
    balances: (owner, how) => (how?.agreed === true ? agreement : reads).balances(owner),
    node: hashOf(urls.toSorted()),
    nodes: { stats: () => pool.stats(), onEvent: (hear) => pool.onEvent(hear) },
    close: () => pool.close(),
  };
}

const CALL_TIMEOUT_MS: Millis = 15_000;
const NODE_TIMEOUT_MS: Millis = 5_000;

function hashOf(urls: readonly string[]): string {
  return createHash('sha256').update(urls.join('\n')).digest('hex').slice(0, 16);
}

/** Two nodes of one provider have the same host. */
function nodeNames(hosts: readonly string[]): readonly string[] {
  return hosts.map((host, index) => {
    const before = hosts.slice(0, index).filter((other) => other === host).length;
    return before === 0 ? host : `${host} (${before + 1})`;
  });
}

/** Returns all calls of a chain over one client. */
function nodeCalls(rpc: RpcClient, { clock, maxPriorityFeeLamports }: ChainOptions, hints: ChainHints) {
  const simulate = (transaction: Uint8Array): Promise<Simulation> => simulateTransaction(rpc, transaction);
  const latestBlockhash = async (): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }> =>
    (await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], answers.latestBlockhash)).value;
  const { floor, ...finality } = createFinality(rpc, clock);
  const { nativeBalance, ...balances } =
    createBalances({
      rpc, floor,
      finalizedBlockHeight: () => finality.finalizedBlockHeight(),
      onTokenAccounts: (owner, addresses) => { hints.sawTokenAccounts(owner, addresses); },
    });
  return {
    floor,
    ...finality,
    ...balances,
    ...createLandedTransactions({ rpc, floor, nativeBalance }),
    simulate,
    loadComposer: async () => { await import('./compose.ts'); },
    async compose(build: SwapBuild, payer: string) {
      const { createComposer } = await import('./compose.ts');
      return createComposer({ simulate, maxPriorityFeeLamports })(build, payer);
    },
    composeClosing: async <Account extends OwnedTokenAccount>(owner: string, accounts: readonly Account[]) => {
      const { createClosingComposer } = await import('./compose-closing.ts');
      return createClosingComposer({ simulate, latestBlockhash })(owner, accounts);
    },
    send: (transaction: Uint8Array, call?: { readonly signal: AbortSignal }) => sendTransaction(rpc, transaction, call),
    readTransaction: readTransactionFacts,
    async mintDecimals(mint: Mint) {
      return readMintDecimals(mint, await mintData(rpc, mint, TOKEN_DATA_SLICE));
    },
    // The whole data: the extensions after the base layout are the issuer's powers.
    async mintAccount(mint: Mint) {
      const account = await mintData(rpc, mint);
      return (await import('./mint-account.ts')).readMintAccount(mint, account);
    },
    async version() {
      return (await rpc.call('getVersion', [], answers.nodeVersion))['solana-core'];
    },
    genesisHash: () => rpc.call('getGenesisHash', [], answers.genesisHash),
  };
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
