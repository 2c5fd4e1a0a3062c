import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground } from './gannet.ts';
import { createPlayground, document, jsonLines } from './gannet.ts';

const WALLET = '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8';
const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** A quote that would be good, so that each of the following is bad in one place only. */
const QUOTE = {
  inputMint: USDC, outputMint: SOL, inAmount: '5000000', outAmount: '27000000', otherAmountThreshold: '26900000',
  slippageBps: 50, priceImpact: -0.0001, feeBps: 2, router: 'iris', swapType: 'aggregator', requestId: 'r',
  transaction: null, mode: 'manual', swapMode: 'ExactIn', taker: null,
};

const ANSWERS: readonly (readonly [name: string, body: string])[] = [
  ['nothing', ''],
  ['a page', '<html><body>bad gateway</body></html>'],
  ['a quote that is cut off', JSON.stringify(QUOTE).slice(0, 120)],
  ['null', 'null'],
  ['a list', '[]'],
  ['another pair', JSON.stringify({ ...QUOTE, outputMint: USDC })],
  ['another amount', JSON.stringify({ ...QUOTE, inAmount: '5000001' })],
  ['a negative output', JSON.stringify({ ...QUOTE, outAmount: '-27000000' })],
  ['an output of nothing', JSON.stringify({ ...QUOTE, outAmount: '0', otherAmountThreshold: '0' })],
  ['more than any token has', JSON.stringify({ ...QUOTE, outAmount: '99999999999999999999999' })],
  ['an amount with an exponent', JSON.stringify({ ...QUOTE, outAmount: '2.7e7' })],
  ['a threshold above the output', JSON.stringify({ ...QUOTE, otherAmountThreshold: '27000001' })],
  ['an output said twice', JSON.stringify(QUOTE).replace('"outAmount"', '"outAmount":"26999999","outAmount"')],
  ['deep nesting', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
];

let playground: Playground;
let url: string;
let ordersServed = 0;
let booksServed = 0;
const server = createServer((request, response) => {
  request.resume();
  const path = request.url ?? '';
  if (path.startsWith('/ultra/v1/search')) answer(response, '{"not": "a list"}');
  else if (path.startsWith('/prediction/')) answer(response, ANSWERS[booksServed++ % 5]![1]);
  else if (path.startsWith('/swap/v2/order')) {
    const asked = new URL(path, 'http://loopback').searchParams.get('amount')!;
    answer(
      response, ANSWERS[ordersServed++ % ANSWERS.length]![1].replace('"inAmount":"5000000"', `"inAmount":"${asked}"`),
    );
  }
  else response.writeHead(404).end();
});

function answer(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

beforeAll(async () => {
  playground = createPlayground();
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await playground.close();
});

describe('a service with hostile answers', () => {
  it('is reported by its feeds, causes no trade, and ends nothing else', async () => {
    const config = playground.write('hostile.yaml', `mode: paper
service: { base_url: "${url}", requests_per_second: 200 }
wallet: { address: ${WALLET} }
control: { port: 0 }
backtest: { balances: { USDC: "1000" }, latency: { quote: 10ms, land: 10ms } }
risk: { max_swaps: { per_minute: 1000, per_hour: 10000, per_day: 100000 } }
strategies:
${[5, 6, 7, 8, 9].map((size) => `  - { use: mean-reversion, name: dip-${size}, budget: "100 USDC",
      params: { pair: SOL/USDC, size: "${size} USDC", every: 100ms, window: 2, k: 0.1 } }`).join('\n')}
  - { use: dca, budget: "100 USDC", params: { buy: SOL, spend: "5 USDC", every: 1s } }
  - { use: book-watch, params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5, every: 100ms } }
`);
    const state = playground.path('state');
    const run = playground.start(['run', '--json', '--config', config, '--state-dir', state]);
    await run.until((stdout) =>
      ordersServed > 2 * ANSWERS.length && booksServed > 2 && stdout.split('"state":"abandoned"').length > 2);
    run.signal('SIGINT');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const lines = jsonLines(ended.stdout);
    const health = lines.filter(({ type, feed }) => type === 'state' && feed !== undefined);
    expect(new Set(health.map(({ feed }) => String(feed).split(':')[0])))
      .toStrictEqual(new Set(['quote', 'order-book']));
    expect(health.every(({ state: status, code }) =>
      ['degraded', 'down'].includes(String(status)) && String(code).startsWith('SERVICE_')))
      .toBe(true);
    const summary = lines.at(-1)!;
    expect(summary).toMatchObject({ type: 'summary', open: [], fees_lamports: '0' });
    // Five swaps in a row that were given up for one cause raise an alert: the order of the answers decides it.
    const alerts = lines.filter(({ type }) => type === 'alert');
    expect(summary['alerts']).toBe(alerts.length);
    expect(alerts.every(({ data }) => (data as { code?: string } | undefined)?.code?.startsWith('SERVICE_')))
      .toBe(true);
    expect(Object.keys(summary['intents'] as object)).toStrictEqual(['abandoned']);
    expect((summary['strategies'] as { swaps: number; running: boolean }[]).every(({ swaps, running }) =>
      swaps === 0 && running))
      .toBe(true);
    const replay = await playground.ask(['replay', String(summary['run_id']), '--json', '--state-dir', state]);
    expect(document(replay)).toMatchObject({ match: true, decision_hash: summary['decision_hash'] });
  });
});
