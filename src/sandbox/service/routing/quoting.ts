import { afterSlippage, type Amount, type Bps } from '../../../core/amount.ts';
import { platformFee } from '../../chain/swap-math.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { Market } from '../../market/market.ts';
import type { SwapFee } from './platform-fee.ts';
import type { Route } from './routing.ts';

/** A route with a fee taken on one of its sides and the least that the user accepts, in smallest units. */
export interface PricedRoute {
  readonly route: Route;
  readonly fee: SwapFee;
  /** Of the input's token or of the output's, as the fee's side says. */
  readonly feeAmount: bigint;
  /** The user's payment: the route's input and a fee on that side. */
  readonly inAmount: bigint;
  /** The user's output. */
  readonly outAmount: bigint;
  readonly slippageBps: number;
  readonly threshold: bigint;
}

/** Returns the amount for the pools after a fee on the input's side. */
export function routedAmount({ amount, fee }: { amount: bigint; fee: SwapFee }): bigint {
  return fee.side === 'input' ? amount - platformFee(amount, fee.bps) : amount;
}

/**
 * Returns the price of a route for `routedAmount` by the chain's own arithmetic: the fee is floored, the rest goes to
 * the user.
 */
export function priceRoute(options: { route: Route; amount: bigint; fee: SwapFee; slippageBps: number }): PricedRoute {
  const { route, amount, fee, slippageBps } = options;
  const feeAmount = platformFee(fee.side === 'input' ? amount : route.outAmount, fee.bps);
  const outAmount = fee.side === 'input' ? route.outAmount : route.outAmount - feeAmount;
  return {
    route, fee, feeAmount, inAmount: amount, outAmount, slippageBps, threshold: thresholdOf(outAmount, slippageBps),
  };
}

/** Returns floor(out * (10000 - slippage) / 10000). */
function thresholdOf(outAmount: bigint, slippageBps: number): bigint {
  return afterSlippage(outAmount as Amount, slippageBps as Bps);
}

/** Returns the value of an amount in US dollars at the market's price. */
export function usdValue(options: { market: Market; token: GenesisToken; amount: bigint }): number {
  return (Number(options.amount) / 10 ** options.token.decimals) * options.market.usdPrice(options.token.mint);
}

/** Returns output over input in dollars, minus one: -0.001 when a tenth of a percent is lost. */
export function priceImpact({ inUsd, outUsd }: { inUsd: number; outUsd: number }): number {
  return inUsd === 0 ? 0 : Number((outUsd / inUsd - 1).toFixed(8));
}

/** Returns a share as a decimal number without exponent or trailing zeros: "-0.00012". */
export function decimalText(share: number): string {
  return share === 0 ? '0' : share.toFixed(8).replace(/\.?0+$/, '');
}

/** A route plan entry of the reference; this service never splits a route, so each hop has the whole amount. */
interface RoutePlanEntry {
  readonly swapInfo: {
    readonly ammKey: string;
    readonly label: string;
    readonly inputMint: string;
    readonly outputMint: string;
    readonly inAmount: string;
    readonly outAmount: string;
  };
  readonly percent: number;
  readonly bps: number;
  readonly usdValue: number;
}

/** Returns the route plan of a route. */
export function routePlan(
  options: { route: Route; market: Market; tokens: ReadonlyMap<string, GenesisToken> },
): RoutePlanEntry[] {
  return options.route.hops.map(({ pool, inputMint, outputMint, inAmount, outAmount }) => ({
    swapInfo: {
      ammKey: pool.address, label: pool.label, inputMint, outputMint,
      inAmount: inAmount.toString(), outAmount: outAmount.toString(),
    },
    percent: 100,
    bps: 10_000,
    usdValue: usdValue({ market: options.market, token: options.tokens.get(inputMint)!, amount: inAmount }),
  }));
}
