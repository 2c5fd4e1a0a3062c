import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../../../src/sandbox/service/context.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;

describe.each(PROFILES)('an order in which others take part, in the profile %s,', (profile) => {
  beforeAll(async () => {
    sandbox = await startTestSandbox({ profile });
  });
  afterAll(() => sandbox.close());

  it('sends a receiver exactly the output in SOL, and nothing of the taker\'s wrapped SOL', async () => {
    const taker = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
    sandbox.chain.fundToken({ owner: taker.address, mint: SOL, amount: 5_000_000n });
    for (const receiver of [await sandbox.newWallet(), await sandbox.newWallet({ [SOL]: '2000000' })]) {
      const before = { taker: sandbox.chain.balance(taker.address), receiver: sandbox.chain.balance(receiver.address) };
      const order = await sandbox.order({
        inputMint: USDC, outputMint: SOL, amount: '25000000', taker: taker.address, receiver: receiver.address,
        slippageBps: 100,
      });
      expect(order.body)
        .toMatchObject({ rentFeeLamports: 0, gasless: false, router: expect.not.stringMatching('rfqz') });
      const { body } = await sandbox.execute(order, taker);
      expect(body).toMatchObject({ status: 'Success', totalOutputAmount: order.body.outAmount });
      expect(sandbox.chain.balance(receiver.address) - before.receiver).toBe(BigInt(order.body.outAmount));
      expect(before.taker - sandbox.chain.balance(taker.address))
        .toBe(BigInt(order.body.signatureFeeLamports + order.body.prioritizationFeeLamports));
      expect(sandbox.chain.tokenBalance({ owner: taker.address, mint: SOL })).toBe(5_000_000n);
    }
  });

  it('sends a receiver what the swap really pays when the price has moved within the tolerance', async () => {
    const [taker, receiver] =
      [await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' }), await sandbox.newWallet()];
    const order = await sandbox.order({
      inputMint: USDC, outputMint: SOL, amount: '25000000', taker: taker.address, receiver: receiver.address,
      slippageBps: 300,
    });
    const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
    await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * 1.01 });
    const { body } = await sandbox.execute(order, taker);
    expect(body.status).toBe('Success');
    const received = sandbox.chain.balance(receiver.address);
    expect(received.toString()).toBe(body.totalOutputAmount);
    expect(received).toBeLessThan(BigInt(order.body.outAmount));
    expect(received).toBeGreaterThanOrEqual(BigInt(order.body.otherAmountThreshold));
  });

  it('refuses a receiver of less SOL than can be sent on, and one that holds tokens itself', async () => {
    const receiver = await sandbox.newWallet();
    const order = (query: Record<string, string>): ReturnType<TestSandbox['order']> =>
      sandbox.order({
        inputMint: USDC, outputMint: SOL, amount: '25000000', taker: sandbox.wallet.address, receiver: receiver.address,
        ...query,
      });
    const little = await order({ amount: '300000' });
    expect([little.status, little.body.error])
      .toEqual([400, expect.stringMatching(/receiver: expected an output of at least 2039280 lamports/)]);
    const wrapped = sandbox.chain.fundToken({ owner: receiver.address, mint: SOL, amount: 1n });
    const tokens = await order({ receiver: wrapped });
    expect([tokens.status, tokens.body.error]).toEqual([400, expect.stringMatching(/receiver: expected a wallet/)]);
  });

  it('pays a receiver, whose account is created at the taker\'s cost', async () => {
    const [taker, receiver] = [await sandbox.newWallet({ [SOL]: '3000000000' }), await sandbox.newWallet()];
    const order = await sandbox.order({
      inputMint: SOL, outputMint: USDC, amount: '1000000000', taker: taker.address, receiver: receiver.address,
        // The live service lets makers pay a receiver, too.
        excludeRouters: 'rfqz',
    });
    expect(order.body).toMatchObject({ router: 'iris', rentFeeLamports: 2_039_280, rentFeePayer: taker.address });
    const { body } = await sandbox.execute(order, taker);
    expect(body.status).toBe('Success');
    expect(sandbox.chain.tokenBalance({ owner: receiver.address, mint: USDC })).toBe(BigInt(order.body.outAmount));
    expect(sandbox.chain.tokenBalance({ owner: taker.address, mint: USDC })).toBe(0n);
  });

  it('lets a payer pay everything, and gives back the rent that was only lent', async () => {
    const taker = await sandbox.newWallet({ [USDC]: '50000000' });
    const payer = await sandbox.newWallet({ [SOL]: '1000000000' });
    const order = await sandbox.order({
      inputMint: USDC, outputMint: SOL, amount: '50000000', taker: taker.address, payer: payer.address,
    });
    expect(order.body).toMatchObject({
      gasless: true, signatureFeePayer: payer.address, signatureFeeLamports: 10_000, rentFeeLamports: 0,
    });
    const half = taker.sign(order.body.transaction);
    const unsigned =
      await sandbox.post('/swap/v2/execute', { signedTransaction: half, requestId: order.body.requestId });
    expect([unsigned.status, unsigned.body.code]).toEqual([400, -1_003]);
    const { body } =
      await sandbox.post('/swap/v2/execute', { signedTransaction: payer.sign(half), requestId: order.body.requestId });
    expect(body.status).toBe('Success');
    expect(sandbox.chain.balance(taker.address)).toBe(BigInt(order.body.outAmount));
    const fees = BigInt(order.body.signatureFeeLamports + order.body.prioritizationFeeLamports);
    expect(sandbox.chain.balance(payer.address)).toBe(1_000_000_000n - fees);
  });

  it('refuses with code 2 when the payer cannot pay', async () => {
    const payer = await sandbox.newWallet();
    const order = await sandbox.order({
      inputMint: USDC, outputMint: SOL, amount: '5000000', taker: sandbox.wallet.address, payer: payer.address,
    });
    expect([order.body.transaction, order.body.errorCode]).toEqual(['', 2]);
  });

  it('pays a referrer out of the output, instead of the platform', async () => {
    const referrer = await sandbox.newWallet({ [USDC]: '1' });
    const order = await sandbox.order({
      inputMint: SOL, outputMint: USDC, amount: '1000000000', taker: sandbox.wallet.address,
      referralAccount: referrer.address, referralFee: 200,
    });
    const fee = (BigInt(order.body.routePlan[0].swapInfo.outAmount) * 200n) / 10_000n;
    expect(order.body).toMatchObject({
      referralAccount: referrer.address, feeBps: 200, feeMint: USDC,
      platformFee: { amount: fee.toString(), feeBps: 200, feeMint: USDC },
    });
    const { body } = await sandbox.execute(order);
    expect(BigInt(body.outputAmountResult) - BigInt(body.totalOutputAmount)).toBe(fee);
    expect(sandbox.chain.tokenBalance({ owner: referrer.address, mint: USDC })).toBe(fee + 1n);
  });

  it('fits into a packet with everything at once', async () => {
    const [payer, receiver, referrer] = [
      await sandbox.newWallet({ [SOL]: '1000000000' }), await sandbox.newWallet(),
      await sandbox.newWallet({ [sandbox.mint('BUOY')]: '1' }),
    ];
    const order = await sandbox.order({
      inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000',
      taker: sandbox.wallet.address, payer: payer.address, receiver: receiver.address,
      referralAccount: referrer.address, referralFee: 60, bundleTipLamports: 5_000,
    });
    const pools = order.body.routePlan.map((entry: { swapInfo: { ammKey: string } }) => entry.swapInfo.ammKey);
    expect(new Set(pools).size).toBe(3);
    expect(Buffer.from(order.body.transaction, 'base64').length).toBeLessThanOrEqual(1_232);
    const { body } = await sandbox.post('/swap/v2/execute', {
      signedTransaction: payer.sign(sandbox.wallet.sign(order.body.transaction)), requestId: order.body.requestId,
    });
    expect(body.status).toBe('Success');
    expect(sandbox.chain.tokenBalance({ owner: receiver.address, mint: sandbox.mint('BUOY') }))
      .toBe(BigInt(order.body.outAmount));
  });

  it('fits into a packet with all options at once, and pays the payer\'s loan back', async () => {
    const [payer, receiver, referrer] =
      [await sandbox.newWallet({ [SOL]: '1000000000' }), await sandbox.newWallet(), await sandbox.newWallet()];
    sandbox.chain.fundToken({ owner: referrer.address, mint: SOL, amount: 1n });
    const taker = await sandbox.newWallet({ [sandbox.mint('CONCH')]: '500000000' });
    const order = await sandbox.order({
      inputMint: sandbox.mint('CONCH'), outputMint: SOL, amount: '500000000', taker: taker.address,
      excludeDexes: 'Tidepool', excludeRouters: 'routerA,routerB', payer: payer.address, receiver: receiver.address,
      referralAccount: referrer.address, referralFee: 60, bundleTipLamports: 5_000,
    });
    expect(Buffer.from(order.body.transaction, 'base64').length).toBeLessThanOrEqual(1_232);
    const { body } = await sandbox.post('/swap/v2/execute', {
      signedTransaction: payer.sign(taker.sign(order.body.transaction)), requestId: order.body.requestId,
    });
    expect(body.status).toBe('Success');
    expect(sandbox.chain.balance(receiver.address)).toBe(BigInt(order.body.outAmount));
    expect(1_000_000_000n - sandbox.chain.balance(payer.address))
      .toBe(BigInt(order.body.signatureFeeLamports + order.body.prioritizationFeeLamports));
    expect(sandbox.chain.balance(taker.address)).toBe(0n);
  });

  it('promises no swap that would leave the taker with too little SOL to be kept, though another pays', async () => {
    const payer = await sandbox.newWallet({ [SOL]: '1000000000' });
    const taker = await sandbox.newWallet({ [SOL]: '50000000', [USDC]: '1' });
    const order = (amount: number): Promise<Answer> =>
      sandbox.order({ inputMint: SOL, outputMint: USDC, amount, taker: taker.address, payer: payer.address });
    const dust = await order(49_999_900);
    expect(dust.body).toMatchObject({ transaction: '', errorCode: 2, errorMessage: 'Top up 0.00089078 SOL for gas' });
    // All of it is something else: an account without lamports need not be kept.
    const all = await order(50_000_000);
    expect(all.body).toMatchObject({ gasless: true, signatureFeePayer: payer.address });
    const signed = payer.sign(taker.sign(all.body.transaction));
    const { body } =
      await sandbox.post('/swap/v2/execute', { signedTransaction: signed, requestId: all.body.requestId });
    expect(body.status).toBe('Success');
    expect(sandbox.chain.balance(taker.address)).toBe(0n);
  });
});
