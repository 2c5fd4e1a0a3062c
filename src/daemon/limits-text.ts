import { formatDuration } from '../core/time.ts';
import type { TokenTable } from '../market/token.ts';
import type { RiskLimits, TokenSafetyLimits, ValueLimit } from '../trading/limits.ts';
import { showAmount, symbolOf } from '../market/market-text.ts';
import { summarizeProtection } from './protection-text.ts';

/** What fits beside the title on a usual terminal. */
const LINE_WIDTH = 118;
const BETWEEN = ' · ';

/** Returns the limits for people, a few lines: what swaps may be, how many, and which tokens are looked at. */
export function describeLimits(limits: RiskLimits, tokens: TokenTable): string[] {
  return [...describeSizes(limits, tokens), describeTokenSafety(limits.tokenSafety, tokens)];
}

/** Returns what stops trading by itself for people, on as few lines as it fits. */
export function describeProtections(limits: RiskLimits, tokens: TokenTable): string[] {
  return wrapped(limits.protections?.map((protection) => summarizeProtection(protection, tokens)) ?? [], 'none: nothing stops trading by itself');
}

/** Returns what swaps, positions and prices may be, one line each group. */
export function describeSizes(limits: RiskLimits, tokens: TokenTable): string[] {
  const value = ({ mint, amount }: ValueLimit): string => showAmount(tokens, mint, amount);
  const { maxTrade, maxExposure, maxQuoteAgeMs, maxQuoteAgeSlots, maxValueAgeMs } = limits;
  const { perMinute, perHour, perDay } = limits.maxSwaps;
  const rates = [['minute', perMinute], ['hour', perHour], ['day', perDay]] as const;
  const positions = [...limits.maxPosition].map(([mint, limit]) => `${symbolOf(tokens, mint)} up to ${value(limit)}`);
  const ages = [
    ...(maxQuoteAgeMs === undefined ? [] : [`quotes at most ${formatDuration(maxQuoteAgeMs)} old`]),
    ...(maxQuoteAgeSlots === undefined ? [] : [`quotes at most ${maxQuoteAgeSlots} slots old`]),
    ...(maxValueAgeMs === undefined ? [] : [`values by prices at most ${formatDuration(maxValueAgeMs)} old`]),
  ];
  return [
    `slippage ${limits.maxSlippageBps} bps, price impact ${limits.maxPriceImpactBps} bps, fees ${limits.maxFeeBps} bps`,
    [
      `swaps at a time: ${limits.maxOpenIntents}`,
      ...rates.filter(([, limit]) => limit !== undefined).map(([span, limit]) => `${limit} per ${span}`),
      ...(maxTrade === undefined ? [] : [`each up to ${value(maxTrade)}`]),
      ...positions,
      ...(maxExposure === undefined ? [] : [`all positions up to ${value(maxExposure)}`]),
    ].join(', '),
    ...(ages.length === 0 ? [] : [ages.join(', ')]),
  ];
}

/** Returns which tokens are looked at before they are bought. */
export function describeTokenSafety(safety: TokenSafetyLimits | undefined, tokens: TokenTable): string {
  if (safety === undefined) return 'tokens are bought unseen';
  const trusted = [...safety.trusted].map((mint) => symbolOf(tokens, mint));
  return `tokens are looked at before they are bought${trusted.length === 0 ? '' : `, all but ${trusted.join(', ')}`}`;
}

/** Returns the parts on as few lines as they fit. */
function wrapped(parts: readonly string[], none: string): string[] {
  if (parts.length === 0) return [none];
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + BETWEEN.length + part.length <= LINE_WIDTH) lines[lines.length - 1] = `${last}${BETWEEN}${part}`;
    else lines.push(part);
  }
  return lines;
}
