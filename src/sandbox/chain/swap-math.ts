import { U64_MAX } from '../../core/amount.ts';

const BPS_DENOMINATOR = 10_000n;

/**
 * Returns what one constant-product pool pays for `amountIn`, in the output token's smallest units, to the unit what
 * `program/swap.c` computes: the fee is taken from the input first, both divisions floor
 * (out = reserveOut * net / (reserveIn + net), net = amountIn * (10000 - feeBps) / 10000).
 * Returns 0n when the pool cannot fill the order: nothing would come out, or a reserve would leave u64.
 */
export function quoteHop(hop: { reserveIn: bigint; reserveOut: bigint; feeBps: number; amountIn: bigint }): bigint {
  const { reserveIn, reserveOut, amountIn } = hop;
  if (reserveIn <= 0n || reserveOut <= 0n || amountIn <= 0n || reserveIn + amountIn > U64_MAX) return 0n;
  const net = (amountIn * (BPS_DENOMINATOR - BigInt(hop.feeBps))) / BPS_DENOMINATOR;
  return (reserveOut * net) / (reserveIn + net);
}

/** Returns the platform's share of a swap's output, floored; the user receives the rest. */
export function platformFee(out: bigint, bps: number): bigint {
  return (out * BigInt(bps)) / BPS_DENOMINATOR;
}
