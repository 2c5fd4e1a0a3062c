import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../../../src/sandbox/service/context.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from '../sandbox-client.ts';

let sandbox: TestSandbox;

const SIGNATURE_BYTES = 64;
const buy = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

function order(wallet: TestWallet, query: Record<string, string | number> = {}): Promise<Answer> {
  return sandbox.order({ ...buy, ...query, taker: wallet.address });
}

function withUsdc(lamports?: string): Promise<TestWallet> {
  return sandbox.newWallet({ [USDC]: '50000000', ...(lamports === undefined ? {} : { [SOL]: lamports }) });
}

describe.each(PROFILES)('an order of a taker with hardly any SOL, in the profile %s', (profile) => {
  beforeAll(async () => {
    sandbox = await startTestSandbox({ speed: 0, profile });
  });
  afterAll(() => sandbox.close());

  it('is paid for by the service, which keeps its costs out of the swap and signs in /execute', async () => {
    const wallet = await withUsdc();
    const usual = await order(sandbox.wallet);
    const { body, ...answer } = await order(wallet);
    expect(body).toMatchObject({
      gasless: true, router: 'iris', mode: 'ultra', signatureFeeLamports: 10_000, rentFeeLamports: 0,
      platformFee: { feeBps: 2 },
    });
    expect(body.feeBps).toBeGreaterThan(body.platformFee.feeBps);
    expect(BigInt(body.outAmount)).toBeLessThan(BigInt(usual.body.outAmount));
    for (const payer of ['signatureFeePayer', 'prioritizationFeePayer', 'rentFeePayer'])
      expect(body[payer]).toBe(body.signatureFeePayer);
    expect(body.signatureFeePayer).not.toBe(wallet.address);

    const paid = sandbox.chain.balance(body.signatureFeePayer);
    const executed = await sandbox.execute({ ...answer, body }, wallet);
    expect(executed.body).toMatchObject({ status: 'Success', totalOutputAmount: body.outAmount });
    expect(sandbox.chain.balance(wallet.address)).toBe(BigInt(body.outAmount));
    const landed = sandbox.chain.transaction(executed.body.signature)!;
    expect(landed.accountKeys.slice(0, 2)).toEqual([body.signatureFeePayer, wallet.address]);
    const costs = paid - sandbox.chain.balance(body.signatureFeePayer);
    expect(costs).toBe(BigInt(body.signatureFeeLamports + body.prioritizationFeeLamports));
    // What the service keeps beside the platform's fee is worth at least what it paid, and not twice that.
    const routeOut = BigInt(executed.body.outputAmountResult);
    const kept = (routeOut * BigInt(body.feeBps)) / 10_000n - BigInt(body.platformFee.amount);
    expect(kept).toBeGreaterThanOrEqual(costs);
    expect(kept).toBeLessThan(costs * 2n + routeOut / 10_000n);
  });

  it('includes the rent of an account that must be opened', async () => {
    const wallet = await withUsdc('5000000');
    const { body } = await order(wallet, { outputMint: sandbox.mint('CONCH') });
    expect(body).toMatchObject({ gasless: true, rentFeeLamports: 2_039_280, feeMint: USDC });
    // 0.002 SOL of 25 dollars are more than one percent.
    expect(body.feeBps).toBeGreaterThan(100);
    const executed = await sandbox.execute({ status: 200, headers: {}, text: '', body }, wallet);
    expect(executed.body).toMatchObject({ status: 'Success', totalOutputAmount: body.outAmount });
    expect(sandbox.chain.balance(wallet.address)).toBe(5_000_000n);
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: USDC })).toBe(25_000_000n);
  });

  it('needs a minimum of about ten dollars: errorCode 3', async () => {
    const wallet = await withUsdc();
    const { status, body } = await order(wallet, { amount: '9000000' });
    expect([status, body.transaction, body.errorCode, body.gasless]).toEqual([200, '', 3, false]);
    expect(body.errorMessage).toBe('Minimum $10.00 for gasless');
    expect((await order(wallet, { amount: '10000000' })).body.gasless).toBe(true);
  });

  it('is his own business below the minimum as long as he can pay', async () => {
    const wallet = await withUsdc('9000000');
    expect((await order(wallet, { amount: '9000000' })).body)
      .toMatchObject({ gasless: false, signatureFeePayer: wallet.address, transaction: expect.stringMatching(/.+/) });
    expect((await order(wallet)).body.gasless).toBe(true);
  });

  it('is not for those who have a hundredth of a SOL, who pay in SOL, or who bring others along', async () => {
    const [rich, poor] = [await withUsdc('10000000'), await withUsdc('1000000')];
    expect((await order(rich)).body).toMatchObject({ gasless: false, feeBps: 2, signatureFeePayer: rich.address });
    const sells = await order(poor, { inputMint: SOL, outputMint: USDC, amount: '900000' });
    expect([sells.body.gasless, sells.body.errorCode]).toEqual([false, 2]);
    const friend = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '1' });
    sandbox.chain.fundToken({ owner: friend.address, mint: SOL, amount: 1n });
    for (const extra of [{ referralAccount: friend.address, referralFee: 60 }, { receiver: friend.address }]) {
      const { body } = await order(poor, { ...extra, excludeRouters: 'rfqz' });
      expect([body.gasless, body.errorCode]).toEqual([false, 2]);
    }
    const paid = await order(poor, { payer: friend.address });
    expect(paid.body).toMatchObject({ gasless: true, signatureFeePayer: friend.address, feeBps: 2 });
  });

  it('tells a taker without the tokens so, with code 1', async () => {
    const wallet = await sandbox.newWallet({ [USDC]: '11000000' });
    expect((await order(wallet)).body)
      .toMatchObject({ transaction: '', errorCode: 1, errorMessage: 'Insufficient funds' });
  });

  it('passes the tip and the priority on', async () => {
    const wallet = await withUsdc();
    const plain = await order(wallet);
    const eager = await order(wallet, { priorityFeeLamports: 200_000, bundleTipLamports: 300_000 });
    expect(eager.body).toMatchObject({ gasless: true, prioritizationFeeLamports: 500_000 });
    expect(eager.body.feeBps).toBeGreaterThan(plain.body.feeBps + 30);
    // A priority that eats half of the trade raises the minimum instead.
    expect((await order(wallet, { priorityFeeLamports: 500_000_000 })).body)
      .toMatchObject({ errorCode: 3, errorMessage: expect.stringMatching(/^Minimum \$18\d\.\d\d for gasless$/) });
  });

  it('refuses -1003 without the taker\'s signature, -1007 with it in the payer\'s place', async () => {
    const wallet = await withUsdc();
    const { body } = await order(wallet);
    const post = (signedTransaction: string): Promise<Answer> =>
      sandbox.post('/swap/v2/execute', { signedTransaction, requestId: body.requestId });
    const unsigned = await post(body.transaction);
    expect([unsigned.status, unsigned.body.code]).toEqual([400, -1_003]);
    const signed = Buffer.from(wallet.sign(body.transaction), 'base64');
    const misplaced = Buffer.from(signed);
    signed.copy(misplaced, 1, 1 + SIGNATURE_BYTES, 1 + 2 * SIGNATURE_BYTES);
    misplaced.fill(0, 1 + SIGNATURE_BYTES, 1 + 2 * SIGNATURE_BYTES);
    const refused = await post(misplaced.toString('base64'));
    expect([refused.status, refused.body.code]).toEqual([400, -1_007]);
    // Whatever stands in the payer's place, the service puts its own signature there.
    const scribbled = Buffer.from(signed);
    scribbled.fill(7, 1, 1 + SIGNATURE_BYTES);
    expect((await post(scribbled.toString('base64'))).body.status).toBe('Success');
    expect((await post(signed.toString('base64'))).body.status).toBe('Success');
    expect(sandbox.chain.tokenBalance({ owner: wallet.address, mint: USDC })).toBe(25_000_000n);
  });

  it('is quoted as usual where there is no taker', async () => {
    expect((await sandbox.order(buy)).body).toMatchObject({ gasless: false, feeBps: 2 });
  });
});
