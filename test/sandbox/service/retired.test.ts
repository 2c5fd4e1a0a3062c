import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const ORDER = { inputMint: USDC, outputMint: SOL, amount: '5000000' };
const build = (swapMode: string): Promise<Answer> =>
  sandbox.get('/swap/v2/build', { ...ORDER, taker: sandbox.wallet.address, swapMode });
const send = (line: string, body: unknown = {}): Promise<Answer> => {
  const [method, path] = line.split(' ') as [string, string];
  return method === 'GET' ? sandbox.get(path) : method === 'DELETE' ? sandbox.remove(path) : sandbox.post(path, body);
};

describe('what was retired', () => {
  it.each([
    ['GET /ultra/v1/order', '/swap/v2/order'], ['POST /ultra/v1/execute', '/swap/v2/execute'],
    ['POST /limit/v2/createOrder', '/trigger/v1'],
    ['GET /limit/v1/openOrders', '/trigger/v1'], ['POST /limit/v2/cancelOrders', '/trigger/v1'],
  ])('%s is gone, and says that %s took its place', async (line, instead) => {
    const answer = await send(line);
    expect([answer.status, answer.body])
      .toEqual([410, { error: expect.stringContaining(instead), replacedBy: instead }]);
    expect(answer.body.error).toContain(line.split(' ')[1]);
  });

  it.each([
    'POST /trigger/v1/createOrder', 'POST /trigger/v1/executeOrder', 'POST /trigger/v1/cancelOrder',
    'POST /trigger/v1/cancelOrders', 'GET /trigger/v1/getTriggerOrders',
  ])(
    '%s exists elsewhere, and is explained', async (line) => {
      const answer = await send(line);
      expect([answer.status, answer.body])
        .toEqual([404, { error: expect.stringMatching(/outside the description of the service/) }]);
    },
  );

  it.each([
    ['POST /prediction/v1/orders', 404], ['DELETE /prediction/v1/orders/x', 404], ['POST /prediction/v1/execute', 404],
    ['POST /prediction/v1/positions/x/claim', 404], ['DELETE /prediction/v1/positions', 405],
    ['DELETE /prediction/v1/positions/x', 405], ['POST /prediction/v1/positions', 405],
  ] as const)('%s would trade, and is answered %i with the reason', async (line, status) => {
    const answer = await send(line);
    expect([answer.status, answer.body]).toEqual([status, {
      type: 'invalid_request_error', message: expect.stringMatching(/outside the description/), code: 'not_supported',
      request_id: expect.any(String),
    }]);
    if (status === 405) expect(answer.headers['allow']).toBe('GET');
  });

  it('needs a key like everything else', async () => {
    expect((await sandbox.get('/ultra/v1/order', {}, {})).status).toBe(401);
  });
});

describe('an option that was removed', () => {
  it.each(['binaryKey', 'binary-key', 'binary_key'])('%s is explained wherever it is passed', async (name) => {
    for (const path of ['/swap/v2/order', '/swap/v1/quote', '/ultra/v1/search']) {
      const inQuery = await sandbox.get(path, { ...ORDER, query: 'SOL', [name]: 'secret-of-mine' });
      expect([inQuery.status, inQuery.body]).toEqual([400, { error: expect.stringMatching(/x-api-key/) }]);
      expect(inQuery.text).not.toContain('secret-of-mine');
    }
  });

  it.each(['binary-key', 'x-binary-key', 'binaryKey'])('%s is explained as a header, too', async (name) => {
    const answer = await sandbox.get('/swap/v2/order', ORDER, { ...KEY, [name]: 'secret-of-mine' });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/x-api-key/) }]);
  });

  it('userPublicKey is called taker now', async () => {
    const answer = await sandbox.get('/swap/v2/build', { ...ORDER, userPublicKey: sandbox.wallet.address });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^userPublicKey: .*taker/) }]);
  });

  it('swapMode is gone from builds, unless it says what they are anyway', async () => {
    expect((await build('ExactOut')).body).toEqual({ error: expect.stringMatching(/^swapMode: .*ExactIn/) });
    expect((await build('ExactIn')).status).toBe(200);
  });

  it('does not keep anybody from asking without it', async () => {
    expect((await sandbox.order(ORDER)).status).toBe(200);
  });
});
