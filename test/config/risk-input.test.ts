import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { issuesOf } from './load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const KINDS = '"cooldown", "loss_streak", "low_profit", "max_drawdown", "daily_loss", "fee_budget", "stale_feed", '
  + '"blind_execution", "unresolved_intent", "error_rate", "reconciliation_mismatch" or "dead_man"';
const EXTENSIONS = '"transfer_fee", "transfer_hook", "permanent_delegate", "default_account_state", '
  + '"non_transferable", "pausable", "confidential_transfer", "confidential_transfer_fee" or "confidential_mint_burn"';
const DURATION = 'expected a duration such as "5s", "250ms" or "1h30m"';

/** Cases of one section each: what stands in the section, and what is said of it without file, line and column. */
type Case = readonly [text: string, ...issues: string[]];

const RISK: readonly Case[] = [
  ['max_exposure: 5', 'risk.max_exposure: expected text such as "3000 USDC", got 5'],
  ['max_exposure: "0 USDC"', 'risk.max_exposure: expected a limit above zero'],
  ['max_exposure: "5 USDT"', 'risk.max_exposure: expected one of SOL, USDC (did you mean USDC?), got "USDT"'],
  ['max_exposur: "5 USDC"', 'risk.max_exposur: unknown key "max_exposur" (did you mean "max_exposure"?)'],
  [
    'max_fees_per_day: "5 USDC"',
    'risk.max_fees_per_day: fees are paid in SOL: expected an amount such as "0.05 SOL", got "5 USDC"',
  ],
  ['max_fees_per_day: "0 SOL"', 'risk.max_fees_per_day: expected a limit above zero'],
  [
    'max_fees_per_day: "1 SOL", protections: [{ kind: fee_budget, limit: "0.05 SOL" }]',
    'risk.max_fees_per_day: risk.protections[0] is a budget for all fees already: keep one of the two',
  ],
  ['max_quote_age: 2', 'risk.max_quote_age: expected text such as "2s", got 2'],
  ['max_quote_age: 0s', `risk.max_quote_age: ${DURATION}, got "0s"`],
  ['max_value_age: soon', `risk.max_value_age: ${DURATION}, got "soon"`],
  ['max_quote_age_slots: 0', 'risk.max_quote_age_slots: expected an integer of 1 to 1000000, got 0'],
  ['max_quote_age_slots: 1.5', 'risk.max_quote_age_slots: expected an integer of 1 to 1000000, got 1.5'],
  ['max_quote_age_slots: -.inf', 'risk.max_quote_age_slots: expected a finite number, got -.inf'],
  ['protections: 5', 'risk.protections: expected a list, got 5'],
  ['protections: [daily_loss]', 'risk.protections[0]: expected a mapping of keys to values, got "daily_loss"'],
  [
    'protections: [{ kind: reconciliation_mismatch }, { kind: reconciliation_mismatch, scope: global }]',
    'risk.protections[1]: expected each protection once, but risk.protections[0] is the same',
  ],
  ['token_safety: off', 'risk.token_safety: expected a mapping such as { enabled: false }, got "off"'],
  [
    'token_safety: { enabled: off }',
    'risk.token_safety.enabled: expected true or false, got "off": YAML 1.2 knows only true and false',
  ],
  [
    'token_safety: { trusted: [SOLL] }',
    'risk.token_safety.trusted[0]: unknown token "SOLL" (did you mean "SOL"?); known are SOL, USDC',
  ],
  [
    'token_safety: { trusted: [SOL, SOL] }',
    'risk.token_safety.trusted[1]: expected each token once, but SOL stands further up already',
  ],
  [
    'token_safety: { min_liquidity_usd: .nan }',
    'risk.token_safety.min_liquidity_usd: expected a finite number, got .nan',
  ],
  [
    'token_safety: { min_liquidity_usd: "5" }',
    'risk.token_safety.min_liquidity_usd: expected a number of at least 0, got "5": write it without quotes',
  ],
  ['token_safety: { min_organic_score: 101, min_holders: -1, max_top_holders_pct: .inf, max_transfer_fee_bps: 1.5, '
    + 'valid_for: 10 }',
    'risk.token_safety.min_organic_score: expected a number of 0 to 100, got 101',
    'risk.token_safety.min_holders: expected an integer of at least 0, got -1',
    'risk.token_safety.max_top_holders_pct: expected a finite number, got .inf',
    'risk.token_safety.max_transfer_fee_bps: expected an integer of 0 to 10000, got 1.5',
    'risk.token_safety.valid_for: expected text such as "10m", got 10'],
  ['token_safety: { allowed_extensions: [transfer_fees, zzz] }',
    `risk.token_safety.allowed_extensions[0]: expected ${EXTENSIONS}, got "transfer_fees" (did you mean `
      + '"transfer_fee"?)',
    `risk.token_safety.allowed_extensions[1]: expected ${EXTENSIONS}, got "zzz"`],
  [
    'token_safety: { max_holder: 1 }',
    'risk.token_safety.max_holder: unknown key "max_holder" (did you mean "min_holders"?)',
  ],
];

