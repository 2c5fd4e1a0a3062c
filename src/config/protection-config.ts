import { z } from 'zod';
import type { Lamports } from '../core/amount.ts';
import { assertNever } from '../core/assert.ts';
import { canonicalJson } from '../core/json.ts';
import { parseDuration } from '../core/time.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Protection, ProtectionAction, ProtectionRelease, ProtectionTrigger } from '../trading/limits.ts';
import type { ProtectionFacts } from '../trading/protections/catalogue.ts';
import { DEFAULT_PROTECTIONS, PROTECTIONS, protectionFault } from '../trading/protections/catalogue.ts';
import type { ProblemList } from './config-issue.ts';
import { formatPath } from './config-issue.ts';
import type { ConfigPath } from './config-tree.ts';
import type { AmountReader } from './resolve-tokens.ts';
import { amount, duration, isDuration } from './schema-fields.ts';
import { joined } from './validate.ts';
import { parseValue, writeValue, type ValueRecord } from './value-record.ts';

type SnakeCase<T extends string> = T extends `${infer Head}-${infer Tail}` ? `${Head}_${SnakeCase<Tail>}` : T;

/** The kind of a protection as the file writes it. */
type ProtectionKind = SnakeCase<ProtectionTrigger['kind']>;
const ACTION_WORDS = ['deny', 'reduce_only', 'halt', 'flatten'] as const;
type ActionWord = typeof ACTION_WORDS[number];

/** What one kind is, and what it does where the file does not say. */
interface ProtectionDefaults {
  readonly summary: string;
  readonly scope: 'strategy' | 'token' | 'global';
  /** Why other scopes make no sense, for kinds that cannot have all of them. */
  readonly scopesBecause?: string;
  readonly action: ActionWord;
  /** "cleared", "next_day", "operator" or a span of time; a cooldown says it itself. */
  readonly release: string | undefined;
}

const EQUITY = 'equity is that of a strategy or of all together';

/**
 * Every kind with its defaults: the one table that the schema and its descriptions are made of. What can be combined is
 * the catalogue's to say.
 */
export const PROTECTION_KINDS: { readonly [kind in ProtectionKind]: ProtectionDefaults } = {
  cooldown: {
    summary: 'A pause after a swap closed, with a loss or however.', scope: 'strategy', action: 'deny',
    release: undefined,
  },
  loss_streak: {
    summary: 'So many losing exits in a row, within a span.', scope: 'strategy', action: 'deny', release: '1h',
  },
  low_profit: {
    summary: 'So many exits within a span that together earned less than limit_pct of what they had cost.',
    scope: 'token', action: 'deny', release: '1h',
  },
  max_drawdown: {
    summary: 'Equity so far under its highest ever, which restarts do not forget.',
    scope: 'global', scopesBecause: EQUITY, action: 'reduce_only', release: 'operator',
  },
  daily_loss: {
    summary: 'Equity so far under what it was when the day began, UTC.',
    scope: 'global', scopesBecause: EQUITY, action: 'reduce_only', release: 'next_day',
  },
  fee_budget: {
    summary: 'Network fees of the day, UTC: priority fees, tips and failed swaps included.',
    scope: 'global', scopesBecause: 'fees are paid in SOL whatever is swapped', action: 'reduce_only',
    release: 'next_day',
  },
  stale_feed: {
    summary: 'A feed that a strategy watches has not answered for this long.',
    scope: 'strategy', scopesBecause: 'each strategy watches its own feeds', action: 'deny', release: 'cleared',
  },
  blind_execution: {
    summary: 'This many swaps in a row with an unknown outcome.',
    scope: 'global', scopesBecause: 'an unknown outcome is not a matter of one token', action: 'reduce_only',
    release: 'cleared',
  },
  unresolved_intent: {
    summary: 'A swap whose outcome is unknown for this long.',
    scope: 'strategy', scopesBecause: 'its tokens are locked as it is', action: 'deny', release: 'cleared',
  },
  error_rate: {
    summary: 'So many signed swaps that failed or expired, within a span. What was never signed does not count.',
    scope: 'strategy', action: 'deny', release: '10m',
  },
  reconciliation_mismatch: {
    summary: 'The chain has less than the ledger, and no withdrawal explains it.',
    scope: 'global', scopesBecause: 'the wallet is not one strategy’s', action: 'reduce_only', release: 'operator',
  },
  dead_man: {
    summary: 'No operator was seen for this long.',
    scope: 'global', scopesBecause: 'an operator watches over everything', action: 'reduce_only', release: 'cleared',
  },
};

/** Returns what the catalogue says of a kind. */
function factsOf(kind: ProtectionKind): ProtectionFacts {
  return PROTECTIONS[kind.replaceAll('_', '-') as ProtectionTrigger['kind']];
}

/** Returns a word of the engine as the file writes it. */
function snakeCase(word: string): string {
  return word.replaceAll('-', '_');
}

