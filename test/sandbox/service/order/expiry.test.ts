import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../../../src/sandbox/service/context.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';

// Real slots of 400 ms here, so that 55 s and 2 minutes are what they are; the clock is moved manually and far faster
// than it runs.
let sandbox: TestSandbox;

const order = (amount: string): ReturnType<TestSandbox['order']> =>
  sandbox.order({ inputMint: USDC, outputMint: SOL, amount, taker: sandbox.wallet.address });

describe.each(PROFILES)('an order runs out, in the profile %s,', (profile) => {
  beforeAll(async () => {
    sandbox = await startTestSandbox({ slotMs: 400, speed: 0, profile });
  });
  afterAll(() => sandbox.close());

  it('-1005 once its blockhash is void, HTTP 200, never landed', async () => {
    const answer = await order('5000000');
    await sandbox.passSlots(170);
    const { status, body } = await sandbox.execute(answer);
    expect([status, body.status, body.code, body.slot]).toEqual([200, 'Failed', -1_005, '0']);
    expect(sandbox.chain.transaction(body.signature)).toBeUndefined();
  });

  it('-1 once it is forgotten', async () => {
    const answer = await order('5000000');
    await sandbox.passSlots(320);
    const { status, body } = await sandbox.execute(answer);
    expect([status, body.code]).toEqual([400, -1]);
    expect(body).not.toHaveProperty('status');
  });

  it('keeps the answer of an execution for two minutes', async () => {
    const answer = await order('5000000');
    const first = await sandbox.execute(answer);
    await sandbox.passSlots(290);
    expect((await sandbox.execute(answer)).body).toEqual(first.body);
    await sandbox.passSlots(15);
    expect((await sandbox.execute(answer)).body.code).toBe(-1);
  });

  it('-2003 when a maker\'s quote is older than it says', async () => {
    const answer = await order('900000000');
    expect(answer.body.router).toBe('rfqz');
    await sandbox.passSlots(140);
    const { status, body } = await sandbox.execute(answer);
    expect([status, body.status, body.code]).toEqual([200, 'Failed', -2_003]);
  });

  it('a maker fills just before', async () => {
    const answer = await order('900000000');
    await sandbox.passSlots(130);
    expect((await sandbox.execute(answer)).body.status).toBe('Success');
  });
});