const PROTECTION: readonly Case[] = [
  ['{}', `kind: the key "kind" is missing: expected ${KINDS}`],
  ['{ kind: daily_los, limit: "5 USDC" }', `kind: expected ${KINDS}, got "daily_los" (did you mean "daily_loss"?)`],
  ['{ kind: 7 }', `kind: expected ${KINDS}, got 7`],
  ['{ kind: daily_loss }', 'limit: the key "limit" is missing: expected text such as "50 USDC"'],
  ['{ kind: daily_loss, limit: 50 }', 'limit: expected text such as "50 USDC", got 50'],
  ['{ kind: daily_loss, limit: "0 USDC" }', 'limit: expected a limit above zero'],
  ['{ kind: daily_loss, limit: "-5 USDC" }', 'limit: USDC: expected a decimal number such as "1.5", got "-5"'],
  ['{ kind: daily_loss, limit: "NaN USDC" }', 'limit: USDC: expected a decimal number such as "1.5", got "NaN"'],
  [
    '{ kind: daily_loss, limit: "Infinity USDC" }',
    'limit: USDC: expected a decimal number such as "1.5", got "Infinity"',
  ],
  ['{ kind: daily_loss, limit: "5 FISH" }', 'limit: expected one of SOL, USDC, got "FISH"'],
  [
    '{ kind: daily_loss, limit: "5 USDC", after: 1h }',
    'after: unknown key "after"; known here are kind, limit, scope, action, release',
  ],
  ['{ kind: max_drawdown, limit_pct: .nan }', 'limit_pct: expected a finite number, got .nan'],
  ['{ kind: max_drawdown, limit_pct: .inf }', 'limit_pct: expected a finite number, got .inf'],
  ['{ kind: max_drawdown, limit_pct: 0 }', 'limit_pct: expected a number above 0 and of at most 100, got 0'],
  ['{ kind: max_drawdown, limit_pct: -5 }', 'limit_pct: expected a number above 0 and of at most 100, got -5'],
  ['{ kind: max_drawdown, limit_pct: 101 }', 'limit_pct: expected a number above 0 and of at most 100, got 101'],
  [
    '{ kind: max_drawdown, limit_pct: "10" }',
    'limit_pct: expected a number above 0 and of at most 100, got "10": write it without quotes',
  ],
  [
    '{ kind: max_drawdown, limit_pct: 10, scope: token }',
    'scope: expected "strategy" or "global" for max_drawdown (equity is that of a strategy or of all together), got '
      + '"token"',
  ],
  [
    '{ kind: max_drawdown, limit_pct: 10, action: stop }',
    'action: expected "deny", "reduce_only", "halt" or "flatten", got "stop"',
  ],
  [
    '{ kind: max_drawdown, limit_pct: 10, release: later }',
    'release: expected "cleared", "next_day", "operator" or a duration such as "30m" for max_drawdown, got "later"',
  ],
  [
    '{ kind: max_drawdown, limit_pct: 10, release: 30 }',
    'release: expected text such as "operator", got 30: without quotes that is a number, write "30"',
  ],
  [
    '{ kind: max_drawdown, limit_pct: 10, action: flatten, release: cleared }',
    'release: what is sold cannot rise again, so this would never be cleared: write "operator" or a span of time',
  ],
  [
    '{ kind: dead_man, after: 1d, scope: token }',
    'scope: expected "global" for dead_man (an operator watches over everything), got "token"',
  ],
  ['{ kind: dead_man, after: soon }', `after: ${DURATION}, got "soon"`],
  [
    '{ kind: reconciliation_mismatch, scope: strategy }',
    'scope: expected "token" or "global" for reconciliation_mismatch (the wallet is not one strategy’s), got '
      + '"strategy"',
  ],
  ['{ kind: cooldown, after: los, for: 10m }', 'after: expected "loss" or "trade", got "los"'],
  [
    '{ kind: cooldown, after: loss }',
    'for: the key "for" is missing: expected how long the pause lasts, such as "10m"',
  ],
  [
    '{ kind: cooldown, after: loss, for: 10m, release: next_day }',
    'release: expected either "for" or "release", got both',
  ],
  [
    '{ kind: cooldown, after: loss, release: cleared }',
    'release: expected "next_day", "operator" or a duration such as "30m" for cooldown, got "cleared"',
  ],
  [
    '{ kind: cooldown, after: loss, for: 10m, limit: 5 }',
    'limit: unknown key "limit"; known here are kind, after, for, scope, action, release',
  ],
  ['{ kind: loss_streak, losses: 0, within: 1h }', 'losses: expected an integer of 1 to 1000, got 0'],
  ['{ kind: loss_streak, losses: 3 }', 'within: the key "within" is missing: expected text such as "1d"'],
  [
    '{ kind: loss_streak, losses: 3, within: 1h, scope: token, action: flatten }',
    'action: what counts by token may deny, reduce or halt, not flatten',
  ],
  [
    '{ kind: low_profit, trades: 3, within: 1h, limit_pct: -100 }',
    'limit_pct: expected a number above -100 and of at most 1000, got -100',
  ],
  [
    '{ kind: error_rate, failures: many, within: 0s }', 'failures: expected an integer of 1 to 1000, got "many"',
    `within: ${DURATION}, got "0s"`,
  ],
  ['{ kind: blind_execution, unknowns: 2.5 }', 'unknowns: expected an integer of 1 to 1000, got 2.5'],
  ['{ kind: unresolved_intent, after: -1m }', `after: ${DURATION}, got "-1m"`],
  ['{ kind: stale_feed, after: 60 }', 'after: expected text such as "1m", got 60'],
  [
    '{ kind: fee_budget, limit: "5 USDC" }',
    'limit: fees are paid in SOL: expected an amount such as "0.05 SOL", got "5 USDC"',
  ],
];

