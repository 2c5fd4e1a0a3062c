import type { IsolationConfig, RunConfig, SignerConfig } from '../../config/run-config.ts';
import { describePriceGuard } from '../../signer/price/price-guard.ts';
import { formatDecimal } from '../../core/amount.ts';
import { formatDuration } from '../../core/time.ts';
import { SOL_DECIMALS } from '../../solana/constants.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { RiskLimits, TokenSafetyLimits, ValueLimit } from '../../trading/limits.ts';
import { summarizeProtection } from '../../trading/protections/protection-text.ts';

/** The width beside the title on a usual terminal. */
const LINE_WIDTH = 118;
const BETWEEN = ' · ';

/** Returns the limits for people, on a few lines: sizes and rates of swaps, and the token checks. */
export function describeLimits(limits: RiskLimits, tokens: TokenTable): string[] {
  return [...describeSizes(limits, tokens), describeTokenSafety(limits.tokenSafety, tokens)];
}

/** Returns the protections for people, on as few lines as possible. */
export function describeProtections(limits: RiskLimits, tokens: TokenTable): string[] {
  return wrapped(
    limits.protections?.map((protection) => summarizeProtection(protection, tokens)) ?? [],
    'none: nothing stops trading automatically',
  );
}

/** Returns the limits of swaps, positions and prices for people, one line a group. */
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

/** Returns for people which tokens are checked before they are bought. */
export function describeTokenSafety(safety: TokenSafetyLimits | undefined, tokens: TokenTable): string {
  if (safety === undefined) return 'tokens are bought without checks';
  const trusted = [...safety.trusted].map((mint) => symbolOf(tokens, mint));
  return `tokens are checked before they are bought${trusted.length === 0 ? '' : `, except ${trusted.join(', ')}`}`;
}

/** Joins the parts to as few lines as possible. */
function wrapped(parts: readonly string[], none: string): string[] {
  if (parts.length === 0) return [none];
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + BETWEEN.length + part.length <= LINE_WIDTH)
      lines[lines.length - 1] = `${last}${BETWEEN}${part}`;
    else lines.push(part);
  }
  return lines;
}

/** Returns the configured spending caps, price guard, programs and destinations of the signer, one a line. */
export function describeSigner(
  { programs, destinations, caps, priceGuard, allowances }: SignerConfig, tokens: TokenTable,
): string[] {
  const { maxTipLamports, feeAccounts } = allowances;
  const spending = [...caps].map(([mint, { perTrade, perHour, perDay }]) => {
    const spans = [['a swap', perTrade], ['an hour', perHour], ['a day', perDay]] as const;
    return spans.filter(([, cap]) => cap !== undefined)
      .map(([span, cap]) => `${showAmount(tokens, mint, cap!)} ${span}`).join(', ');
  });
  return [
    ...spending,
    describePriceGuard(priceGuard),
    ...(programs.length === 0 ? [] : [`programs beside the known ones: ${programs.join(', ')}`]),
    ...(destinations.length === 0 ? [] : [`tokens may also go to ${destinations.join(', ')}`]),
    `priority of a swap up to ${formatDecimal(allowances.maxPriorityFeeLamports, SOL_DECIMALS)} SOL, ${
      maxTipLamports === 0n ? 'no tips' : `tips up to ${formatDecimal(maxTipLamports, SOL_DECIMALS)} SOL`}`,
    ...[...feeAccounts].map(([account, share]) => `fees of your own up to ${share} bps to ${account}`),
  ];
}

const WHERE: Readonly<Record<IsolationConfig['kind'], string>> = {
  'shared': 'the project’s own strategies run in one process, each other file in one of its own',
  'per-strategy': 'each strategy runs in a process of its own',
  'off': 'all strategies run in the process that trades',
};

/** Returns where the code of strategies runs, what it may use, and what becomes of positions, one a line. */
export function describeIsolation({ isolation, strategies }: Pick<RunConfig, 'isolation' | 'strategies'>): string[] {
  const { kind, callMs, memoryMb } = isolation;
  const exits = strategies.filter(({ onStop }) => onStop === 'exit').map(({ name }) => name);
  return [
    WHERE[kind],
    ...(kind === 'off' ? []
      : [`a call takes at most ${formatDuration(callMs)}, a process holds at most ${memoryMb} MB`]),
    ...(exits.length === 0 ? [] : [`positions of a strategy that was stopped are sold: ${exits.join(', ')}`]),
  ];
}

/** Returns the warning about strategies that run in the process that trades; undefined where none does. */
export function isolationWarning({ isolation, strategies }: Pick<RunConfig, 'isolation' | 'strategies'>): string |
  undefined {
  if (isolation.kind !== 'off' || strategies.every(({ isManual }) => isManual)) return undefined;
  return 'isolation is off: the code of strategies runs in the process that trades, and a fault in it can stop all of '
    + 'them, or change what they do';
}
