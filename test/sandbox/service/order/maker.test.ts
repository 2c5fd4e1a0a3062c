import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

/** Orders for a new wallet and returns why it was refused. */
async function refused(funds: Record<string, string>, query: Record<string, string>): Promise<unknown[]> {
  const { body } = await sandbox.order({ ...query, taker: (await sandbox.newWallet(funds)).address });
  expect(body.error).toBe(body.errorMessage);
  return [body.router, body.transaction, body.errorCode, body.errorMessage];
}

describe('the maker', () => {
  const large = { inputMint: USDC, outputMint: SOL, amount: '900000000' };

  it('wins some sizes with a slightly better, firm price and its own fields', async () => {
    const { body } = await sandbox.order({ ...large, taker: sandbox.wallet.address });
    const pooled = await sandbox.order({ ...large, excludeRouters: 'rfqz' });
    expect(body).toMatchObject({
      router: 'rfqz', swapType: 'rfq', slippageBps: 0, gasless: true, feeBps: 0, otherAmountThreshold: body.outAmount,
      quoteId: expect.stringMatching(UUID_7), maker: expect.any(String), expireAt: expect.stringMatching(/^\d{10}$/),
      signatureFeePayer: body.maker, signatureFeeLamports: 10_000,
    });
    expect(Number(body.expireAt) - Date.now() / 1_000).toBeLessThan(60);
    const gain = Number(body.outAmount) / Number(pooled.body.outAmount) - 1;
    expect(gain).toBeGreaterThan(0);
    expect(gain).toBeLessThan(0.002);
    const raw = Buffer.from(body.transaction, 'base64');
    expect(raw[0]).toBe(2);
  });

  it('leaves small sizes and other tokens to the pools', async () => {
    expect((await sandbox.order(plain)).body.router).toBe('iris');
    expect((await sandbox.order({ ...large, outputMint: sandbox.mint('KELP') })).body.router).toBe('iris');
  });

  it('stands back when excluded, or when another pays, receives or earns', async () => {
    const other = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '1' });
    const sell = { inputMint: SOL, outputMint: USDC, amount: '5000000000', taker: sandbox.wallet.address };
    expect((await sandbox.order(sell)).body.router).toBe('rfqz');
    for (const extra of [
      { excludeRouters: 'rfqz' }, { receiver: other.address }, { payer: other.address },
      { referralAccount: other.address, referralFee: 60 },
    ]) {
      expect((await sandbox.order({ ...sell, ...extra })).body.router).toBe('iris');
    }
    expect((await sandbox.order({ ...sell, payer: sandbox.wallet.address })).body.router).toBe('rfqz');
  });

  it('alone does not quote small swaps', async () => {
    const answer = await sandbox.order({ ...plain, excludeRouters: 'iris,routerA,routerB' });
    expect([answer.status, answer.body.error]).toEqual([400, 'Failed to get quotes']);
  });

  it('refuses with its own codes: 1 without the tokens, 2 without an account, 3 without a transaction', async () => {
    const sell = { inputMint: SOL, outputMint: USDC, amount: '5000000000' };
    expect(await refused({ [USDC]: '1' }, large)).toEqual(['rfqz', '', 1, 'Insufficient balance']);
    expect(await refused({ [SOL]: '4999999999' }, sell)).toEqual(['rfqz', '', 1, 'Insufficient balance']);
    expect(await refused({ [SOL]: '1000000000' }, large)).toEqual(['rfqz', '', 2, expect.stringContaining(USDC)]);
    // Without a lamport beside the amount no account lends the wrapped account its rent.
    expect(await refused({ [SOL]: '5000000000' }, sell))
      .toEqual(['rfqz', '', 3, expect.stringMatching(/could not be built/)]);
  });
});
