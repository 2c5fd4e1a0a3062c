import { describe, expect, it } from 'vitest';
import { readLimits, recordLimits } from '../../src/config/risk-limits.ts';
import { PROTECTION_KINDS } from '../../src/config/protection-config.ts';
import { configJsonSchema } from '../../src/config/config-schema.ts';
import type { MintAccount } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { DEFAULT_PROTECTIONS, PROTECTIONS, protectionFault } from '../../src/trading/protections/catalogue.ts';
import { judgeToken } from '../../src/trading/token-safety.ts';
import { USUAL_ALLOWANCES } from '../../src/signer/allowances.ts';
import { configOf, issuesOf } from './load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const protectionsOf = async (yaml: string) =>
  (await configOf(`${WATCH}risk:\n  protections:\n${yaml}`)).limits.protections;

describe('protections', () => {
  it('of the documented examples are read exactly', async () => {
    expect(await protectionsOf(`    - { kind: daily_loss, limit: "50 USDC", action: halt }
    - { kind: max_drawdown, limit_pct: 10, action: reduce_only }
    - { kind: cooldown, after: "loss", for: "10m" }
`)).toEqual([
      {
        trigger: { kind: 'daily-loss', limit: { mint: USDC_MINT, amount: 50_000_000n } }, scope: 'global',
        action: 'halt', release: { kind: 'next-day' },
      },
      {
        trigger: { kind: 'max-drawdown', limitPct: 10 }, scope: 'global', action: 'reduce-only',
        release: { kind: 'operator' },
      },
      {
        trigger: { kind: 'cooldown', after: 'loss' }, scope: 'strategy', action: 'deny',
        release: { kind: 'elapsed', afterMs: 10 * MINUTE },
      },
    ]);
  });

  it('of every other kind are read, with what its kind usually does', async () => {
    expect(await protectionsOf(`    - { kind: loss_streak, losses: 3, within: 1d }
    - { kind: low_profit, trades: 4, within: 2d, limit_pct: -1.5 }
    - { kind: fee_budget, limit: "0.05 SOL" }
    - { kind: stale_feed, after: 1m }
    - { kind: blind_execution, unknowns: 2 }
    - { kind: unresolved_intent, after: 5m }
    - { kind: error_rate, failures: 5, within: 10m }
    - { kind: reconciliation_mismatch }
    - { kind: dead_man, after: 3d }
`)).toEqual([
      {
        trigger: { kind: 'loss-streak', losses: 3, withinMs: DAY }, scope: 'strategy', action: 'deny',
        release: { kind: 'elapsed', afterMs: HOUR },
      },
      {
        trigger: { kind: 'low-profit', trades: 4, withinMs: 2 * DAY, leastBps: -150 }, scope: 'token', action: 'deny',
        release: { kind: 'elapsed', afterMs: HOUR },
      },
      {
        trigger: { kind: 'fee-budget', limitLamports: 50_000_000n }, scope: 'global', action: 'reduce-only',
        release: { kind: 'next-day' },
      },
      {
        trigger: { kind: 'stale-feed', afterMs: MINUTE }, scope: 'strategy', action: 'deny',
        release: { kind: 'cleared' },
      },
      {
        trigger: { kind: 'blind-execution', unknowns: 2 }, scope: 'global', action: 'reduce-only',
        release: { kind: 'cleared' },
      },
      {
        trigger: { kind: 'unresolved-intent', afterMs: 5 * MINUTE }, scope: 'strategy', action: 'deny',
        release: { kind: 'cleared' },
      },
      {
        trigger: { kind: 'error-rate', failures: 5, withinMs: 10 * MINUTE }, scope: 'strategy', action: 'deny',
        release: { kind: 'elapsed', afterMs: 10 * MINUTE },
      },
      {
        trigger: { kind: 'reconciliation-mismatch' }, scope: 'global', action: 'reduce-only',
        release: { kind: 'operator' },
      },
      {
        trigger: { kind: 'dead-man', afterMs: 3 * DAY }, scope: 'global', action: 'reduce-only',
        release: { kind: 'cleared' },
      },
    ]);
  });

  it('may say scope, action and release themselves', async () => {
    expect(await protectionsOf(`    - { kind: cooldown, after: trade, release: next_day, scope: token, action: halt }
    - { kind: max_drawdown, limit_pct: 33.3, scope: strategy, action: flatten, release: 30m }
    - { kind: error_rate, failures: 5, within: 10m, scope: global, action: deny, release: cleared }
`)).toEqual([
      { trigger: { kind: 'cooldown', after: 'trade' }, scope: 'token', action: 'halt', release: { kind: 'next-day' } },
      {
        trigger: { kind: 'max-drawdown', limitPct: 33.3 }, scope: 'strategy', action: 'flatten',
        release: { kind: 'elapsed', afterMs: 30 * MINUTE },
      },
      {
        trigger: { kind: 'error-rate', failures: 5, withinMs: 10 * MINUTE }, scope: 'global', action: 'deny',
        release: { kind: 'cleared' },
      },
    ]);
  });

  it('are the usual ones where there is no list, and none where it is empty', async () => {
    expect((await configOf(WATCH)).limits.protections).toEqual(DEFAULT_PROTECTIONS);
    expect((await configOf(`${WATCH}risk: { protections: [] }\n`)).limits.protections).toEqual([]);
  });

  it('may be of one kind more than once', async () => {
    expect(await protectionsOf(
      '    - { kind: max_drawdown, limit_pct: 10 }\n    - { kind: max_drawdown, limit_pct: 20, action: flatten }\n',
    )).toHaveLength(2);
  });

  it('take max_fees_per_day for a fee budget, in place of the usual one', async () => {
    const budget = {
      trigger: { kind: 'fee-budget', limitLamports: 20_000_000n }, scope: 'global', action: 'reduce-only',
      release: { kind: 'next-day' },
    };
    const usual = (await configOf(`${WATCH}risk: { max_fees_per_day: "0.02 SOL" }\n`)).limits.protections!;
    expect(usual.filter(({ trigger }) => trigger.kind === 'fee-budget')).toEqual([budget]);
    expect(usual).toHaveLength(DEFAULT_PROTECTIONS.length);
    expect((await configOf(`${WATCH}risk: { max_fees_per_day: "0.02 SOL", protections: [] }\n`)).limits.protections)
      .toEqual([budget]);
  });

  it('by default are what the engine can carry out', () => {
    expect(Object.keys(PROTECTION_KINDS).map((kind) => kind.replaceAll('_', '-')).sort())
      .toEqual(Object.keys(PROTECTIONS).sort());
    for (const [kind, { scope, action, release }] of Object.entries(PROTECTION_KINDS)) {
      const trigger = { kind: kind.replaceAll('_', '-') } as Parameters<typeof protectionFault>[0]['trigger'];
      const kindOfRelease = release === undefined || /^\d/.test(release) ? { kind: 'elapsed', afterMs: 1 } as const
        : { kind: release.replaceAll('_', '-') as 'cleared' | 'next-day' | 'operator' };
      expect(
        protectionFault({ trigger, scope, action: action.replaceAll('_', '-') as 'deny', release: kindOfRelease }),
        kind,
      ).toBeUndefined();
    }
  });
});