/** What every protection can say beside its trigger: of each, only what makes sense for the kind. */
function effect(kind: ProtectionKind) {
  const { scope, scopesBecause, action, release } = PROTECTION_KINDS[kind];
  const { scopes, releases: kinds } = factsOf(kind);
  const releases = kinds.map(snakeCase);
  const words = releases.filter((word) => word !== 'elapsed');
  const choice = joined([
    ...words.map((word) => `"${word}"`), words.length < releases.length ? 'a duration such as "30m"' : undefined,
  ]);
  const isRelease = (text: string): boolean =>
    (isDuration(text) ? words.length < releases.length : words.includes(text));
  const because = scopesBecause === undefined ? '' : ` (${scopesBecause})`;
  return {
    scope: z.enum(scopes, { error: `expected ${joined(scopes.map((word) => `"${word}"`))} for ${kind}${because}` })
      .default(scope)
      .meta({ description: 'What it counts together, and what it stops: each strategy, each token, or everything.' }),
    action: z.enum(ACTION_WORDS).default(action)
      .meta({ description: 'deny: no entries. reduce_only: the state in which only exits are allowed. halt: nothing. '
        + 'flatten: what is held is sold, then no entries.' }),
    release: z.string().refine(isRelease, { message: `expected ${choice} for ${kind}` }).optional()
      .meta({
        description:
          `When it is released: ${choice}. Left out, ${release === undefined ? 'after "for"' : `"${release}"`}.`,
        examples: [release ?? 'next_day'],
      }),
  };
}

function kindOf<K extends ProtectionKind, Trigger extends z.core.$ZodLooseShape>(kind: K, trigger: Trigger) {
  return z.strictObject({ kind: z.literal(kind), ...trigger, ...effect(kind) })
    .meta({ description: PROTECTION_KINDS[kind].summary });
}

const within = () => duration('1d').meta({ description: 'The span they are counted in.' });
const count = (description: string) => z.int().min(1).max(1_000).meta({ description });

/** One protection, by its kind. */
export const protectionSchema = z.discriminatedUnion('kind', [
  kindOf('cooldown', {
    after: z.enum(['loss', 'trade']).meta({ description: 'After an exit at a loss, or after any swap.' }),
    for: duration('10m').optional().meta({ description: 'How long the pause lasts; or say "release".' }),
  }),
  kindOf('loss_streak', { losses: count('How many in a row.'), within: within() }),
  kindOf('low_profit', {
    trades: count('How many exits it takes for a judgement.'),
    within: within(),
    limit_pct: z.number().gt(-100).max(1_000).default(0).meta({ description: 'The least they must have earned '
      + 'together, in percent of what they had cost; below zero, what they may lose.' }),
  }),
  kindOf('max_drawdown', { limit_pct: z.number().gt(0).max(100)
    .meta({ description: 'How far, in percent of the highest.' }) }),
  kindOf('daily_loss', { limit: amount('50 USDC')
    .meta({ description: 'How much of the value, in any configured token.' }) }),
  kindOf('fee_budget', { limit: amount('0.05 SOL').meta({ description: 'How much SOL a day.' }) }),
  kindOf('stale_feed', { after: duration('1m').meta({ description: 'How long the silence must be.' }) }),
  kindOf('blind_execution', { unknowns: count('How many in a row.') }),
  kindOf('unresolved_intent', { after: duration('5m').meta({ description: 'How long the outcome may be unknown.' }) }),
  kindOf('error_rate', { failures: count('How many.'), within: within() }),
  kindOf('reconciliation_mismatch', {}),
  kindOf('dead_man', { after: duration('1d').meta({ description: 'How long no operator may be seen.' }) }),
]);
export type ProtectionEntry = z.output<typeof protectionSchema>;

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

/** A protection in a record. */
export type ProtectionRecord = Omit<Protection, 'trigger'> & { readonly trigger: TriggerRecord };
type MoneyTrigger = Extract<ProtectionTrigger, { kind: 'daily-loss' | 'fee-budget' }>;
type TriggerRecord =
  | Exclude<ProtectionTrigger, MoneyTrigger>
  | { readonly kind: 'daily-loss'; readonly limit: ValueRecord }
  | { readonly kind: 'fee-budget'; readonly limitLamports: string };

/** Returns a protection as plain data. */
export function recordProtection({ trigger, ...rest }: Protection): ProtectionRecord {
  if (trigger.kind === 'daily-loss')
    return { ...rest, trigger: { kind: trigger.kind, limit: writeValue(trigger.limit) } };
  if (trigger.kind === 'fee-budget')
    return { ...rest, trigger: { kind: trigger.kind, limitLamports: trigger.limitLamports.toString() } };
  return { ...rest, trigger };
}

/** Returns the protection of a record: the inverse of `recordProtection`. */
export function readProtection({ trigger, ...rest }: ProtectionRecord): Protection {
  if (trigger.kind === 'daily-loss')
    return { ...rest, trigger: { kind: trigger.kind, limit: parseValue(trigger.limit) } };
  if (trigger.kind === 'fee-budget')
    return { ...rest, trigger: { kind: trigger.kind, limitLamports: BigInt(trigger.limitLamports) as Lamports } };
  return { ...rest, trigger };
}
