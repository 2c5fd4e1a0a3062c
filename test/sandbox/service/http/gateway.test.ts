import { afterEach, describe, expect, it } from 'vitest';
import type { RateLimit, SandboxOptions } from '../../../../src/sandbox/sandbox.ts';
import { startTestSandbox, type Answer, type TestSandbox } from '../sandbox-client.ts';

let open: TestSandbox[] = [];
afterEach(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  open = [];
});

async function start(options: SandboxOptions): Promise<TestSandbox> {
  const sandbox = await startTestSandbox(options);
  open.push(sandbox);
  return sandbox;
}

const UNAUTHORIZED = [401, { code: 401, message: 'Unauthorized' }];
const LIMITED = [429, { code: 429, message: '[API Gateway] Too many requests' }];
const LIMIT: RateLimit = { kind: 'sliding', requests: 3, windowMs: 60_000, executeRequests: 2, headers: true };

const search = (sandbox: TestSandbox, key?: string): Promise<Answer> =>
  sandbox.get('/ultra/v1/search', { query: 'SOL' }, key === undefined ? {} : { 'x-api-key': key });
const seen = ({ status, body }: Answer): unknown[] => [status, body];
const rates = ({ headers }: Answer): unknown[] => [headers['x-ratelimit-remaining'], headers['x-ratelimit-current']];
const RATE_NAMES = ['x-ratelimit-remaining', 'x-ratelimit-current', 'x-ratelimit-reset'];

describe('a key', () => {
  it('is asked of every endpoint and every path, but not of the control', async () => {
    const sandbox = await start({ apiKeys: ['mine'] });
    for (const key of [undefined, '', '  ', 'wrong', 'mine2', 'mine, mine'])
      expect(seen(await search(sandbox, key))).toEqual(UNAUTHORIZED);
    expect(seen(await sandbox.get('/nowhere', {}, {}))).toEqual(UNAUTHORIZED);
    expect(seen(await sandbox.post('/swap/v2/execute', {}, {}))).toEqual(UNAUTHORIZED);
    expect((await search(sandbox, 'mine')).status).toBe(200);
    expect((await sandbox.get('/sandbox/state', {}, {})).status).toBe(200);
  });

  it('may be left out of the live service, for little allowance; a wrong one may not', async () => {
    const sandbox = await start({ profile: 'live', apiKeys: ['mine'] });
    expect(seen(await search(sandbox, 'wrong'))).toEqual(UNAUTHORIZED);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await search(sandbox)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await search(sandbox, 'mine')).status).toBe(200);
  });
});

describe('every answer', () => {
  it('has a number of its own', async () => {
    const sandbox = await start({});
    const answers = [
      await search(sandbox, 'x'), await search(sandbox), await sandbox.get('/nowhere'),
      await sandbox.get('/swap/v2/order'),
    ];
    const ids = answers.map(({ headers }) => headers['x-api-gateway-request-id']);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 400]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
  });
});

describe('an unknown path', () => {
  it('is explained by the description and passed over by the live host', async () => {
    const [reference, live] = [await start({}), await start({ profile: 'live' })];
    expect(seen(await reference.get('/swap/v2/orders')))
      .toEqual([404, { error: 'No endpoint GET /swap/v2/orders; did you mean /swap/v2/order?' }]);
    const { status, text, headers } = await live.get('/swap/v2/orders');
    expect([status, text, headers['content-type']]).toEqual([404, 'Not Found', 'text/plain; charset=utf-8']);
    expect(seen(await live.get('/sandbox/orders'))).toEqual([404, { error: 'No endpoint GET /sandbox/orders' }]);
  });
});

