import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPriceGuard, type PriceGuard, type PriceGuardLimits } from '../../src/signer/price/price-guard.ts';
import { createQuoteClient } from '../../src/signer/price/quote-client.ts';
import { NATIVE_MINT, USDC } from './attack-swap.ts';
import { guardedBy, quoteOf, startQuoteServer, type AskedQuote, type QuoteServer } from './quote-server.ts';

let server: QuoteServer;
beforeAll(async () => { server = await startQuoteServer(); });
afterAll(() => server.close());
afterEach(() => { server.respondWith(undefined); });

const API_KEY = 'canary-of-the-guard-77';
const SWAP = { inputMint: USDC, outputMint: NATIVE_MINT, amountIn: 1_000_000n };

interface Opened {
  readonly guard: PriceGuard;
  /** How many requests arrived since it was opened. */
  readonly asked: () => number;
}

/** A guard over the server, with a clock that a test may turn. */
function open(
  limits: Partial<PriceGuardLimits> = {}, { serviceUrl = server.baseUrl, clock = { now: () => Date.now() } } = {},
): Opened {
  const settings = guardedBy(serviceUrl, { apiKey: API_KEY, ...limits });
  const before = server.asked.length;
  const guard = createPriceGuard({ client: createQuoteClient({ ...settings, serviceUrl }), clock, limits: settings });
  onTestFinished(() => { guard.close(); });
  return { guard, asked: () => server.asked.length - before };
}

/** Answers with an output for an input, or with 400 where there is none. */
function offer(outputs: (asked: AskedQuote) => bigint | undefined): void {
  server.respondWith((asked, response) => {
    const output = outputs(asked);
    response.writeHead(output === undefined ? 400 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(output === undefined ? { error: 'no route' } : quoteOf(asked, String(output))));
  });
}

/** A market of 100 units for each, whose price falls with the size. */
const amm = ({ query }: AskedQuote): bigint => {
  const input = BigInt(query.get('amount')!);
  return (100n * input * 1_000_000n) / (1_000_000n + input);
};

async function word({ guard }: Opened, minimumOut: bigint, swap = SWAP): Promise<string> {
  return (await guard.judge({ ...swap, minimumOut }))?.code ?? 'fine';
}

async function message({ guard }: Opened, minimumOut = 1n, swap = SWAP): Promise<string> {
  return (await guard.judge({ ...swap, minimumOut }))!.message;
}

describe('the price guard', () => {
  test('allows a minimum down to the deviation below its own quote, to the unit', async () => {
    offer(() => 1_000_000n);
    const opened = open({ maxDeviationBps: 150 });
    expect([await word(opened, 985_000n), await word(opened, 1_200_000n)]).toEqual(['fine', 'fine']);
    expect(await word(opened, 984_999n)).toBe('PRICE_BELOW_GUARD');
    expect(await message(opened, 1n)).toContain('wants at least 985000, 150 bps less');
    offer(() => 2n ** 64n - 1n);
    expect(await word(open(), 2n ** 64n - 1n)).toBe('fine');
  });

  test('asks with the key in its header alone, for exactly the swap and without a taker', async () => {
    const opened = open();
    await word(opened, 1n);
    const { path, query, headers } = server.asked.at(-1)!;
    expect([path, Object.fromEntries(query), headers['x-api-key']])
      .toEqual(['/swap/v2/order', { inputMint: USDC, outputMint: NATIVE_MINT, amount: '1000000' }, API_KEY]);
  });

  test('uses the words of the dialect for path, query and members', async () => {
    server.respondWith((asked, response) => {
      const { inAmount, outAmount, ...rest } = quoteOf({ query: new URLSearchParams({
        inputMint: USDC, outputMint: NATIVE_MINT, amount: asked.query.get('size')!,
      }) }, '500');
      response.end(JSON.stringify({ ...rest, amount_in: inAmount, amount_out: outAmount }));
    });
    const limits = guardedBy(server.baseUrl);
    const words = {
      path: '/v9/order', query: new Map([['amount', 'size']]),
      fields: new Map([['inAmount', 'amount_in'], ['outAmount', 'amount_out']]),
    };
    const client = createQuoteClient({ serviceUrl: `${server.baseUrl}/`, apiKey: undefined, words });
    onTestFinished(() => { client.close(); });
    const guard = createPriceGuard({ client, clock: { now: () => 0 }, limits });
    expect(await guard.judge({ ...SWAP, minimumOut: 500n })).toBeUndefined();
    expect([server.asked.at(-1)!.path, server.asked.at(-1)!.headers['x-api-key']]).toEqual(['/v9/order', undefined]);
  });

  test('refuses without a service', async () => {
    const guard = createPriceGuard({ client: undefined, clock: { now: () => 0 }, limits: guardedBy('') });
    expect(await guard.judge({ ...SWAP, minimumOut: 1n })).toMatchObject({ code: 'PRICE_GUARD_UNAVAILABLE' });
    guard.expect(SWAP);
  });
});

