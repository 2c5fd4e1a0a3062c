import type { ConfigRecord } from '../../config/config-record.ts';
import { redactedConfig } from '../../config/config-record.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { ValueRecord } from '../../config/value-record.ts';
import { readLimits } from '../../config/risk-limits.ts';
import { isGannetError } from '../../core/errors.ts';
import { formatDuration } from '../../core/time.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { describeProtection } from '../../trading/protections/protection-text.ts';
import type { Log } from '../reporting/log.ts';
import { daemonRuns } from './find-run.ts';

type LimitedConfig = Pick<ConfigRecord, 'limits' | 'signer' | 'strategies'>;

/** One limit of a configuration. More may be lost where the value is larger. */
interface Limit {
  readonly value: bigint | number;
  /** The token of an amount: amounts of two tokens cannot be compared. */
  readonly unit?: string | undefined;
  /** For people; absent for a rule without a figure. */
  readonly text?: string | undefined;
}

/**
 * Returns what a configuration allows beyond an earlier one, for people: limits that are larger, gone or in another
 * token, protections that are gone or different, larger budgets, and names that lists of trust have in addition.
 */
function raisedLimits(before: LimitedConfig, after: LimitedConfig, tokens: TokenTable): string[] {
  const remaining = before.strategies.filter(({ name }) => after.strategies.some((one) => one.name === name));
  const earlier = limitsOf({ ...before, strategies: remaining }, tokens);
  const later = limitsOf(after, tokens);
  const raised = [...earlier].flatMap(([name, limit]) => {
    const now = later.get(name);
    if (now === undefined) return [`${name} is gone${limit.text === undefined ? '' : `, it was ${limit.text}`}`];
    return isMore(now, limit) ? [`${name} is ${now.text}, it was ${limit.text}`] : [];
  });
  const budgets = budgetsOf(before, tokens);
  const larger = [...budgetsOf(after, tokens)].flatMap(([name, budget]) => {
    const was = budgets.get(name);
    if (was === undefined) return [`${name} is new, with a budget of ${budget.text}`];
    return isMore(budget, was) ? [`the budget of ${name} is ${budget.text}, it was ${was.text}`] : [];
  });
  const trusted = trustedBy(before, tokens);
  const added = [...trustedBy(after, tokens)].filter((name) => !trusted.has(name)).map((name) => `${name} is new`);
  return [...raised, ...larger, ...added];
}

function isMore(now: Limit, before: Limit): boolean {
  return now.unit !== before.unit || now.value > before.value;
}

function budgetsOf({ strategies }: LimitedConfig, tokens: TokenTable): Map<string, Limit> {
  return new Map(strategies.flatMap(({ name, budget }) =>
    (budget === null ? [] : [[name, amountLimit(tokens, budget)] as const])));
}

/** Returns the members of every list of what is trusted or allowed, for people. */
function trustedBy({ limits, signer }: LimitedConfig, tokens: TokenTable): Set<string> {
  const { token_safety: safety, discovered_tokens: discovered } = limits;
  return new Set([
    ...signer.programs.map((program) => `${program} in signer.programs`),
    ...signer.destinations.map((address) => `${address} in signer.destinations`),
    ...(safety?.trusted ?? []).map((mint) => `${symbolOf(tokens, mint)} in token_safety.trusted`),
    ...(discovered === undefined ? [] : ['every token that passes token_safety, by discovered_tokens,']),
    ...(safety?.allowed_extensions ?? []).map((name) => `${name} in token_safety.allowed_extensions`),
  ]);
}

function amountLimit(tokens: TokenTable, { mint, amount }: ValueRecord): Limit {
  return { value: BigInt(amount), unit: mint, text: showAmount(tokens, mint as Mint, BigInt(amount)) };
}

