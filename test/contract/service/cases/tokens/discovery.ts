import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { refusedByBoth, refusedByOurs } from '../../scenes.ts';
import type { Answer } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { GROUP, idsOf, listOf, mintsOf, SEARCH, strangers } from './token-scenes.ts';

type Body = Answer['body'];

export const discoveryCases: readonly Case[] = [
  {
    covers: [
      'discovery./search', 'discovery.search.query', 'discovery.prefix', 'purpose.discovery-group',
      'open.discovery-answers-records',
    ],
    says: 'the group has a search below the dialect\'s prefix, which answers as the older one',
    async play(fixture) {
      for (const query of ['SOL', USDC]) expect(idsOf(await listOf(fixture, `${GROUP}/search`, { query })))
        .toEqual(idsOf(await listOf(fixture, SEARCH, { query })));
      expect((await fixture.service.tokens.discoverySearch([USDC])).records.map(({ symbol }) => symbol))
        .toEqual(['USDC']);
      const [record] = await listOf(fixture, `${GROUP}/search`, { query: SOL });
      expect(record).toMatchObject({ id: SOL, decimals: 9, usdPrice: expect.any(Number) });
    },
  },
  {
    covers: ['discovery./tag', 'discovery.tag.query'],
    says: 'a tag has its whole list: lst, verified and stocks; another tag is a 400',
    async play(fixture) {
      const verified = await listOf(fixture, `${GROUP}/tag`, { query: 'verified' });
      for (const { tags } of verified) expect(tags).toContain('verified');
      expect(verified.length).toBeGreaterThan(5);
      expect(idsOf(await listOf(fixture, `${GROUP}/tag`, { query: 'lst' }))).toContain(fixture.mint('LHSOL'));
      expect(Array.isArray(await listOf(fixture, `${GROUP}/tag`, { query: 'stocks' }))).toBe(true);
      expect((await fixture.get(`${GROUP}/tag`, { query: 'wet' })).status).toBe(400);
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(`${GROUP}/tag`), ours: ({ tokens }) => tokens.tag(''), about: /query/,
      });
      expect((await fixture.service.tokens.tag('lst')).records.map(({ symbol }) => symbol)).toContain('LHSOL');
    },
  },
  {
    covers: ['discovery./{category}/{interval}', 'discovery.category', 'discovery.interval'],
    says: 'three categories over four intervals, the leader first; others are not known',
    async play(fixture) {
      for (const interval of ['5m', '1h', '6h', '24h']) {
        for (const category of ['toporganicscore', 'toptraded', 'toptrending'])
          expect((await listOf(fixture, `${GROUP}/${category}/${interval}`)).length).toBeGreaterThan(0);
      }
      const scores = (await listOf(fixture, `${GROUP}/toporganicscore/24h`)).map(({ organicScore }) => organicScore);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      const volumes = (await listOf(fixture, `${GROUP}/toptraded/24h`))
        .map(({ stats24h }) => stats24h.buyVolume + stats24h.sellVolume);
      expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
      const { records } = await fixture.service.tokens.category({ category: 'toptraded', interval: '24h' });
      expect(records.map(({ id }) => id as string)).toEqual(idsOf(await listOf(fixture, `${GROUP}/toptraded/24h`)));
      for (const path of ['toptraded/2h', 'topheavy/1h'])
        expect([400, 404]).toContain((await fixture.get(`${GROUP}/${path}`)).status);
      await refusedByOurs(fixture, ({ tokens }) => tokens.category({ category: 'recent', interval: '1h' }), /category/);
    },
  },
  {
    covers: ['discovery.category.limit'],
    says: 'a limit of 1 to 100 cuts the list, 50 where it is left out; 0 and 101 are refused by both sides',
    async play(fixture) {
      const all = await listOf(fixture, `${GROUP}/toptraded/24h`);
      expect(all.length).toBeLessThanOrEqual(50);
      expect(idsOf(await listOf(fixture, `${GROUP}/toptraded/24h`, { limit: 2 }))).toEqual(idsOf(all).slice(0, 2));
      expect((await fixture.service.tokens.category({ category: 'toptraded', interval: '24h', limit: 1 })).records)
        .toHaveLength(1);
      for (const limit of [0, 101]) {
        await refusedByBoth(fixture, {
          theirs: () => fixture.get(`${GROUP}/toptraded/24h`, { limit }),
          ours: ({ tokens }) => tokens.category({ category: 'toptraded', interval: '24h', limit }), about: /limit/,
        });
      }
    },
  },
  {
    covers: ['discovery./recent'],
    says: 'the tokens whose first pool came last, the newest first, thirty at most',
    async play(fixture) {
      const recent = await listOf(fixture, `${GROUP}/recent`);
      const made = recent.map(({ firstPool }) => Date.parse(firstPool.createdAt));
      expect(made).toEqual(made.toSorted((a, b) => b - a));
      expect(recent.length).toBeGreaterThan(0);
      expect(recent.length).toBeLessThanOrEqual(30);
      expect((await fixture.service.tokens.recent()).records.map(({ id }) => id as string)).toEqual(idsOf(recent));
    },
  },
  {
    covers: ['discovery./content', 'discovery.content.mints', 'limit.content'],
    says: 'content comes by mint, fifty at most; our client makes two requests of more',
    async play(fixture) {
      const fifty = [fixture.mint('PEARL'), ...strangers(49)];
      const answer = await fixture.get(`${GROUP}/content`, { mints: fifty.join(',') });
      expect(answer.body.data.map(({ mint }: Body) => mint)).toContain(fixture.mint('PEARL'));
      expect((await fixture.get(`${GROUP}/content`, { mints: [...fifty, SOL].join(',') })).status).toBe(400);
      const before = fixture.service.stats().main.sent;
      await fixture.service.tokens.content([...fifty, SOL]);
      expect(fixture.service.stats().main.sent - before).toBe(2);
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(`${GROUP}/content`), ours: ({ tokens }) => tokens.content([]), about: /mints/,
      });
    },
  },
  {
    covers: ['discovery./content/cooking'],
    says: 'content of what trends comes without a question, in the same shape',
    async play(fixture) {
      const { status, body } = await fixture.get(`${GROUP}/content/cooking`);
      expect([status, body.data.length > 0]).toEqual([200, true]);
      for (const { mint, contents } of body.data)
        expect([mintsOf(fixture), Array.isArray(contents)]).toEqual([expect.arrayContaining([mint]), true]);
      const read = await fixture.service.tokens.cooking();
      expect(read.records.map(({ mint }) => mint as string)).toEqual(body.data.map(({ mint }: Body) => mint));
    },
  },
  {
    covers: ['discovery./content/feed', 'discovery.feed.mint', 'discovery.feed.page', 'discovery.feed.limit'],
    says:
      'one mint\'s content comes page by page, without a gap; a page of 0 and a limit of 101 are refused by both sides',
    async play(fixture) {
      const mint = fixture.mint('PEARL');
      const path = `${GROUP}/content/feed`;
      const idsOn = async (page: number, limit: number): Promise<string[]> => {
        const { body: { data } } = await fixture.get(path, { mint, page, limit });
        expect(data.pagination)
          .toEqual({ limit, total: data.pagination.total, page, totalPages: Math.ceil(data.pagination.total / limit) });
        return data.contents.map(({ contentId }: Body) => contentId);
      };
      const ids = await idsOn(1, 100);
      expect(ids.length).toBeGreaterThan(2);
      expect([...await idsOn(1, 2), ...await idsOn(2, 2), ...await idsOn(3, 2)]).toEqual(ids.slice(0, 6));
      const { totalPages } = (await fixture.get(path, { mint, limit: 100 })).body.data.pagination;
      expect((await idsOn(totalPages + 1, 100))).toEqual([]);
      expect((await fixture.get(path, { mint })).body.data.pagination).toMatchObject({ page: 1, limit: 50 });
      expect((await fixture.service.tokens.contentFeed({ mint, page: 2, limit: 2 })).contents.map(({ contentId }) =>
        contentId))
        .toEqual(ids.slice(2, 4));
      for (const change of [{ page: 0 }, { limit: 0 }, { limit: 101 }]) {
        await refusedByBoth(fixture, {
          theirs: () => fixture.get(path, { mint, ...change }),
          ours: ({ tokens }) => tokens.contentFeed({ mint, ...change }), about: /page|limit/,
        });
      }
      await refusedByBoth(fixture, {
        theirs: () => fixture.get(path, { mint: '?' }), ours: ({ tokens }) => tokens.contentFeed({ mint: '?' }),
        about: /mint/,
      });
    },
  },
];
