import type { Amount, Bps } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';

/** How a swap reaches the chain: assembled by the service and landed by it, or built here and landed through an RPC. */
export type Route = 'order' | 'build';

/** How much to spend: smallest units, all this strategy has, or a fraction of it in (0, 1]. */
export type Size = Amount | 'all' | { readonly fraction: number };

/** A wish to swap. Strategies propose; they never execute. */
export interface SwapProposal {
  readonly kind: 'swap';
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Size;
  /** The least output in smallest units that makes the swap worth it, whatever the slippage allows. */
  readonly limit?: Amount | undefined;
  readonly slippageBps?: Bps | undefined;
  readonly route?: Route | undefined;
  /** For people: why. */
  readonly reason: string;
  /** Idempotency: a second proposal of this strategy with the same key is refused, across restarts too. */
  readonly key?: string | undefined;
}

export type AlertLevel = 'info' | 'warning' | 'critical';

/** A message for people; plain data only. */
export interface AlertProposal {
  readonly kind: 'alert';
  readonly level: AlertLevel;
  readonly message: string;
  readonly data?: Readonly<Record<string, string | number | boolean | bigint | null>> | undefined;
}

export type Proposal = SwapProposal | AlertProposal;
