import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
});
afterAll(() => sandbox.close());

/** Sells SOL for USDC, after which the price of SOL changes by a factor. */
async function sellAtChangedPrice(
  factor: number,
): Promise<{ order: Answer; answer: Answer; again: Answer; received: bigint }> {
  const wallet = await sandbox.newWallet({ [SOL]: '6000000000' });
  const order = await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '5000000000', taker: wallet.address });
  expect(order.body.router).toBe('rfqz');
  const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
  await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * factor });
  const answer = await sandbox.execute(order, wallet);
  const again = await sandbox.execute(order, wallet);
  return { order, answer, again, received: sandbox.chain.tokenBalance({ owner: wallet.address, mint: USDC }) };
}

describe('the maker\'s last check', () => {
  it('rejects with -2004, and for good, when the market has moved against it since the quote', async () => {
    const { answer, again, received } = await sellAtChangedPrice(0.99);
    expect([answer.status, answer.body])
      .toEqual([200, { status: 'Failed', slot: '0', code: -2_004, error: 'Swap rejected' }]);
    await sandbox.post('/sandbox/price', { mint: SOL, usd: 200 });
    expect(again.body).toEqual(answer.body);
    expect(received).toBe(0n);
  });

  it.each([0.998, 1, 1.02])('fills when the price is %d of what it was', async (factor) => {
    const { order, answer, received } = await sellAtChangedPrice(factor);
    expect(answer.body).toMatchObject({ status: 'Success', totalOutputAmount: order.body.outAmount });
    expect(received).toBe(BigInt(order.body.outAmount));
  });

  it('rejects the other direction when SOL became more expensive', async () => {
    const wallet = await sandbox.newWallet({ [USDC]: '900000000' });
    const order = await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '900000000', taker: wallet.address });
    const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
    await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * 1.01 });
    expect((await sandbox.execute(order, wallet)).body.code).toBe(-2_004);
  });
});