const SIGNER: readonly Case[] = [
  ['programs: [hello]', 'signer.programs[0]: expected a base58 address of 32 bytes, got "hello"'],
  [`programs: ${PEARL}`, `signer.programs: expected a list, got "Pear99…zfZfij"`],
  [
    `destinations: [${PEARL}, ${PEARL}]`,
    'signer.destinations[1]: expected each address once, but it is that of position 0 too',
  ],
  ['destinations: [5]', 'signer.destinations[0]: expected text, got 5: without quotes that is a number, write "5"'],
  [
    'caps: { USDT: { per_trade: "5" } }',
    'signer.caps.USDT: unknown token "USDT" (did you mean "USDC"?); known are SOL, USDC',
  ],
  ['caps: { USDC: "5" }', 'signer.caps.USDC: expected a mapping of keys to values, got "5"'],
  [
    'caps: { USDC: {} }',
    'signer.caps.USDC: expected at least one of per_trade, per_hour and per_day: without any, nothing is capped',
  ],
  [
    'caps: { USDC: { per_trade: 5 } }',
    'signer.caps.USDC.per_trade: expected text such as "200", got 5: without quotes that is a number, write "5"',
  ],
  [
    'caps: { USDC: { per_week: "5" } }',
    'signer.caps.USDC.per_week: unknown key "per_week"; known here are per_trade, per_hour, per_day',
  ],
  ['caps: { USDC: { per_trade: "0.1234567", per_day: "0" } }',
    'signer.caps.USDC.per_trade: expected at most 6 decimal places, got 7 in "0.1234567"',
    'signer.caps.USDC.per_day: expected a cap above zero; what is not to be spent at all needs no strategy'],
  [
    'caps: { USDC: { per_trade: "1500 raw" } }',
    'signer.caps.USDC.per_trade: expected a decimal number such as "1.5", got "1500 raw"',
  ],
  ['caps: { USDC: { per_trade: "NaN", per_hour: "-1", per_day: "1e3" } }',
    'signer.caps.USDC.per_trade: expected a decimal number such as "1.5", got "NaN"',
    'signer.caps.USDC.per_hour: expected a decimal number such as "1.5", got "-1"',
    'signer.caps.USDC.per_day: expected a decimal number such as "1.5", got "1e3"'],
  ['caps: { USDC: { per_trade: "5", per_hour: "4", per_day: "3" } }',
    'signer.caps.USDC.per_hour: expected at least what per_trade allows, 5, got 4',
    'signer.caps.USDC.per_day: expected at least what per_hour allows, 4, got 3'],
  [
    'caps: { USDC: { per_trade: "5", per_day: "3" } }',
    'signer.caps.USDC.per_day: expected at least what per_trade allows, 5, got 3',
  ],
];

