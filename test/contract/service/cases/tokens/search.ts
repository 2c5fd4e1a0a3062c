import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { ADDRESS, refusedByBoth } from '../../scenes.ts';
import { SOL, USDC } from '../../service-fixture.ts';
import { idsOf, listOf, SEARCH, strangers } from './token-scenes.ts';

export const searchCases: readonly Case[] = [
  {
    covers: ['search./ultra/v1/search', 'purpose.search-finds', 'purpose.search-superseded'],
    says: 'the search answers 200 with a list of records, by mint, by symbol and by name',
    async play(fixture) {
      for (const query of [SOL, 'SOL', 'Wrapped SOL'])
        expect(idsOf(await listOf(fixture, SEARCH, { query })), query).toContain(SOL);
      for (const term of [SOL, 'SOL', 'Wrapped SOL'])
        expect((await fixture.service.tokens.search([term])).records.map(({ id }) => id as string)).toContain(SOL);
    },
  },
  {
    covers: ['search.query'],
    says: 'a search without a query is refused by both sides',
    play: (fixture) => refusedByBoth(fixture, {
      theirs: () => fixture.get(SEARCH), ours: ({ tokens }) => tokens.search([]), about: /query/,
    }),
  },
  {
    covers: ['search.several-terms'],
    says: 'terms between commas each find theirs; what is unknown is missing',
    async play(fixture) {
      const [unknown = ''] = strangers(1);
      expect(new Set(idsOf(await listOf(fixture, SEARCH, { query: `${SOL},${USDC},${unknown}` }))))
        .toEqual(new Set([SOL, USDC]));
      const { records } = await fixture.service.tokens.search([SOL, USDC, unknown]);
      expect(new Set(records.map(({ id }) => id as string))).toEqual(new Set([SOL, USDC]));
    },
  },
  {
    covers: ['search.hundred-mints', 'limit.search'],
    says: 'a hundred mints are taken, one more is a 400; our client makes two requests of it',
    async play(fixture) {
      const hundred = [SOL, ...strangers(99)];
      expect(hundred.every((mint) => ADDRESS.test(mint)) && new Set(hundred).size).toBe(100);
      expect(idsOf(await listOf(fixture, SEARCH, { query: hundred.join(',') }))).toEqual([SOL]);
      const more = await fixture.get(SEARCH, { query: [...hundred, USDC].join(',') });
      expect(more.status).toBe(400);
      const before = fixture.service.stats().main.sent;
      const { records } = await fixture.service.tokens.search([...hundred, USDC]);
      expect([new Set(records.map(({ id }) => id as string)), fixture.service.stats().main.sent - before])
        .toEqual([new Set([SOL, USDC]), 2]);
    },
  },
  {
    covers: ['search.twenty-results'],
    says: 'a symbol or name finds twenty tokens at most',
    async play(fixture) {
      // More than twenty tokens have either letter in their names.
      for (const query of ['e', 'a']) expect(await listOf(fixture, SEARCH, { query })).toHaveLength(20);
      expect((await fixture.service.tokens.search(['e'])).records).toHaveLength(20);
      expect((await fixture.service.tokens.search(['PEARL'])).records.map(({ symbol }) => symbol)).toContain('PEARL');
    },
  },
];
