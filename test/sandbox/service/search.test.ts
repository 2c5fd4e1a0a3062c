import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATS_WINDOWS, WINDOW_FIELDS } from '../../../src/market/token-stats.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slotMs: 400 });
});
afterAll(() => sandbox.close());

const book = (marketId: string): Promise<Answer> => sandbox.get(`/prediction/v1/orderbook/${marketId}`);
const search = (query: string): Promise<Answer> => sandbox.get('/ultra/v1/search', { query });

describe('GET /ultra/v1/search', () => {
  it('needs a query', async () => {
    for (const path of ['/ultra/v1/search', '/ultra/v1/search?query=a&query=b']) {
      const answer = await sandbox.get(path);
      expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^query: /) }]);
    }
  });

  it('finds by mint, several at once, and leaves out what it does not know', async () => {
    const unknown = 'Bear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
    const { body } = await search(`${USDC},${unknown},${SOL}`);
    expect(body.map((record: { id: string }) => record.id).sort()).toEqual([USDC, SOL].sort());
    expect((await search(unknown)).body).toEqual([]);
  });

  it('finds by symbol or name, whatever the case, impostors included, best known first', async () => {
    const { body } = await search('pearl');
    expect(body.map((record: { symbol: string }) => record.symbol)).toEqual(['PEARL', 'PEARL']);
    expect(body[0].id).not.toBe(body[1].id);
    expect(body[0].organicScore).toBeGreaterThan(body[1].organicScore);
    expect((await search('forest')).body[0].symbol).toBe('KELP');
    expect((await search('kelp,buoy')).body).toHaveLength(2);
  });

  it('takes a hundred mints and no more', async () => {
    expect((await search(Array.from({ length: 100 }, () => SOL).join())).status).toBe(200);
    const tooMany = await search(Array.from({ length: 101 }, () => SOL).join());
    expect([tooMany.status, tooMany.body.error]).toEqual([400, expect.stringMatching(/at most 100 mint/)]);
  });

  it('answers an empty query with the best known', async () => {
    const { status, body } = await search('');
    expect([status, body.length]).toEqual([200, sandbox.addresses.tokens.length]);
  });

  it('writes every field of the record with its type', async () => {
    const [record] = (await search(SOL)).body;
    expect(record).toMatchObject({
      id: SOL, name: expect.any(String), symbol: 'SOL', icon: expect.any(String), decimals: 9, tokenProgram: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), circSupply: expect.any(Number), totalSupply: expect.any(Number), holderCount: expect.any(Number),
      fdv: expect.any(Number), mcap: expect.any(Number), usdPrice: expect.any(Number), priceBlockId: sandbox.chain.slot, liquidity: expect.any(Number),
      fees: expect.any(Number), apy: { platformEarn: expect.any(Number) }, firstPool: { id: expect.any(String), createdAt: expect.any(String) },
      audit: { mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPercentage: expect.any(Number) },
      organicScore: expect.any(Number), organicScoreLabel: 'high', isVerified: true, tags: expect.any(Array), updatedAt: expect.stringMatching(/Z$/),
      stats7d: { priceChange: expect.any(Number) }, stats30d: { priceChange: expect.any(Number) },
    });
    for (const name of ['twitter', 'telegram', 'website', 'discord', 'instagram', 'tiktok', 'otherUrl', 'dev', 'issuer', 'launchpad', 'partnerConfig', 'graduatedPool', 'graduatedAt']) {
      expect(record).toHaveProperty(name);
    }
    for (const name of ['ctLikes', 'smartCtLikes', 'mintAuthority', 'freezeAuthority']) expect(record).not.toHaveProperty(name);
    for (const window of STATS_WINDOWS) {
      expect(Object.keys(record[`stats${window}`]).sort()).toEqual([...WINDOW_FIELDS].sort());
      for (const value of Object.values(record[`stats${window}`])) expect(Number.isFinite(value)).toBe(true);
    }
  });

  it('shows authorities, suspicion and hostile names as they are', async () => {
    const [barnacle] = (await search(sandbox.mint('BARNA'))).body;
    expect(barnacle).toMatchObject({ mintAuthority: expect.any(String), freezeAuthority: expect.any(String), organicScoreLabel: 'low' });
    expect(barnacle.audit).toEqual({ isSus: true, topHoldersPercentage: expect.any(Number), devMints: expect.any(Number) });
    expect(barnacle).not.toHaveProperty('isVerified');
    const [murk] = (await search(sandbox.mint('MURK'))).body;
    expect(murk.name).toContain('<script>');
    expect(murk.name).toContain('\u001b[2J');
  });

  it('leaves out the window in which nobody traded', async () => {
    const impostor = (await search('pearl')).body[1];
    expect(impostor).not.toHaveProperty('stats5m');
    expect(impostor).toHaveProperty('stats24h');
  });

  it('agrees with the pools, and follows the market', async () => {
    const before = (await search(SOL)).body[0];
    const sold = await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '1000000' });
    expect(Number(sold.body.outAmount) / 1_000).toBeCloseTo(before.usdPrice, -1);
    await sandbox.post('/sandbox/price', { mint: SOL, usd: before.usdPrice * 2 });
    const after = (await search(SOL)).body[0];
    expect(after.usdPrice).toBeCloseTo(before.usdPrice * 2, 6);
    expect(after.stats1h.priceChange).toBeCloseTo((1 + before.stats1h.priceChange / 100) * 200 - 100, 4);
    await sandbox.passSlots(300);
    const later = (await search(SOL)).body[0];
    expect(later.usdPrice).not.toBe(after.usdPrice);
    expect(Date.parse(later.updatedAt) - Date.parse(after.updatedAt)).toBeGreaterThanOrEqual(120_000);
  });
});

