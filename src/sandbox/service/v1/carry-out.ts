import { platformFee } from '../../chain/swap-math.ts';
import type { ServiceContext } from '../context.ts';
import { automaticSlippageBps } from '../routing/network-fees.ts';
import type { FeeSide } from '../routing/platform-fee.ts';
import { leastInput, routeAlong, type Route } from '../routing/routing.ts';
import { thresholdOf } from './quote-route.ts';
import type { QuotedRoute } from './quoted-route.ts';

/** A quote as its transaction executes it. */
export interface CarriedOut {
  /** The route through the pools, after a fee on the input's side. */
  readonly route: Route;
  /** The platform's fee on the input, when its account is for the input's token. */
  readonly inputFee: bigint;
  /** The least output for the user. */
  readonly minimumOut: bigint;
  readonly report: SlippageReport | undefined;
}

/** The result of the slippage estimate. */
export interface SlippageReport {
  readonly slippageBps: number;
  /** The threshold for this slippage. */
  readonly otherAmount: bigint;
  readonly simulatedIncurredSlippageBps: number;
  readonly amplificationRatio: string;
}

/** The tolerance on top of the loss since the quote. */
const AMPLIFICATION = 1.5;
const WHOLE_BPS = 10_000;

/**
 * Returns the execution of a quote on the current chain. ExactIn takes the quoted input. The program supports no exact
 * output, so ExactOut takes the least input that pays the output from the current pools, and demands that output. The
 * output may be slightly larger where one unit of input buys more than one of output. An input above the threshold is
 * cut to the threshold, and the transaction will fail.
 */
export function carriedOut(
  context: ServiceContext, swap: { quoted: QuotedRoute; side: FeeSide; dynamicSlippage: boolean },
): CarriedOut {
  const { quoted } = swap;
  const report = swap.dynamicSlippage ? estimatedSlippage(context, quoted) : undefined;
  const threshold = report?.otherAmount ?? quoted.threshold;
  return {
    ...(quoted.request.swapMode === 'ExactIn' ? exactIn(context, swap, threshold) : exactOut(context, swap, threshold)),
    report,
  };
}

type Amounts = Omit<CarriedOut, 'report'>;

function exactIn(
  context: ServiceContext, { quoted, side }: { quoted: QuotedRoute; side: FeeSide }, threshold: bigint,
): Amounts {
  const inputFee = side === 'input' ? platformFee(quoted.inAmount, quoted.request.platformFeeBps ?? 0) : 0n;
  return { route: along(context, quoted, quoted.inAmount - inputFee), inputFee, minimumOut: threshold };
}

function exactOut(
  context: ServiceContext, { quoted, side }: { quoted: QuotedRoute; side: FeeSide }, threshold: bigint,
): Amounts {
  const needed = neededInput(context, quoted, side);
  const bps = quoted.request.platformFeeBps ?? 0;
  const feeOf = (amount: bigint): bigint => (side === 'input' ? platformFee(amount, bps) : 0n);
  const isAffordable = needed !== undefined && needed + feeOf(needed) <= threshold;
  const amount = isAffordable ? needed : threshold - feeOf(threshold);
  return {
    route: along(context, quoted, amount), inputFee: feeOf(isAffordable ? amount : threshold),
    minimumOut: quoted.outAmount,
  };
}

/** Returns the least input that pays the output now: with the platform's share where the fee is on the output. */
function neededInput(
  { chain }: ServiceContext, { route, outAmount, feeAmount }: QuotedRoute, side: FeeSide,
): bigint | undefined {
  return leastInput({
    path: route.hops, outAmount: side === 'output' ? outAmount + feeAmount : outAmount, readPool: chain.readPool,
  });
}

/** Where a pool cannot fill any more the quoted hops stay, and the program refuses them. */
function along({ chain }: ServiceContext, { route }: QuotedRoute, amount: bigint): Route {
  return routeAlong({ path: route.hops, amount, readPool: chain.readPool }) ?? { ...route, inAmount: amount };
}

function estimatedSlippage(context: ServiceContext, quoted: QuotedRoute): SlippageReport {
  const incurredBps = incurredSlippageBps(context, quoted);
  const usualBps = automaticSlippageBps(quoted.input, quoted.output);
  const slippageBps = Math.min(WHOLE_BPS, Math.max(usualBps, Math.ceil(Math.max(0, incurredBps) * AMPLIFICATION)));
  const amount = quoted.request.swapMode === 'ExactIn' ? quoted.outAmount : quoted.inAmount;
  return {
    slippageBps,
    otherAmount: thresholdOf({ swapMode: quoted.request.swapMode, slippageBps }, amount),
    simulatedIncurredSlippageBps: incurredBps,
    amplificationRatio: AMPLIFICATION.toString(),
  };
}

/** Returns the loss of the swap against its quote if it were executed now; negative for a gain. */
function incurredSlippageBps(context: ServiceContext, quoted: QuotedRoute): number {
  const { request, route, inAmount } = quoted;
  if (request.swapMode === 'ExactIn') {
    const now = along(context, quoted, inAmount).outAmount;
    return basisPoints(route.outAmount - now, route.outAmount);
  }
  const now = neededInput(context, quoted, 'output') ?? inAmount;
  return basisPoints(now - inAmount, inAmount);
}

function basisPoints(part: bigint, whole: bigint): number {
  return Number((part * BigInt(WHOLE_BPS)) / whole);
}
