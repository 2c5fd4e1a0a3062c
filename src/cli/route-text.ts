import { printable } from '../core/text.ts';
import type { PlatformFee, RoutePlanEntry } from '../service/wire/swap-route.ts';
import { usd } from './figures.ts';
import type { TokenNames } from './named-tokens.ts';

/** Returns every mint that a route passes. */
export function mintsOf(plan: readonly RoutePlanEntry[]): string[] {
  return plan.flatMap(({ swapInfo }) => [swapInfo.inputMint, swapInfo.outputMint]);
}

/** Returns the steps of a route, one a line. */
export function routeText(plan: readonly RoutePlanEntry[], names: TokenNames): string[] {
  return plan.map(({ swapInfo, bps, usdValue }) => {
    const share = bps === undefined || bps === 10_000 ? '' : `, ${bps / 100} %`;
    const worth = usdValue === undefined ? '' : `, ${usd(usdValue)}`;
    return `${names.symbol(swapInfo.inputMint)} → ${names.symbol(swapInfo.outputMint)} on ${printable(swapInfo.label ?? 'a market without name', 40)}${share}${worth}`;
  });
}

/** Returns what is taken of a swap, and by whom. */
export function feeText(terms: { readonly feeBps: number; readonly feeMint?: string | undefined; readonly platformFee?: PlatformFee | undefined }, names: TokenNames): string {
  const token = terms.feeMint ?? terms.platformFee?.feeMint;
  const platform = terms.platformFee?.feeBps;
  return `${terms.feeBps} bps${token === undefined ? '' : ` of the ${names.symbol(token)}`}, in the price already`
    + (platform === undefined || platform === terms.feeBps ? '' : `; ${platform} of them the platform’s`);
}
