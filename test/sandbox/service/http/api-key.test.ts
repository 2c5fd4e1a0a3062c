import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

describe('the API key', () => {
  it.each([
    '/swap/v2/order', '/swap/v2/build', '/ultra/v1/search?query=SOL', '/prediction/v1/orderbook/540817',
  ])('is required at GET %s', async (path) => {
    for (const headers of [{}, { 'x-api-key': '' }]) {
      const answer = await sandbox.get(path, {}, headers);
      expect([answer.status, answer.body]).toEqual([401, { code: 401, message: 'Unauthorized' }]);
    }
  });

  it('is required at POST /swap/v2/execute', async () => {
    const answer = await sandbox.post('/swap/v2/execute', {}, { 'x-api-key': ' ' });
    expect([answer.status, answer.body]).toEqual([401, { code: 401, message: 'Unauthorized' }]);
  });

  it('must be one of the given ones where some were given', async () => {
    const guarded = await startTestSandbox({ apiKeys: ['right'] });
    try {
      expect((await guarded.get('/swap/v2/order', plain, { 'x-api-key': 'wrong' })).status).toBe(401);
      expect((await guarded.get('/swap/v2/order', plain, { 'x-api-key': 'right' })).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
