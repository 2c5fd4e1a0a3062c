import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { ADDRESS, DIGITS } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { isUnix, predictionOf } from './prediction-scenes.ts';
import type { PredictionEvent, PredictionMarket } from '../../../../../src/market/prediction.ts';

type Body = Answer['body'];

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
interface Scene {
  readonly events: readonly { readonly wire: Body; readonly read: PredictionEvent }[];
  /** Open, closed, resolved and cancelled ones. */
  readonly markets: readonly { readonly wire: Body; readonly read: PredictionMarket }[];
  readonly page: Body;
  readonly pages: Body;
  readonly now: number;
}

async function load(fixture: ServiceFixture): Promise<Scene> {
  const found: Body[] = [];
  const read: PredictionEvent[] = [];
  for (const [query, provider] of [
    ['the', 'provider_a'], ['the', 'provider_b'], ['foghorn', 'provider_a'], ['kelp', 'provider_b'],
  ] as const) {
    found.push(...(await predictionOf(fixture, '/events/search', { query, provider, limit: 20 })).data);
    read.push(...(await fixture.service.prediction.searchEvents({ query, provider, limit: 20 })).records);
  }
  const events = found.map((wire) => ({ wire, read: read.find(({ eventId }) => eventId === wire.eventId)! }));
  const page = await predictionOf(fixture, '/events/FOGHORN/markets', { start: 1, end: 3 });
  const pages = await predictionOf(fixture, '/events/90200/markets', { start: 0, end: 20 });
  const time: string = (await fixture.control('/sandbox/state')).time;
  const markets = events.flatMap((event) => event.wire.markets.map((wire: Body) =>
    ({ wire, read: event.read.markets.find(({ marketId }) => marketId === wire.marketId)! })));
  return { events, markets, page, pages, now: Date.parse(time) / 1_000 };
}

const text = (name: 'category' | 'subcategory' | 'closeCondition') => ({ events }: Scene): void => {
  for (const { wire, read } of events) {
    expect(typeof wire[name], wire.eventId).toBe('string');
    expect(read[name]).toBe(wire[name].slice(0, 200));
  }
};

const flag = (name: 'isActive' | 'isLive') => ({ events }: Scene): void => {
  expect(new Set(events.map(({ wire }) => wire[name]))).toEqual(new Set([true, false]));
  for (const { wire, read } of events) expect(read[name]).toBe(wire[name]);
};

const metaText = (name: 'eventId' | 'title' | 'subtitle' | 'slug' | 'series' | 'imageUrl') =>
  ({ events }: Scene): void => {
    for (const { wire, read } of events) {
      expect(typeof wire.metadata[name], wire.eventId).toBe('string');
      expect(read.metadata[name]).toBe(wire.metadata[name]);
    }
  };

const instant = (name: 'openTime' | 'closeTime') => ({ markets }: Scene): void => {
  for (const { wire, read } of markets) expect([isUnix(wire[name]), read[name]]).toEqual([true, wire[name] * 1_000]);
};

const price = (name: 'buyYesPriceUsd' | 'buyNoPriceUsd' | 'sellYesPriceUsd' | 'sellNoPriceUsd') => (
  { markets }: Scene,
): void => {
  for (const { wire, read } of markets) {
    const stated = wire.pricing[name];
    expect(Number.isSafeInteger(stated) && stated >= 0 && stated <= 1_000_000, `${wire.marketId} ${stated}`).toBe(true);
    // Where there is no price the service says 0, which is none.
    expect(read.pricing[name]).toBe(stated === 0 ? undefined : BigInt(stated));
  }
  expect(markets.some(({ wire }) => wire.pricing[name] > 0)).toBe(true);
};

const metaOfMarket = (name: 'title' | 'status' | 'rulesPrimary' | 'rulesSecondary') => ({ markets }: Scene): void => {
  for (const { wire, read } of markets) {
    expect(typeof wire.metadata[name], wire.marketId).toBe('string');
    expect(read.metadata[name]).toBe(wire.metadata[name]);
  }
};

