import { hash } from 'node:crypto';
import type { Address } from './addresses.ts';
import type { TransactionError } from './transaction-error.ts';
import type { InnerInstruction } from './vm.ts';

export interface TokenBalance {
  accountIndex: number;
  mint: Address;
  owner: Address;
  tokenProgram: Address;
  amount: bigint;
  decimals: number;
}

export interface LandedTransaction {
  signature: string;
  slot: number;
  unixSeconds: number;
  /** The whole transaction, signatures included. */
  bytes: Uint8Array;
  /** Of the message; above 1, a version that no client knows yet, whose `bytes` are of version 1. */
  version: 'legacy' | number;
  /** Failed on chain: nothing happened, but the fee was paid. */
  error: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: number;
  /** What it takes of a block's capacity. */
  costUnits: number;
  feeLamports: bigint;
  /** The priority fee per compute unit. */
  microLamportsPerUnit: bigint;
  /** Static keys, then writable and readonly keys of the lookup tables: the order all indexes count in. */
  accountKeys: readonly Address[];
  loadedAddresses: { writable: readonly Address[]; readonly: readonly Address[] };
  /** The keys this transaction locked for writing. */
  writableKeys: readonly Address[];
  preBalances: readonly bigint[];
  postBalances: readonly bigint[];
  preTokenBalances: readonly TokenBalance[];
  postTokenBalances: readonly TokenBalance[];
  returnData: { programId: Address; data: Uint8Array } | null;
  innerInstructions: readonly (readonly InnerInstruction[])[];
}

/** What remains of a transaction once its details are dropped. */
export interface LandedStatus {
  signature: string;
  slot: number;
  error: TransactionError | null;
  unitsConsumed: number;
  feeLamports: bigint;
}

export interface History {
  record: (transaction: LandedTransaction, messageBytes: Uint8Array) => void;
  status: (signature: string) => LandedStatus | undefined;
  transaction: (signature: string) => LandedTransaction | undefined;
  /** Returns the signature under which a message landed first. */
  signatureOfMessage: (messageBytes: Uint8Array) => string | undefined;
  newestFirst: () => Generator<LandedTransaction, void>;
  /** The first slot of which every transaction is still known in full. */
  readonly wholeSince: number;
  readonly count: number;
}

// At 150 swaps a second the details outlive every blockhash, and the statuses reach back half an hour. A transaction's
// details take about 10 kB.
const KEPT_STATUSES = 262_144;
const KEPT_TRANSACTIONS = 10_000;
const TRIMMED_AT_ONCE = 1_000;

/**
 * Returns an empty, bounded history of landed transactions, which also remembers the messages that must not land twice.
 */
export function createHistory(): History {
  const statuses = new Map<string, LandedStatus>();
  const signaturesByMessage = new Map<string, string>();
  const transactions = new Map<string, LandedTransaction>();
  // Maps have no reverse iteration, and readers want the newest.
  let order: LandedTransaction[] = [];
  let count = 0;

  function record(transaction: LandedTransaction, messageBytes: Uint8Array): void {
    const { signature, slot, error, unitsConsumed, feeLamports } = transaction;
    put(statuses, signature, { signature, slot, error, unitsConsumed, feeLamports }, KEPT_STATUSES);
    put(signaturesByMessage, messageKey(messageBytes), signature, KEPT_STATUSES);
    put(transactions, signature, transaction, KEPT_TRANSACTIONS);
    order.push(transaction);
    if (order.length >= KEPT_TRANSACTIONS + TRIMMED_AT_ONCE) order = order.slice(-KEPT_TRANSACTIONS);
    count += 1;
  }

  return {
    record,
    status: (signature) => statuses.get(signature),
    transaction: (signature) => transactions.get(signature),
    signatureOfMessage: (messageBytes) => signaturesByMessage.get(messageKey(messageBytes)),
    *newestFirst() {
      for (let i = order.length - 1; i >= Math.max(0, order.length - KEPT_TRANSACTIONS); i--) yield order[i]!;
    },
    get wholeSince() {
      return count <= KEPT_TRANSACTIONS ? 0 : order[Math.max(0, order.length - KEPT_TRANSACTIONS)]!.slot + 1;
    },
    get count() {
      return count;
    },
  };
}

function messageKey(messageBytes: Uint8Array): string {
  return hash('sha256', messageBytes, 'base64');
}

function put<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.set(key, value);
  if (map.size <= limit) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
