import { describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Mint, MintAccount } from '../../src/market/token.ts';
import type { DiscoveredLimits, TokenSafetyLimits } from '../../src/trading/limits.ts';
import type { TokenFacts } from '../../src/trading/token-safety.ts';
import { TOKEN_FINDINGS, judgeDiscovered, judgeToken } from '../../src/trading/token-safety.ts';

const MINT = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const LIMITS: TokenSafetyLimits = {
  trusted: new Set(), minLiquidityUsd: 10_000, minOrganicScore: 20, minHolders: 500, maxTopHoldersPct: 50,
  maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set(), validForMs: 600_000,
};
const ACCOUNT: MintAccount = { mint: MINT, tokenProgram: 'program', decimals: 6, supply: 1n, extensions: [] };
const RECORD = {
  mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPct: 18, liquidityUsd: 900_000,
  organicScore: 92, holders: 180_000,
} as const;
const GOOD: TokenFacts = { record: RECORD, account: ACCOUNT, canBeSold: true };

const withRecord = (change: Partial<NonNullable<TokenFacts['record']>>): TokenFacts =>
  ({ ...GOOD, record: { ...RECORD, ...change } });
const withAccount = (change: Partial<MintAccount>): TokenFacts => ({ ...GOOD, account: { ...ACCOUNT, ...change } });

/** Each fact that is bad, with the one finding it must lead to. */
const BAD: readonly (readonly [name: string, facts: TokenFacts, finding: keyof typeof TOKEN_FINDINGS])[] = [
  ['called suspicious, though all else is well', withRecord({ isSuspicious: true }), 'TOKEN_SUSPICIOUS'],
  [
    'mint authority: the service does not say', withRecord({ mintAuthorityDisabled: undefined }),
    'TOKEN_MINT_AUTHORITY',
  ],
  [
    'mint authority: the service says that it is there', withRecord({ mintAuthorityDisabled: false }),
    'TOKEN_MINT_AUTHORITY',
  ],
  [
    'mint authority: the service denies what the chain has', withAccount({ mintAuthority: 'anAuthority' }),
    'TOKEN_MINT_AUTHORITY',
  ],
  [
    'freeze authority: the service does not say', withRecord({ freezeAuthorityDisabled: undefined }),
    'TOKEN_FREEZE_AUTHORITY',
  ],
  [
    'freeze authority: the service denies what the chain has', withAccount({ freezeAuthority: 'anAuthority' }),
    'TOKEN_FREEZE_AUTHORITY',
  ],
  ['holders: unknown share', withRecord({ topHoldersPct: undefined }), 'TOKEN_HOLDERS_CONCENTRATED'],
  ['holders: too much', withRecord({ topHoldersPct: 50.1 }), 'TOKEN_HOLDERS_CONCENTRATED'],
  ['holders: no number', withRecord({ topHoldersPct: Number.NaN }), 'TOKEN_HOLDERS_CONCENTRATED'],
  ['holders: less than nothing', withRecord({ topHoldersPct: -1 }), 'TOKEN_HOLDERS_CONCENTRATED'],
  ['holders: few', withRecord({ holders: 499 }), 'TOKEN_HOLDERS_FEW'],
  ['holders: unknown number', withRecord({ holders: undefined }), 'TOKEN_HOLDERS_FEW'],
  ['liquidity: low', withRecord({ liquidityUsd: 9_999 }), 'TOKEN_LIQUIDITY_LOW'],
  ['liquidity: no number', withRecord({ liquidityUsd: Number.NaN }), 'TOKEN_LIQUIDITY_LOW'],
  ['liquidity: unknown', withRecord({ liquidityUsd: undefined }), 'TOKEN_LIQUIDITY_LOW'],
  ['score: low', withRecord({ organicScore: 19.9 }), 'TOKEN_SCORE_LOW'],
  ['score: beyond its scale', withRecord({ organicScore: 101 }), 'TOKEN_SCORE_LOW'],
  ['score: no number', withRecord({ organicScore: Number.NaN }), 'TOKEN_SCORE_LOW'],
  ['permanent delegate', withAccount({ extensions: ['permanent-delegate'] }), 'TOKEN_PERMANENT_DELEGATE'],
  ['frozen by default', withAccount({ extensions: ['default-account-state'] }), 'TOKEN_FROZEN_BY_DEFAULT'],
  ['not transferable', withAccount({ extensions: ['non-transferable'] }), 'TOKEN_NON_TRANSFERABLE'],
  ['a hook', withAccount({ extensions: ['transfer-hook'] }), 'TOKEN_TRANSFER_HOOK'],
  ['pausable', withAccount({ extensions: ['pausable'] }), 'TOKEN_PAUSABLE'],
  ['confidential transfers', withAccount({ extensions: ['confidential-transfer'] }), 'TOKEN_EXTENSION_UNKNOWN'],
  ['an extension of tomorrow', withAccount({ extensions: ['metadata', 'unknown-77'] }), 'TOKEN_EXTENSION_UNKNOWN'],
  [
    'a transfer fee', withAccount({ extensions: ['transfer-fee'], transferFee: { bps: 1, maximum: 1n } }),
    'TOKEN_TRANSFER_FEE',
  ],
  ['a transfer fee of zero that can be raised', withAccount({
    extensions: ['transfer-fee'], transferFee: { bps: 0, maximum: 1n, authority: 'anAuthority' },
  }), 'TOKEN_TRANSFER_FEE'],
  ['no quote for selling', { ...GOOD, canBeSold: false }, 'TOKEN_UNSELLABLE'],
  ['no quote was requested', { ...GOOD, canBeSold: undefined }, 'TOKEN_UNSELLABLE'],
  ['no mint account', { ...GOOD, account: undefined }, 'TOKEN_ACCOUNT_UNREAD'],
];