describe('GET /prediction/v1/orderbook/{marketId}', () => {
  it('gives both sides in cents and in exact dollars, best first', async () => {
    const { status, body } = await book('SPRINGTIDE-26DEC31');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['no', 'no_dollars', 'yes', 'yes_dollars']);
    for (const side of ['yes', 'no']) {
      const cents: [number, number][] = body[side];
      const dollars: [string, number][] = body[`${side}_dollars`];
      expect(dollars.map(([, size]) => size)).toEqual(cents.map(([, size]) => size));
      dollars.forEach(([price], i) => {
        expect(price).toMatch(/^0\.\d{4}$/);
        expect(Math.abs(Number(price) * 100 - cents[i]![0])).toBeLessThanOrEqual(0.5);
      });
      expect(cents).toEqual(cents.toSorted((a, b) => b[0] - a[0]));
    }
  });

  it('has levels under one cent that show as 0, and fractional sizes', async () => {
    const { body } = await book('KRAKEN-26DEC31');
    expect(body.yes.some(([cents]: [number]) => cents === 0)).toBe(true);
    expect(body.yes_dollars.every(([price]: [string]) => Number(price) > 0)).toBe(true);
    expect(body.yes.some(([, size]: [number, number]) => !Number.isInteger(size))).toBe(true);
  });

  it('can be one-sided, or null', async () => {
    expect((await book('LIGHTHOUSE-27JAN15')).body).toMatchObject({ no: [], no_dollars: [] });
    const none = await book('DOLDRUMS-26NOV30');
    expect([none.status, none.text, none.headers['content-type']]).toEqual([200, 'null', expect.stringMatching(/application\/json/)]);
  });

  it('moves with the market', async () => {
    const before = await book('540817');
    await sandbox.passSlots(100);
    expect((await book('540817')).body).not.toEqual(before.body);
  });

  it('does not know every id', async () => {
    for (const [id, status] of [['nobody', 404], ['', 400], ['x'.repeat(200), 400], [encodeURIComponent('../../etc'), 404]] as const) {
      const answer = await book(id);
      expect(answer.status).toBe(status);
      expect(answer.body).toBeTypeOf('object');
    }
  });
});
