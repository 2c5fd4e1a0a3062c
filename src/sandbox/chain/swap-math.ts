import { U64_MAX } from '../../core/amount.ts';

const BPS_DENOMINATOR = 10_000n;

/** One constant-product pool, seen from the token that goes in. */
interface HopReserves {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  readonly feeBps: number;
}

/**
 * Returns the output of one constant-product pool for `amountIn`, in the output token's smallest units, equal to the
 * result of `program/swap.c`: the fee is taken from the input first, both divisions floor (out = reserveOut * net /
 * (reserveIn + net), net = amountIn * (10000 - feeBps) / 10000). Returns 0n when the pool cannot fill the order:
 * nothing would come out, or a reserve would leave u64.
 */
export function quoteHop(hop: HopReserves & { readonly amountIn: bigint }): bigint {
  return payOut(hop, hop.amountIn, afterFee(hop.amountIn, hop.feeBps));
}

/** Returns what of an input is left to be swapped. */
export function afterFee(amountIn: bigint, feeBps: number): bigint {
  return (amountIn * (BPS_DENOMINATOR - BigInt(feeBps))) / BPS_DENOMINATOR;
}

/** Returns the same as `quoteHop` for an input whose amount after the fee is known already. */
export function payOut({ reserveIn, reserveOut }: Omit<HopReserves, 'feeBps'>, amountIn: bigint, net: bigint): bigint {
  if (reserveIn <= 0n || reserveOut <= 0n || amountIn <= 0n || reserveIn + amountIn > U64_MAX) return 0n;
  return (reserveOut * net) / (reserveIn + net);
}

/**
 * Returns the least `amountIn` for which `quoteHop` pays at least `amountOut`: its inverse, both divisions rounded up.
 * Returns undefined where no input suffices: the pool does not hold that much, or its reserve would leave u64.
 */
export function inputForHop(hop: HopReserves & { readonly amountOut: bigint }): bigint | undefined {
  const { reserveIn, reserveOut, amountOut } = hop;
  const keptBps = BPS_DENOMINATOR - BigInt(hop.feeBps);
  if (reserveIn <= 0n || amountOut <= 0n || amountOut >= reserveOut || keptBps <= 0n) return undefined;
  // out >= amountOut holds exactly from net * (reserveOut - amountOut) >= amountOut * reserveIn on.
  const net = divideUp(amountOut * reserveIn, reserveOut - amountOut);
  const amountIn = divideUp(net * BPS_DENOMINATOR, keptBps);
  return reserveIn + amountIn > U64_MAX ? undefined : amountIn;
}

/** Returns what a mint keeps of a transfer: rounded up, as the token program does. */
export function withheld(amount: bigint, fee: { readonly bps: number; readonly maximum: bigint } | undefined): bigint {
  if (fee === undefined) return 0n;
  const share = divideUp(amount * BigInt(fee.bps), BPS_DENOMINATOR);
  return share < fee.maximum ? share : fee.maximum;
}

/** Returns the platform's share of an amount, floored; the rest goes to the user, or into the swap. */
export function platformFee(amount: bigint, bps: number): bigint {
  return (amount * BigInt(bps)) / BPS_DENOMINATOR;
}

/**
 * Returns the least amount of which `net` remains after the platform's share. Returns undefined when the platform takes
 * everything.
 */
export function beforePlatformFee(net: bigint, bps: number): bigint | undefined {
  const keptBps = BPS_DENOMINATOR - BigInt(bps);
  if (keptBps <= 0n) return undefined;
  // amount - floor(amount * bps / 10000) = ceil(amount * kept / 10000), which reaches net first just above (net - 1) *
  // 10000 / kept.
  return net <= 0n ? 0n : ((net - 1n) * BPS_DENOMINATOR) / keptBps + 1n;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