const DAY = 86_400_000;
const KNOWN = withRecord({ decimals: 6, isVerified: true, firstPoolAt: 10 * DAY });
const changed = (record: Partial<NonNullable<TokenFacts['record']>>): TokenFacts =>
  ({ ...KNOWN, record: { ...KNOWN.record, ...record } });

/** What is bad about a token that is not configured, with the one finding it must lead to. */
const BAD_DISCOVERED: typeof BAD = [
  ['other decimals', changed({ decimals: 9 }), 'TOKEN_DECIMALS_DIFFER'],
  ['no decimals', changed({ decimals: undefined }), 'TOKEN_DECIMALS_DIFFER'],
  ['no mint account', { ...KNOWN, account: undefined }, 'TOKEN_DECIMALS_DIFFER'],
  ['no verification', changed({ isVerified: undefined }), 'TOKEN_UNVERIFIED'],
  ['a first pool of today', changed({ firstPoolAt: 10 * DAY + 1 }), 'TOKEN_TOO_YOUNG'],
  ['a first pool of tomorrow', changed({ firstPoolAt: 12 * DAY }), 'TOKEN_TOO_YOUNG'],
  ['no first pool', changed({ firstPoolAt: undefined }), 'TOKEN_TOO_YOUNG'],
  ['a first pool without a time', changed({ firstPoolAt: Number.NaN }), 'TOKEN_TOO_YOUNG'],
];

describe('the safety check of a token', () => {
  it('has no findings for a safe token with descriptive extensions', () => {
    expect(judgeToken(GOOD, LIMITS)).toStrictEqual([]);
    expect(judgeToken(withAccount({ extensions: ['metadata', 'metadata-pointer', 'interest-bearing'] }), LIMITS))
      .toStrictEqual([]);
  });

  it.each(BAD)('finds a fault: %s', (_name, facts, finding) => {
    expect(judgeToken(facts, LIMITS)).toStrictEqual([finding]);
  });

  it('counts every missing fact as a fault', () => {
    expect(judgeToken({}, LIMITS)).toStrictEqual(['TOKEN_RECORD_MISSING', 'TOKEN_ACCOUNT_UNREAD', 'TOKEN_UNSELLABLE']);
    expect(judgeToken({ ...GOOD, record: {} }, LIMITS)).toStrictEqual([
      'TOKEN_LIQUIDITY_LOW', 'TOKEN_SCORE_LOW', 'TOKEN_HOLDERS_FEW', 'TOKEN_HOLDERS_CONCENTRATED',
      'TOKEN_MINT_AUTHORITY', 'TOKEN_FREEZE_AUTHORITY',
    ]);
  });

  it('allows an extension by name, and a fixed fee within the limit', () => {
    const allowed = { ...LIMITS, allowedExtensions: new Set(['transfer-hook']), maxTransferFeeBps: 50 as Bps };
    expect(judgeToken(
      withAccount({ extensions: ['transfer-hook', 'transfer-fee'], transferFee: { bps: 50, maximum: 1n } }), allowed,
    )).toStrictEqual([]);
  });

  it('has a test case for every finding', () => {
    const met = new Set([...[...BAD, ...BAD_DISCOVERED].map(([, , finding]) => finding), 'TOKEN_RECORD_MISSING']);
    expect(Object.keys(TOKEN_FINDINGS).filter((finding) => !met.has(finding as keyof typeof TOKEN_FINDINGS)))
      .toStrictEqual([]);
  });
});

describe('a token that the configuration does not name', () => {
  const limits: DiscoveredLimits = {
    perToken: { mint: MINT, amount: 1n as Amount }, total: { mint: MINT, amount: 1n as Amount }, minAgeMs: DAY,
    mustBeVerified: true,
  };

  it('has no finding where record and chain agree, it is verified, and old enough', () => {
    expect(judgeDiscovered(KNOWN, limits, 11 * DAY)).toEqual([]);
    expect(judgeDiscovered(changed({ isVerified: undefined }), { ...limits, mustBeVerified: false }, 11 * DAY))
      .toEqual([]);
  });

  it.each(BAD_DISCOVERED)('has one for %s', (_name, facts, finding) => {
    expect(judgeDiscovered(facts, limits, 11 * DAY)).toEqual([finding]);
  });
});
