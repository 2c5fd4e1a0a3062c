import { readFileSync } from 'node:fs';
import { asyncScheduler } from 'rxjs';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { seededRandom } from '../../../../src/core/random.ts';
import { createFeeds } from '../../../../src/service/feeds/feeds.ts';
import { createService } from '../../../../src/service/service.ts';
import type { Case } from '../case.ts';
import { asked, BUY_SOL, orderOf } from '../scenes.ts';
import type { ServiceFixture } from '../service-fixture.ts';
import { API_KEY, SOL, USDC } from '../service-fixture.ts';

/** The dialect's file, read without the code that translates. */
// Each member is held against an assertion: a type would be what the code that translates says of it.
// oxlint-disable-next-line no-explicit-any
const fileOf = (fixture: ServiceFixture): any =>
  parse(readFileSync(new URL(`../../../../config/dialects/${fixture.dialect.name}.yaml`, import.meta.url), 'utf8'));

export const overviewCases: readonly Case[] = [
  {
    covers: ['preamble.json'],
    says: 'what is asked and answered is JSON, refusals too',
    async play(fixture) {
      const answers = [
        await fixture.get('/swap/v2/order', BUY_SOL), await fixture.get('/swap/v2/order'),
        await fixture.get('/swap/v2/order', BUY_SOL, {}), await fixture.get('/no/such/path'),
        await fixture.post('/swap/v2/execute', { requestId: 'x', signedTransaction: 'x' }),
        await fixture.get('/prediction/v1/orderbook/NOTHING'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 401, 404, 400, 404]);
      for (const { headers, body } of answers) {
        expect(headers['content-type']).toMatch(/^application\/json/);
        expect(body).toBeTypeOf('object');
      }
      const { 'content-length': _length, ...form } =
        { 'content-type': 'text/plain', 'x-api-key': API_KEY, 'content-length': 0 };
      expect((await fixture.raw('POST', fixture.dialect.toWire.path('/swap/v2/execute'), form, 'requestId=x')).status)
        .toBeGreaterThanOrEqual(400);
    },
  },
  {
    covers: ['preamble.https'],
    says: 'our client takes an https address, and nothing that is neither http nor https',
    async play(fixture) {
      const connect = async (baseUrl: string): Promise<void> => {
        await createService({ baseUrl, apiKey: API_KEY, clock: asyncScheduler, plan: 'free', dialect: fixture.dialect })
          .close();
      };
      await expect(connect('https://service.invalid')).resolves.toBeUndefined();
      await expect(connect('ftp://service.invalid')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    },
  },
  {
    covers: ['preamble.base-address', 'version.retired-hosts', 'version.postponed-host'],
    says: 'a host can change while everything below stays: our client speaks to another one, and no path of it names a '
      + 'host',
    async play(fixture) {
      const { base_url: baseUrl } = fixture.sandbox.addresses;
      const moved = createService({
        baseUrl: baseUrl.replace('127.0.0.1', 'localhost'), apiKey: API_KEY, clock: asyncScheduler,
        plan: { requestsPerSecond: 1_000 }, dialect: fixture.dialect,
      });
      expect((await moved.swap.order(asked(BUY_SOL))).outAmount)
        .toBe((await fixture.service.swap.order(asked(BUY_SOL))).outAmount);
      await moved.close();
      expect(fileOf(fixture).hosts).toEqual(fixture.dialect.hosts);
    },
  },
  {
    covers: ['preamble.portal-address', 'auth.portal'],
    says: 'who has no valid key is told by our client where the key is set, as only the operator can get one',
    async play(fixture) {
      const stranger = fixture.connect('wrong');
      await expect(stranger.swap.order(asked(BUY_SOL)))
        .rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED', message: expect.stringMatching(/service\.api_key/) });
    },
  },
  {
    covers: ['preamble.neutral-routers'],
    says: 'routers go out and come back in the words of the dialect\'s file',
    async play(fixture) {
      const { routers } = fileOf(fixture);
      const [rfqz, iris, a, b] = ['rfqz', 'iris', 'routerA', 'routerB']
        .map((name) => [routers[name]].flat()[0] as string);
      const query =
        new URLSearchParams({ ...BUY_SOL, amount: '400000000', excludeRouters: `${iris},${a},${b}` }).toString();
      const line = `${fixture.dialect.toWire.path('/swap/v2/order')}?${query}`;
      const answer = await fixture.raw('GET', line, { 'x-api-key': API_KEY });
      expect([answer.status, answer.wire.router]).toEqual([200, rfqz]);
      const read = await fixture.service.swap.order({
        ...asked({ ...BUY_SOL, amount: '400000000' }), excludeRouters: ['iris', 'routerA', 'routerB'],
      });
      expect(read.router).toBe('rfqz');
      const pooled = await fixture.raw(
        'GET', `${line.slice(0, line.indexOf('excludeRouters'))}excludeRouters=${rfqz},${a},${b}`,
        { 'x-api-key': API_KEY },
      );
      expect([routers.iris].flat()).toContain(pooled.wire.router);
    },
  },
  {
    covers: ['preamble.neutral-bundleTipLamports'],
    says: 'the tip goes out under the name of the dialect\'s file',
    async play(fixture) {
      const name = fileOf(fixture).query.bundleTipLamports as string;
      const search =
        new URLSearchParams({
          ...BUY_SOL, taker: fixture.wallet.address, priorityFeeLamports: '1000', [name]: '50000',
        });
      const answer = await fixture.raw(
        'GET', `${fixture.dialect.toWire.path('/swap/v2/order')}?${search.toString()}`, { 'x-api-key': API_KEY },
      );
      expect([answer.status, answer.wire.prioritizationFeeLamports]).toEqual([200, 51_000]);
    },
  },
  {
    covers: ['preamble.neutral-forBundle'],
    says: 'the flag for bundles goes out under the name of the dialect\'s file',
    async play(fixture) {
      const name = fileOf(fixture).query.forBundle as string;
      const search = new URLSearchParams({
        inputMint: fixture.mint('CONCH'), outputMint: USDC, amount: '5000000', onlyDirectRoutes: 'true', [name]: 'true',
      });
      expect((await fixture.raw(
        'GET', `${fixture.dialect.toWire.path('/swap/v1/quote')}?${search.toString()}`, { 'x-api-key': API_KEY },
      )).status).toBe(400);
      search.set(name, 'false');
      expect((await fixture.raw(
        'GET', `${fixture.dialect.toWire.path('/swap/v1/quote')}?${search.toString()}`, { 'x-api-key': API_KEY },
      )).status).toBe(200);
    },
  },
  {
    covers: ['preamble.neutral-platformEarn'],
    says: 'what lending earns comes under the name of the dialect\'s file',
    async play(fixture) {
      const name = fileOf(fixture).fields.platformEarn as string;
      const { wire } = await fixture.get('/ultra/v1/search', { query: SOL });
      expect(wire[0].apy).toEqual({ [name]: expect.any(Number) });
      expect((await fixture.service.tokens.search([SOL])).records[0]?.platformEarn).toBe(wire[0].apy[name]);
    },
  },
  {
    covers: ['preamble.neutral-providers'],
    says: 'providers go out in the words of the dialect\'s file',
    async play(fixture) {
      const { provider_a: a } = fileOf(fixture).providers;
      const line = `${fixture.dialect.toWire.path('/prediction/v1/events/search')}?query=tide&provider=${a}`;
      const { status, wire } = await fixture.raw('GET', line, { 'x-api-key': API_KEY });
      expect([status, wire.data.map(({ eventId }: { eventId: string }) => eventId)])
        .toEqual([200, expect.arrayContaining(['SPRINGTIDE'])]);
    },
  },
  {
    covers: ['events.no-push'],
    says: 'nothing is pushed: what has changed is seen by asking again',
    async play(fixture) {
      const before = (await orderOf(fixture, { ...BUY_SOL, excludeRouters: 'rfqz,routerA,routerB' })).inUsdValue;
      for (const path of ['/webhooks', '/swap/v2/subscribe', '/prediction/v1/stream'])
        expect((await fixture.get(path)).status).toBe(404);
      const feed = createFeeds({
        service: fixture.service, clock: asyncScheduler, random: seededRandom(1),
        specs: [
          { kind: 'quote', ...asked(BUY_SOL), everyMs: 20 },
          { kind: 'order-book', marketId: 'SPRINGTIDE-26DEC31', everyMs: 20 },
          { kind: 'token-stats', mint: SOL, everyMs: 20 },
        ],
      });
      const kinds = new Set<string>();
      const subscription = feed.events$.subscribe(({ kind }) => kinds.add(kind));
      await expect.poll(() => [...kinds].toSorted(), { interval: 10 })
        .toEqual(expect.arrayContaining(['order-book', 'quote', 'token-stats']));
      subscription.unsubscribe();
      await fixture.control('/sandbox/price', { mint: fixture.mint('CONCH'), usd: 0.05 });
      const { body: [conch] } = await fixture.get('/ultra/v1/search', { query: fixture.mint('CONCH') });
      expect([conch.usdPrice, before]).toEqual([expect.closeTo(0.05, 3), expect.closeTo(25, 3)]);
      await fixture.control('/sandbox/price', { mint: fixture.mint('CONCH'), usd: 0.0314 });
    },
  },
  {
    covers: ['version.trigger-paths', 'version.trigger-requestId', 'version.trigger-field-names'],
    says: 'the limit orders that moved are answered with where they went, not with a bare 404',
    async play(fixture) {
      const moved = await fixture.raw(
        'POST', '/limit/v2/createOrder', { 'x-api-key': API_KEY, 'content-type': 'application/json' }, '{}',
      );
      expect([moved.status, moved.body.error]).toEqual([410, expect.stringMatching(/\/trigger\/v1/)]);
      for (const path of ['createOrder', 'executeOrder', 'cancelOrder', 'cancelOrders', 'getTriggerOrders']) {
        const answer = await fixture.raw(
          'POST', `/trigger/v1/${path}`, { 'x-api-key': API_KEY, 'content-type': 'application/json' }, '{}',
        );
        expect([answer.status, answer.body.error]).toEqual([404, expect.stringMatching(/outside the description/)]);
      }
    },
  },
];
