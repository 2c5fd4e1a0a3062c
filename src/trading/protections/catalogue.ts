import type { Lamports } from '../../core/amount.ts';
import { assert } from '../../core/assert.ts';
import type { DenialCode, Protection, ProtectionRelease, ProtectionScope, ProtectionTrigger } from '../limits.ts';

type ProtectionKind = ProtectionTrigger['kind'];

/** The options of one kind of protection. */
export interface ProtectionFacts {
  /** The denial code of entries while it is triggered. Exits that a halt refuses have TRADING_HALTED. */
  readonly code: DenialCode;
  readonly scopes: readonly ProtectionScope[];
  readonly releases: readonly ProtectionRelease['kind'][];
  /** What an `elapsed`, `next-day` or `operator` release resets. */
  readonly begins: string;
}

const ALL_SCOPES = ['strategy', 'token', 'global'] as const;
const WIDE_SCOPES = ['strategy', 'global'] as const;
const ALL_RELEASES = ['elapsed', 'cleared', 'next-day', 'operator'] as const;
/** The condition of a closed swap never ends by itself. */
const TIMED_RELEASES = ['elapsed', 'next-day', 'operator'] as const;

/** Every kind of protection with its options; each may `deny`, `reduce-only` or `halt`. */
export const PROTECTIONS: Readonly<Record<ProtectionKind, ProtectionFacts>> = {
  cooldown: { code: 'COOLDOWN_ACTIVE', scopes: ALL_SCOPES, releases: TIMED_RELEASES, begins: 'only later swaps count' },
  'loss-streak': { code: 'LOSS_STREAK', scopes: ALL_SCOPES, releases: ALL_RELEASES, begins: 'only later exits count' },
  'low-profit': {
    code: 'PROFIT_TOO_LOW', scopes: ALL_SCOPES, releases: ALL_RELEASES, begins: 'only later exits count',
  },
  'max-drawdown': {
    code: 'DRAWDOWN_EXCEEDS_MAX', scopes: WIDE_SCOPES, releases: ALL_RELEASES,
    begins: 'the peak is the equity at that time',
  },
  'daily-loss': {
    code: 'DAILY_LOSS_EXCEEDS_MAX', scopes: WIDE_SCOPES, releases: ALL_RELEASES,
    begins: 'the day begins with the equity at that time',
  },
  'fee-budget': {
    code: 'FEE_BUDGET_EXCEEDED', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'only later fees count',
  },
  'stale-feed': {
    code: 'FEED_STALE', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'the silence is counted from that time',
  },
  'blind-execution': {
    code: 'EXECUTION_BLIND', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'the count starts at zero',
  },
  'unresolved-intent': {
    code: 'INTENT_UNRESOLVED', scopes: WIDE_SCOPES, releases: ALL_RELEASES,
    begins: 'only swaps that become unknown later count',
  },
  'error-rate': {
    code: 'ERROR_RATE_EXCEEDS_MAX', scopes: ALL_SCOPES, releases: ALL_RELEASES, begins: 'only later failures count',
  },
  'reconciliation-mismatch': {
    code: 'LEDGER_MISMATCH', scopes: ['token', 'global'], releases: ALL_RELEASES,
    begins: 'the missing amount is forgotten',
  },
  'dead-man': {
    code: 'OPERATOR_ABSENT', scopes: ['global'], releases: ALL_RELEASES,
    begins: 'the absence is counted from that time',
  },
};

/** Returns why a protection's options cannot be combined, undefined where they can. */
export function protectionFault({ trigger: { kind }, scope, action, release }: Protection): string | undefined {
  const { scopes, releases } = PROTECTIONS[kind];
  if (!scopes.includes(scope)) return `${kind} counts by ${scopes.join(' or ')}, not by ${scope}`;
  if (!releases.includes(release.kind)) return `${kind} is released by ${releases.join(', ')}, not by ${release.kind}`;
  // A strategy is flattened as a whole, not for one token.
  return scope === 'token' && action === 'flatten'
    ? 'what counts by token may deny, reduce or halt, not flatten' : undefined;
}

