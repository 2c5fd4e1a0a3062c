import type { ProtectionTrigger } from '../trading/protection.ts';
import type { ProtectionFacts } from '../trading/protections/catalogue.ts';
import { PROTECTIONS } from '../trading/protections/catalogue.ts';

type SnakeCase<T extends string> = T extends `${infer Head}-${infer Tail}` ? `${Head}_${SnakeCase<Tail>}` : T;

/** The kind of a protection as the file writes it. */
export type ProtectionKind = SnakeCase<ProtectionTrigger['kind']>;
export const ACTION_WORDS = ['deny', 'reduce_only', 'halt', 'flatten'] as const;
export type ActionWord = typeof ACTION_WORDS[number];

/** What one kind is, and what it does where the file does not say. */
export interface ProtectionDefaults {
  readonly summary: string;
  readonly scope: 'strategy' | 'token' | 'global';
  /** Why other scopes make no sense, for kinds that cannot have all of them. */
  readonly scopesBecause?: string;
  readonly action: ActionWord;
  /** "cleared", "next_day", "operator" or a span of time; a cooldown says it itself. */
  readonly release: string | undefined;
}

const EQUITY = 'equity is a strategy’s or everybody’s';

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
    summary: 'A feed that a strategy looks at has not answered for so long.',
    scope: 'strategy', scopesBecause: 'a feed is what a strategy looks at', action: 'deny', release: 'cleared',
  },
  blind_execution: {
    summary: 'So many swaps in a row of which nobody can say what became of them.',
    scope: 'global', scopesBecause: 'who cannot see outcomes cannot see those of any token', action: 'reduce_only',
    release: 'cleared',
  },
  unresolved_intent: {
    summary: 'A swap whose outcome is unknown for so long.',
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
    summary: 'No operator showed himself for so long.',
    scope: 'global', scopesBecause: 'an operator watches over everything', action: 'reduce_only', release: 'cleared',
  },
};

/** Returns what the catalogue says of a kind. */
export function factsOf(kind: ProtectionKind): ProtectionFacts {
  return PROTECTIONS[kind.replaceAll('_', '-') as ProtectionTrigger['kind']];
}

/** Returns a word of the engine as the file writes it. */
export function snakeCase(word: string): string {
  return word.replaceAll('-', '_');
}
