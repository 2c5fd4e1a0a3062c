import type { DenialCode } from '../denials.ts';
import type {
  Protection, ProtectionAction, ProtectionRelease, ProtectionScope, ProtectionTrigger,
} from '../protection.ts';

export type ProtectionKind = ProtectionTrigger['kind'];

/** What can be asked of one kind of protection. */
export interface ProtectionFacts {
  /** Under which entries are refused while it is on; exits, where it halts, as TRADING_HALTED. */
  readonly code: DenialCode;
  readonly scopes: readonly ProtectionScope[];
  readonly releases: readonly ProtectionRelease['kind'][];
  /** What an `elapsed`, `next-day` or `operator` release begins anew. */
  readonly begins: string;
}

const ALL_SCOPES = ['strategy', 'token', 'global'] as const;
const WIDE_SCOPES = ['strategy', 'global'] as const;
const ALL_RELEASES = ['elapsed', 'cleared', 'next-day', 'operator'] as const;
/** A swap that closed stays closed: this condition never ends by itself. */
const TIMED_RELEASES = ['elapsed', 'next-day', 'operator'] as const;

/** Every kind of protection with what it can be combined with; any may `deny`, `reduce-only` or `halt`. */
export const PROTECTIONS: Readonly<Record<ProtectionKind, ProtectionFacts>> = {
  cooldown: { code: 'COOLDOWN_ACTIVE', scopes: ALL_SCOPES, releases: TIMED_RELEASES, begins: 'only later swaps count' },
  'loss-streak': { code: 'LOSS_STREAK', scopes: ALL_SCOPES, releases: ALL_RELEASES, begins: 'only later exits count' },
  'low-profit': {
    code: 'PROFIT_TOO_LOW', scopes: ALL_SCOPES, releases: ALL_RELEASES, begins: 'only later exits count',
  },
  'max-drawdown': {
    code: 'DRAWDOWN_EXCEEDS_MAX', scopes: WIDE_SCOPES, releases: ALL_RELEASES,
    begins: 'the highest is what there is then',
  },
  'daily-loss': {
    code: 'DAILY_LOSS_EXCEEDS_MAX', scopes: WIDE_SCOPES, releases: ALL_RELEASES,
    begins: 'the day begins with what there is then',
  },
  'fee-budget': {
    code: 'FEE_BUDGET_EXCEEDED', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'only later fees count',
  },
  'stale-feed': {
    code: 'FEED_STALE', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'the silence is counted from then',
  },
  'blind-execution': {
    code: 'EXECUTION_BLIND', scopes: WIDE_SCOPES, releases: ALL_RELEASES, begins: 'the count is zero',
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
    begins: 'what is missing is forgotten',
  },
  'dead-man': {
    code: 'OPERATOR_ABSENT', scopes: ['global'], releases: ALL_RELEASES, begins: 'the absence is counted from then',
  },
};

/** What each action does. */
export const ACTIONS: Readonly<Record<ProtectionAction, string>> = {
  deny: 'refuses entries of its scope',
  'reduce-only': 'refuses entries of its scope, and the trading state says so',
  flatten: 'refuses entries and sells what the strategies of its scope hold',
  halt: 'refuses entries and exits of its scope, as TRADING_HALTED; what an operator orders to be flattened goes out '
    + 'all the same',
};

/** When each release lets go. */
export const RELEASES: Readonly<Record<ProtectionRelease['kind'], string>> = {
  elapsed: 'so long after it came on; what had brought it on no longer counts',
  cleared: 'as soon as its condition no longer holds',
  'next-day': 'at the next midnight, UTC; what had brought it on no longer counts',
  operator: 'when an operator resumes: everything, or the strategy alone; what had brought it on no longer counts',
};

/** Returns why a protection cannot be carried out as asked, undefined where it can. */
export function protectionFault({ trigger: { kind }, scope, action, release }: Protection): string | undefined {
  const { scopes, releases } = PROTECTIONS[kind];
  if (!scopes.includes(scope)) return `${kind} counts by ${scopes.join(' or ')}, not by ${scope}`;
  if (!releases.includes(release.kind)) return `${kind} lets go by ${releases.join(', ')}, not by ${release.kind}`;
  // A strategy is flattened as a whole: there is no half of it that goes on.
  return scope === 'token' && action === 'flatten'
    ? 'what counts by token may deny, reduce or halt, not flatten' : undefined;
}
