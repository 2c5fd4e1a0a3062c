import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATS_WINDOWS, WINDOW_FIELDS } from '../../../../src/market/token-stats.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slotMs: 400_000 });
});
afterAll(() => sandbox.close());

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
      id: SOL, name: expect.any(String), symbol: 'SOL', icon: expect.any(String), decimals: 9,
      tokenProgram: expect.any(String), createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      circSupply: expect.any(Number), totalSupply: expect.any(Number), holderCount: expect.any(Number),
      fdv: expect.any(Number), mcap: expect.any(Number), usdPrice: expect.any(Number), priceBlockId: sandbox.chain.slot,
      liquidity: expect.any(Number), fees: expect.any(Number), apy: { platformEarn: expect.any(Number) },
      firstPool: { id: expect.any(String), createdAt: expect.any(String) },
      audit: { mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPercentage: expect.any(Number) },
      organicScore: expect.any(Number), organicScoreLabel: 'high', isVerified: true, tags: expect.any(Array),
      updatedAt: expect.stringMatching(/Z$/),
      stats7d: { priceChange: expect.any(Number) }, stats30d: { priceChange: expect.any(Number) },
    });
    for (const name of [
      'twitter', 'telegram', 'website', 'discord', 'instagram', 'tiktok', 'otherUrl', 'dev', 'issuer', 'launchpad',
      'partnerConfig', 'graduatedPool', 'graduatedAt',
    ]) {
      expect(record).toHaveProperty(name);
    }
    for (const name of ['ctLikes', 'smartCtLikes', 'mintAuthority', 'freezeAuthority'])
      expect(record).not.toHaveProperty(name);
    for (const window of STATS_WINDOWS) {
      expect(Object.keys(record[`stats${window}`]).sort()).toEqual([...WINDOW_FIELDS].sort());
      for (const value of Object.values(record[`stats${window}`])) expect(Number.isFinite(value)).toBe(true);
    }
  });

  it('shows authorities, suspicion and hostile names as they are', async () => {
    const [barnacle] = (await search(sandbox.mint('BARNA'))).body;
    expect(barnacle).toMatchObject({
      mintAuthority: expect.any(String), freezeAuthority: expect.any(String), organicScoreLabel: 'low',
    });
    expect(barnacle.audit).toEqual({
      isSus: true, topHoldersPercentage: expect.any(Number), devBalancePercentage: expect.any(Number),
      devMints: expect.any(Number),
    });
    expect(barnacle).toMatchObject({ isVerified: null, tags: null });
    const [murk] = (await search(sandbox.mint('MURK'))).body;
    expect(murk.name).toContain('<script>');
    expect(murk.name).toContain('\u001b[2J');
  });

  it('has zeros for a window without trades', async () => {
    const impostor = (await search('pearl')).body[1];
    expect(new Set(Object.values(impostor.stats5m))).toEqual(new Set([0]));
    expect(impostor.stats24h.numTraders).toBeGreaterThan(0);
  });

  it('has a yield for lending assets alone', async () => {
    const { body } = await search('');
    expect(body.filter((record: object) => 'apy' in record).map(({ symbol }: { symbol: string }) => symbol).sort())
      .toEqual(['SOL', 'USDC']);
  });

  it('says how long an answer stays good', async () => {
    expect((await search('SOL')).headers['cache-control']).toBe('public, max-age=10');
  });

  it('gives at most twenty for a word, however many fit', async () => {
    const { body } = await search('o,e,a');
    expect(body).toHaveLength(20);
    expect((await search(`${SOL},o,e,a`)).body.length).toBeGreaterThanOrEqual(20);
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

describe('GET /ultra/v1/search in the live form', () => {
  it('leaves out unknown members, and adds undocumented ones', async () => {
    const live = await startTestSandbox({ profile: 'live' });
    try {
      const { body } = await live.get('/ultra/v1/search', { query: '' });
      for (const record of body) {
        expect(Object.values(record)).not.toContain(null);
        expect(record).toMatchObject({
          ctLikes: expect.any(Number), smartCtLikes: expect.any(Number), updatedAt: expect.stringMatching(/\.\d{9}Z$/),
          apy: expect.any(Object),
        });
      }
      const [impostor] = (await live.get('/ultra/v1/search', { query: 'Official' })).body;
      for (const name of ['icon', 'isVerified', 'issuer', 'tags', 'stats5m']) expect(impostor).not.toHaveProperty(name);
      expect(impostor).toMatchObject({ apy: {}, stats24h: expect.any(Object) });
    } finally {
      await live.close();
    }
  });
});