describe('a limit', () => {
  it('is checked first, before the request is validated', async () => {
    const sandbox = await start({ rateLimit: LIMIT });
    const statuses: number[] = [];
    for (const path of ['/swap/v2/order', '/nowhere', '/ultra/v1/search', '/swap/v2/order', '/nowhere'])
      statuses.push((await sandbox.get(path)).status);
    expect(statuses).toEqual([400, 404, 400, 429, 429]);
    expect(seen(await search(sandbox, 'test'))).toEqual(LIMITED);
    expect((await sandbox.get('/sandbox/state')).status).toBe(200);
  });

  it('is one per key, and another for /execute', async () => {
    const sandbox = await start({ rateLimit: LIMIT });
    for (let i = 0; i < 3; i++) expect((await search(sandbox, 'a')).status).toBe(200);
    expect((await search(sandbox, 'a')).status).toBe(429);
    expect((await search(sandbox, 'b')).status).toBe(200);
    const execute = (): Promise<Answer> => sandbox.post('/swap/v2/execute', {}, { 'x-api-key': 'a' });
    expect([(await execute()).status, (await execute()).status, (await execute()).status]).toEqual([400, 400, 429]);
  });

  it('is told with 200 and 429 alone, and a 429 does not count', async () => {
    const sandbox = await start({ rateLimit: LIMIT, apiKeys: ['test'] });
    const before = Date.now();
    const first = await search(sandbox, 'test');
    expect(rates(first)).toEqual(['2', '1']);
    const reset = Number(first.headers['x-ratelimit-reset']);
    expect(reset).toBeGreaterThanOrEqual(Math.floor(before / 1_000) + 60);
    expect(reset).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000) + 60);
    const silent = [await search(sandbox, 'no'), await sandbox.get('/swap/v2/order'), await sandbox.get('/nowhere')];
    expect(silent.map(({ status }) => status)).toEqual([401, 400, 404]);
    for (const { headers } of silent) for (const name of RATE_NAMES) expect(headers).not.toHaveProperty(name);
    expect((await search(sandbox, 'test')).headers).toHaveProperty('x-ratelimit-reset');
  });

  it('says of a refused request what it says of the last one', async () => {
    const sandbox = await start({ rateLimit: LIMIT });
    const answers: Answer[] = [];
    for (let i = 0; i < 5; i++) answers.push(await search(sandbox, 'test'));
    expect(answers.map(rates)).toEqual([['2', '1'], ['1', '2'], ['0', '3'], ['0', '3'], ['0', '3']]);
    for (const { headers } of answers) expect(headers).not.toHaveProperty('retry-after');
  });

  it('can be kept silent', async () => {
    const sandbox = await start({ rateLimit: { ...LIMIT, headers: false } });
    const answers =
      [await search(sandbox, 'a'), await search(sandbox, 'a'), await search(sandbox, 'a'), await search(sandbox, 'a')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    for (const { headers } of answers) for (const name of RATE_NAMES) expect(headers).not.toHaveProperty(name);
  });

  it('ends with real time, however fast the sandbox’s goes', async () => {
    const windowMs = 800;
    const sandbox = await start({ rateLimit: { ...LIMIT, requests: 1, windowMs } });
    const since = performance.now();
    expect((await search(sandbox, 'a')).status).toBe(200);
    await sandbox.passSlots(1_000);
    const { status } = await search(sandbox, 'a');
    // On a machine that is busy enough, the window can be over by itself.
    if (performance.now() - since < windowMs) expect(status).toBe(429);
    await expect.poll(async () => (await search(sandbox, 'a')).status, { timeout: 20_000, interval: 50 }).toBe(200);
  });

  it.each([
    [{ rateLimit: { ...LIMIT, kind: 'random' } }, /rateLimit\.kind/],
    [{ rateLimit: { ...LIMIT, requests: 0 } }, /rateLimit\.requests/],
    [{ rateLimit: { ...LIMIT, windowMs: 1.5 } }, /rateLimit\.windowMs/],
    [{ profile: 'ideal' }, /profile: expected one of reference, live/],
    [{ dialect: 'klingon' }, /klingon/],
    [{ slowestRequestMs: 0 }, /slowestRequestMs/],
  ])('and other options that make no sense are refused: %j', async (options, message) => {
    await expect(startTestSandbox(options as unknown as SandboxOptions)).rejects.toThrow(message);
  });
});
