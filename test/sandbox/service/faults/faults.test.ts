import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.close());

const EXECUTE = { method: 'POST', path: '/swap/v2/execute' };
const search = (): Promise<Answer> => sandbox.get('/ultra/v1/search', { query: 'SOL' });
const order = (amount = '25000000'): Promise<Answer> =>
  sandbox.order({ inputMint: USDC, outputMint: SOL, amount, taker: sandbox.wallet.address });
const usdc = (): bigint => sandbox.chain.tokenBalance({ owner: sandbox.wallet.address, mint: USDC });

async function arrange(rule: unknown): Promise<Answer> {
  const answer = await sandbox.post('/sandbox/faults', rule, {});
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** Returns the statuses of sixty requests of which three in ten are to fail. */
async function statusesUnderChance(subject: TestSandbox): Promise<number[]> {
  await subject.post('/sandbox/faults', {
    match: { path: '/ultra/v1/search' }, fault: { kind: 'status', status: 500 }, probability: 0.3,
  });
  const statuses: number[] = [];
  for (let i = 0; i < 60; i++) statuses.push((await subject.get('/ultra/v1/search', { query: SOL })).status);
  return statuses;
}

describe('a fault', () => {
  it('answers with a status, as often as it was told', async () => {
    await arrange({
      match: { method: 'GET', path: '/ultra/v1/search' }, fault: { kind: 'status', status: 429 }, times: 2,
    });
    expect((await search()).body).toEqual({ code: 429, message: '[API Gateway] Too many requests' });
    expect((await order()).status).toBe(200);
    expect((await sandbox.get('/sandbox/state')).body.faults[0].times).toBe(1);
    expect((await search()).status).toBe(429);
    expect((await search()).status).toBe(200);
  });

  it('comes before the key is checked, and with the body it was given', async () => {
    await arrange({ match: { path: '/ultra/*' }, fault: { kind: 'status', status: 503, body: { error: 'Sinking' } } });
    const answer = await sandbox.get('/ultra/v1/search', {}, {});
    expect([answer.status, answer.body]).toEqual([503, { error: 'Sinking' }]);
  });

  it('goes away when deleted', async () => {
    await arrange({ match: { path: '/*' }, fault: { kind: 'status', status: 500 } });
    expect((await search()).status).toBe(500);
    expect((await sandbox.remove('/sandbox/faults')).body).toEqual({ faults: [] });
    expect((await search()).status).toBe(200);
  });

  it('delays', async () => {
    await arrange({ match: { path: '/ultra/v1/search' }, fault: { kind: 'delay', ms: 120 }, times: 1 });
    const start = performance.now();
    expect((await search()).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(119);
  });

  it('drops the connection before anything happens', async () => {
    const answer = await order();
    await arrange({ match: EXECUTE, fault: { kind: 'drop_before' }, times: 1 });
    const before = usdc();
    await expect(sandbox.execute(answer)).rejects.toThrow();
    expect(usdc()).toBe(before);
    expect((await sandbox.execute(answer)).body.status).toBe('Success');
  });

  it('drops the connection after the swap has landed; posting again tells', async () => {
    const answer = await order();
    await arrange({ match: EXECUTE, fault: { kind: 'drop_after' }, times: 1 });
    const before = usdc();
    await expect(sandbox.execute(answer)).rejects.toThrow();
    expect(before - usdc()).toBe(25_000_000n);
    expect((await sandbox.execute(answer)).body)
      .toMatchObject({ status: 'Success', totalOutputAmount: answer.body.outAmount });
    expect(before - usdc()).toBe(25_000_000n);
  });

  it('cuts the body short, or puts another in its place', async () => {
    await arrange({ match: { path: '/ultra/v1/search' }, fault: { kind: 'malformed' }, times: 1 });
    const cut = await search();
    expect([cut.status, cut.body]).toEqual([200, undefined]);
    expect(cut.text.length).toBeGreaterThan(100);
    await arrange({ match: { path: '/ultra/v1/search' }, fault: { kind: 'malformed', body: '<html>' }, times: 1 });
    expect((await search()).text).toBe('<html>');
    expect((await search()).body).toHaveLength(2);
  });

  it('lets an order expire', async () => {
    await arrange({ match: EXECUTE, fault: { kind: 'expire' }, times: 2 });
    const [pooled, firm] = [await order(), await order('900000000')];
    const before = usdc();
    expect((await sandbox.execute(pooled)).body)
      .toMatchObject({ status: 'Failed', code: -1_005, slot: '0', signature: expect.any(String) });
    expect((await sandbox.execute(firm)).body).toMatchObject({ status: 'Failed', code: -2_003 });
    expect((await sandbox.execute(pooled)).body.code).toBe(-1_005);
    expect(usdc()).toBe(before);
  });

  it('lets the maker reject, and spares the pools', async () => {
    await arrange({ match: EXECUTE, fault: { kind: 'reject' }, times: 1 });
    expect((await sandbox.execute(await order())).body.status).toBe('Success');
    expect((await sandbox.execute(await order('900000000'))).body)
      .toMatchObject({ status: 'Failed', code: -2_004, error: 'Swap rejected' });
    expect((await sandbox.execute(await order('900000000'))).body.status).toBe('Success');
  });

  it('leaves the outcome unknown although the swap landed', async () => {
    await arrange({ match: EXECUTE, fault: { kind: 'unknown' }, times: 1 });
    const answer = await order();
    const before = usdc();
    const unknown = await sandbox.execute(answer);
    expect([unknown.status, unknown.body]).toEqual([500, { signature: expect.any(String), error: expect.any(String) }]);
    expect(before - usdc()).toBe(25_000_000n);
    expect((await sandbox.execute(answer)).body)
      .toMatchObject({ status: 'Success', signature: unknown.body.signature });
  });

  it('leaves the outcome unknown when it did not land', async () => {
    await arrange({ match: EXECUTE, fault: { kind: 'unknown', landed: false }, times: 1 });
    const answer = await order('900000000');
    const before = usdc();
    const unknown = await sandbox.execute(answer);
    expect([unknown.status, unknown.body]).toEqual([500, { signature: expect.any(String), error: expect.any(String) }]);
    expect(usdc()).toBe(before);
    expect((await sandbox.execute(answer)).body.status).toBe('Success');
  });

  it('hits by chance, the same requests for the same seed', async () => {
    const again = await startTestSandbox();
    try {
      const statuses = await statusesUnderChance(sandbox);
      expect(await statusesUnderChance(again)).toEqual(statuses);
      const failed = statuses.filter((status) => status === 500).length;
      expect(failed).toBeGreaterThan(8);
      expect(failed).toBeLessThan(30);
    } finally {
      await again.close();
    }
  });

  it.each([
    [{}, /match: expected an object/],
    [[], /expected an object/],
    [{ match: {}, fault: { kind: 'delay', ms: 5 } }, /match\.path/],
    [{ match: { path: 'swap' }, fault: { kind: 'delay', ms: 5 } }, /match\.path/],
    [{ match: { path: '/sandbox/state' }, fault: { kind: 'delay', ms: 5 } }, /match\.path/],
    [{ match: { path: '/x', method: 'BREW' }, fault: { kind: 'delay', ms: 5 } }, /match\.method/],
    [{ match: { path: '/x', host: 'y' }, fault: { kind: 'delay', ms: 5 } }, /unknown key "host"/],
    [{ match: { path: '/x' } }, /fault: expected an object/],
    [{ match: { path: '/x' }, fault: { kind: 'burn' } }, /fault\.kind: expected one of status, delay/],
    [{ match: { path: '/x' }, fault: { kind: 'status' } }, /fault\.status: missing/],
    [{ match: { path: '/x' }, fault: { kind: 'status', status: 200 } }, /fault\.status/],
    [{ match: { path: '/x' }, fault: { kind: 'delay' } }, /fault\.ms: missing/],
    [{ match: { path: '/x' }, fault: { kind: 'delay', ms: 1e9 } }, /fault\.ms/],
    [{ match: { path: '/x' }, fault: { kind: 'drop_after', ms: 1 } }, /unknown key "ms"/],
    [{ match: { path: '/x' }, fault: { kind: 'malformed', body: 5 } }, /fault\.body/],
    [{ match: { path: '/swap/v2/order' }, fault: { kind: 'reject' } }, /the only place of the fault "reject"/],
    [{ match: { path: '/swap/v2/execute', method: 'GET' }, fault: { kind: 'expire' } }, /the only place/],
    [{ match: EXECUTE, fault: { kind: 'unknown', landed: 'yes' } }, /fault\.landed/],
    [{ match: { path: '/x' }, fault: { kind: 'drop_before' }, times: 0 }, /times/],
    [{ match: { path: '/x' }, fault: { kind: 'drop_before' }, probability: 2 }, /probability/],
    [{ match: { path: '/x' }, fault: { kind: 'drop_before' }, times: 1, probability: 0.5 }, /times and probability/],
    [{ match: { path: '/x' }, fault: { kind: 'drop_before' }, often: 1 }, /unknown key "often"/],
  ])('is refused when it makes no sense: %j', async (rule, error) => {
    const answer = await sandbox.post('/sandbox/faults', rule);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)]);
  });
});
