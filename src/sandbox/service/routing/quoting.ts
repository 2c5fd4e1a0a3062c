import { mulDiv } from '../../../core/amount.ts';
import { platformFee } from '../../chain/swap-math.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { Market } from '../../market/market.ts';
import type { PercentForm } from '../host-traits.ts';
import type { SwapFee } from './platform-fee.ts';
import { arriving, type Route } from './routing.ts';

const WHOLE_BPS = 10_000n;

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
 * the user, less what the output's mint keeps of it. The threshold is rounded as told.
 */
export function priceRoute(
  options: { route: Route; amount: bigint; fee: SwapFee; slippageBps: number; roundsUp: boolean },
): PricedRoute {
  const { route, amount, fee, slippageBps } = options;
  const feeAmount = platformFee(fee.side === 'input' ? amount : route.outAmount, fee.bps);
  const outAmount = arriving(route, fee.side === 'input' ? route.outAmount : route.outAmount - feeAmount);
  const threshold = leastOutput(outAmount, slippageBps, options.roundsUp ? 'ceil' : 'floor');
  return { route, fee, feeAmount, inAmount: amount, outAmount, slippageBps, threshold };
}

/** Returns an output less the slippage; rounded up it is quoted - floor(quoted * slippage / 10000). */
export function leastOutput(outAmount: bigint, slippageBps: number, rounding: 'floor' | 'ceil'): bigint {
  return mulDiv(outAmount, WHOLE_BPS - BigInt(slippageBps), WHOLE_BPS, rounding);
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

/** A route plan entry of the reference. */
interface RoutePlanEntry {
  readonly swapInfo: {
    readonly ammKey: string;
    readonly label: string;
    readonly inputMint: string;
    readonly outputMint: string;
    readonly inAmount: string;
    readonly outAmount: string;
  };
  readonly percent?: number;
  readonly bps: number;
  readonly usdValue: number;
}

/** Two thirds: 66.67 percent, and 33.33 for the rest. */
const LARGER_PART_BPS = 6_667n;

/**
 * Returns the route plan of a route. This service never splits a route, so each hop has the whole amount. Where shares
 * are fractions, the first hop is told as two steps of one pool, unless three divides its input.
 */
export function routePlan(options: {
  route: Route; market: Market; tokens: ReadonlyMap<string, GenesisToken>; percent: PercentForm;
}): RoutePlanEntry[] {
  const { percent } = options;
  return options.route.hops.flatMap((hop, place) => {
    const isSplit = percent === 'fraction' && place === 0 && hop.inAmount % 3n !== 0n && hop.inAmount >= WHOLE_BPS;
    const larger = isSplit ? LARGER_PART_BPS : WHOLE_BPS;
    return [larger, WHOLE_BPS - larger].filter((bps) => bps > 0n).map((bps): RoutePlanEntry => {
      const part = (amount: bigint): bigint => (bps === larger ? (amount * bps) / WHOLE_BPS
        : amount - (amount * larger) / WHOLE_BPS);
      const { pool, inputMint, outputMint } = hop;
      const inAmount = part(hop.inAmount);
      return {
        swapInfo: {
          ammKey: pool.address, label: pool.label, inputMint, outputMint,
          inAmount: inAmount.toString(), outAmount: part(hop.outAmount).toString(),
        },
        ...(percent === 'absent' ? {} : { percent: Number(bps) / 100 }),
        bps: Number(bps),
        usdValue: usdValue({ market: options.market, token: options.tokens.get(inputMint)!, amount: inAmount }),
      };
    });
  });
}