describe('limits', () => {
  it('of exposure, ages and tokens are read exactly', async () => {
    const { limits, strategies } = await configOf(`tokens: { PEARL: ${PEARL} }
risk:
  max_exposure: "3000 USDC"
  max_quote_age: 2s
  max_quote_age_slots: 8
  max_value_age: 30m
  token_safety: { trusted: [PEARL], min_liquidity_usd: 1.5, min_organic_score: 0, min_holders: 7, 
    max_top_holders_pct: 99.5, max_transfer_fee_bps: 10, allowed_extensions: [transfer_fee, default_account_state],
    valid_for: 1h }
strategies: [{ use: dca, budget: "5 USDC", max_exposure: "4 USDC", warmup: 2h,
  params: { buy: SOL, spend: "1 USDC", every: 10s } }]
`);
    expect(limits).toMatchObject({
      maxExposure: { mint: USDC_MINT, amount: 3_000_000_000n }, maxQuoteAgeMs: 2_000, maxQuoteAgeSlots: 8,
      maxValueAgeMs: 30 * MINUTE,
    });
    expect(limits.tokenSafety).toEqual({
      trusted: new Set([PEARL]), minLiquidityUsd: 1.5, minOrganicScore: 0, minHolders: 7, maxTopHoldersPct: 99.5,
      maxTransferFeeBps: 10, allowedExtensions: new Set(['transfer-fee', 'default-account-state']), validForMs: HOUR,
    });
    expect(strategies[0]).toMatchObject({ maxExposure: { mint: USDC_MINT, amount: 4_000_000n }, warmupMs: 2 * HOUR });
  });

  it('check every token but SOL and USDC, unless they are told not to', async () => {
    expect((await configOf(WATCH)).limits.tokenSafety)
      .toMatchObject({ trusted: new Set([SOL_MINT, USDC_MINT]), minHolders: 1_000, allowedExtensions: new Set() });
    expect((await configOf(`tokens: { WSOL: ${SOL_MINT} }\n${WATCH}`)).limits.tokenSafety?.trusted)
      .toEqual(new Set([SOL_MINT, USDC_MINT]));
    expect((await configOf(`${WATCH}risk: { token_safety: { enabled: false, min_holders: 5 } }\n`)).limits.tokenSafety)
      .toBeUndefined();
  });

  it('allow tokens that are not named only with a budget, and only after checks', async () => {
    const section = 'discovered_tokens: { per_token: "50 USDC", total: "0.5 SOL", min_age: 2h, verified: false }';
    const { limits } = await configOf(`${WATCH}risk: { ${section} }\n`);
    expect(limits.discovered).toEqual({
      perToken: { mint: USDC_MINT, amount: 50_000_000n }, total: { mint: SOL_MINT, amount: 500_000_000n },
      minAgeMs: 2 * HOUR, mustBeVerified: false,
    });
    expect(readLimits(JSON.parse(JSON.stringify(recordLimits(limits))) as never).discovered).toEqual(limits.discovered);
    expect((await configOf(WATCH)).limits.discovered).toBeUndefined();
    expect(await issuesOf(`${WATCH}risk: { token_safety: { enabled: false }, ${section} }\n`)).toEqual([
      expect.stringContaining('risk.discovered_tokens: expected "token_safety" to be enabled'),
    ]);
    expect(await issuesOf(`${WATCH}risk: { discovered_tokens: { per_token: "50 USDC" } }\n`)).toEqual([
      expect.stringContaining('risk.discovered_tokens'),
    ]);
  });

  it('let an extension through that is allowed by its name in the file, and no other', async () => {
    const names = [
      'transfer_fee', 'transfer_hook', 'permanent_delegate', 'default_account_state', 'non_transferable', 'pausable',
      'confidential_transfer', 'confidential_transfer_fee', 'confidential_mint_burn',
    ];
    const record = {
      mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPct: 1, liquidityUsd: 1e9, organicScore: 99,
      holders: 1e6,
    };
    for (const name of names) {
      const account = { extensions: [name.replaceAll('_', '-')] } as unknown as MintAccount;
      const [strict, allowing] = await Promise.all(['', name].map(async (allowed) => (await configOf(
        `${WATCH}risk: { token_safety: { allowed_extensions: [${allowed}] } }\n`,
      )).limits.tokenSafety!));
      expect(judgeToken({ record, account, canBeSold: true }, strict!), name).toHaveLength(1);
      expect(judgeToken({ record, account, canBeSold: true }, allowing!), name).toEqual([]);
    }
  });

  it('are the same after they went through a manifest', async () => {
    const { limits } = await configOf(`${WATCH}risk:
  max_trade: "200 USDC"
  max_position: { SOL: "1000 USDC" }
  max_exposure: "3000 USDC"
  max_quote_age: 2s
  protections:
    - { kind: daily_loss, limit: "50 USDC" }
    - { kind: fee_budget, limit: "1 SOL", scope: strategy }
    - { kind: loss_streak, losses: 3, within: 1d }
`);
    const text = JSON.stringify(recordLimits(limits));
    expect(readLimits(JSON.parse(text) as ReturnType<typeof recordLimits>)).toEqual(limits);
    const defaults = (await configOf(WATCH)).limits;
    expect(readLimits(JSON.parse(JSON.stringify(recordLimits(defaults))) as ReturnType<typeof recordLimits>))
      .toEqual(defaults);
  });

  it('of an older manifest have no protections and check no token', async () => {
    const { limits } = await configOf(WATCH);
    const {
      protections: _, token_safety: __, max_exposure: ___, max_quote_age_ms: ____, max_quote_age_slots: _____,
      max_value_age_ms: ______, ...older
    } = recordLimits(limits);
    expect(readLimits(older)).toEqual({ ...limits, protections: [], tokenSafety: undefined });
  });
});

