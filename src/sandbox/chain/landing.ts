import bs58 from 'bs58';
import { assert } from '../../core/assert.ts';
import { createAccountReader, lamportsOf, tokenBalancesOf } from './account-reader.ts';
import type { AccountVersions, Accounts } from './accounts.ts';
import type { Address } from './addresses.ts';
import type { Blocks, Commitment } from './blocks.ts';
import { advanceNonce, nonceAccountOf } from './durable-nonce.ts';
import { transactionCost } from './cost-units.ts';
import { transactionFee } from './fees.ts';
import type { History, LandedTransaction } from './history.ts';
import { chargeFee, isLoadFailure, isRefusal, named, withLamports, withoutRun } from './load-failures.ts';
import { loadedDataLimit, loadedDataSize } from './loaded-data.ts';
import { loadedAddresses } from './lookup-tables.ts';
import type { DecodedMessage, DecodedTransaction } from './transaction-bytes.ts';
import { decodeTransaction, UndecodableError } from './transaction-bytes.ts';
import type { TransactionError } from './transaction-error.ts';
import type { Account, Execution, SimulatedExecution, Vm } from './vm.ts';

export interface Landed {
  kind: 'landed';
  signature: string;
  slot: number;
  /** Not null: it failed on chain, nothing happened, the fee is paid. */
  error: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: number;
  feeLamports: bigint;
}

/** Never included in a block and nothing paid: undecodable, badly signed, expired, or with a payer who cannot pay. */
export interface Rejected {
  kind: 'rejected';
  signature: string | undefined;
  error: TransactionError;
}

export type LandResult = Landed | Rejected;

export interface SimulateOptions {
  sigVerify?: boolean;
  /** Accepts any blockhash, however old. */
  replaceRecentBlockhash?: boolean;
  /** The view in which the blockhash must be known; processed unless said otherwise. */
  commitment?: Commitment;
}

export interface SimulationResult {
  error: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: number;
  returnData: Execution['returnData'];
  innerInstructions: Execution['innerInstructions'];
  /** The writable accounts as they would be; empty when it failed. */
  accountsAfter: ReadonlyMap<Address, Account>;
  /** Null where it cannot stand in a block, so that it costs no fee. */
  footprint: Footprint | null;
}

/** What a transaction loads, pays and moves. */
interface Footprint extends Pick<LandedTransaction, 'feeLamports' | 'accountKeys' | 'loadedAddresses'> {
  /** In bytes, as the limit of the message on it counts. */
  readonly loadedDataSize: number;
  /** Reads the balances before and after: that takes as long as the rest, and most callers want none. */
  balances(): Balances;
}

type Balances = Pick<LandedTransaction, 'preBalances' | 'postBalances' | 'preTokenBalances' | 'postTokenBalances'>;

interface Landing {
  /** Lands a transaction; `shownAs` is the version that is kept of it, its own unless said otherwise. */
  land: (bytes: Uint8Array, shownAs?: number) => LandResult;
  simulate: (bytes: Uint8Array, options?: SimulateOptions) => SimulationResult;
  /** Returns whether a message may still land: its blockhash is recent, or the present value of its nonce account. */
  isLifetimeValid: (decoded: DecodedMessage, commitment?: Commitment) => boolean;
}

interface LandingParts {
  vm: Vm;
  blocks: Blocks;
  accounts: Accounts;
  versions: AccountVersions;
  history: History;
  onLanded: (transaction: LandedTransaction) => void;
}