describe('a captured daemon', () => {
  test('cannot have a quote of a small swap stand for a large one, or one pair for another', async () => {
    offer((asked) => (asked.query.get('inputMint') === USDC ? amm(asked) : undefined));
    const opened = open();
    const small = { ...SWAP, amountIn: 1n };
    expect(await word(opened, 99n, small)).toBe('fine');
    // At the price of one unit a million would bring 100 millions; the market gives half of that.
    expect(await word(opened, 49_000_000n)).toBe('PRICE_BELOW_GUARD');
    expect(await word(opened, 50_000_000n)).toBe('fine');
    expect(await word(opened, 99n, { ...small, amountIn: 2n })).toBe('PRICE_BELOW_GUARD');
    expect(await word(opened, 99n, { inputMint: NATIVE_MINT, outputMint: USDC, amountIn: 1n }))
      .toBe('PRICE_GUARD_UNAVAILABLE');
  });

  test('gains nothing by announcing a swap at a low price: a quote ends with its time to live', async () => {
    let [price, time] = [10n, 1_000];
    offer(() => price);
    const opened = open({ quoteTtlMs: 5_000 }, { clock: { now: () => time } });
    opened.guard.expect(SWAP);
    expect(await word(opened, 10n)).toBe('fine');
    price = 1_000n;
    time += 5_000;
    expect([await word(opened, 10n), opened.asked()]).toEqual(['fine', 1]);
    time += 1;
    expect([await word(opened, 10n), opened.asked()]).toEqual(['PRICE_BELOW_GUARD', 2]);
    // A clock that is set back makes no quote young again.
    price = 5_000n;
    time -= 60_000;
    expect(await word(opened, 1_000n)).toBe('PRICE_BELOW_GUARD');
  });

  test('cannot stretch the life of a quote by a late answer', async () => {
    let time = 1_000;
    server.respondWith((asked, response) => {
      time += 1_500;
      response.end(JSON.stringify(quoteOf(asked, '10')));
    });
    const opened = open({ quoteTtlMs: 1_000 }, { clock: { now: () => time } });
    opened.guard.expect(SWAP);
    await expect.poll(() => opened.asked()).toBe(1);
    await setTimeout(20);
    offer(() => 1_000n);
    expect(await word(opened, 10n)).toBe('PRICE_BELOW_GUARD');
  });

  test('does not make the signer ask without end: the rate is bounded, announcements use half of it', async () => {
    let time = 0;
    offer(() => 1n);
    const opened = open({ maxQuotesPerMinute: 10 }, { clock: { now: () => time } });
    for (let amount = 1n; amount <= 500n; amount++) {
      opened.guard.expect({ ...SWAP, amountIn: amount });
      if (amount % 25n === 0n) await setTimeout(2);
    }
    await expect.poll(() => opened.asked()).toBe(5);
    const words: string[] = [];
    for (let amount = 1_000n; amount < 1_008n; amount++)
      words.push(await word(opened, 1n, { ...SWAP, amountIn: amount }));
    expect(words).toEqual([...Array<string>(5).fill('fine'), ...Array<string>(3).fill('PRICE_GUARD_UNAVAILABLE')]);
    expect(await message(opened, 1n, { ...SWAP, amountIn: 2_000n })).toContain('max_quotes_per_minute');
    expect(opened.asked()).toBe(10);
    // After a clock was set back by an hour, the minute counts from then on.
    time = -3_600_000;
    expect(await word(opened, 1n, { ...SWAP, amountIn: 3_000n })).toBe('PRICE_GUARD_UNAVAILABLE');
    time += 60_000;
    expect(await word(opened, 1n, { ...SWAP, amountIn: 3_000n })).toBe('fine');
  });

  test('cannot fill the memory, or hold more than some connections, with many swaps at once', async () => {
    const waiting: (() => void)[] = [];
    server.respondWith((asked, response) => {
      waiting.push(() => { response.end(JSON.stringify(quoteOf(asked, '1'))); });
    });
    const opened = open();
    const swaps = Array.from({ length: 40 }, (_, index) => ({ ...SWAP, amountIn: BigInt(index + 1) }));
    for (const swap of swaps) opened.guard.expect(swap);
    const words = Promise.all(swaps.map((swap) => word(opened, 1n, swap)));
    while (waiting.length > 0 || opened.asked() < 8) {
      waiting.shift()?.();
      await setTimeout(1);
    }
    expect((await words).filter((said) => said === 'fine')).toHaveLength(8);
    // Of many quotes only the latest are kept.
    offer(() => 1n);
    for (let amount = 1n; amount <= 300n; amount++) await word(opened, 1n, { ...SWAP, amountIn: amount });
    const before = opened.asked();
    await word(opened, 1n, { ...SWAP, amountIn: 300n });
    expect(opened.asked()).toBe(before);
    await word(opened, 1n, { ...SWAP, amountIn: 1n });
    expect(opened.asked()).toBe(before + 1);
  });
});

