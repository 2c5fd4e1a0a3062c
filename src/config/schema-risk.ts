import { z } from 'zod';
import type { ProtectionTrigger } from '../trading/limits.ts';
import type { ProtectionFacts } from '../trading/protections/catalogue.ts';
import { PROTECTIONS } from '../trading/protections/catalogue.ts';
import { amount, bps, duration, isDuration } from './schema-fields.ts';
import { joined } from './validate.ts';

type SnakeCase<T extends string> = T extends `${infer Head}-${infer Tail}` ? `${Head}_${SnakeCase<Tail>}` : T;

/** The kind of a protection as the file writes it. */
type ProtectionKind = SnakeCase<ProtectionTrigger['kind']>;
const ACTION_WORDS = ['deny', 'reduce_only', 'halt', 'flatten'] as const;
export type ActionWord = typeof ACTION_WORDS[number];

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

const maxSwaps = z.strictObject({
  per_minute: z.int().min(1).default(6),
  per_hour: z.int().min(1).default(60),
  per_day: z.int().min(1).default(300),
}).meta({ description: 'How many swaps all strategies together may begin.' });

/** Extensions that give an issuer power over a holder, or hide transfers; all others are always allowed. */
const POWERFUL_EXTENSIONS = [
  'transfer_fee', 'transfer_hook', 'permanent_delegate', 'default_account_state', 'non_transferable', 'pausable',
  'confidential_transfer', 'confidential_transfer_fee', 'confidential_mint_burn',
] as const;

const tokenSafety = z.strictObject({
  enabled: z.boolean().default(true)
    .meta({ description: 'false: every token that a strategy names is bought, a fraudulent one too.' }),
  trusted: z.array(z.string().min(1)).optional()
    .meta({
      description: 'Tokens of this file that are not checked: their issuer is trusted. Left out, SOL and USDC.',
      examples: [['SOL', 'USDC']],
    }),
  min_liquidity_usd: z.number().min(0).default(100_000).meta({ description: 'The least liquidity, in US dollars.' }),
  min_organic_score: z.number().min(0).max(100).default(50).meta({ description: 'The least organic score, 0 to 100.' }),
  min_holders: z.int().min(0).default(1_000).meta({ description: 'The least number of holders.' }),
  max_top_holders_pct: z.number().min(0).max(100).default(50)
    .meta({ description: 'The most that its largest holders may own together, in percent.' }),
  max_transfer_fee_bps: bps().default(0)
    .meta({ description: 'The most that the token itself may keep of a transfer, in hundredths of a percent.' }),
  allowed_extensions: z.array(z.enum(POWERFUL_EXTENSIONS)).default([])
    .meta({
      description: 'Extensions of a Token-2022 mint that are allowed beside the harmless ones, whatever they allow '
        + 'their issuer.',
      examples: [['transfer_fee']],
    }),
  valid_for: duration('10m').default('10m').meta({ description: 'How long the check of a token holds.' }),
}, { error: ({ code }) => (code === 'invalid_type' ? 'expected a mapping such as { enabled: false }' : undefined) })
  .meta({
  description: 'What a token must be to be bought. An unknown property counts as bad; a sale is always allowed.',
});

/** The section "risk". */
export const riskSchema = z.strictObject({
  max_slippage_bps: bps().default(50)
    .meta({ description: 'The most slippage a swap may be given, in hundredths of a percent.' }),
  max_price_impact_bps: bps().default(100).meta({ description: 'The most that a swap may move the price.' }),
  max_fee_bps: bps().default(30).meta({ description: 'The most that the service may take of a swap.' }),
  max_trade: amount('200 USDC').optional().meta({ description: 'The largest single swap, by value.' }),
  max_position: z.record(z.string(), amount('1000 USDC')).default({})
    .meta({ description: 'The largest holding of a token, by value: { SOL: "1000 USDC" }.' }),
  max_exposure: amount('3000 USDC').optional()
    .meta({ description: 'What all positions together may be worth, with what is under way and reserved.' }),
  max_open_intents: z.int().min(1).max(100).default(1)
    .meta({ description: 'How many swaps may be under way at once.' }),
  max_swaps: maxSwaps.prefault({}),
  max_fees_per_day: amount('0.05 SOL').optional()
    .meta({ description: 'Network fees of a day, UTC, after which nothing is entered: the short form of a fee_budget '
      + 'among the protections.' }),
  max_quote_age: duration('2s').optional()
    .meta({ description: 'How old the newest price of a pair may be for an entry, and the quote that is signed.' }),
  max_quote_age_slots: z.int().min(1).max(1_000_000).optional()
    .meta({ description: 'How many slots behind the chain a quote may be that is signed.', examples: [10] }),
  max_value_age: duration('2h').optional()
    .meta({
      description: 'How old a price may be with which something is held against a limit on its value. Left out, 2h.',
    }),
  protections: z.array(protectionSchema).optional()
    .meta({ description:
      'What stops trading when it goes wrong. Left out, a set of sensible ones; [] means none, on purpose.' }),
  token_safety: tokenSafety.prefault({}),
}).meta({ description: 'What no strategy may exceed.' });
