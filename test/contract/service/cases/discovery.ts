import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { refusedByBoth, refusedByOurs } from '../scenes.ts';
import type { Answer } from '../world.ts';
import { SOL, USDC } from '../world.ts';
import { GROUP, idsOf, listOf, mintsOf, SEARCH, strangers } from './token-scenes.ts';

type Body = Answer['body'];

export const discoveryCases: readonly Case[] = [
  {
    covers: [
      'discovery./search', 'discovery.search.query', 'discovery.prefix', 'purpose.discovery-group',
      'open.discovery-answers-records',
    ],
    says: 'the group has a search below the dialect\'s prefix, which answers as the older one',
    async play(world) {
      for (const query of ['SOL', USDC]) expect(idsOf(await listOf(world, `${GROUP}/search`, { query })))
        .toEqual(idsOf(await listOf(world, SEARCH, { query })));
      expect((await world.service.tokens.discoverySearch([USDC])).records.map(({ symbol }) => symbol))
        .toEqual(['USDC']);
      const [record] = await listOf(world, `${GROUP}/search`, { query: SOL });
      expect(record).toMatchObject({ id: SOL, decimals: 9, usdPrice: expect.any(Number) });
    },
  },
  {
    covers: ['discovery./tag', 'discovery.tag.query'],
    says: 'a tag has its whole list: lst, verified and stocks; another tag is a 400',
    async play(world) {
      const verified = await listOf(world, `${GROUP}/tag`, { query: 'verified' });
      for (const { tags } of verified) expect(tags).toContain('verified');
      expect(verified.length).toBeGreaterThan(5);
      expect(idsOf(await listOf(world, `${GROUP}/tag`, { query: 'lst' }))).toContain(world.mint('LHSOL'));
      expect(Array.isArray(await listOf(world, `${GROUP}/tag`, { query: 'stocks' }))).toBe(true);
      expect((await world.get(`${GROUP}/tag`, { query: 'wet' })).status).toBe(400);
      await refusedByBoth(world, {
        theirs: () => world.get(`${GROUP}/tag`), ours: ({ tokens }) => tokens.tag(''), about: /query/,
      });
      expect((await world.service.tokens.tag('lst')).records.map(({ symbol }) => symbol)).toContain('LHSOL');
    },
  },
  {
    covers: ['discovery./{category}/{interval}', 'discovery.category', 'discovery.interval'],
    says: 'three categories over four intervals, the leader first; others are not known',
    async play(world) {
      for (const interval of ['5m', '1h', '6h', '24h']) {
        for (const category of ['toporganicscore', 'toptraded', 'toptrending'])
          expect((await listOf(world, `${GROUP}/${category}/${interval}`)).length).toBeGreaterThan(0);
      }
      const scores = (await listOf(world, `${GROUP}/toporganicscore/24h`)).map(({ organicScore }) => organicScore);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      const volumes = (await listOf(world, `${GROUP}/toptraded/24h`))
        .map(({ stats24h }) => stats24h.buyVolume + stats24h.sellVolume);
      expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
      const { records } = await world.service.tokens.category({ category: 'toptraded', interval: '24h' });
      expect(records.map(({ id }) => id as string)).toEqual(idsOf(await listOf(world, `${GROUP}/toptraded/24h`)));
      for (const path of ['toptraded/2h', 'topheavy/1h'])
        expect([400, 404]).toContain((await world.get(`${GROUP}/${path}`)).status);
      await refusedByOurs(world, ({ tokens }) => tokens.category({ category: 'recent', interval: '1h' }), /category/);
    },
  },
  {
    covers: ['discovery.category.limit'],
    says: 'a limit of 1 to 100 cuts the list, 50 where it is left out; 0 and 101 are refused by both sides',
    async play(world) {
      const all = await listOf(world, `${GROUP}/toptraded/24h`);
      expect(all.length).toBeLessThanOrEqual(50);
      expect(idsOf(await listOf(world, `${GROUP}/toptraded/24h`, { limit: 2 }))).toEqual(idsOf(all).slice(0, 2));
      expect((await world.service.tokens.category({ category: 'toptraded', interval: '24h', limit: 1 })).records)
        .toHaveLength(1);
      for (const limit of [0, 101]) {
        await refusedByBoth(world, {
          theirs: () => world.get(`${GROUP}/toptraded/24h`, { limit }),
          ours: ({ tokens }) => tokens.category({ category: 'toptraded', interval: '24h', limit }), about: /limit/,
        });
      }
    },
  },
  {
    covers: ['discovery./recent'],
    says: 'the tokens whose first pool came last, the newest first, thirty at most',
    async play(world) {
      const recent = await listOf(world, `${GROUP}/recent`);
      const made = recent.map(({ firstPool }) => Date.parse(firstPool.createdAt));
      expect(made).toEqual(made.toSorted((a, b) => b - a));
      expect(recent.length).toBeGreaterThan(0);
      expect(recent.length).toBeLessThanOrEqual(30);
      expect((await world.service.tokens.recent()).records.map(({ id }) => id as string)).toEqual(idsOf(recent));
    },
  },
  {
    covers: ['discovery./content', 'discovery.content.mints', 'limit.content'],
    says: 'content comes by mint, fifty at most; our client makes two requests of more',
    async play(world) {
      const fifty = [world.mint('PEARL'), ...strangers(49)];
      const answer = await world.get(`${GROUP}/content`, { mints: fifty.join(',') });
      expect(answer.body.data.map(({ mint }: Body) => mint)).toContain(world.mint('PEARL'));
      expect((await world.get(`${GROUP}/content`, { mints: [...fifty, SOL].join(',') })).status).toBe(400);
      const before = world.service.stats().main.sent;
      await world.service.tokens.content([...fifty, SOL]);
      expect(world.service.stats().main.sent - before).toBe(2);
      await refusedByBoth(world, {
        theirs: () => world.get(`${GROUP}/content`), ours: ({ tokens }) => tokens.content([]), about: /mints/,
      });
    },
  },
  {
    covers: ['discovery./content/cooking'],
    says: 'content of what trends comes without a question, in the same shape',
    async play(world) {
      const { status, body } = await world.get(`${GROUP}/content/cooking`);
      expect([status, body.data.length > 0]).toEqual([200, true]);
      for (const { mint, contents } of body.data)
        expect([mintsOf(world), Array.isArray(contents)]).toEqual([expect.arrayContaining([mint]), true]);
      const read = await world.service.tokens.cooking();
      expect(read.records.map(({ mint }) => mint as string)).toEqual(body.data.map(({ mint }: Body) => mint));
    },
  },
  {
    covers: ['discovery./content/feed', 'discovery.feed.mint', 'discovery.feed.page', 'discovery.feed.limit'],
    says:
      'one mint\'s content comes page by page, without a gap; a page of 0 and a limit of 101 are refused by both sides',
    async play(world) {
      const mint = world.mint('PEARL');
      const path = `${GROUP}/content/feed`;
      const idsOn = async (page: number, limit: number): Promise<string[]> => {
        const { body: { data } } = await world.get(path, { mint, page, limit });
        expect(data.pagination)
          .toEqual({ limit, total: data.pagination.total, page, totalPages: Math.ceil(data.pagination.total / limit) });
        return data.contents.map(({ contentId }: Body) => contentId);
      };
      const ids = await idsOn(1, 100);
      expect(ids.length).toBeGreaterThan(2);
      expect([...await idsOn(1, 2), ...await idsOn(2, 2), ...await idsOn(3, 2)]).toEqual(ids.slice(0, 6));
      const { totalPages } = (await world.get(path, { mint, limit: 100 })).body.data.pagination;
      expect((await idsOn(totalPages + 1, 100))).toEqual([]);
      expect((await world.get(path, { mint })).body.data.pagination).toMatchObject({ page: 1, limit: 50 });
      expect((await world.service.tokens.contentFeed({ mint, page: 2, limit: 2 })).contents.map(({ contentId }) =>
        contentId))
        .toEqual(ids.slice(2, 4));
      for (const change of [{ page: 0 }, { limit: 0 }, { limit: 101 }]) {
        await refusedByBoth(world, {
          theirs: () => world.get(path, { mint, ...change }),
          ours: ({ tokens }) => tokens.contentFeed({ mint, ...change }), about: /page|limit/,
        });
      }
      await refusedByBoth(world, {
        theirs: () => world.get(path, { mint: '?' }), ours: ({ tokens }) => tokens.contentFeed({ mint: '?' }),
        about: /mint/,
      });
    },
  },
];
