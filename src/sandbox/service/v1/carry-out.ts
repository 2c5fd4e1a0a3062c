import { platformFee } from '../../chain/swap-math.ts';
import type { ServiceContext } from '../context.ts';
import { automaticSlippageBps } from '../routing/network-fees.ts';
import type { FeeSide } from '../routing/platform-fee.ts';
import { leastInput, routeAlong, type Route } from '../routing/routing.ts';
import { thresholdOf } from './quote-route.ts';
import type { QuotedRoute } from './quoted-route.ts';

/** A quote as its transaction carries it out. */
export interface CarriedOut {
  /** What goes through the pools, a fee on the input's side taken off. */
  readonly route: Route;
  /** What the platform gets of the input, when its account is for that. */
  readonly inputFee: bigint;
  /** What the user must receive at least. */
  readonly minimumOut: bigint;
  readonly report: SlippageReport | undefined;
}

/** What came of estimating the slippage. */
export interface SlippageReport {
  readonly slippageBps: number;
  /** The threshold that it makes. */
  readonly otherAmount: bigint;
  readonly simulatedIncurredSlippageBps: number;
  readonly amplificationRatio: string;
}

/** How much more than what has been lost since the quote may still be lost. */
const AMPLIFICATION = 1.5;
const WHOLE_BPS = 10_000;

/**
 * Returns how a quote is carried out on the chain of now. ExactIn takes the quoted input. The program knows no other
 * way, so ExactOut takes the least input that pays the output as the pools are now, and demands that output: a little
 * more comes out where one unit of the input buys more than one of the output. Where that would be more than the
 * threshold, it takes the threshold, and the transaction is doomed.
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

/** Returns the least input that pays the output now: with the platform's share where that is taken of the output. */
function neededInput(
  { chain }: ServiceContext, { route, outAmount, feeAmount }: QuotedRoute, side: FeeSide,
): bigint | undefined {
  return leastInput({
    path: route.hops, outAmount: side === 'output' ? outAmount + feeAmount : outAmount, readPool: chain.readPool,
  });
}

/** Where a pool cannot fill any more the quoted hops stand: the program will say so. */
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

/** Returns what the swap would lose against its quote if it were carried out now; negative where it would win. */
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