export const predictionEventCases: readonly Case[] = [
  ...fieldCases({ prefix: 'pagination', load }, {
    start: ['where the page begins', ({ page, pages }) =>
      expect([page.pagination.start, pages.pagination.start]).toEqual([1, 0])],
    end: ['the place behind its last element', ({ page, pages }) => {
      expect([page.pagination.end, page.data.length]).toEqual([3, 2]);
      expect(pages.pagination.end).toBe(pages.data.length);
    }],
    total: ['how many there are at all', ({ page, pages }) =>
      expect([page.pagination.total, pages.pagination.total]).toEqual([4, 26])],
    hasNext: ['whether more follow', ({ page, pages }) =>
      expect([page.pagination.hasNext, pages.pagination.hasNext]).toEqual([true, true])],
  }),
  ...fieldCases({ prefix: 'event', load }, {
    eventId: ['a text, another one for each', ({ events }) => {
      for (const { wire, read } of events) expect(read.eventId).toBe(wire.eventId);
      expect(new Set(events.map(({ wire }) => wire.eventId)).size).toBeGreaterThan(5);
    }],
    isActive: ['a boolean of both kinds', ({ events }) => {
      for (const { wire, read } of events)
        expect([typeof wire.isActive, read.isActive]).toEqual(['boolean', wire.isActive]);
      expect(events.find(({ wire }) => wire.eventId === 'FOGHORN')?.wire.isActive).toBe(false);
    }],
    isLive: ['a boolean of both kinds', flag('isLive')],
    category: ['a text', text('category')],
    subcategory: ['a text', text('subcategory')],
    volumeUsd: ['digits: millionths of a dollar', ({ events }) => {
      for (const { wire, read } of events) {
        expect(wire.volumeUsd).toMatch(DIGITS);
        expect(read.volumeUsd).toBe(BigInt(wire.volumeUsd));
      }
    }],
    closeCondition: ['a text', text('closeCondition')],
    beginAt: ['date and time as a text', ({ events }) => {
      for (const { wire, read } of events) {
        expect(wire.beginAt).toMatch(ISO);
        expect(read.beginAt).toBe(Date.parse(wire.beginAt));
      }
    }],
    rulesPdf: ['a text', ({ events }) => {
      for (const { wire, read } of events)
        expect([typeof wire.rulesPdf, read.rulesPdf]).toEqual(['string', wire.rulesPdf]);
    }],
    tags: ['a list of texts', ({ events }) => {
      for (const { wire, read } of events) {
        for (const tag of wire.tags) expect(typeof tag).toBe('string');
        expect(read.tags).toEqual(wire.tags);
      }
    }],
    metadata: ['says of which event it is', ({ events }) => {
      for (const { wire, read } of events)
        expect([wire.metadata.eventId, read.metadata.eventId]).toEqual([wire.eventId, wire.eventId]);
    }],
    markets: ['all markets of the event', ({ events }) => {
      for (const { wire, read } of events) {
        expect(wire.markets.length).toBeGreaterThan(0);
        expect(read.markets.map(({ marketId }) => marketId))
          .toEqual(wire.markets.map(({ marketId }: Body) => marketId));
      }
    }],
  }),
  ...fieldCases({ prefix: 'event-metadata', load }, {
    eventId: ['the event\'s own', metaText('eventId')],
    title: ['a text', metaText('title')],
    subtitle: ['a text', metaText('subtitle')],
    slug: ['a text that an address can hold', (scene) => {
      metaText('slug')(scene);
      for (const { wire } of scene.events) expect(wire.metadata.slug).toMatch(/^[a-z0-9-]+$/);
    }],
    series: ['a text', metaText('series')],
    closeTime: ['date and time as a text', ({ events }) => {
      for (const { wire, read } of events) {
        expect(wire.metadata.closeTime).toMatch(ISO);
        expect(read.metadata.closeTime).toBe(Date.parse(wire.metadata.closeTime));
      }
    }],
    imageUrl: ['a text', metaText('imageUrl')],
    isLive: ['a boolean, as the event says', ({ events }) => {
      for (const { wire, read } of events)
        expect([wire.metadata.isLive, read.metadata.isLive]).toEqual([wire.isLive, wire.isLive]);
    }],
  }),
  ...fieldCases({ prefix: 'market', load }, {
    marketId: ['a text, another one for each', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([typeof wire.marketId, read.marketId]).toEqual(['string', wire.marketId]);
    }],
    status: ['open for those that trade', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([['open', 'closed', 'cancelled'].includes(wire.status), read.status]).toEqual([true, wire.status]);
      expect(markets.some(({ wire }) => wire.status === 'open')).toBe(true);
    }],
    result: ['null while nothing is known, a text once it is', ({ markets }) => {
      for (const { wire, read } of markets) {
        expect([null, 'yes', 'no']).toContain(wire.result);
        expect(read.result).toBe(wire.result ?? undefined);
        if (wire.status === 'open') expect(wire.result).toBeNull();
      }
    }],
    openTime: ['Unix seconds', instant('openTime')],
    closeTime: ['Unix seconds', instant('closeTime')],
    resolveAt: ['Unix seconds, not before it was open', ({ markets }) => {
      for (const { wire, read } of markets) {
        expect([isUnix(wire.resolveAt), read.resolveAt]).toEqual([true, wire.resolveAt * 1_000]);
        expect(wire.resolveAt).toBeGreaterThan(wire.openTime);
      }
    }],
    marketResultPubkey: ['an address', ({ markets }) => {
      for (const { wire, read } of markets) expect([wire.marketResultPubkey, read.marketResultPubkey])
        .toEqual([expect.stringMatching(ADDRESS), wire.marketResultPubkey]);
    }],
    imageUrl: ['a text', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([typeof wire.imageUrl, read.imageUrl]).toEqual(['string', wire.imageUrl]);
    }],
    metadata: ['says of which market it is', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([wire.metadata.marketId, read.metadata.marketId]).toEqual([wire.marketId, wire.marketId]);
    }],
    pricing: ['what is bought dear is sold cheaper', ({ markets }) => {
      const traded = markets.filter(({ wire: { pricing } }) =>
        pricing.buyYesPriceUsd > 0 && pricing.sellYesPriceUsd > 0);
      expect(traded.length).toBeGreaterThan(10);
      for (const { wire: { pricing, marketId } } of traded)
        expect(pricing.buyYesPriceUsd, marketId).toBeGreaterThan(pricing.sellYesPriceUsd);
    }],
    'pricing.buyYesPriceUsd': ['a number of millionths of a dollar, 0 where there is none', price('buyYesPriceUsd')],
    'pricing.buyNoPriceUsd': ['what is left of a dollar from the best bid for YES', (scene) => {
      price('buyNoPriceUsd')(scene);
      for (const { wire: { pricing } } of scene.markets)
        if (pricing.buyNoPriceUsd > 0) expect(pricing.buyNoPriceUsd + pricing.sellYesPriceUsd).toBe(1_000_000);
    }],
    'pricing.sellYesPriceUsd': ['a number of millionths of a dollar, 0 where there is none', price('sellYesPriceUsd')],
    'pricing.sellNoPriceUsd': ['a number of millionths of a dollar, 0 where there is none', price('sellNoPriceUsd')],
    'pricing.volume': ['a plain number', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([typeof wire.pricing.volume, read.pricing.volume]).toEqual(['number', wire.pricing.volume]);
    }],
  }),
  ...fieldCases({ prefix: 'market-metadata', load }, {
    marketId: ['the market\'s own', ({ markets }) => {
      for (const { wire } of markets) expect(wire.metadata.marketId).toBe(wire.marketId);
    }],
    title: ['a text', metaOfMarket('title')],
    status: ['a text, as the market says', (scene) => {
      metaOfMarket('status')(scene);
      for (const { wire } of scene.markets) expect(wire.metadata.status).toBe(wire.status);
    }],
    result: ['a text, empty while nothing is known', ({ markets }) => {
      for (const { wire, read } of markets) {
        expect(wire.metadata.result).toBe(wire.result ?? '');
        expect(read.metadata.result).toBe(wire.result ?? undefined);
      }
    }],
    closeTime: ['Unix seconds', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([wire.metadata.closeTime, read.metadata.closeTime]).toEqual([wire.closeTime, wire.closeTime * 1_000]);
    }],
    openTime: ['Unix seconds', ({ markets }) => {
      for (const { wire, read } of markets)
        expect([wire.metadata.openTime, read.metadata.openTime]).toEqual([wire.openTime, wire.openTime * 1_000]);
    }],
    isTeamMarket: ['a boolean of both kinds', ({ markets }) => {
      expect(new Set(markets.map(({ wire }) => wire.metadata.isTeamMarket))).toEqual(new Set([true, false]));
      for (const { wire, read } of markets) expect(read.metadata.isTeamMarket).toBe(wire.metadata.isTeamMarket);
    }],
    rulesPrimary: ['a text', metaOfMarket('rulesPrimary')],
    rulesSecondary: ['a text', metaOfMarket('rulesSecondary')],
  }),
];
