import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/json.ts';
import { STATS_WINDOWS, TOKEN_STAT_NAMES, WINDOW_FIELDS } from '../../../src/market/token-stats.ts';
import { readTokenRecords } from '../../../src/service/wire/token-record.ts';
import { mintNumber, PROGRAM, TAKER, tokenAnswer } from '../answers.ts';
import type { TokenRecord } from '../../../src/market/token-record.ts';

const FIRST = mintNumber(0);

function readTokenRecord(element: Json): TokenRecord {
  return readTokenRecords([element]).records[0]!;
}

function read(changes: Readonly<Record<string, unknown>> = {}): TokenRecord {
  return readTokenRecord(parseJson(JSON.stringify(tokenAnswer(FIRST, changes))));
}

describe('a token record', () => {
  test('keeps what the service says and invents nothing', () => {
    const record = read({
      icon: null, isVerified: null, apy: { platformEarn: 4.2 },
      firstPool: { id: 'pool', createdAt: '2024-01-02T03:04:05Z' }, ctLikes: 4,
    });
    expect(record).toMatchObject({
      id: FIRST, symbol: 'TKN', decimals: 6, audit: { mintAuthorityDisabled: true }, tags: ['verified'],
      platformEarn: 4.2, updatedAt: Date.UTC(2026, 10, 20, 10, 0, 0, 123),
      firstPool: { id: 'pool', createdAt: Date.UTC(2024, 0, 2, 3, 4, 5) },
    });
    expect(record.audit.freezeAuthorityDisabled).toBeUndefined();
    expect(record.isVerified).toBeUndefined();
    expect(record).not.toHaveProperty('ctLikes');
  });

  test('has its numbers by flat names, those that are missing absent and never zero', () => {
    expect(read({ liquidity: null, stats1h: { numBuys: 0 }, stats30d: { priceChange: 1 } }).values).toEqual({
      'usdPrice': 1.5, 'holderCount': 12, '5m.priceChange': -2.5, '5m.buyVolume': 100, '1h.numBuys': 0,
    });
  });

  test('drops numbers that cannot be', () => {
    const text = JSON.stringify(
      tokenAnswer(FIRST, { usdPrice: '#', liquidity: -1, fdv: 'much', mcap: {}, stats5m: [1] }),
    ).replace('"#"', '1e999');
    expect(readTokenRecord(parseJson(text)).values).toEqual({ holderCount: 12 });
  });

  test('takes numbers beyond 2^53 as the doubles they are for', () => {
    const text = JSON.stringify(tokenAnswer(FIRST, { totalSupply: '#' })).replace('"#"', '18446744073709551615');
    expect(readTokenRecord(parseJson(text)).values.totalSupply).toBe(Number(18_446_744_073_709_551_615n));
  });

  test('issue 13.31: reads numbers that come as text', () => {
    const record = read({
      decimals: '6', usdPrice: '1.25', mcap: '-3', fdv: 'much', holderCount: '',
      stats5m: { priceChange: '-2.5', buyVolume: '1e3' },
    });
    expect(record.decimals).toBe(6);
    expect(record.values).toEqual({ 'usdPrice': 1.25, '5m.priceChange': -2.5, '5m.buyVolume': 1_000 });
  });

  test('survives decoration of the wrong form', () => {
    const record =
      read({ icon: 5, twitter: [], createdAt: 'long ago', tags: 'none', firstPool: 'x', apy: [], launchpad: {} });
    expect(record).toMatchObject({
      icon: undefined, createdAt: undefined, tags: [], firstPool: undefined, platformEarn: undefined,
    });
  });

  test('bounds the length of what a token says of itself', () => {
    const record = read({ name: 'n'.repeat(100_000), symbol: '\u001b]0;x' });
    expect(record.name).toHaveLength(200);
    expect(record.symbol).toBe('\u001b]0;x');
  });

  test('is not fooled by members of every object', () => {
    const record = readTokenRecord(
      JSON.parse(`{"__proto__":{"usdPrice":9},"id":"${FIRST}","name":"a","symbol":"b","decimals":0}`) as Json,
    );
    expect(record.values).toEqual({});
    for (const name of TOKEN_STAT_NAMES) expect(record.values).not.toHaveProperty([name]);
  });

  test('has the long windows beside its columns, the price change alone or with volumes', () => {
    const record = read({
      stats7d: { priceChange: -12.5, holderChange: null },
      stats30d: { priceChange: 3, buyVolume: 1e6, sellVolume: 2e6, numNetBuyers: -4, numBuys: -1 },
    });
    expect(record.stats7d).toEqual({ priceChange: -12.5 });
    expect(record.stats30d).toEqual({ priceChange: 3, buyVolume: 1e6, sellVolume: 2e6, numNetBuyers: -4 });
    expect(Object.keys(record.values).filter((name) => name.startsWith('7d') || name.startsWith('30d'))).toEqual([]);
    expect(read({ stats7d: {}, stats30d: null }).stats7d).toBeUndefined();
  });

  test('is read in every field of the reference', () => {
    const text = {
      icon: 'https://icons.example/t.png', dev: 'dev', issuer: 'Issuer', launchpad: 'pad', partnerConfig: 'config',
      graduatedPool: 'pool', organicScoreLabel: 'medium',
      twitter: 'https://a.example', telegram: 'https://b.example', website: 'https://c.example',
      discord: 'https://d.example', instagram: 'https://e.example',
      tiktok: 'https://f.example', otherUrl: 'https://g.example', tokenProgram: PROGRAM, mintAuthority: TAKER,
      freezeAuthority: TAKER,
    };
    const numbers = {
      usdPrice: 1.5, priceBlockId: 400_000_000, liquidity: 2e6, fees: 53.5, mcap: 4e8, fdv: 9e8, holderCount: 857_254,
      circSupply: 3.2e9, totalSupply: 6.8e9, organicScore: 97.98,
    };
    const window = Object.fromEntries(WINDOW_FIELDS.map((field, i) => [field, i + 0.5]));
    const audit = {
      isSus: false, mintAuthorityDisabled: true, freezeAuthorityDisabled: false, topHoldersPercentage: 15.45,
      devBalancePercentage: 0.5, devMints: 1,
    };
    const record = read({
      ...text, ...numbers, audit, stats5m: window, stats1h: window, stats6h: window, stats24h: window, stats7d: window,
      stats30d: window, isVerified: true, tags: ['community', 'verified'], createdAt: '2024-06-07T10:56:42.584Z',
      graduatedAt: '2024-06-08T00:00:00Z', updatedAt: '2026-02-23T04:55:12.461987654Z',
    });
    expect(record).toMatchObject({
      ...text, audit, isVerified: true, tags: ['community', 'verified'], stats7d: window, stats30d: window,
      createdAt: Date.UTC(2024, 5, 7, 10, 56, 42, 584),
      graduatedAt: Date.UTC(2024, 5, 8), updatedAt: Date.UTC(2026, 1, 23, 4, 55, 12, 461),
    });
    expect(record.values).toEqual({
      ...numbers, ...Object.fromEntries(STATS_WINDOWS.flatMap((name) =>
        WINDOW_FIELDS.map((field, i) => [`${name}.${field}`, i + 0.5]))),
    });
  });

  test('in the sparse form that hosts send, keys absent and others added, says the same as with nulls', () => {
    const extra = {
      bondingCurve: 55.5, dexBanner: 'x', ctLikes: 9, smartCtLikes: 2, apy: {},
      audit: { mintAuthorityDisabled: true, botHoldersPercentage: 3 },
    };
    const nulls = Object.fromEntries([
      'icon', 'dev', 'issuer', 'launchpad', 'graduatedAt', 'usdPrice', 'isVerified', 'stats1h', 'firstPool',
      'mintAuthority',
    ].map((name) => [name, null]));
    const sparse = read({ ...extra, usdPrice: undefined });
    expect(read({ ...extra, ...nulls })).toEqual(sparse);
    expect(JSON.stringify(sparse)).not.toMatch(/ctLikes|smartCtLikes|bondingCurve|botHolders/i);
  });
});