describe('a quote that is announced', () => {
  test('is asked for once, and the signature does not ask again', async () => {
    offer(() => 100n);
    const opened = open();
    for (let time = 0; time < 5; time++) opened.guard.expect(SWAP);
    expect([await word(opened, 100n), await word(opened, 99n), opened.asked()]).toEqual(['fine', 'fine', 1]);
  });

  test('is asked for again before a swap is refused for it, and after it failed', async () => {
    let price = 5_000n;
    offer(() => price);
    const opened = open();
    expect(await word(opened, 5_000n)).toBe('fine');
    // The price has fallen since.
    price = 1_000n;
    expect([await word(opened, 1_000n), opened.asked()]).toEqual(['fine', 2]);
    let failures = 1;
    server.respondWith((asked, response) => {
      if (failures-- > 0) response.writeHead(500).end('{"error":"busy"}');
      else response.end(JSON.stringify(quoteOf(asked, '7')));
    });
    const again = open();
    again.guard.expect(SWAP);
    expect([await word(again, 7n), again.asked()]).toEqual(['fine', 2]);
  });
});

describe('an answer of the service', () => {
  const good = quoteOf({ query: new URLSearchParams({
    inputMint: USDC, outputMint: NATIVE_MINT, amount: '1000000',
  }) }, '100');

  test.each([
    ['of another input', { inputMint: NATIVE_MINT }], ['of another output', { outputMint: USDC }],
    ['of another amount', { inAmount: '1' }], ['of an amount as a number', { inAmount: 1_000_000 }],
    ['for an exact output', { swapMode: 'ExactOut' }], ['without an output', { outAmount: undefined }],
    ['of nothing', { outAmount: '0' }], ['below zero', { outAmount: '-1' }], ['of a fraction', { outAmount: '1.5' }],
    ['of an exponent', { outAmount: '1e2' }], ['as a number', { outAmount: 100 }], ['in hex', { outAmount: '0x64' }],
    ['beyond 64 bits', { outAmount: '18446744073709551616' }], ['of many digits', { outAmount: '9'.repeat(5_000) }],
    ['of a list', { outAmount: ['100'] }],
  ])('%s is no quote', async (_what, change) => {
    server.respondWith((_asked, response) => { response.end(JSON.stringify({ ...good, ...change })); });
    const opened = open();
    expect(await word(opened, 100n)).toBe('PRICE_GUARD_UNAVAILABLE');
    // It is not kept: the next one counts.
    offer(() => 100n);
    expect(await word(opened, 100n)).toBe('fine');
  });

  test.each([
    ['an error', 500, '{"error":"x"}'], ['a refused key', 401, `{"error":"key ${API_KEY} unknown"}`],
    ['a page', 200, '<html></html>'], ['half of one', 200, JSON.stringify(good).slice(0, 40)], ['nothing', 200, ''],
    ['a list', 200, '[]'], ['deep nesting', 200, '['.repeat(200_000)], ['a megabyte', 200, ' '.repeat(1 << 20)],
    ['an error that repeats the key', 418, `{"error":"${API_KEY}"}`],
  ])('%s is refused, and the key stays out of the message', async (_what, status, text) => {
    server.respondWith((_asked, response) => { response.writeHead(status).end(text); });
    const opened = open();
    expect(await word(opened, 1n)).toBe('PRICE_GUARD_UNAVAILABLE');
    expect(await message(opened)).not.toContain(API_KEY.slice(0, 12));
  });

  test.each([
    [402, 'refuses the region, the address or the key'], [403, 'refuses the region, the address or the key'],
    [451, 'refuses the region, the address or the key'], [401, 'refuses the API key'], [429, 'refuses more requests'],
    [500, 'answered 500'], [200, 'expected JSON'],
  ])('%d is named with the id of the host, without the key', async (status, words) => {
    server.respondWith((_asked, response) => {
      response.writeHead(status, { 'x-edge-request-id': `edge-42 ${API_KEY} ${'x'.repeat(500)}` }).end('no');
    });
    const settings = guardedBy(server.baseUrl, { apiKey: API_KEY });
    const client = createQuoteClient({
      ...settings, words: { ...settings.words, requestIdHeader: 'x-edge-request-id' }, serviceUrl: server.baseUrl,
    });
    onTestFinished(() => { client.close(); });
    const said = await client.outputOf(SWAP, 1_000).then(() => '', (thrown: unknown) => (thrown as Error).message);
    expect(said).toContain(words);
    expect(said).toMatch(/ \(request edge-42 \[API key\] x+…\)$/);
    expect(said.length).toBeLessThan(350);
  });

  test('that is a redirect is not followed, and the key goes nowhere else', async () => {
    const elsewhere = await startQuoteServer();
    onTestFinished(() => elsewhere.close());
    server.respondWith((asked, response) => {
      response.writeHead(307, { location: `${elsewhere.baseUrl}${asked.path}?${asked.query.toString()}` }).end();
    });
    expect([await word(open(), 1n), elsewhere.asked]).toEqual(['PRICE_GUARD_UNAVAILABLE', []]);
  });

  test('that refuses for the rate is obeyed for as long as it says, within a bound', async () => {
    let time = 0;
    server.respondWith((_asked, response) => { response.writeHead(429, { 'retry-after': '86400' }).end(); });
    const opened = open({}, { clock: { now: () => time } });
    expect(await word(opened, 1n)).toBe('PRICE_GUARD_UNAVAILABLE');
    offer(() => 1n);
    time = 9_999;
    expect([await word(opened, 1n), opened.asked()]).toEqual(['PRICE_GUARD_UNAVAILABLE', 1]);
    time = 10_000;
    expect(await word(opened, 1n)).toBe('fine');
  });

  test('that drips, or never comes, ends in time', async () => {
    server.respondWith((asked, response) => {
      const text = JSON.stringify(quoteOf(asked, '1'));
      response.writeHead(200);
      const drip = async (): Promise<void> => {
        for (const char of text) {
          response.write(char);
          await setTimeout(50);
        }
      };
      void drip();
    });
    const client = createQuoteClient({ ...guardedBy(server.baseUrl), serviceUrl: server.baseUrl });
    onTestFinished(() => { client.close(); });
    await expect(client.outputOf(SWAP, 150)).rejects.toMatchObject({
      code: 'SERVICE_TIMEOUT', message: 'no complete answer of the service within 150 ms',
    });
    const nowhere = open({}, { serviceUrl: 'http://127.0.0.1:9' });
    expect(await message(nowhere)).toContain('no answer of the service (ECONNREFUSED)');
  });
});
