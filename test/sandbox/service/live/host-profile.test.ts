import { VersionedTransaction } from '@solana/web3.js';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { KEY, SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';
import { HOST_PROFILE } from './host-profile-fixture.ts';

const POOLS_ONLY = { excludeRouters: 'rfqz,routerA,routerB' } as const;
const PAIR = { inputMint: USDC, outputMint: SOL, amount: '20000003', slippageBps: 51 };

let sandbox: TestSandbox;
/** The same host without a limit and delays. */
let open: TestSandbox;

beforeAll(async () => {
  const { limits: _limits, latency_ms: _latency, ...rest } = HOST_PROFILE;
  const none = { limits: { requests: null, window_ms: null }, latency_ms: { order: null, build: null, node: null } };
  [sandbox, open] = await Promise.all([
    startTestSandbox({ speed: 0, host: HOST_PROFILE }), startTestSandbox({ speed: 0, host: { ...rest, ...none } }),
  ]);
});
afterAll(() => Promise.all([sandbox.close(), open.close()]));

describe('a sandbox with the profile of a host', () => {
  test('rounds as the host does', async () => {
    const query = { ...PAIR, taker: open.wallet.address };
    const [order, build] = [
      (await open.order({ ...query, ...POOLS_ONLY })).body, (await open.get('/swap/v2/build', query)).body,
    ];
    const [orderOut, buildOut] = [BigInt(order.outAmount), BigInt(build.outAmount)];
    expect(BigInt(order.otherAmountThreshold)).toBe(orderOut - (orderOut * 51n) / 10_000n);
    expect(BigInt(build.otherAmountThreshold)).toBe((buildOut * 9_949n) / 10_000n);
    expect(order.otherAmountThreshold).not.toBe(((orderOut * 9_949n) / 10_000n).toString());
  });

  test('leaves out the members that the host leaves out, and tells impacts and shares as it does', async () => {
    const query = { ...PAIR, taker: open.wallet.address };
    const { body: order } = await open.order(query);
    expect(order).not.toHaveProperty('swapType');
    expect(Object.keys(order.platformFee)).toEqual(['amount', 'feeBps']);
    expect(order.priceImpact).toBe(Number(order.priceImpactPct));
    const { body: build } = await open.get('/swap/v2/build', query);
    for (const step of build.routePlan) {
      expect(Object.keys(step).toSorted()).toEqual(['bps', 'swapInfo', 'usdValue']);
      expect(step.swapInfo).not.toHaveProperty('label');
    }
  });

  test('pays tips of the host’s size to the host’s receivers', async () => {
    const seen = new Set<string>();
    let most = 0;
    for (let each = 0; each < 24; each++) {
      const { body } =
        await open.order({ ...PAIR, amount: 20_000_000 + each, taker: open.wallet.address, ...POOLS_ONLY });
      const { message } = VersionedTransaction.deserialize(Buffer.from(body.transaction, 'base64'));
      for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
        if (message.staticAccountKeys[programIdIndex]!.toBase58() !== '11111111111111111111111111111111') continue;
        seen.add(message.staticAccountKeys[accountKeyIndexes[1]!]!.toBase58());
        most = Math.max(most, Number(Buffer.from(data).readBigUInt64LE(4)));
      }
    }
    expect([...seen]).toEqual(['Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r']);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4_000);
  });

  test('limits each key as the host does, with the headers that say so', async () => {
    const answers = [];
    for (let each = 0; each < 4; each++) answers.push(await sandbox.get('/swap/v1/program-id-to-label', {}, KEY));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[2]!.headers['x-ratelimit-remaining']).toBe('0');
  });

  test('takes as long as the host for orders, and not for builds', async () => {
    const started = performance.now();
    const { status } = await sandbox.get('/swap/v2/order', PAIR, { 'x-api-key': 'another' });
    expect([status, performance.now() - started >= 29]).toEqual([200, true]);
  });

  test('has a node that knows no newer transactions', async () => {
    const asked = (version: number): Promise<{ error?: { code: number; message: string } }> =>
      open.rpc('getTransaction', ['1'.repeat(64), { maxSupportedTransactionVersion: version }]);
    expect((await asked(1)).error?.code).toBe(-32_602);
    expect((await asked(0)).error?.message ?? '').not.toMatch(/maxSupportedTransactionVersion/);
    const newer = Buffer.from([0x81, 1, 0, 1]).toString('base64');
    const sent = await open.rpc('sendTransaction', [newer, { encoding: 'base64' }]);
    expect(sent.error).toMatchObject({ code: -32_602, message: expect.stringContaining('known version') });
    expect((await open.rpc('getSlot', [])).result).toBeGreaterThan(0);
  });

  test('has no websocket where the host has none', async () => {
    for (const url of [open.addresses.ws_url, open.addresses.rpc_url.replace('http', 'ws')]) {
      const socket = new WebSocket(url);
      const [error] = await once(socket, 'error') as [Error];
      expect(error.message).toMatch(/Unexpected server response: 4\d\d/);
    }
  });

  test('takes what the file leaves open from the profile live', async () => {
    const unknown = await startTestSandbox({ speed: 0, host: {
      ...HOST_PROFILE, rounding: { order: 'unknown', build: 'unknown' }, percent: 'unknown', price_impact: 'unknown',
      tip: { lamports: '0', receivers: [] },
      members: { order: { absent: [], extra: [] }, build: { absent: [], extra: [] } },
      limits: { requests: null, window_ms: null }, latency_ms: { order: null, build: null, node: null },
      node: { genesis_hash: null, version: null, transaction_version: null, websocket: null },
    } });
    const live = await startTestSandbox({ speed: 0, profile: 'live' });
    try {
      const query = { ...PAIR, taker: live.wallet.address };
      const told = async (from: TestSandbox): Promise<object> => {
        const { blockhashWithMetadata: _hash, ...rest } = (await from.get('/swap/v2/build', query)).body;
        return rest as object;
      };
      expect(await told(unknown)).toEqual(await told(live));
      const answer = await unknown.rpc('getTransaction', ['1'.repeat(64), { maxSupportedTransactionVersion: 1 }]);
      expect(answer.error?.message ?? '').not.toMatch(/expected at most/);
    } finally {
      await Promise.all([unknown.close(), live.close()]);
    }
  });
});
