import type { Amount, Bps } from '../core/amount.ts';
import { parseDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { RiskLimits, TokenSafetyLimits, ValueLimit } from '../trading/limits.ts';
import type { AmountReader } from './amounts.ts';
import type { ProblemList } from './problem.ts';
import { resolveProtections } from './resolve-protections.ts';
import type { ConfigFile } from './schema.ts';
import type { ProtectionEntry } from './schema-risk.ts';

interface LimitScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
  readonly solReserve: Amount;
  readonly caps: RiskLimits['caps'];
  /** At their place in the file, undefined where one is faulty; undefined where there is no list. */
  readonly protections: readonly (ProtectionEntry | undefined)[] | undefined;
}

/** Returns what no strategy may exceed. */
export function resolveLimits({ risk }: ConfigFile, scope: LimitScope): RiskLimits {
  const { amounts } = scope;
  const maxPosition = new Map<Mint, ValueLimit>();
  for (const [alias, text] of Object.entries(risk.max_position)) {
    const path = ['risk', 'max_position', alias];
    const token = amounts.token(path, alias, 'key');
    const limit = amounts.limit(path, text);
    if (token !== undefined && limit !== undefined) maxPosition.set(token.mint, limit);
  }
  return {
    maxSlippageBps: risk.max_slippage_bps as Bps,
    maxPriceImpactBps: risk.max_price_impact_bps as Bps,
    maxFeeBps: risk.max_fee_bps as Bps,
    maxTrade: amounts.limit(['risk', 'max_trade'], risk.max_trade),
    caps: scope.caps,
    maxPosition,
    maxExposure: amounts.limit(['risk', 'max_exposure'], risk.max_exposure),
    maxOpenIntents: risk.max_open_intents,
    maxSwaps: {
      perMinute: risk.max_swaps.per_minute, perHour: risk.max_swaps.per_hour, perDay: risk.max_swaps.per_day,
    },
    maxQuoteAgeMs: risk.max_quote_age === undefined ? undefined : parseDuration(risk.max_quote_age),
    maxValueAgeMs: risk.max_value_age === undefined ? undefined : parseDuration(risk.max_value_age),
    maxQuoteAgeSlots: risk.max_quote_age_slots,
    solReserve: scope.solReserve,
    protections: resolveProtections(scope.protections, risk.max_fees_per_day, scope),
    tokenSafety: resolveTokenSafety(risk.token_safety, scope),
  };
}

function resolveTokenSafety(
  section: ConfigFile['risk']['token_safety'], { amounts, problems }: LimitScope,
): TokenSafetyLimits | undefined {
  const trusted = new Set<Mint>(section.trusted === undefined ? [SOL_MINT, USDC_MINT] : []);
  for (const [index, alias] of (section.trusted ?? []).entries()) {
    const path = ['risk', 'token_safety', 'trusted', index];
    const token = amounts.token(path, alias, 'value');
    if (token === undefined) continue;
    if (trusted.has(token.mint))
      problems.add(path, `expected each token once, but ${token.symbol} stands further up already`);
    trusted.add(token.mint);
  }
  if (!section.enabled) return undefined;
  return {
    trusted,
    minLiquidityUsd: section.min_liquidity_usd,
    minOrganicScore: section.min_organic_score,
    minHolders: section.min_holders,
    maxTopHoldersPct: section.max_top_holders_pct,
    maxTransferFeeBps: section.max_transfer_fee_bps as Bps,
    allowedExtensions: new Set(section.allowed_extensions.map((name) => name.replaceAll('_', '-'))),
    validForMs: parseDuration(section.valid_for),
  };
}