describe('the signer’s rules', () => {
  it('are read exactly, in smallest units', async () => {
    const { signer } = await configOf(`${WATCH}signer:
  programs: [${PEARL}]
  destinations: [${PEARL}]
  caps: { USDC: { per_trade: "200", per_hour: "1000", per_day: "1000" }, SOL: { per_day: "0.5" } }
  max_tip: "0.0001 SOL"
  fee_accounts: { ${PEARL}: 60 }
`);
    expect(signer).toEqual({
      programs: [PEARL], destinations: [PEARL],
      caps: new Map([
        [USDC_MINT, { perTrade: 200_000_000n, perHour: 1_000_000_000n, perDay: 1_000_000_000n }],
        [SOL_MINT, { perTrade: undefined, perHour: undefined, perDay: 500_000_000n }],
      ]),
      priceGuard: { maxDeviationBps: 150, quoteTtlMs: 5_000, maxQuotesPerMinute: 60_000 },
      allowances: {
        maxTipLamports: 100_000n, maxPriorityFeeLamports: 1_000_000n, feeAccounts: new Map([[PEARL, 60]]),
      },
    });
    expect((await configOf(WATCH)).signer).toMatchObject({
      programs: [], destinations: [], caps: new Map(), allowances: { maxTipLamports: USUAL_ALLOWANCES.maxTipLamports },
    });
    expect((await configOf(`${WATCH}signer: { max_tip: "0 SOL" }\n`)).signer.allowances.maxTipLamports).toBe(0n);
  });

  it('compare swaps with a quote of the signer, by default within slippage and price impact', async () => {
    expect(await priceGuardOf('risk: { max_slippage_bps: 20, max_price_impact_bps: 30 }\n'))
      .toMatchObject({ maxDeviationBps: 50 });
    expect(await priceGuardOf('risk: { max_slippage_bps: 9000, max_price_impact_bps: 9000 }\n'))
      .toMatchObject({ maxDeviationBps: 5_000 });
    expect(await priceGuardOf(
      'signer: { price_guard: { max_deviation_bps: 80, quote_ttl: 2s, max_quotes_per_minute: 9 } }\n',
    )).toEqual({ maxDeviationBps: 80, quoteTtlMs: 2_000, maxQuotesPerMinute: 9 });
  });

  it.each([
    ['max_deviation_bps: 0', 'max_deviation_bps'], ['max_deviation_bps: 5001', 'max_deviation_bps'],
    ['quote_ttl: 61s', 'quote_ttl'], ['quote_ttl: soon', 'quote_ttl'], ['max_quotes_per_minute: 0', 'max_quotes'],
    ['enabled: false', 'enabled'],
  ])('refuse a price guard with %s', async (setting, key) => {
    const issues = await issuesOf(`${WATCH}signer: { price_guard: { ${setting} } }\n`);
    expect(JSON.stringify(issues)).toContain(key);
  });
});

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
  readonly oneOf?: readonly Described[];
  readonly additionalProperties?: boolean | Described;
  readonly const?: string;
}

describe('the JSON schema of what keeps money safe', () => {
  it('describes every key', () => {
    const { properties } = configJsonSchema() as Described;
    const silent: string[] = [];
    const visit = (schema: Described, path: string): void => {
      for (const [key, member] of Object.entries(schema.properties ?? {})) {
        if (member.description === undefined && member.const === undefined && !path.endsWith('max_swaps'))
          silent.push(`${path}.${key}`);
        visit(member, `${path}.${key}`);
      }
      for (const option of schema.oneOf ?? []) visit(option, path);
      if (schema.items !== undefined) visit(schema.items, `${path}[]`);
      if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${path}.*`);
    };
    for (const section of ['risk', 'signer', 'wallet', 'chain']) visit(properties![section]!, section);
    expect(silent).toEqual([]);
  });
});

async function priceGuardOf(text: string): Promise<unknown> {
  return (await configOf(`${WATCH}${text}`)).signer.priceGuard;
}
