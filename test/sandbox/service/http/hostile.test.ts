import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/core/random.ts';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

// Random requests of every kind are the campaign's, in test/campaign.
describe('random bytes as signed transactions', () => {
  it('never reach the chain', async () => {
    const random = seededRandom('bytes');
    const { body } =
      await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '5000000', taker: sandbox.wallet.address });
    const good = Buffer.from(sandbox.wallet.sign(body.transaction), 'base64');
    const count = sandbox.chain.transactionCount;
    for (let i = 0; i < 400; i++) {
      const raw = Buffer.from(good.subarray(0, Math.ceil(good.length * (random() < 0.5 ? 1 : random()))));
      for (let flips = 0; flips < 1 + random() * 5; flips++)
        raw[Math.floor(random() * raw.length)]! ^= 1 + Math.floor(random() * 255);
      const answer = await sandbox.post('/swap/v2/execute', {
        signedTransaction: raw.toString('base64'), requestId: body.requestId,
      });
      expect(answer.status).toBe(400);
      expect([-2, -3, -1_002, -1_003, -5]).toContain(answer.body.code);
    }
    expect(sandbox.chain.transactionCount).toBe(count);
  });
});
