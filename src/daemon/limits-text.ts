import type { TokenTable } from '../market/token.ts';
import { formatTokenAmount } from '../market/token.ts';
import type { RiskLimits, ValueLimit } from '../trading/limits.ts';

/** Returns the limits for people, one line each group. */
export function describeLimits(limits: RiskLimits, tokens: TokenTable): string[] {
  const value = ({ mint, amount }: ValueLimit): string => {
    const token = tokens.byMint(mint);
    return token === undefined ? `${amount} of ${mint}` : formatTokenAmount({ token, amount });
  };
  const { perMinute, perHour, perDay } = limits.maxSwaps;
  const rates = [['minute', perMinute], ['hour', perHour], ['day', perDay]] as const;
  const positions = [...limits.maxPosition].map(([mint, limit]) => `${tokens.byMint(mint)?.symbol ?? mint} up to ${value(limit)}`);
  return [
    `slippage ${limits.maxSlippageBps} bps, price impact ${limits.maxPriceImpactBps} bps, fees ${limits.maxFeeBps} bps`,
    [
      `swaps at a time: ${limits.maxOpenIntents}`,
      ...rates.filter(([, limit]) => limit !== undefined).map(([span, limit]) => `${limit} per ${span}`),
      ...(limits.maxTrade === undefined ? [] : [`each up to ${value(limits.maxTrade)}`]),
      ...positions,
    ].join(', '),
  ];
}
