import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bids } from '../../../src/market/order-book.ts';
import type { Service } from '../../../src/service/service.ts';
import { clientOf, json, listen } from '../../service/loopback.ts';
import { asked } from './scenes.ts';
import { USDC } from './service-fixture.ts';

const FORMS = ['reference', 'live'] as const;
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const OWNER = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SALE = asked({ inputMint: PEARL, outputMint: USDC, amount: '2500000000' });

/** Asks a service whose only answer is a fixture; what comes out has to be the same for both forms. */
const READERS: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
  // What a quote protects is not the same in both forms; what it says of the trade is.
  'order-quote': async ({ swap }) => {
    const {
      threshold: _threshold, slippageBps: _slippage, requestId: _requestId, statedPriceImpact: _stated, ...order
    } = await swap.order(SALE);
    return { ...order, platformFee: { feeBps: order.platformFee?.feeBps, feeMint: order.platformFee?.feeMint } };
  },
  'v1-quote': async ({ swapV1 }) => {
    const { raw: _raw, asked: _asked, priceImpactPct: _stated, routePlan, ...quote } = await swapV1.quote(SALE);
    return { ...quote, routePlan: routePlan.map(
      ({ swapInfo: { feeAmount: _amount, feeMint: _mint, ...info }, ...entry }) => ({ ...entry, info }),
    ) };
  },
  'token-record': ({ tokens }) => tokens.search([PEARL]),
  'event-markets': async ({ prediction }) => {
    const page = await prediction.eventMarkets('93001');
    return { ...page, records: page.records.map(({
      provider: _provider, outcomes: _outcomes, metadata: { status: _status, result: _result, ...metadata }, ...market
    }) => ({ ...market, metadata })) };
  },
  'order-book': async ({ prediction }) => {
    const book = (await prediction.orderBook('548002'))!;
    return { yes: bids(book, 'yes'), no: bids(book, 'no') };
  },
  'event-search': async ({ prediction }) => {
    const { records } = await prediction.searchEvents({ query: 'kraken' });
    return records.map(({ markets, ...event }) =>
      ({ ...event, markets: markets.map(({ marketId, pricing }) => ({ marketId, pricing })) }));
  },
  positions: async ({ prediction }) => (await prediction.positions({ owner: OWNER })).records,
  history: async ({ prediction }) => (await prediction.history({ owner: OWNER })).records,
  execute: ({ swap }) => swap.execute({ requestId: 'r-1', signedTransaction: Uint8Array.from([1]) }),
  build: async ({ swap }) => {
    const { priceImpact: _impact, priceImpactPct: _stated, priceImpactBasis: _basis, ...build } =
      await swap.build({ ...SALE, taker: OWNER });
    return build;
  },
  content: ({ tokens }) => tokens.content([PEARL]),
};

const fixture = (form: string, name: string): string =>
  readFileSync(new URL(`fixtures/${form}/${name}.json`, import.meta.url), 'utf8');

async function readAs(form: (typeof FORMS)[number], name: string): Promise<unknown> {
  return READERS[name]!(clientOf(await listen(json(fixture(form, name)))));
}

describe('the client reads the description\'s form and the live one to the same meaning', () => {
  test.each(Object.keys(READERS))('%s', async (name) => {
    expect(fixture('live', name)).not.toBe(fixture('reference', name));
    const [described, seen] = [await readAs('reference', name), await readAs('live', name)];
    expect(described).toBeDefined();
    expect(seen).toEqual(described);
  });

  test('no fixture is left out', () => {
    for (const form of FORMS) expect(readdirSync(new URL(`fixtures/${form}`, import.meta.url)).toSorted())
      .toEqual(Object.keys(READERS).map((name) => `${name}.json`).toSorted());
  });
});

describe('what the live form really says', () => {
  test('an impact of -2.19 points is a fraction of -0.0219, as the dollars confirm', async () => {
    expect(await readAs('live', 'order-quote'))
      .toMatchObject({ priceImpact: expect.closeTo(-0.0219, 4), priceImpactBasis: 'confirmed' });
  });

  test('a V1 impact without its sign is a loss', async () => {
    expect(await readAs('live', 'v1-quote')).toMatchObject({ priceImpact: -0.0209 });
  });

  test('a resolved market has its instant from a text, an open one none', async () => {
    const { records } = await readAs('live', 'event-markets') as { records: readonly { resolveAt?: number }[] };
    expect(records.map(({ resolveAt }) => resolveAt)).toEqual([Date.UTC(2026, 9, 31), undefined]);
  });

  test('volumes beyond 2^53 keep every digit', async () => {
    expect(await readAs('live', 'event-search')).toMatchObject([{ volumeUsd: 41_012_345_678_901_234_567n }]);
  });

  test('a V1 swap whose simulation failed says so', async () => {
    const answer = {
      swapTransaction: 'AQID', lastValidBlockHeight: 376_112_383, prioritizationFeeLamports: 5,
      computeUnitLimit: 200_000,
      simulationError: { errorCode: 'TRANSACTION_ERROR', error: 'custom program error: 0x1771' },
    };
    const service = clientOf(await listen(({ path }, response) =>
      response.end(path.endsWith('/quote') ? fixture('live', 'v1-quote') : JSON.stringify(answer))));
    const quoteResponse = await service.swapV1.quote(SALE);
    expect(await service.swapV1.swap({ userPublicKey: OWNER, quoteResponse }))
      .toMatchObject({ simulationError: { code: 'TRANSACTION_ERROR', message: 'custom program error: 0x1771' } });
  });

  test('a V1 quote goes back with every member it came with, digit by digit', async () => {
    const server = await listen(({ path }, response) => response.end(path.endsWith('/quote')
      ? fixture('live', 'v1-quote') : '{"swapTransaction":"AQID","lastValidBlockHeight":1}'));
    const service = clientOf(server);
    await service.swapV1.swap({ userPublicKey: OWNER, quoteResponse: await service.swapV1.quote(SALE) });
    expect(server.received.at(-1)?.body).toContain(`"quoteResponse":${fixture('live', 'v1-quote').trim()}`);
  });
});
