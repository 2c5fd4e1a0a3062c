import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
const PIECE = {
  contentId: expect.any(String), content: expect.any(String), contentType: expect.stringMatching(/^(?:text|tweet)$/),
  status: 'approved', source: expect.any(String), submittedAt: ISO_TIME,
  submittedBy: { id: expect.any(String), username: expect.any(String), role: expect.any(String) }, updatedAt: ISO_TIME,
  updatedBy: { id: expect.any(String), username: expect.any(String), role: expect.any(String) }, postedAt: ISO_TIME,
};
const SUMMARY = {
  summaryFull: expect.any(String), summaryShort: expect.any(String), updatedAt: ISO_TIME,
  citations: [expect.any(String)],
};

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slotMs: 400_000 });
});
afterAll(() => sandbox.close());

const get = (path: string, query: Record<string, string | number> = {}): Promise<Answer> =>
  sandbox.get(`/tokens/v2${path}`, query);
const feed = (query: Record<string, string | number>): Promise<Answer> => get('/content/feed', { mint: SOL, ...query });
const symbols = ({ body }: Answer): string[] => body.map(({ symbol }: { symbol: string }) => symbol);

describe('GET /tokens/v2/search', () => {
  it('answers as the search elsewhere does', async () => {
    expect((await get('/search', { query: `${SOL},pearl` })).text)
      .toBe((await sandbox.get('/ultra/v1/search', { query: `${SOL},pearl` })).text);
    expect((await get('/search')).status).toBe(400);
  });
});

describe('GET /tokens/v2/tag', () => {
  it('lists everything with a tag', async () => {
    expect(symbols(await get('/tag', { query: 'lst' }))).toEqual(['LHSOL']);
    const verified = await get('/tag', { query: 'verified' });
    expect(verified.body.length).toBeGreaterThan(8);
    expect(verified.body.every(({ isVerified }: { isVerified: boolean }) => isVerified)).toBe(true);
    expect(verified.headers['cache-control']).toBe('public, max-age=30');
    expect((await get('/tag', { query: 'stocks' })).body).toEqual([]);
  });

  it.each([[{}], [{ query: 'nothing' }]])('refuses %j', async (query) => {
    const answer = await get('/tag', query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^query: /) }]);
  });
});

describe('GET /tokens/v2/{category}/{interval}', () => {
  it.each([
    'toporganicscore', 'toptraded', 'toptrending',
  ])('lists %s without SOL, its staked kind and dollars', async (category) => {
    for (const interval of ['5m', '1h', '6h', '24h']) {
      const answer = await get(`/${category}/${interval}`);
      expect(answer.status).toBe(200);
      expect(answer.body.length).toBeGreaterThan(5);
      for (const symbol of ['SOL', 'USDC', 'ANCHR', 'LHSOL']) expect(symbols(answer)).not.toContain(symbol);
    }
  });

  it('has the leader first, and as many as are wanted', async () => {
    const traded = (await get('/toptraded/24h', { limit: 3 })).body;
    const volumes = traded.map(({ stats24h }: { stats24h: { buyVolume: number; sellVolume: number } }) =>
      stats24h.buyVolume + stats24h.sellVolume);
    expect(volumes).toEqual(volumes.toSorted((a: number, b: number) => b - a));
    expect(traded).toHaveLength(3);
    const trending = (await get('/toptrending/1h'))
      .body.filter(({ symbol }: { symbol: string }) => symbol === 'KELP' || symbol === 'KRILL');
    const changes = trending.map(({ stats1h }: { stats1h: { priceChange: number } }) => stats1h.priceChange);
    expect(changes).toEqual(changes.toSorted((a: number, b: number) => b - a));
  });

  it.each([
    '/toptraded/2h', '/worst/5m', '/toptraded/5m?limit=0', '/toptraded/5m?limit=101',
  ])('refuses %s', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  });
});