async function said(text: string): Promise<string[]> {
  return (await issuesOf(text)).map((line) => line.replace(/^bot\.yaml:\d+:\d+ /, ''));
}

describe('a faulty section', () => {
  it.each(RISK)('risk: { %s } is refused', async (text, ...issues) => {
    expect(await said(`${WATCH}risk: { ${text} }\n`)).toEqual(issues);
  });

  it.each(PROTECTION)('the protection %s is refused', async (text, ...issues) => {
    expect(await said(`${WATCH}risk: { protections: [${text}] }\n`))
      .toEqual(issues.map((issue) => `risk.protections[0].${issue}`));
  });

  it.each(SIGNER)('signer: { %s } is refused', async (text, ...issues) => {
    expect(await said(`${WATCH}signer: { ${text} }\n`)).toEqual(issues);
  });

  it('of a strategy is refused', async () => {
    expect(await said('strategies: [{ use: book-watch, max_exposure: "5 USDC", warmup: soon, params: { market: TIDE, '
      + 'level: 0.6, rearm: 0.5 } }]\n')).toEqual([
      'strategies[0].max_exposure: without a budget it holds nothing that could be worth too much: add a "budget", or '
        + 'remove the key',
      `strategies[0].warmup: ${DURATION}, got "soon"`,
    ]);
  });
});

describe('faults of several protections', () => {
  it('are said together, each at its own line, and hide nothing else of the section', async () => {
    expect(await issuesOf(`${WATCH}risk:
  max_trade: "0 USDC"
  protections:
    - { kind: daily_loss, limit: "5 USDT" }
    - { kind: tide }
    - { kind: stale_feed, after: 1m }
    - { kind: fee_budget, limit: "0 SOL" }
`)).toEqual([
      'bot.yaml:3:14 risk.max_trade: expected a limit above zero',
      'bot.yaml:5:34 risk.protections[0].limit: expected one of SOL, USDC (did you mean USDC?), got "USDT"',
      `bot.yaml:6:15 risk.protections[1].kind: expected ${KINDS}, got "tide"`,
      'bot.yaml:8:34 risk.protections[3].limit: expected a limit above zero',
    ]);
  });
});

describe('a wallet’s key among the signer’s rules', () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => (i * 41 + 7) % 256);
  const base58 = bs58.encode(bytes);

  it.each([
    ['signer.destinations[0]', `destinations: ["${base58}"]`], ['signer.programs[0]', `programs: ["${base58}"]`],
    ['signer.destinations', `destinations: [${[...bytes].join(', ')}]`],
    ['signer.caps.USDC.per_trade', `caps: { USDC: { per_trade: "${base58}" } }`],
  ])('is refused at %s and never repeated', async (path, text) => {
    const lines = await issuesOf(`${WATCH}signer: { ${text} }\n`);
    expect(lines).toEqual([
      expect.stringContaining(`${path}: this has the form of a wallet’s key, and a configuration never holds one`),
    ]);
    expect(lines.join()).not.toContain(base58.slice(0, 12));
    expect(lines.join()).not.toContain([...bytes].slice(0, 4).join(', '));
  });
});
