import type { RoutePath } from './routing.ts';

/** An order that waits for its signature, and what became of it. */
export interface StoredOrder {
  readonly requestId: string;
  readonly router: 'iris' | 'rfqz';
  readonly message: Uint8Array;
  /** Who must sign, in the message's order. */
  readonly signers: readonly string[];
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inAmount: bigint;
  readonly inUsd: number;
  readonly lastValidBlockHeight: number;
  /** The hops of an AMM route; empty where a maker fills. */
  readonly path: RoutePath;
  readonly feeBps: number;
  /** What a maker pays, to the unit. */
  readonly makerOutAmount?: bigint | undefined;
  readonly expireAtUnixSeconds?: number | undefined;
  /** The answer of the first execution and the bytes it was for. */
  execution?: { readonly transaction: Buffer; readonly answer: object } | undefined;
}

/** The service's memory of its orders. */
export interface Orders {
  readonly size: number;
  add(order: StoredOrder): void;
  find(requestId: string): StoredOrder | undefined;
  remember(order: StoredOrder, execution: { readonly transaction: Buffer; readonly answer: object }): void;
}

/** How long an order is known: as long as its blockhash at most, and two minutes after it was executed. */
const LIFETIME_MS = 120_000;
const LARGEST_COUNT = 50_000;

/** Returns a memory that forgets by `nowMs`, the sandbox's time. */
export function createOrders(options: { nowMs: () => number }): Orders {
  const entries = new Map<string, { readonly order: StoredOrder; readonly until: number }>();

  // Insertion order is expiry order, since every entry lives equally long and an execution inserts anew.
  const forget = (): void => {
    for (const [requestId, { until }] of entries) {
      if (until >= options.nowMs() && entries.size <= LARGEST_COUNT) return;
      entries.delete(requestId);
    }
  };
  const insert = (order: StoredOrder): void => {
    entries.delete(order.requestId);
    entries.set(order.requestId, { order, until: options.nowMs() + LIFETIME_MS });
    forget();
  };

  return {
    get size() {
      return entries.size;
    },
    add: insert,
    find(requestId) {
      forget();
      return entries.get(requestId)?.order;
    },
    remember(order, execution) {
      order.execution = execution;
      insert(order);
    },
  };
}
