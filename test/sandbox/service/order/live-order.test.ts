import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox, type TestWallet } from '../sandbox-client.ts';

let live: TestSandbox;
let reference: TestSandbox;
beforeAll(async () => {
  [live, reference] =
    await Promise.all([startTestSandbox({ speed: 0, profile: 'live' }), startTestSandbox({ speed: 0 })]);
});
afterAll(() => Promise.all([live.close(), reference.close()]));

const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
const large = { ...plain, amount: '900000000' };

/** What a wallet of a sandbox has. */
function held(sandbox: TestSandbox, wallet: TestWallet, mint: string): bigint {
  return mint === SOL ? sandbox.chain.balance(wallet.address)
    : sandbox.chain.tokenBalance({ owner: wallet.address, mint });
}

describe('an order of the live profile differs from the description', () => {
  it('counts the price impact in percentage points; its older name is the fraction', async () => {
    const query = { ...plain, amount: '800000000000', excludeRouters: 'rfqz' };
    const [told, described] = [(await live.order(query)).body, (await reference.order(query)).body];
    expect(told.priceImpactPct).toBe(described.priceImpactPct);
    expect(described.priceImpact).toBe(Number(described.priceImpactPct));
    expect(told.priceImpact).toBeCloseTo(Number(told.priceImpactPct) * 100, 5);
    expect(told.priceImpact / 100).toBeCloseTo(told.outUsdValue / told.inUsdValue - 1, 6);
    expect(told.priceImpact).toBeLessThan(-2);
  });

  it('says less without a taker: no height, no amount of the fee, no slippage unless one was asked for', async () => {
    const { body } = await live.order(plain);
    expect(body).not.toHaveProperty('lastValidBlockHeight');
    expect(body.platformFee).toEqual({ feeBps: 2, feeMint: SOL });
    expect([body.slippageBps, body.otherAmountThreshold]).toEqual([0, body.outAmount]);
    expect(body).toMatchObject({ transaction: null, taker: null, signatureFeePayer: null, guaranteedPrice: false });
    const asked = (await live.order({ ...plain, slippageBps: 50 })).body;
    expect([asked.slippageBps, BigInt(asked.otherAmountThreshold)])
      .toEqual([50, (BigInt(asked.outAmount) * 9_950n) / 10_000n]);
    expect((await live.order(large)).body).toMatchObject({ router: 'rfqz', expireAt: null, guaranteedPrice: true });

    const withTaker = (await live.order({ ...plain, taker: live.wallet.address })).body;
    expect(withTaker).toMatchObject({
      lastValidBlockHeight: expect.stringMatching(/^\d+$/), platformFee: { amount: expect.stringMatching(/^\d+$/) },
    });
    expect(withTaker.slippageBps).toBeGreaterThan(0);
    const poor = await live.newWallet();
    expect((await live.order({ ...plain, taker: poor.address })).body).not.toHaveProperty('lastValidBlockHeight');
  });

  it('fails on mints without a pool, and on addresses that are no mint', async () => {
    for (const mint of ['Bear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij', 'SOL']) {
      const { status, body } = await live.order({ ...plain, outputMint: mint });
      expect([status, body]).toEqual([500, { error: 'Something unexpected occurred' }]);
      const described = await reference.order({ ...plain, outputMint: mint });
      expect([described.status, Object.keys(described.body)]).toEqual([400, ['requestId', 'error']]);
    }
    const missing = await live.order({ inputMint: USDC, amount: '1' });
    expect([missing.status, missing.body])
      .toEqual([400, { requestId: expect.any(String), error: expect.stringMatching(/outputMint: missing/) }]);
  });

  it('lets the maker quote for a receiver and a referrer; it pays both, to the unit', async () => {
    const [taker, receiver, referrer] =
      [await live.newWallet({ [SOL]: '6000000000' }), await live.newWallet(), await live.newWallet({ [USDC]: '1' })];
    const order = await live.order({
      inputMint: SOL, outputMint: USDC, amount: '5000000000', taker: taker.address, receiver: receiver.address,
      referralAccount: referrer.address, referralFee: 100,
    });
    expect(order.body).toMatchObject({
      router: 'rfqz', gasless: true, feeBps: 100, feeMint: USDC, referralAccount: referrer.address,
      rentFeeLamports: 2_039_280,
    });
    const routeOut = BigInt(order.body.routePlan[0].swapInfo.outAmount);
    expect(order.body.platformFee).toEqual({ amount: (routeOut / 100n).toString(), feeBps: 100, feeMint: USDC });
    expect(BigInt(order.body.outAmount)).toBe(routeOut - routeOut / 100n);
    const { body } = await live.execute(order, taker);
    expect(body).toMatchObject({
      status: 'Success', totalOutputAmount: order.body.outAmount, outputAmountResult: routeOut.toString(),
    });
    expect(held(live, receiver, USDC)).toBe(BigInt(order.body.outAmount));
    expect(held(live, referrer, USDC)).toBe(routeOut / 100n + 1n);
    expect(held(live, taker, SOL)).toBe(1_000_000_000n);
  });

  it('sends the maker\'s SOL to a receiver, and its referrer\'s share into his wrapped account', async () => {
    const [taker, receiver, referrer] = [
      await live.newWallet({ [SOL]: '50000000', [USDC]: '900000000' }), await live.newWallet(), await live.newWallet(),
    ];
    live.chain.fundToken({ owner: referrer.address, mint: SOL, amount: 1n });
    const order = await live.order({
      ...large, taker: taker.address, receiver: receiver.address, referralAccount: referrer.address, referralFee: 100,
    });
    const { body } = await live.execute(order, taker);
    expect([order.body.router, body.status]).toEqual(['rfqz', 'Success']);
    expect(held(live, receiver, SOL)).toBe(BigInt(order.body.outAmount));
    expect(live.chain.tokenBalance({ owner: referrer.address, mint: SOL }))
      .toBe(BigInt(order.body.platformFee.amount) + 1n);
  });

  it('rejects with -2004 a maker order with a referral fee whose taker has hardly any SOL', async () => {
    const [taker, referrer] =
      [await live.newWallet({ [SOL]: '2000000', [USDC]: '5000000000' }), await live.newWallet()];
    live.chain.fundToken({ owner: referrer.address, mint: SOL, amount: 1n });
    const order = (extra: Record<string, string | number> = {}): Promise<Answer> =>
      live.order({ ...large, taker: taker.address, ...extra });
    for (let i = 0; i < 3; i++) {
      const referred = await order({ referralAccount: referrer.address, referralFee: 50 });
      expect(referred.body.router).toBe('rfqz');
      expect((await live.execute(referred, taker)).body).toMatchObject({ status: 'Failed', code: -2_004 });
    }
    expect((await live.execute(await order(), taker)).body.status).toBe('Success');
  });

  it('asks iris alone where another pays', async () => {
    const payer = await live.newWallet({ [SOL]: '1000000000' });
    const buyKelp = { inputMint: SOL, outputMint: live.mint('KELP'), amount: '1000000000' };
    for (const [sandbox, router] of [[live, 'iris'], [reference, 'routerB']] as const) {
      expect((await sandbox.order({ ...buyKelp, payer: payer.address })).body.router).toBe(router);
    }
    expect((await live.order(buyKelp)).body.router).toBe('routerB');
    const alone = await live.order({ ...buyKelp, payer: payer.address, excludeRouters: 'iris' });
    expect([alone.status, alone.body.error]).toEqual([400, 'Failed to get quotes']);
  });

  it('tells the amounts of a swap that failed by slippage, although nothing moved', async () => {
    for (const [sandbox, tells] of [[live, true], [reference, false]] as const) {
      const wallet = await sandbox.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
      const order = await sandbox.order({ ...plain, taker: wallet.address, slippageBps: 10 });
      const { usd } = (await sandbox.get('/sandbox/state')).body.prices[0];
      await sandbox.post('/sandbox/price', { mint: SOL, usd: usd * 1.02 });
      const { status, body } = await sandbox.execute(order, wallet);
      expect([status, body.status, body.code, 'swapEvents' in body]).toEqual([200, 'Failed', 6_001, tells]);
      if (tells) expect([body.totalInputAmount, body.totalOutputAmount]).toEqual(['25000000', order.body.outAmount]);
      expect(held(sandbox, wallet, USDC)).toBe(100_000_000n);
    }
  });
});

describe('a build of the live profile', () => {
  it('has the impact and the time of its blockhash beside the rest', async () => {
    const query = { ...plain, taker: live.wallet.address };
    const [told, described] =
      [(await live.get('/swap/v2/build', query)).body, (await reference.get('/swap/v2/build', query)).body];
    expect(told.blockhashWithMetadata.fetchedAt)
      .toEqual({ secs_since_epoch: expect.any(Number), nanos_since_epoch: expect.any(Number) });
    expect(Number(told.priceImpactPct)).toBeLessThan(0);
    expect(described.blockhashWithMetadata).not.toHaveProperty('fetchedAt');
    expect(described).not.toHaveProperty('priceImpactPct');
  });
});