/** Returns the functions that land and simulate transactions. */
export function createLanding(parts: LandingParts): Landing {
  const { vm, blocks, history } = parts;
  const reader = createAccountReader(vm);

  function land(bytes: Uint8Array, shownAs?: number): LandResult {
    const transaction = tryDecode(bytes);
    if (!transaction) return { kind: 'rejected', signature: undefined, error: 'SanitizeFailure' };
    const signature = bs58.encode(transaction.signatures[0]!);
    const landedAs = history.signatureOfMessage(transaction.messageBytes);
    if (landedAs === signature) return firstResult(signature);
    if (!isLifetimeValid(transaction)) return { kind: 'rejected', signature, error: 'BlockhashNotFound' };
    // The same message under another signature of the payer: the chain remembers the message, not only its signature.
    if (landedAs !== undefined) return { kind: 'rejected', signature, error: 'AlreadyProcessed' };
    return execute(transaction, signature, shownAs ?? transaction.message.version);
  }

  function execute(
    transaction: DecodedTransaction, signature: string, version: LandedTransaction['version'],
  ): LandResult {
    const loading = load(transaction);
    const { loaded, accountKeys, writableKeys, writable, before } = loading;
    const parentHash = blocks.parentHash();
    const nonceAccount = nonceAccountOf(vm, parentHash, transaction);
    const execution = exceedsLimit(loading, transaction)
      ? withoutRun(vm.simulate(transaction, { sigVerify: true })) : named(vm.send(transaction), transaction, before);
    const fee = transactionFee(transaction);
    const payer = accountKeys[0]!;
    if (isLoadFailure(execution.error)) chargeFee(vm, payer, fee.feeLamports);
    const after = reader.readAgain(before, writable);

    const paid = (before.get(payer)?.lamports ?? 0n) - (after.get(payer)?.lamports ?? 0n);
    // A chain keeps a failed transaction only when it charged for it; the payer's balance tells what the VM did.
    if (execution.error !== null && paid === 0n) return { kind: 'rejected', signature, error: execution.error };

    if (nonceAccount !== undefined) advanceNonce(vm, parentHash, nonceAccount);
    const feeLamports = execution.error === null ? fee.feeLamports : paid;
    const { slot, unixSeconds } = blocks.produce();
    for (const address of writableKeys) parts.versions.replaced(address, before.get(address), slot);
    const { error, logs, unitsConsumed, returnData, innerInstructions } = execution;
    const landed: LandedTransaction = {
      signature,
      slot,
      unixSeconds,
      // A copy of its own: a slice of a shared buffer would keep all of that buffer.
      bytes: new Uint8Array(transaction.bytes),
      version,
      error,
      logs,
      unitsConsumed,
      costUnits: transactionCost(transaction, {
        unitsConsumed,
        writeLocks: writableKeys.length,
        loadedDataSize: Math.min(loading.size, loadedDataLimit(transaction)),
      }),
      feeLamports,
      microLamportsPerUnit: fee.microLamportsPerUnit,
      accountKeys,
      loadedAddresses: loaded,
      writableKeys,
      ...balancesOf(accountKeys, before, after),
      returnData,
      innerInstructions,
    };
    history.record(landed, transaction.messageBytes);
    parts.onLanded(landed);
    return { kind: 'landed', signature, slot, error, logs, unitsConsumed, feeLamports };
  }

  function load(transaction: DecodedTransaction): Loading {
    const loaded = loadedAddresses(vm, transaction) ?? { writable: [], readonly: [] };
    const accountKeys = [...transaction.staticKeys, ...loaded.writable, ...loaded.readonly];
    const writableKeys = accountKeys.filter((_, index) => transaction.message.isAccountWritable(index));
    const writable = new Set(writableKeys);
    const before = reader.read(accountKeys, writable);
    const size = loadedDataSize({ vm, decoded: transaction, accountKeys, accounts: before });
    return { loaded, accountKeys, writableKeys, writable, before, size };
  }

  function firstResult(signature: string): LandResult {
    const status = history.status(signature);
    assert(status, `the history knows the message of ${signature} but not its status`);
    return { kind: 'landed', ...status, logs: history.transaction(signature)?.logs ?? [] };
  }

  function simulate(bytes: Uint8Array, options: SimulateOptions = {}): SimulationResult {
    const transaction = tryDecode(bytes);
    if (!transaction) return notRun('SanitizeFailure');
    if (options.replaceRecentBlockhash !== true) {
      if (!isLifetimeValid(transaction, options.commitment)) return notRun('BlockhashNotFound');
      if (history.signatureOfMessage(transaction.messageBytes) !== undefined) return notRun('AlreadyProcessed');
    }
    const loading = load(transaction);
    const tried = vm.simulate(transaction, { sigVerify: options.sigVerify ?? false });
    const execution = exceedsLimit(loading, transaction)
      ? withoutRun(tried) : named(tried, transaction, loading.before);
    return { ...execution, footprint: footprintOf(transaction, loading, execution) };
  }

  function footprintOf(
    transaction: DecodedTransaction, loading: Loading, { error, accountsAfter }: SimulatedExecution,
  ): Footprint | null {
    const { accountKeys, loaded, before, writable } = loading;
    const { feeLamports } = transactionFee(transaction);
    const payer = accountKeys[0]!;
    const paying = before.get(payer);
    if (paying === undefined || paying.lamports < feeLamports || isRefusal(error)) return null;
    const after = new Map(before);
    if (error !== null) after.set(payer, withLamports(paying, paying.lamports - feeLamports));
    for (const [key, account] of accountsAfter) if (writable.has(key)) after.set(key, account);
    return {
      feeLamports,
      accountKeys,
      loadedAddresses: loaded,
      loadedDataSize: Math.min(loading.size, loadedDataLimit(transaction)),
      balances: () => balancesOf(accountKeys, before, after),
    };
  }

  function balancesOf(keys: readonly Address[], before: AccountMap, after: AccountMap): Balances {
    return {
      preBalances: lamportsOf(keys, before),
      postBalances: lamportsOf(keys, after),
      preTokenBalances: tokenBalancesOf(keys, before, parts.accounts),
      postTokenBalances: tokenBalancesOf(keys, after, parts.accounts),
    };
  }

  function isLifetimeValid(decoded: DecodedMessage, commitment: Commitment = 'processed'): boolean {
    return blocks.isValid(decoded.message.recentBlockhash, commitment)
      || nonceAccountOf(vm, blocks.parentHash(), decoded) !== undefined;
  }

  return { land, simulate, isLifetimeValid };
}

function tryDecode(bytes: Uint8Array): DecodedTransaction | undefined {
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    // Malformed bytes from a client are an outcome, not a fault.
    if (error instanceof UndecodableError) return undefined;
    throw error;
  }
}

function notRun(error: TransactionError): SimulationResult {
  return {
    error, logs: [], unitsConsumed: 0, returnData: null, innerInstructions: [], accountsAfter: new Map(),
    footprint: null,
  };
}

type AccountMap = ReadonlyMap<Address, Account>;

/** The accounts of a transaction before it runs. */
interface Loading {
  readonly loaded: LandedTransaction['loadedAddresses'];
  readonly accountKeys: readonly Address[];
  readonly writableKeys: readonly Address[];
  readonly writable: ReadonlySet<Address>;
  readonly before: AccountMap;
  /** In bytes, as a limit on loaded data counts. */
  readonly size: number;
}

/** The VM leaves the code of programs out of the limit. */
function exceedsLimit({ size }: Loading, transaction: DecodedTransaction): boolean {
  return size > loadedDataLimit(transaction);
}
