import type { TokenNames } from '../input/token-argument.ts';
import { usd } from './figures.ts';
import { formatDecimal } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import type { Token } from '../../market/token.ts';
import type { PlatformFee, RoutePlanEntry } from '../../service/wire/swap-terms.ts';
import type { SwapOrder } from '../../trading/swap-terms.ts';

/** Returns every mint that a route passes. */
export function mintsOf(plan: readonly RoutePlanEntry[]): string[] {
  return plan.flatMap(({ swapInfo }) => [swapInfo.inputMint, swapInfo.outputMint]);
}

/** Returns the steps of a route, one a line. */
export function routeText(plan: readonly RoutePlanEntry[], names: TokenNames): string[] {
  return plan.map(({ swapInfo, bps, usdValue }) => {
    const share = bps === undefined || bps === 10_000 ? '' : `, ${bps / 100} %`;
    const worth = usdValue === undefined ? '' : `, ${usd(usdValue)}`;
    return `${names.symbol(swapInfo.inputMint)} → ${names.symbol(swapInfo.outputMint)} on `
      + `${printable(swapInfo.label ?? 'an unnamed market', 40)}${share}${worth}`;
  });
}

/** Returns the fee of a swap, with the platform's share. */
export function feeText(terms: {
  readonly feeBps: number; readonly feeMint?: string | undefined; readonly platformFee?: PlatformFee | undefined;
}, names: TokenNames): string {
  const token = terms.feeMint ?? terms.platformFee?.feeMint;
  const platform = terms.platformFee?.feeBps;
  return `${terms.feeBps} bps${token === undefined ? '' : ` of the ${names.symbol(token)}`}, included in the price`
    + (platform === undefined || platform === terms.feeBps ? '' : `; ${platform} of these go to the platform`);
}

/** Returns the price of a swap in both directions. */
export function prices(order: Pick<SwapOrder, 'inAmount' | 'outAmount'>, from: Token, to: Token): string[] {
  const sold = Number(formatDecimal(order.inAmount, from.decimals));
  const bought = Number(formatDecimal(order.outAmount, to.decimals));
  return [
    `${(bought / sold).toPrecision(7)} ${to.symbol} for one ${from.symbol}`,
    `${(sold / bought).toPrecision(7)} ${from.symbol} for one ${to.symbol}`,
  ];
}

/** Returns the price impact of a swap, the loss caused by its own size, as text. */
export function impactText(impact: number | undefined): string {
  if (impact === undefined) return 'the service does not say';
  return `${(impact * 100).toFixed(3)} % ${impact < 0 ? '(worse than the market)' : ''}`.trimEnd();
}
