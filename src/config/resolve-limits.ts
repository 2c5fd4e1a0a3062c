import type { Amount, Bps, Lamports } from '../core/amount.ts';
import { assertNever } from '../core/assert.ts';
import { canonicalJson } from '../core/json.ts';
import { parseDuration } from '../core/time.ts';
import type { Mint, Token } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type {
  Protection, ProtectionAction, ProtectionRelease, ProtectionTrigger, RiskLimits, SpendCap, TokenSafetyLimits,
  ValueLimit,
} from '../trading/limits.ts';
import { DEFAULT_PROTECTIONS, protectionFault } from '../trading/protections/catalogue.ts';
import type { ProblemList } from './config-issue.ts';
import { formatPath } from './config-issue.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigPath } from './config-tree.ts';
import type { AmountReader } from './resolve-tokens.ts';
import type { SignerConfig } from './run-config.ts';
import type { ActionWord, ProtectionEntry } from './schema-risk.ts';
import { PROTECTION_KINDS } from './schema-risk.ts';

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

interface ProtectionScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
}

const LIST: ConfigPath = ['risk', 'protections'];
const FEES: ConfigPath = ['risk', 'max_fees_per_day'];

/**
 * Returns the protections of the file: those it lists, or else the usual ones, and a fee budget where max_fees_per_day
 * is set. `entries` stand at their place in the file, undefined where one is faulty; undefined where there is no list.
 */
function resolveProtections(
  entries: readonly (ProtectionEntry | undefined)[] | undefined, maxFeesPerDay: string | undefined,
  scope: ProtectionScope,
): readonly Protection[] {
  const listed = entries === undefined ? DEFAULT_PROTECTIONS : resolveEntries(entries, scope);
  const limitLamports = maxFeesPerDay === undefined ? undefined : fees(FEES, maxFeesPerDay, scope);
  if (limitLamports === undefined) return listed;
  const budget: Protection = {
    trigger: { kind: 'fee-budget', limitLamports }, scope: 'global', action: 'reduce-only',
    release: { kind: 'next-day' },
  };
  const index = (entries ?? []).findIndex((entry) => entry?.kind === 'fee_budget' && entry.scope === 'global');
  if (index >= 0) scope.problems.add(
    FEES, `${formatPath([...LIST, index])} is a budget for all fees already: keep one of the two`, { at: 'key' },
  );
  return [...listed.filter((protection) => !isFeeBudgetOfAll(protection)), budget];
}

function isFeeBudgetOfAll({ trigger, scope }: Protection): boolean {
  return trigger.kind === 'fee-budget' && scope === 'global';
}

function resolveEntries(entries: readonly (ProtectionEntry | undefined)[], scope: ProtectionScope): Protection[] {
  const { problems } = scope;
  const seen = new Map<string, ConfigPath>();
  return entries.flatMap((entry, index) => {
    if (entry === undefined) return [];
    const path = [...LIST, index];
    const identity = canonicalJson(entry);
    const earlier = seen.get(identity);
    if (earlier === undefined) seen.set(identity, path);
    else problems.add(path, `expected each protection once, but ${formatPath(earlier)} is the same`);
    const trigger = triggerOf(entry, path, scope);
    const release = releaseOf(entry, path, problems);
    if (entry.kind === 'max_drawdown' && entry.action === 'flatten' && entry.release === 'cleared') {
      problems.add(
        [...path, 'release'],
        'what is sold cannot rise again, so this would never be cleared: write "operator" or a span of time',
      );
    }
    if (trigger === undefined || release === undefined) return [];
    const protection: Protection = { trigger, scope: entry.scope, action: actionOf(entry.action), release };
    // The schema has asked for scopes and releases one by one; what is left is about both together.
    const fault = protectionFault(protection);
    if (fault !== undefined) problems.add([...path, 'action'], fault);
    return [protection];
  });
}

function triggerOf(entry: ProtectionEntry, path: ConfigPath, scope: ProtectionScope): ProtectionTrigger | undefined {
  switch (entry.kind) {
    case 'cooldown': return { kind: 'cooldown', after: entry.after };
    case 'loss_streak': return { kind: 'loss-streak', losses: entry.losses, withinMs: parseDuration(entry.within) };
    case 'low_profit': return {
      kind: 'low-profit', trades: entry.trades, withinMs: parseDuration(entry.within),
      leastBps: Math.round(entry.limit_pct * 100),
    };
    case 'max_drawdown': return { kind: 'max-drawdown', limitPct: entry.limit_pct };
    case 'daily_loss': {
      const limit = scope.amounts.limit([...path, 'limit'], entry.limit);
      return limit === undefined ? undefined : { kind: 'daily-loss', limit };
    }
    case 'fee_budget': {
      const limitLamports = fees([...path, 'limit'], entry.limit, scope);
      return limitLamports === undefined ? undefined : { kind: 'fee-budget', limitLamports };
    }
    case 'stale_feed': return { kind: 'stale-feed', afterMs: parseDuration(entry.after) };
    case 'blind_execution': return { kind: 'blind-execution', unknowns: entry.unknowns };
    case 'unresolved_intent': return { kind: 'unresolved-intent', afterMs: parseDuration(entry.after) };
    case 'error_rate': return { kind: 'error-rate', failures: entry.failures, withinMs: parseDuration(entry.within) };
    case 'reconciliation_mismatch': return { kind: 'reconciliation-mismatch' };
    case 'dead_man': return { kind: 'dead-man', afterMs: parseDuration(entry.after) };
    default: return assertNever(entry, 'protection');
  }
}

