import type { CompiledMessage } from './message.ts';
import type { OrderRequest } from './order-request.ts';

/** What an order costs beside the swap, and who pays it. */
export interface OrderCosts {
  readonly payer: string;
  readonly signatureLamports: bigint;
  /** Priority fee and tip. */
  readonly prioritizationLamports: bigint;
  readonly rentLamports: bigint;
}

/** Why there is no transaction; what a code means depends on the router that won. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** A transaction that waits for its signatures. */
export interface BuiltOrder {
  readonly kind: 'built';
  readonly message: CompiledMessage;
  readonly costs: OrderCosts;
  readonly lastValidBlockHeight: number;
  /** The one account of the service's own that this order makes sign, if any. */
  readonly cosigner: string | undefined;
}

/** An order's transaction, or why there is none. */
export type OrderTransaction = BuiltOrder | ({ readonly kind: 'refused'; readonly costs: OrderCosts } & Refusal);

/** An order for somebody who signs. */
export type TakerRequest = OrderRequest & { readonly taker: string };
