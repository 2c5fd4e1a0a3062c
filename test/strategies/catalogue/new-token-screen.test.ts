import { describe, expect, it } from 'vitest';
import newTokenScreen from '../../../strategies/new-token-screen.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { Bps } from '../../../src/core/amount.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { Mint, Token, TokenRecord } from '../../../src/strategy/index.ts';
import type { RiskLimits } from '../../../src/trading/limits.ts';
import { quote } from '../../market/events.ts';
import { FISH, KELP, SOL, USDC } from '../../market/tokens.ts';
import { listOf, recordOf } from '../proofs/market-events.ts';
import { trial } from './trial.ts';

const HOUR = 3_600_000;
/** Tokens that no configuration names. */
const NEW: Token = { mint: 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint, symbol: 'NEW', decimals: 6 };
const NEWER: Token = { mint: 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4' as Mint, symbol: 'NEWER', decimals: 6 };
const TRADE = { spend: '25 USDC', hold: '10m', max_positions: 2 };

/** Allows purchases of what the configuration does not name, for 50 USDC each. */
const usdc = (whole: bigint) => ({ mint: USDC.mint, amount: (whole * 1_000_000n) as never });
const ALLOWED: Partial<RiskLimits> = {
  tokenSafety: {
    trusted: new Set([SOL.mint, USDC.mint]), minLiquidityUsd: 0, minOrganicScore: 0, minHolders: 0,
    maxTopHoldersPct: 100, maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set<string>(), validForMs: HOUR,
  },
  discovered: { perToken: usdc(50n), total: usdc(100n), minAgeMs: 0, mustBeVerified: false },
};

const GOOD: TokenRecord['values'] = {
  'liquidity': 20_000, 'holderCount': 200, 'organicScore': 50, '5m.buyVolume': 600, '5m.sellVolume': 400,
  '1h.buyVolume': 2_500, '1h.sellVolume': 1_500, '1h.buyOrganicVolume': 250,
};
const AUDIT: TokenRecord['audit'] = {
  mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPercentage: 30, devBalancePercentage: 5,
};
/** A record that only just passes every filter: 1,000 in five minutes are three twelfths of 4,000 in an hour. */
const passing = (token: Token, at: number, change: Partial<TokenRecord> = {}): TokenRecord =>
  recordOf(token, at, { firstPool: { createdAt: at - HOUR }, values: GOOD, audit: AUDIT, ...change });
const listed = (second: number, ...tokens: readonly Token[]): MarketEvent =>
  listOf(tokens.map((token) => passing(token, second * 1_000)), second * 1_000);
/** The price of a token in dollars, for 25 USDC. */
const price = (token: Token, usd: number, second: number): MarketEvent => quote(USDC, token, {
  inAmount: 25_000_000n, outAmount: BigInt(Math.round((25 / usd) * 10 ** token.decimals)), at: second * 1_000,
});
const checked = (run: ReturnType<typeof trial>, ...tokens: readonly Token[]): ReturnType<typeof trial> => {
  for (const { mint } of tokens) {
    run.run.engine.accept(
      { kind: 'command', name: 'judge-token', mint, findings: [], reason: 'a test' }, run.run.engine.clock.now());
  }
  return run;
};
const swaps = (said: readonly string[]): string[] => said.filter((text) => text.includes('>'));

describe('a screen of new tokens', () => {
  it('tells each token that passes once, whenever the list has it', () => {
    const shown = [listed(1, FISH), listed(2, FISH, KELP), listed(3), listed(4, KELP, FISH)];
    expect(trial(newTokenScreen, {}).show(...shown).said())
      .toEqual([`1 alert FISH (${FISH.mint}) passes`, `2 alert KELP (${KELP.mint}) passes`]);
  });

  it.each<[string, (at: number) => Partial<TokenRecord>]>([
    ['is too young', (at) => ({ firstPool: { createdAt: at - HOUR + 1 } })],
    ['is too old', (at) => ({ firstPool: { createdAt: at - 7 * 24 * HOUR - 1 } })],
    ['has no first pool', () => ({ firstPool: undefined })], ['has one of no age', () => ({ firstPool: {} })],
    ['has too little liquidity', () => ({ values: { ...GOOD, liquidity: 19_999 } })],
    ['has too few holders', () => ({ values: { ...GOOD, holderCount: 199 } })],
    ['has too low a score', () => ({ values: { ...GOOD, organicScore: 49.9 } })],
    ['is traded with itself', () => ({ values: { ...GOOD, '1h.buyOrganicVolume': 249 } })],
    ['has no surge', () => ({ values: { ...GOOD, '5m.sellVolume': 399 } })],
    ['has no numbers', () => ({ values: {} })], ['has no audit', () => ({ audit: {} })],
    ['is suspected', () => ({ audit: { ...AUDIT, isSus: true } })],
    ['can be minted', () => ({ audit: { ...AUDIT, mintAuthorityDisabled: false } })],
    ['can be frozen', () => ({ audit: { ...AUDIT, freezeAuthorityDisabled: undefined } })],
    ['is in few hands', () => ({ audit: { ...AUDIT, topHoldersPercentage: 30.1 } })],
    ['is in its developer’s hands', () => ({ audit: { ...AUDIT, devBalancePercentage: 5.1 } })],
    ['has an unknown developer', () => ({ audit: { ...AUDIT, devBalancePercentage: undefined } })],
  ])('passes no token that %s', (_name, change) => {
    const at = 1_000;
    expect(trial(newTokenScreen, {}).show(listOf([passing(FISH, at, change(at))], at)).said()).toEqual([]);
  });

  it.each(Object.keys(GOOD))('passes no token of which the service does not say %s', (name) => {
    const values = Object.fromEntries(Object.entries(GOOD).filter(([known]) => known !== name));
    expect(trial(newTokenScreen, {}).show(listOf([passing(FISH, 0, { values })], 0)).said()).toEqual([]);
  });

  it('buys a token that no configuration names once, and sells it when its time is over', () => {
    const one = checked(trial(newTokenScreen, TRADE, { limits: ALLOWED }), NEW)
      .show(listed(1, NEW), price(NEW, 2, 2), price(NEW, 2, 3), listed(30, NEW), price(NEW, 2.2, 31),
        price(NEW, 2.2, 601), price(NEW, 2.2, 602), price(NEW, 2.2, 603), listed(630, NEW), price(NEW, 2, 631));
    expect(swaps(one.said())).toEqual([`2 USDC>${NEW.mint}`, `602 ${NEW.mint}>USDC`]);
  });

  it('sells it at a loss at once', () => {
    const one = checked(trial(newTokenScreen, TRADE, { limits: ALLOWED }), NEW)
      .show(listed(1, NEW), price(NEW, 2, 2), price(NEW, 1.81, 3), price(NEW, 1.79, 4));
    expect(swaps(one.said())).toEqual([`2 USDC>${NEW.mint}`, `4 ${NEW.mint}>USDC`]);
  });

  it('tells it and buys nothing where the limits do not allow it, or nothing is to be spent', () => {
    const shown = [listed(1, NEW), price(NEW, 2, 2), price(NEW, 2, 3)];
    expect(trial(newTokenScreen, TRADE).show(...shown).said())
      .toEqual([`1 alert NEW (${NEW.mint}) passes`, `2 USDC>${NEW.mint} PROPOSAL_INVALID`]);
    expect(swaps(trial(newTokenScreen, {}, { limits: ALLOWED }).show(...shown).said())).toEqual([]);
  });

  it('holds no more tokens at once than max_positions', () => {
    const one = checked(trial(newTokenScreen, { ...TRADE, max_positions: 1 }, { limits: ALLOWED }), NEW, NEWER)
      .show(listed(1, NEW, NEWER), price(NEW, 2, 2), listed(3, NEW, NEWER), price(NEWER, 3, 4));
    expect(swaps(one.said())).toEqual([`2 USDC>${NEW.mint}`]);
    one.show(price(NEW, 2, 602), listed(603, NEW, NEWER), price(NEWER, 3, 604));
    expect(swaps(one.said()).slice(1)).toEqual([`602 ${NEW.mint}>USDC`, `604 USDC>${NEWER.mint}`]);
  });

  it('goes on after a restart: buys nothing twice, and sells a token that the list has no more', () => {
    const first = checked(trial(newTokenScreen, TRADE, { limits: ALLOWED }), NEW)
      .show(listed(1, NEW), price(NEW, 2, 2), price(NEW, 2, 3));
    const second = checked(first.restarted(), NEW)
      .show(listed(30, NEW), price(NEW, 2, 31), listed(60), price(NEW, 2, 61), price(NEW, 2, 603));
    expect(second.said()).toEqual([`603 ${NEW.mint}>USDC`]);
  });

  it('refuses parameters that make no sense', () => {
    const others = [{ list: 'all' }, { surge: 13 }, { max_positions: 0 }, { spend: '5' }, { stop: 0 }, { trade: [] }];
    for (const wrong of others) expect(paramErrors(newTokenScreen, wrong)).toHaveLength(1);
  });
});