/** Returns the limits by name. One that is not set is absent: it is unlimited. */
function limitsOf({ limits, strategies }: LimitedConfig, tokens: TokenTable): Map<string, Limit> {
  const found = new Map<string, Limit>();
  const number = (name: string, value: number | null | undefined, text = String(value)): void => {
    if (value !== null && value !== undefined) found.set(name, { value, text });
  };
  const least = (name: string, value: number): void => { found.set(name, { value: -value, text: String(value) }); };
  const span = (name: string, ms: number | null | undefined): void => { number(name, ms, formatDuration(ms ?? 0)); };
  const amount = (name: string, value: ValueRecord | null | undefined): void => {
    if (value !== null && value !== undefined) found.set(name, amountLimit(tokens, value));
  };
  for (const name of ['max_slippage_bps', 'max_price_impact_bps', 'max_fee_bps', 'max_open_intents'] as const)
    number(name, limits[name]);
  for (const name of ['per_minute', 'per_hour', 'per_day'] as const)
    number(`max_swaps.${name}`, limits.max_swaps[name]);
  number('max_quote_age_slots', limits.max_quote_age_slots);
  for (const name of ['max_quote_age', 'max_value_age'] as const) span(name, limits[`${name}_ms`]);
  for (const name of ['max_trade', 'max_exposure'] as const) amount(name, limits[name]);
  for (const [mint, value] of Object.entries(limits.max_position))
    amount(`max_position of ${symbolOf(tokens, mint)}`, value);
  for (const [mint, caps] of Object.entries(limits.caps ?? {})) {
    for (const name of ['per_trade', 'per_hour', 'per_day'] as const) {
      const cap = caps[name];
      amount(`the signer’s cap ${name} of ${symbolOf(tokens, mint)}`, cap === null ? null : { mint, amount: cap });
    }
  }
  const reserve = BigInt(limits.sol_reserve);
  found.set('sol_reserve', { value: -reserve, text: showAmount(tokens, SOL_MINT, reserve) });
  for (const protection of readLimits(limits).protections ?? [])
    found.set(`the protection "${describeProtection(protection, tokens)}"`, { value: 0 });
  const { token_safety: safety, discovered_tokens: discovered } = limits;
  if (discovered !== undefined) {
    for (const name of ['per_token', 'total'] as const) amount(`discovered_tokens.${name}`, discovered[name]);
    least('discovered_tokens.min_age', discovered.min_age_ms);
  }
  if (safety !== null && safety !== undefined) {
    for (const name of ['min_liquidity_usd', 'min_organic_score', 'min_holders'] as const)
      least(`token_safety.${name}`, safety[name]);
    for (const name of ['max_top_holders_pct', 'max_transfer_fee_bps'] as const)
      number(`token_safety.${name}`, safety[name]);
    span('token_safety.valid_for', safety.valid_for_ms);
  }
  for (const { name, max_exposure: exposure } of strategies) amount(`max_exposure of ${name}`, exposure);
  return found;
}

/** How many earlier runs are searched for one of the same mode. */
const RUNS_SEARCHED = 20;

/**
 * Returns what a configuration allows beyond that of the last run of its mode; nothing for a first run. The command
 * "swap" has a strategy and a budget of its own, so its runs are not compared.
 */
export function raisedSinceLastRun(config: RunConfig, { stateDir, runId, log }: {
  readonly stateDir: string; readonly runId: string; readonly log: Log;
}): string[] {
  if (config.strategies.some(({ isManual }) => isManual === true)) return [];
  try {
    for (const { manifest } of daemonRuns(stateDir).take(RUNS_SEARCHED)) {
      if (manifest.run_id === runId || manifest.mode !== config.mode) continue;
      if (manifest.config.strategies.some(({ by_hand: isManual }) => isManual === true)) continue;
      return raisedLimits(manifest.config, redactedConfig(config), config.tokens);
    }
  } catch (error) {
    if (!isGannetError(error)) throw error;
    log('warn', 'the limits could not be compared with those of the last run', { error });
  }
  return [];
}
