import bs58 from 'bs58';
import { assert } from '../../core/assert.ts';
import type { AccountVersions, Accounts } from './accounts.ts';
import type { Address } from './addresses.ts';
import type { Blocks, Commitment } from './blocks.ts';
import { advanceNonce, nonceAccountOf } from './durable-nonce.ts';
import { transactionFee } from './fees.ts';
import type { History, LandedTransaction, TokenBalance } from './history.ts';
import { loadedAddresses } from './lookup-tables.ts';
import { decodeTokenAccount, isTokenProgram } from './token-layout.ts';
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
  /** The writable accounts as they would be; empty when it failed. */
  accountsAfter: ReadonlyMap<Address, Account>;
}

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
    const { message, staticKeys } = transaction;
    const loaded = loadedAddresses(vm, transaction) ?? { writable: [], readonly: [] };
    const accountKeys = [...staticKeys, ...loaded.writable, ...loaded.readonly];
    const writableKeys = accountKeys.filter((_, index) => message.isAccountWritable(index));
    const writable = new Set(writableKeys);
    const before = reader.read(accountKeys, writable);
    const parentHash = blocks.parentHash();
    const nonceAccount = nonceAccountOf(vm, parentHash, transaction);
    const execution = vm.send(transaction);
    const after = reader.readAgain(before, writable);

    const payer = accountKeys[0]!;
    const paid = (before.get(payer)?.lamports ?? 0n) - (after.get(payer)?.lamports ?? 0n);
    // A chain keeps a failed transaction only when it charged for it; the payer's balance tells what the VM did.
    if (execution.error !== null && paid === 0n) return { kind: 'rejected', signature, error: execution.error };

    if (nonceAccount !== undefined) advanceNonce(vm, parentHash, nonceAccount);
    const fee = transactionFee(transaction);
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
      feeLamports,
      microLamportsPerUnit: fee.microLamportsPerUnit,
      accountKeys,
      loadedAddresses: loaded,
      writableKeys,
      preBalances: lamportsOf(accountKeys, before),
      postBalances: lamportsOf(accountKeys, after),
      preTokenBalances: tokenBalancesOf(accountKeys, before, parts.accounts),
      postTokenBalances: tokenBalancesOf(accountKeys, after, parts.accounts),
      returnData,
      innerInstructions,
    };
    history.record(landed, transaction.messageBytes);
    parts.onLanded(landed);
    return { kind: 'landed', signature, slot, error, logs, unitsConsumed, feeLamports };
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
    const { error, logs, unitsConsumed, returnData, accountsAfter }: SimulatedExecution =
      vm.simulate(transaction, { sigVerify: options.sigVerify ?? false });
    return { error, logs, unitsConsumed, returnData, accountsAfter };
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
  return { error, logs: [], unitsConsumed: 0, returnData: null, accountsAfter: new Map() };
}

/** Reads the accounts of a transaction before and after it runs. */
interface AccountReader {
  read: (keys: readonly Address[], writable: ReadonlySet<Address>) => Map<Address, Account>;
  /** Reads the writable accounts again; no other can have changed. */
  readAgain: (before: ReadonlyMap<Address, Account>, writable: ReadonlySet<Address>) => Map<Address, Account>;
}

function createAccountReader(vm: Vm): AccountReader {
  // Reading a program copies all of its code, which costs more than executing most instructions.
  const programs = new Map<Address, Account>();

  return {
    read(keys, writable) {
      const read = new Map<Address, Account>();
      for (const key of keys) {
        if (writable.has(key)) programs.delete(key);
        const account = programs.get(key) ?? vm.account(key);
        if (!account) continue;
        if (account.executable && !writable.has(key)) programs.set(key, account);
        read.set(key, account);
      }
      return read;
    },
    readAgain(before, writable) {
      const read = new Map(before);
      for (const key of writable) {
        const account = vm.account(key);
        if (account) read.set(key, account);
        else read.delete(key);
      }
      return read;
    },
  };
}

function lamportsOf(keys: readonly Address[], from: ReadonlyMap<Address, Account>): bigint[] {
  return keys.map((key) => from.get(key)?.lamports ?? 0n);
}

function tokenBalancesOf(
  keys: readonly Address[], from: ReadonlyMap<Address, Account>, { decimals }: Accounts,
): TokenBalance[] {
  const balances: TokenBalance[] = [];
  keys.forEach((key, accountIndex) => {
    const account = from.get(key);
    if (!account || !isTokenProgram(account.owner)) return;
    const state = decodeTokenAccount(account.data);
    if (!state) return;
    const { mint, owner, amount } = state;
    balances.push({ accountIndex, mint, owner, tokenProgram: account.owner, amount, decimals: decimals(mint) });
  });
  return balances;
}
