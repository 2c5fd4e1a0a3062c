import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { GROUP, mintsOf } from './token-scenes.ts';

type Body = Answer['body'];

async function content(fixture: ServiceFixture) {
  const [pearl, kelp] = [fixture.mint('PEARL'), fixture.mint('KELP')];
  const { status, body } = await fixture.get(`${GROUP}/content`, { mints: mintsOf(fixture).join(',') });
  expect(status).toBe(200);
  const feed = await fixture.get(`${GROUP}/content/feed`, { mint: pearl });
  const read = await fixture.service.tokens.content(mintsOf(fixture));
  return {
    pearl, kelp, data: body.data as Body[], items: body.data.flatMap(({ contents }: Body) => contents) as Body[], read,
    feed: feed.body, readFeed: await fixture.service.tokens.contentFeed({ mint: pearl }),
  };
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

export const contentCases: readonly Case[] = [
  ...fieldCases({ prefix: 'open', load: content }, {
    'content.mint': ['a mint that was asked for', ({ data, read }) => {
      for (const { mint } of data) expect(mint).toMatch(ADDRESS);
      expect(read.records.map(({ mint }) => mint as string)).toEqual(data.map(({ mint }) => mint));
    }],
    'content.contents': ['a list, as our client has it', ({ data, read }) => {
      expect(data.some(({ contents }) => contents.length > 0)).toBe(true);
      expect(read.rejected).toEqual([]);
      expect(read.records.map(({ contents }) => contents.length)).toEqual(data.map(({ contents }) => contents.length));
    }],
    'content.contents.contentId': ['another one for each', ({ items }) => {
      for (const { contentId } of items) expect(typeof contentId).toBe('string');
      expect(new Set(items.map(({ contentId }) => contentId)).size).toBe(items.length);
    }],
    'content.contents.content': ['a text', ({ items, read }) => {
      for (const item of items) expect(item.content).toMatch(/./);
      expect(read.records.flatMap(({ contents }) => contents.map((item) => item.content)))
        .toEqual(items.map((item) => item.content));
    }],
    'content.contents.contentType': ['text or tweet', ({ items }) => {
      for (const { contentType } of items) expect(['text', 'tweet']).toContain(contentType);
    }],
    'content.contents.status': ['approved, as nothing else is shown', ({ items, read }) => {
      for (const { status } of items) expect(status).toBe('approved');
      for (const { status } of read.records.flatMap(({ contents }) => contents)) expect(status).toBe('approved');
    }],
    'content.contents.source': ['a text', ({ items }) => {
      for (const { source } of items) expect(typeof source).toBe('string');
    }],
    'content.contents.submittedAt': ['date and time', ({ items, read }) => {
      for (const { submittedAt } of items) expect(submittedAt).toMatch(ISO);
      expect(read.records.flatMap(({ contents }) => contents)[0]?.submittedAt).toBe(Date.parse(items[0].submittedAt));
    }],
    'content.contents.submittedBy': ['who handed it in', ({ items, read }) => {
      for (const { submittedBy } of items)
        expect(submittedBy).toEqual({ id: expect.any(String), username: expect.any(String), role: expect.any(String) });
      expect(read.records.flatMap(({ contents }) => contents)[0]?.submittedBy).toEqual(items[0].submittedBy);
    }],
    'content.contents.updatedAt': ['date and time', ({ items }) => {
      for (const { updatedAt } of items) expect(updatedAt).toMatch(ISO);
    }],
    'content.contents.postedAt': ['date and time', ({ items }) => {
      for (const { postedAt } of items) expect(postedAt).toMatch(ISO);
    }],
    'content.tokenSummary': ['texts, a date and citations, or null', ({ data, read }) => {
      const known = data.filter(({ tokenSummary }) => tokenSummary !== null);
      expect(known.length).toBeGreaterThan(0);
      for (const { tokenSummary } of known) {
        expect(tokenSummary).toMatchObject({
          summaryFull: expect.any(String), summaryShort: expect.any(String), updatedAt: expect.stringMatching(ISO),
          citations: expect.any(Array),
        });
      }
      expect(read.records.filter(({ tokenSummary }) => tokenSummary !== undefined)).toHaveLength(known.length);
    }],
    'content.newsSummary': ['the same shape, or null', ({ data }) => {
      for (const { newsSummary } of data) {
        if (newsSummary !== null)
          expect(newsSummary).toMatchObject({ summaryFull: expect.any(String), summaryShort: expect.any(String) });
      }
      expect(data.every((token) => 'newsSummary' in token)).toBe(true);
    }],
    'content.pagination': ['of the feed: limit, total, page, totalPages', ({ feed, readFeed }) => {
      expect(feed.data.pagination)
        .toEqual({ limit: 50, total: expect.any(Number), page: 1, totalPages: expect.any(Number) });
      expect(readFeed.pagination).toEqual(feed.data.pagination);
    }],
  }),
];
