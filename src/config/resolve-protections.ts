import type { Lamports } from '../core/amount.ts';
import { assertNever } from '../core/assert.ts';
import { canonicalJson } from '../core/json.ts';
import { parseDuration } from '../core/time.ts';
import { SOL_MINT } from '../market/token.ts';
import { protectionFault } from '../trading/protections/catalogue.ts';
import { DEFAULT_PROTECTIONS } from '../trading/protections/default-protections.ts';
import type { Protection, ProtectionAction, ProtectionRelease, ProtectionTrigger } from '../trading/protection.ts';
import type { AmountReader } from './amounts.ts';
import type { ConfigPath } from './issue.ts';
import { formatPath } from './issue.ts';
import type { ProblemList } from './problem.ts';
import type { ActionWord } from './protection-kinds.ts';
import { PROTECTION_KINDS } from './protection-kinds.ts';
import type { ProtectionEntry } from './schema-risk.ts';

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
export function resolveProtections(
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
