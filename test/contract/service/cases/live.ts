import { expect } from 'vitest';
import { bids, bookTop } from '../../../../src/market/order-book.ts';
import type { Case } from '../case.ts';
import { asked, BUY_SOL, landed, MAKERS_ONLY, orderOf, POOLS_ONLY, STRANGER, usdPrice } from '../scenes.ts';
import type { Answer, ServiceFixture } from '../service-fixture.ts';
import { API_KEY, SOL, USDC } from '../service-fixture.ts';
import { predictionOf } from './prediction/prediction-scenes.ts';
import { quoteOf } from './v1/v1-scenes.ts';

type Body = Answer['body'];

const LARGE = { inputMint: USDC, outputMint: SOL, amount: '500000000' } as const;
const BOOK = 'SPRINGTIDE-26DEC31';

/** A case about what the live service does otherwise. */
const live = (row: string, says: string, play: (fixture: ServiceFixture) => Promise<void>): Case =>
  ({ covers: [`live.${row}`], says, profile: 'live', play });

export const liveCases: readonly Case[] = [
  live('impact-in-points', 'an impact in percentage points is read as the same fraction', async (fixture) => {
    const wire = await orderOf(fixture, { ...BUY_SOL, ...POOLS_ONLY });
    const fraction = wire.outUsdValue / wire.inUsdValue - 1;
    expect(wire.priceImpact).toBeCloseTo(fraction * 100, 3);
    expect(Math.abs(Number(wire.priceImpactPct))).toBeCloseTo(Math.abs(fraction), 5);
    const read =
      await fixture.service.swap.order({ ...asked(BUY_SOL), excludeRouters: ['rfqz', 'routerA', 'routerB'] });
    expect([read.priceImpact, read.priceImpactBasis]).toEqual([expect.closeTo(fraction, 4), 'confirmed']);
  }),
  live('iris-has-another-name', 'every name that the dialect knows for a router is read as the neutral one',
    async (fixture) => {
      const wire = await orderOf(fixture, { ...BUY_SOL, ...POOLS_ONLY });
      const said = fixture.dialect.toWire.json(wire) as Body;
      for (const name of new Set([said.router, fixture.dialect.toWire.router('iris')])) {
        const body = JSON.stringify({ ...said, router: name });
        await fixture.fault({ match: { path: '/swap/v2/order' }, fault: { kind: 'malformed', body }, times: 1 });
        expect((await fixture.service.swap.order(asked(BUY_SOL))).router).toBe('iris');
      }
    }),
  live('makers-stay', 'a receiver or a referral leaves makers in, another payer shuts them out', async (fixture) => {
    const taker = fixture.wallet.address;
    const referralAccount = (await fixture.newWallet({ [SOL]: '1000000000', [USDC]: '1' })).address;
    const sale = { inputMint: SOL, outputMint: USDC, amount: '3000000000', taker };
    expect((await orderOf(
      fixture, { ...LARGE, taker, receiver: (await fixture.newWallet({ [SOL]: '10000000' })).address, ...MAKERS_ONLY },
    )).router).toBe('rfqz');
    expect((await orderOf(fixture, { ...sale, referralAccount, referralFee: 60, ...MAKERS_ONLY })).router).toBe('rfqz');
    const payer = (await fixture.newWallet({ [SOL]: '1000000000' })).address;
    expect((await fixture.get('/swap/v2/order', { ...LARGE, taker, payer, ...MAKERS_ONLY })).status).toBe(400);
    expect((await orderOf(fixture, { ...LARGE, taker, payer })).router).toBe('iris');
  }),
  live('quote-without-taker', 'a quote without a taker protects nothing, and our client still reads it',
    async (fixture) => {
      const wire = await orderOf(fixture, BUY_SOL);
      expect([wire.transaction, wire.slippageBps, wire.otherAmountThreshold]).toEqual([null, 0, wire.outAmount]);
      expect([wire.lastValidBlockHeight, wire.platformFee.amount]).toEqual([undefined, undefined]);
      const read = await fixture.service.swap.order(asked(BUY_SOL));
      expect([read.threshold, read.platformFee?.amount, read.platformFee?.feeBps])
        .toEqual([BigInt(wire.outAmount), undefined, wire.platformFee.feeBps]);
      const built = await orderOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY });
      expect(BigInt(built.otherAmountThreshold)).toBeLessThan(BigInt(built.outAmount));
    }),
  live('maker-quote-without-taker', 'a maker\'s quote without a taker has no end, with one it has', async (fixture) => {
    expect((await orderOf(fixture, { ...LARGE, ...MAKERS_ONLY })).expireAt ?? null).toBeNull();
    expect(
      (await fixture.service.swap.order({ ...asked(LARGE), excludeRouters: ['iris', 'routerA', 'routerB'] })).expireAt,
    ).toBeUndefined();
    expect((await orderOf(fixture, { ...LARGE, taker: fixture.wallet.address, ...MAKERS_ONLY })).expireAt)
      .toMatch(/^\d{10}$/);
  }),
  live('untradable-mint', 'a mint without a market is a 500 whose words our client passes on', async (fixture) => {
    const query = { ...BUY_SOL, outputMint: STRANGER };
    const answer = await fixture.get('/swap/v2/order', query);
    expect([answer.status, answer.body.error]).toEqual([500, 'Something unexpected occurred']);
    await expect(fixture.service.swap.order(asked(query)))
      .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 500 } });
  }),
  live('ascending-book', 'the best bid comes last, and our client still finds it', async (fixture) => {
    await fixture.control('/sandbox/book', { market_id: BOOK, yes: [[30, 120.5], [12, 7]], no: [[69, 40], [41, 3]] });
    const wire = await predictionOf(fixture, `/orderbook/${BOOK}`);
    expect([wire.yes, wire.no_dollars]).toEqual([[[12, 7], [30, 120.5]], [['0.4100', 3], ['0.6900', 40]]]);
    const read = await fixture.service.prediction.orderBook(BOOK);
    expect(bookTop(read!, 'yes')).toMatchObject({ bestBid: 300_000, bestAsk: 310_000 });
    await fixture.raw('DELETE', '/sandbox/book');
  }),
  live('sub-cent-levels', 'levels below a cent keep their exact price, however the cents show', async (fixture) => {
    await fixture.control('/sandbox/book', { market_id: BOOK, yes: [[0.3, 10.25], [0.2, 5], [2, 1]], no: [] });
    const wire = await predictionOf(fixture, `/orderbook/${BOOK}`);
    expect(wire.yes.map(([cents]: [number]) => cents)).toEqual([0, 0, 2]);
    const read = await fixture.service.prediction.orderBook(BOOK);
    expect(bids(read!, 'yes').map(({ priceMicroUsd, size }) => [priceMicroUsd, size]))
      .toEqual([[20_000, 1], [3_000, 10.25], [2_000, 5]]);
    await fixture.raw('DELETE', '/sandbox/book');
  }),
  live('flat-market', 'a flat market is read as a nested one', async (fixture) => {
    const { data: [wire] } = await predictionOf(fixture, '/events/90817/markets');
    expect(wire).not.toHaveProperty('metadata');
    expect(wire).toMatchObject({
      title: expect.any(String), provider: 'provider_b', outcomes: ['Yes', 'No'], isTeamMarket: false,
      rulesPrimary: expect.any(String),
    });
    const { records: [read] } = await fixture.service.prediction.eventMarkets('90817');
    expect(read?.metadata).toMatchObject({
      title: wire.title, isTeamMarket: false, rulesPrimary: wire.rulesPrimary, closeTime: wire.closeTime * 1_000,
    });
    expect(read?.provider).toBe('provider_b');
  }),
  live('resolveAt', 'no instant while a market is open, one once it is resolved', async (fixture) => {
    const marketOf = async (): Promise<Body> => (await predictionOf(fixture, '/events/HERRINGRUN/markets')).data[0];
    const read = async () => (await fixture.service.prediction.eventMarkets('HERRINGRUN')).records[0];
    expect([(await marketOf()).resolveAt, (await read())?.resolveAt]).toEqual([null, undefined]);
    await fixture.control('/sandbox/resolve', { market_id: 'HERRINGRUN-27MAR01', result: 'yes' });
    const { resolveAt } = await marketOf();
    expect(resolveAt).toMatch(/^\d{4}-\d{2}-\d{2}T/);
    expect((await read())?.resolveAt).toBe(Date.parse(resolveAt));
  }),
  live('closed-prices', 'prices of 0 are no prices to our client', async (fixture) => {
    const { data } = await predictionOf(fixture, '/events/FOGHORN/markets');
    for (const { pricing } of data) expect([pricing.buyYesPriceUsd, pricing.sellNoPriceUsd]).toEqual([0, 0]);
    for (const { pricing } of (await fixture.service.prediction.eventMarkets('FOGHORN')).records)
      expect([pricing.buyYesPriceUsd, pricing.sellNoPriceUsd]).toEqual([undefined, undefined]);
  }),
  live('closeTime-in-seconds', 'an event closes at the same instant, told in seconds or as a text', async (fixture) => {
    const { data: [position] } = await predictionOf(fixture, '/positions', { ownerPubkey: fixture.wallet.address });
    expect(Number.isSafeInteger(position.eventMetadata.closeTime)).toBe(true);
    const read = await fixture.service.prediction.position(position.pubkey);
    expect(read.eventMetadata?.closeTime).toBe(position.eventMetadata.closeTime * 1_000);
  }),
  live('exact-contracts', 'the fraction of contracts is kept, and three ways of saying it agree', async (fixture) => {
    const { data } = await predictionOf(fixture, '/positions', { ownerPubkey: fixture.wallet.address, end: 20 });
    expect(data.some(({ contractsMicro }: Body) => BigInt(contractsMicro) % 1_000_000n !== 0n)).toBe(true);
    const { records } = await fixture.service.prediction.positions({ owner: fixture.wallet.address, end: 20 });
    for (const [place, wire] of data.entries()) {
      expect(BigInt(wire.contracts)).toBe(BigInt(wire.contractsMicro) / 1_000_000n);
      expect(Number(wire.contractsDecimal) * 1e6).toBeCloseTo(Number(wire.contractsMicro), 0);
      expect([records[place]?.contractsMicro, records[place]?.contracts])
        .toEqual([BigInt(wire.contractsMicro), BigInt(wire.contracts)]);
    }
  }),
  live('status-of-the-resolved',
    'a resolved market has yes or no for its status in a history, and our client passes it on', async (fixture) => {
      const all: Body[] = [];
      for (let start = 0; start < 100; start += 20) all.push(
        ...(
          await predictionOf(fixture, '/history', { ownerPubkey: fixture.wallet.address, start, end: start + 20 })
        ).data,
      );
      const resolved = all.filter(({ marketMetadata }) => marketMetadata.result !== '');
      expect(resolved.length).toBeGreaterThan(0);
      for (const { marketMetadata } of resolved) expect(marketMetadata.status).toBe(marketMetadata.result);
      const { records: [read] } =
        await fixture.service.prediction.history({ owner: fixture.wallet.address, eventId: resolved[0].id });
      expect(read?.marketMetadata?.status).toBe(resolved[0].marketMetadata.status);
    }),
  live('history-needs-an-owner', 'a history without an owner is a 400 that says so', async (fixture) => {
    const answer = await fixture.get('/prediction/v1/history');
    expect([answer.status, answer.body]).toEqual([400, {
      type: 'invalid_request_error', message: 'ownerPubkey or userPubkey is required', code: 'custom',
      param: 'ownerPubkey', request_id: expect.any(String),
    }]);
    await expect(fixture.service.prediction.history({}))
      .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { serviceParameter: 'ownerPubkey' } });
  }),
  live('search-in-pages', 'found events come in pages, and our client still gives no more than it was asked for',
    async (fixture) => {
      const { data, pagination } =
        await predictionOf(fixture, '/events/search', { query: 'e', limit: 1, start: 0, end: 3 });
      expect([data.length, pagination]).toEqual([3, { start: 0, end: 3, total: expect.any(Number), hasNext: true }]);
      expect((await predictionOf(fixture, '/events/search', { query: 'e', includeMarkets: false })).data[0])
        .not.toHaveProperty('markets');
      expect((await fixture.service.prediction.searchEvents({ query: 'e', limit: 2 })).records).toHaveLength(2);
    }),
  live('keyless', 'a stranger without a key may ask five times in ten seconds, one with a wrong key never',
    async (fixture) => {
      const statuses: number[] = [];
      for (let i = 0; i < 6; i++) statuses.push((await fixture.get('/swap/v2/order', BUY_SOL, {})).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
      expect((await fixture.get('/swap/v2/order', BUY_SOL, { 'x-api-key': 'wrong' })).status).toBe(401);
      const keyless = fixture.connect(undefined);
      await expect(keyless.swap.order(asked(BUY_SOL))).rejects.toMatchObject({ code: 'SERVICE_RATE_LIMITED' });
    }),
  live('rate-headers', 'a limit is told with 200 and 429, and not with what the gateway never let through',
    async (fixture) => {
      const answers = [
        await fixture.get('/swap/v2/order', BUY_SOL, {}),
        await fixture.get('/swap/v2/order', BUY_SOL, { 'x-api-key': 'wrong' }),
      ];
      expect(answers.map(({ status, headers }) =>
        [status === 401 ? 'refused' : 'let in', headers['x-ratelimit-remaining'] === undefined]))
        .toEqual([['let in', false], ['refused', true]]);
      for (const { headers } of answers)
        expect([headers['retry-after'], typeof headers['x-api-gateway-request-id']]).toEqual([undefined, 'string']);
    }),
  live('absent-members', 'what is not known is missing, not null, and our client says the same of it',
    async (fixture) => {
      const mints = fixture.sandbox.addresses.tokens.map(({ mint }) => mint);
      const { body } = await fixture.get('/ultra/v1/search', { query: mints.join(',') });
      for (const record of body) expect(Object.values(record)).not.toContain(null);
      const murk = body.find(({ symbol }: Body) => symbol === 'MURK');
      expect([murk.isVerified, murk.apy, murk.tags]).toEqual([undefined, {}, undefined]);
      expect(murk.updatedAt).toMatch(/\.\d{7,9}Z$/);
      const { records, rejected } = await fixture.service.tokens.search(mints);
      expect([records.length, rejected]).toEqual([mints.length, []]);
      const read = records.find(({ symbol }) => symbol === 'MURK');
      expect([read?.isVerified, read?.platformEarn, read?.tags, read?.values.usdPrice])
        .toEqual([undefined, undefined, [], await usdPrice(fixture, murk.id)]);
      expect(read?.updatedAt).toBe(Date.parse(murk.updatedAt.replace(/(\.\d{3})\d*Z/, '$1Z')));
    }),
  live('likes-are-back', 'likes on the wire are in no record of ours', async (fixture) => {
    const { body: [sol] } = await fixture.get('/ultra/v1/search', { query: SOL });
    expect([typeof sol.ctLikes, typeof sol.smartCtLikes]).toEqual(['number', 'number']);
    expect(JSON.stringify((await fixture.service.tokens.search([SOL])).records)).not.toMatch(/ctLikes/i);
  }),
  live('v1-quote', 'a V1 quote with nulls and further members is read, goes back as it came, and lands',
    async (fixture) => {
      const sale = { inputMint: SOL, outputMint: USDC, amount: '100000000' };
      const wire = await quoteOf(fixture, sale);
      expect([
        wire.platformFee, wire.routePlan[0].bps, wire.routePlan[0].swapInfo.feeAmount, typeof wire.updateContextSlot,
      ]).toEqual([null, null, undefined, 'number']);
      const read = await fixture.service.swapV1.quote(asked(sale));
      expect([read.platformFee, read.routePlan[0]?.bps]).toEqual([undefined, 10_000]);
      const { transaction } =
        await fixture.service.swapV1.swap({ userPublicKey: fixture.wallet.address, quoteResponse: read });
      expect(transaction.length).toBeGreaterThan(200);
    }),
  live('simulationError', 'a V1 transaction that would fail says so, one that would not has null', async (fixture) => {
    const quoteResponse =
      await fixture.service.swapV1.quote(asked({ inputMint: SOL, outputMint: USDC, amount: '100000000' }));
    const poor = (await fixture.newWallet({ [SOL]: '1000000' })).address;
    const wire =
      await fixture.post('/swap/v1/swap', {
        userPublicKey: poor, quoteResponse: JSON.parse(quoteResponse.raw.rawJson),
      });
    expect([wire.status, wire.body.simulationError])
      .toEqual([200, { errorCode: 'TRANSACTION_ERROR', error: expect.stringMatching(/\w/) }]);
    const [doomed, sound] = [
      await fixture.service.swapV1.swap({ userPublicKey: poor, quoteResponse }),
      await fixture.service.swapV1.swap({ userPublicKey: fixture.wallet.address, quoteResponse }),
    ];
    expect([doomed.simulationError?.code, sound.simulationError]).toEqual(['TRANSACTION_ERROR', undefined]);
  }),
  live('unknown-path-is-text', 'an unknown path is a 404 in plain text', async (fixture) => {
    const answer = await fixture.raw('GET', '/no/such/path', { 'x-api-key': API_KEY });
    expect([answer.status, answer.wire, answer.headers['content-type']])
      .toEqual([404, undefined, expect.stringMatching(/^text\/plain/)]);
    // The way from an order to the chain is the same in both profiles.
    const order = await orderOf(fixture, { ...BUY_SOL, taker: fixture.wallet.address, ...POOLS_ONLY });
    expect((await landed(fixture, order, fixture.wallet)).totalOutputAmount).toBe(order.outAmount);
  }),
];
