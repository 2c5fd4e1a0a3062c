import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pool } from 'undici';
import { seededRandom, type Random } from '../../../src/core/random.ts';
import { KEY, SOL, startTestSandbox, USDC, type TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
let pool: Pool;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  pool = new Pool(sandbox.addresses.base_url, { connections: 4 });
});
afterAll(async () => {
  await pool.close();
  await sandbox.close();
});

const NAMES = [
  'inputMint', 'outputMint', 'amount', 'taker', 'receiver', 'swapMode', 'slippageBps', 'referralAccount', 'referralFee', 'payer', 'priorityFeeLamports',
  'bundleTipLamports', 'broadcastFeeType', 'excludeRouters', 'excludeDexes', 'mode', 'dexes', 'platformFeeBps', 'feeAccount', 'maxAccounts', 'wrapAndUnwrapSol',
  'destinationTokenAccount', 'nativeDestinationAccount', 'blockhashSlotsToExpiry', 'query', '__proto__', 'constructor',
];
const VALUES = [
  '', ' ', '0', '-1', '1e99', 'NaN', '18446744073709551616', '9'.repeat(400), SOL, USDC, `${SOL}x`, '../..', '%00', '\u0000', '\u202e', '<script>', '${7*7}', '[]', '{}',
  'null', 'undefined', 'true', ',', ',,,', 'a,b', '💥', '1 OR 1=1', '11111111111111111111111111111111', 'z'.repeat(44),
];
const PATHS = ['/swap/v2/order', '/swap/v2/build', '/swap/v2/execute', '/ultra/v1/search', '/prediction/v1/orderbook/x', '/sandbox/fund', '/sandbox/price', '/sandbox/time', '/sandbox/faults', '/nowhere'];
const BODIES = [
  '', '{', '[]', 'null', '5', '"x"', '{"requestId":{}}', '{"requestId":"x","signedTransaction":"AAAA"}', '{"__proto__":{"x":1}}', '{"constructor":{"prototype":{}}}',
  '{"mint":{},"usd":[]}', '{"advance_slots":"1e3"}', '{"owner":[],"mint":[],"amount":[]}', '{"match":{"path":5},"fault":[]}', `{"a":"${'x'.repeat(70_000)}"}`, '['.repeat(5_000), '\u0000\u0001',
];

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

describe('hostile requests', () => {
  it('2,000 random ones are answered with 4xx in JSON, and the service goes on', async () => {
    const random = seededRandom('hostile');
    for (let i = 0; i < 2_000; i++) {
      const post = random() < 0.5;
      const count = Math.floor(random() * 6);
      const query = Array.from({ length: count }, () => `${encodeURIComponent(pick(random, NAMES))}=${encodeURIComponent(pick(random, VALUES))}`).join('&');
      // The search takes almost any text, as it should; here it must lack its query.
      const path = `${pick(random, PATHS)}?${query.replaceAll('query=', 'q=')}`;
      const request = post
        ? { method: 'POST' as const, path, headers: { ...KEY, 'content-type': pick(random, ['application/json', 'text/plain', 'application/octet-stream']) }, body: pick(random, BODIES) }
        : { method: pick(random, ['GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH'] as const), path, headers: KEY };
      if (request.method === 'DELETE' && path.startsWith('/sandbox/faults')) continue;
      const response = await pool.request(request);
      const text = await response.body.text();
      expect(response.statusCode, `${request.method} ${path} ${text}`).toBeGreaterThanOrEqual(400);
      expect(response.statusCode, `${request.method} ${path} ${text}`).toBeLessThan(500);
      if (request.method !== 'HEAD') expect(() => JSON.parse(text) as unknown, `${request.method} ${path} ${text}`).not.toThrow();
    }
    expect((await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '5000000' })).status).toBe(200);
  });

  it.each(['/%zz', '/swap/v2/order?%', '/prediction/v1/orderbook/%ff', `/prediction/v1/orderbook/${'x'.repeat(9_000)}`, `/${'a'.repeat(20_000)}`])(
    'GET %.40s is a 4xx', async (path) => {
      const response = await pool.request({ method: 'GET', path, headers: KEY });
      await response.body.dump();
      expect(response.statusCode).toBeGreaterThanOrEqual(400);
      expect(response.statusCode).toBeLessThan(500);
    },
  );

  it('random bytes as signed transactions never reach the chain', async () => {
    const random = seededRandom('bytes');
    const { body } = await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '5000000', taker: sandbox.wallet.address });
    const good = Buffer.from(sandbox.wallet.sign(body.transaction), 'base64');
    const count = sandbox.chain.transactionCount;
    for (let i = 0; i < 400; i++) {
      const raw = Buffer.from(good.subarray(0, Math.ceil(good.length * (random() < 0.5 ? 1 : random()))));
      for (let flips = 0; flips < 1 + random() * 5; flips++) raw[Math.floor(random() * raw.length)]! ^= 1 + Math.floor(random() * 255);
      const answer = await sandbox.post('/swap/v2/execute', { signedTransaction: raw.toString('base64'), requestId: body.requestId });
      expect(answer.status).toBe(400);
      expect([-2, -3, -1_002, -1_003, -5]).toContain(answer.body.code);
    }
    expect(sandbox.chain.transactionCount).toBe(count);
  });

  it('what is no HTTP at all ends the connection, nothing else', async () => {
    const { port } = new URL(sandbox.addresses.base_url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.end('\u0016\u0003\u0001 this is not HTTP\r\n\r\n');
    await once(socket, 'close');
    expect((await sandbox.get('/sandbox/state')).status).toBe(200);
  });
});