function fees(path: ConfigPath, text: string, { amounts, problems }: ProtectionScope): Lamports | undefined {
  const limit = amounts.limit(path, text);
  if (limit === undefined) return undefined;
  if (limit.mint !== SOL_MINT)
    problems.add(path, `fees are paid in SOL: expected an amount such as "0.05 SOL", got "${text.slice(0, 60)}"`);
  return limit.amount as bigint as Lamports;
}

function actionOf(word: ActionWord): ProtectionAction {
  return word === 'reduce_only' ? 'reduce-only' : word;
}

function releaseOf(entry: ProtectionEntry, path: ConfigPath, problems: ProblemList): ProtectionRelease | undefined {
  const pause = entry.kind === 'cooldown' ? entry.for : undefined;
  if (pause !== undefined && entry.release !== undefined) {
    problems.add([...path, 'release'], 'expected either "for" or "release", got both', { at: 'key' });
  }
  const release = entry.release ?? pause ?? PROTECTION_KINDS[entry.kind].release;
  switch (release) {
    case undefined:
      if (!problems.isFaulty([...path, 'release']))
        problems.add([...path, 'for'], 'the key "for" is missing: expected how long the pause lasts, such as "10m"');
      return undefined;
    case 'cleared': case 'operator': return { kind: release };
    case 'next_day': return { kind: 'next-day' };
    default: return { kind: 'elapsed', afterMs: parseDuration(release) };
  }
}

interface SignerScope {
  readonly amounts: AmountReader;
  readonly problems: ProblemList;
}

type CapsEntry = NonNullable<ConfigFile['signer']>['caps'][string];
const SPANS = ['per_trade', 'per_hour', 'per_day'] as const;

/** Returns what the section "signer" allows, read as the signer's own process reads it. */
export function resolveSigner({ signer }: ConfigFile, scope: SignerScope): SignerConfig {
  if (signer === undefined) return { programs: [], destinations: [], caps: new Map() };
  refuseRepeated(['signer', 'programs'], signer.programs, scope.problems);
  refuseRepeated(['signer', 'destinations'], signer.destinations, scope.problems);
  const caps = new Map<Mint, SpendCap>();
  for (const [alias, entry] of Object.entries(signer.caps)) {
    const path = ['signer', 'caps', alias];
    const token = scope.amounts.token(path, alias, 'key');
    if (token !== undefined) caps.set(token.mint, resolveCaps(entry, { path, token }, scope));
  }
  return { programs: signer.programs, destinations: signer.destinations, caps };
}

function resolveCaps(entry: CapsEntry, { path, token }: { readonly path: ConfigPath; readonly token: Token }, {
  amounts, problems,
}: SignerScope): SpendCap {
  if (SPANS.every((span) => entry[span] === undefined) && !problems.isFaulty(path)) {
    problems.add(path, 'expected at least one of per_trade, per_hour and per_day: without any, nothing is capped');
  }
  const read = (span: typeof SPANS[number]): Amount | undefined => {
    const text = entry[span];
    const cap = text === undefined ? undefined : amounts.ofToken([...path, span], text, token);
    if (cap === 0n)
      problems.add([...path, span], 'expected a cap above zero; what is not to be spent at all needs no strategy');
    return cap;
  };
  const caps = SPANS.map((span) => ({ span, cap: read(span) }))
    .filter((known): known is { span: typeof SPANS[number]; cap: Amount } => known.cap !== undefined);
  for (const [index, { span, cap }] of caps.entries()) {
    const larger = caps[index + 1];
    if (larger !== undefined && cap > larger.cap) {
      problems.add(
        [...path, larger.span], `expected at least what ${span} allows, ${entry[span]}, got ${entry[larger.span]}`,
      );
    }
  }
  const of = (span: typeof SPANS[number]): Amount | undefined => caps.find((known) => known.span === span)?.cap;
  return { perTrade: of('per_trade'), perHour: of('per_hour'), perDay: of('per_day') };
}

function refuseRepeated(path: ConfigPath, addresses: readonly string[], problems: ProblemList): void {
  for (const [index, address] of addresses.entries()) {
    const first = addresses.indexOf(address);
    if (first < index)
      problems.add([...path, index], `expected each address once, but it is that of position ${first} too`);
  }
}
