import { automaticUnitPrice, unitPriceFor } from './fees.ts';
import type { OrderRequest } from './order-request.ts';

/** What a transaction offers for being taken soon. */
export interface Bids {
  /** Micro-lamports for each compute unit. */
  readonly unitPrice: bigint;
  readonly tipLamports: bigint;
}

/** What a builder of blocks gets without being told, when `bundleTipLamports` is only a limit. */
const USUAL_TIP_LAMPORTS = 10_000n;

/**
 * Returns what is bid for priority: the request's own figures, or the service's where they are missing or only limits.
 */
export function bidsOf(
  request: Pick<OrderRequest, 'priorityFeeLamports' | 'bundleTipLamports' | 'feesAreLimits'>,
  { slot, units }: { slot: number; units: number },
): Bids {
  const automatic = automaticUnitPrice({ slot });
  const asked = request.priorityFeeLamports === undefined ? undefined
    : unitPriceFor({ lamports: request.priorityFeeLamports, units });
  const tip = request.bundleTipLamports ?? 0n;
  if (!request.feesAreLimits) return { unitPrice: asked ?? automatic, tipLamports: tip };
  return {
    unitPrice: asked === undefined || automatic < asked ? automatic : asked,
    tipLamports: tip < USUAL_TIP_LAMPORTS ? tip : USUAL_TIP_LAMPORTS,
  };
}
