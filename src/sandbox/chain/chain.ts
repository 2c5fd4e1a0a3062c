import type { AccountVersions, CreateMintOptions, Mint } from './accounts.ts';
import { createAccountVersions, createAccounts } from './accounts.ts';
import type { Address } from './addresses.ts';
import { LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';
import type { Block, Blocks, Commitment, LatestBlockhash } from './blocks.ts';
import { createBlocks } from './blocks.ts';
import type { Faucet } from './faucet.ts';
import { createFaucet } from './faucet.ts';
import type { LandedStatus, LandedTransaction } from './history.ts';
import { createHistory } from './history.ts';
import type { LandResult, Landed, SimulateOptions, SimulationResult } from './landing.ts';
import { createLanding } from './landing.ts';
import { createLookupTable } from './lookup-tables.ts';
import type { Pool, PoolOptions, PoolReserves } from './pools.ts';
import { SWAP_PROGRAM_ID, createPools, readSwapProgram } from './pools.ts';
import type { DecodedMessage } from './transaction-bytes.ts';
import type { Account, Vm } from './vm.ts';
import { createVm } from './vm.ts';

export type { Address } from './addresses.ts';
export type { Block, Commitment, LatestBlockhash } from './blocks.ts';
export type { LandedTransaction, TokenBalance } from './history.ts';
export type { Landed, LandResult, Rejected, SimulateOptions, SimulationResult } from './landing.ts';
export type { Pool, PoolOptions, PoolReserves } from './pools.ts';
export type { TransactionError } from './transaction-error.ts';
export type { Account } from './vm.ts';

interface ChainOptions {
  /** Time of the first slot, in seconds since the epoch. */
  genesisUnixSeconds: number;
  genesisSlot?: number;
  /** How many blocks a blockhash stays good for. */
  slotsPerBlockhash?: number;
  slotMs?: number;
  /** Share of slots that get no block, so that block height falls behind the slot as it does on the real chain. */
  skippedSlots?: number;
  seed?: number | string;
  /** Addresses where the swap program is loaded once more: there it is the aggregator. */
  aggregators?: readonly Address[];
}

export interface SandboxChain {
  readonly slot: number;
  readonly blockHeight: number;
  readonly genesisHash: string;
  /** How many transactions landed so far. */
  readonly transactionCount: number;
  /** Advances by exactly that many slots; a few of them get no block. */
  advanceSlots: (count: number) => void;
  slotAt: (commitment: Commitment) => number;
  blockAt: (commitment: Commitment) => Block;
  /** Returns the blocks of a range of slots, both ends included, as far as they are kept. */
  blocksBetween: (from: number, to: number) => readonly Block[];
  /** Returns the first slot whose block and transactions are still known in full. */
  firstAvailableSlot: () => number;
  /** Returns the lamports of all accounts together. */
  supply: () => bigint;
  /** Returns the newest blockhash at a commitment, confirmed unless said otherwise. */
  latestBlockhash: (commitment?: Commitment) => LatestBlockhash;
  /** Returns whether a blockhash is good in the view of a commitment; by default whether it would land now. */
  isBlockhashValid: (blockhash: string, commitment?: Commitment) => boolean;
  /** Returns whether a message may still land: its blockhash is recent, or the present value of its nonce account. */
  isLifetimeValid: (message: DecodedMessage, commitment?: Commitment) => boolean;
  /**
   * Lands a transaction; the same one again gives its first result and executes nothing. Malformed bytes are rejected.
   */
  land: (bytes: Uint8Array) => LandResult;
  simulate: (bytes: Uint8Array, options?: SimulateOptions) => SimulationResult;
  transaction: (signature: string) => LandedTransaction | undefined;
  /** Returns what remains known of a signature after its details are dropped. */
  status: (signature: string) => LandedStatus | undefined;
  landedNewestFirst: () => Generator<LandedTransaction, void>;
  /** Returns a mint. Throws MINT_INVALID when there is none at the address. */
  mint: (address: Address) => Mint;
  createMint: (options: CreateMintOptions) => void;
  createPool: (options: PoolOptions) => Pool;
  /** Returns a pool. Throws CHAIN_TRANSACTION_INVALID when there is none at the address. */
  pool: (address: Address) => Pool;
  pools: () => readonly Pool[];
  readPool: (address: Address) => PoolReserves;
  writeReserves: (address: Address, reserves: { reserveA: bigint; reserveB: bigint }) => void;
  createLookupTable: (addresses: readonly Address[]) => Address;
  /** A stranger to every wallet, who pays by transactions of each version. */
  readonly faucet: Faucet;
  /** Pays lamports by a transaction of the faucet and returns its signature. */
  airdrop: (owner: Address, lamports: bigint) => string;
  /** Adds to the owner's associated token account, which is created when missing, and returns its address. */
  fundToken: (options: { owner: Address; mint: Address; amount: bigint }) => Address;
  balance: (owner: Address) => bigint;
  tokenBalance: (options: { owner: Address; mint: Address }) => bigint;
  accountExists: (address: Address) => boolean;
  /** Returns an account as a commitment sees it, processed unless said otherwise. */
  account: (address: Address, commitment?: Commitment) => Account | undefined;
  programAccounts: (program: Address, commitment?: Commitment) => ReadonlyMap<Address, Account>;
  /** Returns the least balance, in lamports, that an account of that size must keep. */
  rentExemption: (bytes: number) => bigint;
  /**
   * Calls the listener for every transaction that lands, failed ones included; returns a function that unsubscribes.
   */
  onLanded: (listener: (result: Landed) => void) => () => void;
  /** Calls the listener after every advance; returns a function that unsubscribes. */
  onSlot: (listener: (slot: number) => void) => () => void;
}

const SLOTS_PER_EPOCH = 432_000;
/** The programs that own accounts on this chain. */
export const SUPPLY_OWNERS: readonly Address[] =
  [SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, LOOKUP_TABLE_PROGRAM, SWAP_PROGRAM_ID];
// Later than the slot in which the VM says its programs were deployed; a program is not callable before that.
const GENESIS_SLOT = 450_000_000;
// The real chain's height is as far behind its slot: code that confuses the two must fail here.
const SLOTS_SKIPPED_BEFORE_GENESIS = 21_000_000;
// A new lookup table needs a recent slot; all 512 of the real sysvar would cost a tenth of each swap.
const SLOT_HASHES = 64;

/**
 * Returns a Solana chain in this process: a VM that executes transactions, with slots, blocks and expiry driven by the
 * caller. Equal options give equal chains. Throws PLATFORM_UNSUPPORTED where the VM's package is not installed.
 */
export function createChain(options: ChainOptions): SandboxChain {
  const seed = options.seed ?? 0;
  const genesisSlot = options.genesisSlot ?? GENESIS_SLOT;
  const vm = createVm();
  const blocks = createBlocks({
    genesisSlot,
    genesisHeight: Math.max(1, genesisSlot - SLOTS_SKIPPED_BEFORE_GENESIS),
    genesisUnixSeconds: options.genesisUnixSeconds,
    slotMs: options.slotMs ?? 400,
    blockhashBlocks: options.slotsPerBlockhash ?? 150,
    skippedSlots: options.skippedSlots ?? 0.02,
    seed,
  });
  const accounts = createAccounts(vm);
  const pools = createPools({ vm, accounts });
  const versions = createAccountVersions();
  const history = createHistory();
  const landedListeners = new Set<(result: Landed) => void>();
  const slotListeners = new Set<(slot: number) => void>();
  const { land, simulate, isLifetimeValid } =
    createLanding({ vm, blocks, accounts, versions, history, onLanded: announce });
  const faucet = createFaucet({ accounts, land, blockhash: () => blocks.latestBlockhash('processed').blockhash, seed });
  let lookupTables = 0;

  function announce({ signature, slot, error, logs, unitsConsumed, feeLamports }: LandedTransaction): void {
    for (const listener of landedListeners)
      listener({ kind: 'landed', signature, slot, error, logs, unitsConsumed, feeLamports });
  }

  function writeSysvars(): void {
    const { slot } = blocks;
    vm.setTime(() => ({
      slot, unixSeconds: blocks.unixSeconds(slot), epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      newestFirst: blocks.newestFirst(SLOT_HASHES).filter((block) => block.slot < slot),
    }));
  }

  function advanceSlots(count: number): void {
    blocks.advance(count);
    writeSysvars();
    versions.prune(blocks.slot);
    for (const listener of slotListeners) listener(blocks.slot);
  }

  for (const address of [SWAP_PROGRAM_ID, ...(options.aggregators ?? [])]) vm.addProgram(address, readSwapProgram());
  writeSysvars();
  return {
    get slot() {
      return blocks.slot;
    },
    get blockHeight() {
      return blocks.height;
    },
    get transactionCount() {
      return history.count;
    },
    genesisHash: blocks.genesisHash,
    advanceSlots,
    slotAt: blocks.slotAt,
    blockAt: blocks.blockAt,
    blocksBetween: blocks.between,
    firstAvailableSlot: () => Math.max(blocks.oldestSlot(), history.wholeSince),
    supply: () => SUPPLY_OWNERS.flatMap((owner) => [...vm.programAccounts(owner).values()])
      .reduce((sum, { lamports }) => sum + lamports, 0n),
    latestBlockhash: (commitment = 'confirmed') => blocks.latestBlockhash(commitment),
    isBlockhashValid: (blockhash, commitment = 'processed') => blocks.isValid(blockhash, commitment),
    isLifetimeValid,
    land: (bytes) => land(bytes),
    simulate,
    transaction: history.transaction,
    status: history.status,
    landedNewestFirst: history.newestFirst,
    mint: accounts.mint,
    createMint: accounts.createMint,
    createPool: pools.create,
    pool: pools.pool,
    pools: pools.all,
    readPool: pools.reserves,
    writeReserves: pools.writeReserves,
    createLookupTable: (addresses) => createLookupTable(vm, { addresses, number: lookupTables++ }),
    faucet,
    airdrop: faucet.airdrop,
    fundToken: accounts.fundToken,
    balance: accounts.balance,
    tokenBalance: accounts.tokenBalance,
    accountExists: (address) => vm.account(address) !== undefined,
    ...createViews({ vm, blocks, versions }),
    rentExemption: vm.rentExemption,
    onLanded: (listener) => subscribe(landedListeners, listener),
    onSlot: (listener) => subscribe(slotListeners, listener),
  };
}

/** Returns the readers of accounts at a commitment. */
function createViews(
  { vm, blocks, versions }: { vm: Vm; blocks: Blocks; versions: AccountVersions },
): Pick<SandboxChain, 'account' | 'programAccounts'> {
  const account: SandboxChain['account'] = (address, commitment = 'processed') =>
    versions.asOf(address, blocks.slotAt(commitment), vm.account(address));
  return {
    account,
    programAccounts(program, commitment) {
      const candidates = new Set([...vm.programAccounts(program).keys(), ...versions.addresses()]);
      const found = new Map<Address, Account>();
      for (const address of candidates) {
        const seen = account(address, commitment);
        if (seen?.owner === program) found.set(address, seen);
      }
      return found;
    },
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