describe('GET /tokens/v2/recent', () => {
  it('lists thirty tokens, the newest first pool first, and new ones as slots pass', async () => {
    const before = (await get('/recent')).body;
    expect(before).toHaveLength(30);
    const created = before.map(({ firstPool }: { firstPool: { createdAt: string } }) =>
      Date.parse(firstPool.createdAt));
    expect(created).toEqual(created.toSorted((a: number, b: number) => b - a));
    await sandbox.passSlots(3_000);
    const after = (await get('/recent')).body;
    const ids = before.map(({ id }: { id: string }) => id);
    expect(after.slice(0, 2).some(({ id }: { id: string }) => ids.includes(id))).toBe(false);
    expect(after.slice(2).map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 28));
  });

  it('lists tokens that are on the chain, with a pool, and that a search finds', async () => {
    const [record] = (await get('/recent')).body;
    expect(sandbox.chain.mint(record.id)).toMatchObject({ decimals: record.decimals });
    expect(sandbox.chain.pool(record.firstPool.id)).toMatchObject({ mintA: record.id });
    expect(record).toMatchObject({
      usdPrice: expect.any(Number), liquidity: expect.any(Number), organicScoreLabel: 'low', isVerified: null,
      stats24h: { numTraders: 0 },
    });
    expect((await sandbox.get('/ultra/v1/search', { query: record.id })).body.map(({ id }: { id: string }) => id))
      .toEqual([record.id]);
    expect((await sandbox.get('/ultra/v1/search', { query: record.symbol })).body.map(({ id }: { id: string }) => id))
      .toContain(record.id);
  });

  it('lists tokens that no route leads to', async () => {
    const [record] = (await get('/recent')).body;
    const order = await sandbox.order({ inputMint: SOL, outputMint: record.id, amount: '1000000' });
    expect(order.status).toBeGreaterThanOrEqual(400);
  });
});

describe('GET /tokens/v2/content', () => {
  it('gives what was approved about up to fifty mints, with summaries of the best known', async () => {
    const { status, body } =
      await get('/content', { mints: `${SOL},${sandbox.mint('CONCH')},${sandbox.wallet.address}` });
    expect([status, Object.keys(body)]).toEqual([200, ['data']]);
    const [sol, conch, unknown] = body.data;
    expect(sol).toEqual({
      mint: SOL, contents: Array.from({ length: 10 }, () => PIECE), tokenSummary: SUMMARY, newsSummary: SUMMARY,
    });
    expect(conch).toMatchObject({ tokenSummary: null, newsSummary: null });
    expect(unknown).toEqual({ mint: sandbox.wallet.address, contents: [], tokenSummary: null, newsSummary: null });
  });

  it('holds texts that are hostile, and gives them as they are', async () => {
    const [murk] = (await get('/content', { mints: sandbox.mint('MURK') })).body.data;
    const text = murk.contents.map(({ content }: { content: string }) => content).join('\n');
    expect(['<script>', 'javascript:', '\u001b]8'].some((danger) => text.includes(danger))).toBe(true);
  });

  it.each([['nothing', {}], ['a word', { mints: 'SOL' }], [
    'fifty-one mints', { mints: Array.from({ length: 51 }, () => SOL).join() },
  ], ['an empty one', { mints: `${SOL},` }]])('refuses %s', async (_name, query) => {
    const answer = await get('/content', query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^mints: /) }]);
  });
});

describe('GET /tokens/v2/content/cooking', () => {
  it('gives the content of what trends', async () => {
    const { body } = await get('/content/cooking');
    const trending = (await get('/toptrending/24h', { limit: 5 })).body.map(({ id }: { id: string }) => id);
    expect(body.data.map(({ mint }: { mint: string }) => mint)).toEqual(trending);
    expect(trending).not.toContain(USDC);
  });
});

describe('GET /tokens/v2/content/feed', () => {
  it('gives all pieces page by page, each once, the newest first', async () => {
    const first = (await feed({ limit: 40 })).body.data;
    const { total, totalPages } = first.pagination;
    expect(first).toEqual({
      contents: Array.from({ length: 40 }, () => PIECE), tokenSummary: SUMMARY, newsSummary: SUMMARY,
      pagination: { limit: 40, total, page: 1, totalPages },
    });
    expect([total > 100, totalPages]).toEqual([true, Math.ceil(total / 40)]);
    const pieces = [...first.contents];
    for (let page = 2; page <= totalPages; page++) pieces.push(...(await feed({ limit: 40, page })).body.data.contents);
    expect(new Set(pieces.map(({ contentId }) => contentId)).size).toBe(total);
    const updated = pieces.map(({ updatedAt }) => Date.parse(updatedAt));
    expect(updated).toEqual(updated.toSorted((a, b) => b - a));
    expect((await feed({ page: totalPages + 1 })).body.data.contents).toEqual([]);
  });

  it('has fifty unless a limit is named, and grows', async () => {
    const before = (await feed({})).body.data;
    expect([before.contents.length, before.pagination.limit]).toEqual([50, 50]);
    await sandbox.passSlots(9_000);
    expect((await feed({})).body.data.pagination.total).toBe(before.pagination.total + 1);
  });

  it.each([[{ mint: 'SOL' }], [{ page: 0 }], [{ limit: 101 }], [{ limit: 'many' }]])('refuses %j', async (query) => {
    const answer = await feed(query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  });
});