/** A configured protection with its number among those of its kind and scope, by which a restart finds it again. */
export interface ProtectionRule {
  readonly protection: Protection;
  readonly code: DenialCode;
  /** `<kind>:<scope>`. */
  readonly family: string;
  /** From 1, within the family. */
  readonly number: number;
  /** Whether prices or time alone can trigger it; others are triggered by outcomes and commands. */
  readonly isTimely: boolean;
  /** Whether only the records of its subject can trigger it. */
  readonly isOfSwaps: boolean;
  /** Whether only a swap of unknown outcome can trigger it. */
  readonly isOfUnknown: boolean;
  readonly isOfDrawdown: boolean;
  /** Of `max-drawdown`: the least loss that triggers it, in millionths of the peak. */
  readonly drawdownLimit: bigint;
}

const TIMELY: ReadonlySet<ProtectionKind> =
  new Set(['max-drawdown', 'daily-loss', 'stale-feed', 'unresolved-intent', 'dead-man']);
const OF_EQUITY: ReadonlySet<ProtectionKind> = new Set(['max-drawdown', 'daily-loss']);

/** Returns the configured protections, each with its number. Throws AssertionError on options that do not fit. */
export function rulesOf(protections: readonly Protection[]): ProtectionRule[] {
  const counts = new Map<string, number>();
  return protections.map((protection) => {
    const fault = protectionFault(protection);
    assert(fault === undefined, () => fault ?? '');
    const { trigger: { kind }, scope } = protection;
    const family = `${kind}:${scope}`;
    const number = (counts.get(family) ?? 0) + 1;
    counts.set(family, number);
    const isTimely = TIMELY.has(kind);
    return {
      protection, code: PROTECTIONS[kind].code, family, number, isTimely,
      isOfSwaps: !isTimely && kind !== 'reconciliation-mismatch', isOfUnknown: kind === 'unresolved-intent',
      isOfDrawdown: kind === 'max-drawdown', drawdownLimit: drawdownLimitOf(protection),
    };
  });
}

/** Returns the limit of a drawdown in millionths; 0 where it is NaN, so that every loss triggers it. */
function drawdownLimitOf({ trigger }: Protection): bigint {
  return trigger.kind === 'max-drawdown' && Number.isFinite(trigger.limitPct)
    ? BigInt(Math.round(trigger.limitPct * 10_000)) : 0n;
}

/** Returns whether a protection depends on equity. */
export function isOfEquity({ trigger: { kind } }: Protection): boolean {
  return OF_EQUITY.has(kind);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The protections of a configuration that sets none, against what no strategy intends. Pauses, profit targets, absolute
 * losses and the `dead-man` protection depend on the operator, so they have no default.
 */
export const DEFAULT_PROTECTIONS: readonly Protection[] = [
  {
    trigger: { kind: 'max-drawdown', limitPct: 25 }, scope: 'strategy', action: 'reduce-only',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'max-drawdown', limitPct: 20 }, scope: 'global', action: 'reduce-only',
    release: { kind: 'operator' },
  },
  {
    trigger: { kind: 'loss-streak', losses: 20, withinMs: DAY }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: HOUR },
  },
  {
    trigger: { kind: 'fee-budget', limitLamports: 250_000_000n as Lamports }, scope: 'global', action: 'reduce-only',
    release: { kind: 'next-day' },
  },
  {
    trigger: { kind: 'stale-feed', afterMs: 2 * HOUR }, scope: 'strategy', action: 'deny', release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'blind-execution', unknowns: 3 }, scope: 'global', action: 'reduce-only',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'unresolved-intent', afterMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'cleared' },
  },
  {
    trigger: { kind: 'error-rate', failures: 20, withinMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
    release: { kind: 'elapsed', afterMs: 10 * MINUTE },
  },
  {
    trigger: { kind: 'reconciliation-mismatch' }, scope: 'global', action: 'reduce-only', release: { kind: 'operator' },
  },
];
