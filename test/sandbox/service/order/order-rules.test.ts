import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const TIDE = 'TideEfvvA2AqoL6xgDriC2JUjQpsHzUng31qBnKkEVb';
const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

describe('GET /swap/v2/order without taker', () => {
  it('quotes with every field of the reference and no transaction', async () => {
    const { status, body } = await sandbox.order(plain);
    expect(status).toBe(200);
    expect(body).toEqual({
      mode: 'ultra', inputMint: USDC, outputMint: SOL, inAmount: '25000000',
      outAmount: expect.stringMatching(/^\d+$/), inUsdValue: 25, outUsdValue: expect.closeTo(25, 0), swapUsdValue: 25,
      priceImpact: expect.any(Number), priceImpactPct: expect.any(String),
      otherAmountThreshold: expect.stringMatching(/^\d+$/), swapMode: 'ExactIn', slippageBps: expect.any(Number),
      routePlan: [{
        swapInfo: {
          ammKey: expect.any(String), label: 'Lagoon', inputMint: USDC, outputMint: SOL, inAmount: '25000000',
          outAmount: expect.stringMatching(/^\d+$/),
        },
        percent: 100, bps: 10_000, usdValue: 25,
      }],
      feeMint: SOL, feeBps: 2, platformFee: { amount: expect.stringMatching(/^\d+$/), feeBps: 2, feeMint: SOL },
      signatureFeeLamports: 0, signatureFeePayer: null, prioritizationFeeLamports: 0, prioritizationFeePayer: null,
      rentFeeLamports: 0, rentFeePayer: null, swapType: 'aggregator', router: 'iris', transaction: null, gasless: false,
      requestId: expect.stringMatching(UUID_7), taker: null,
      lastValidBlockHeight: sandbox.chain.latestBlockhash().lastValidBlockHeight.toString(),
      contextSlot: sandbox.chain.slot, totalTime: expect.any(Number),
    });
  });

  it('takes the fee from the route\'s output and the slippage from what remains, both floored', async () => {
    const { body } = await sandbox.order({ ...plain, amount: '33333333', slippageBps: 37 });
    const routeOut = BigInt(body.routePlan.at(-1).swapInfo.outAmount);
    const fee = (routeOut * 2n) / 10_000n;
    expect(body.platformFee.amount).toBe(fee.toString());
    expect(body.outAmount).toBe((routeOut - fee).toString());
    expect(body.otherAmountThreshold).toBe((((routeOut - fee) * 9_963n) / 10_000n).toString());
  });

  it.each([0, 1, 10_000])('accepts a slippage of %i', async (slippageBps) => {
    const { status, body } = await sandbox.order({ ...plain, slippageBps });
    expect([status, body.slippageBps]).toEqual([200, slippageBps]);
    expect(BigInt(body.otherAmountThreshold)).toBe((BigInt(body.outAmount) * BigInt(10_000 - slippageBps)) / 10_000n);
  });

  it('chooses more slippage where prices move more', async () => {
    const stable = await sandbox.order({ inputMint: USDC, outputMint: sandbox.mint('ANCHR'), amount: '1000000' });
    const wild = await sandbox.order({ inputMint: USDC, outputMint: sandbox.mint('KRILL'), amount: '1000000' });
    expect(stable.body.slippageBps).toBeGreaterThan(0);
    expect(wild.body.slippageBps).toBeGreaterThan(stable.body.slippageBps);
  });

  it('states a worse price for a larger swap as a more negative impact', async () => {
    const impacts: number[] = [];
    for (const amount of ['1000000', '50000000000', '900000000000']) {
      const { body } = await sandbox.order({ ...plain, amount, excludeRouters: 'rfqz' });
      expect(body.priceImpact).toBeCloseTo(body.outUsdValue / body.inUsdValue - 1, 7);
      expect(Number(body.priceImpactPct)).toBe(body.priceImpact);
      impacts.push(body.priceImpact);
    }
    expect(impacts).toEqual([...impacts].sort((a, b) => b - a));
    expect(impacts[2]).toBeLessThan(-0.03);
  });

  it('is "manual" as soon as a parameter steers it', async () => {
    expect((await sandbox.order(plain)).body.mode).toBe('ultra');
    expect((await sandbox.order({ ...plain, swapMode: 'ExactIn' })).body.mode).toBe('ultra');
    expect((await sandbox.order({ ...plain, slippageBps: 50 })).body.mode).toBe('manual');
    expect((await sandbox.order({ ...plain, excludeRouters: 'routerA' })).body.mode).toBe('manual');
  });

  it('finds routes of up to three pools', async () => {
    const { body } =
      await sandbox.order({ inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000' });
    expect(body.routePlan).toHaveLength(3);
    for (const [i, { swapInfo }] of body.routePlan.slice(1).entries()) {
      expect(swapInfo.inAmount).toBe(body.routePlan[i].swapInfo.outAmount);
      expect(swapInfo.inputMint).toBe(body.routePlan[i].swapInfo.outputMint);
    }
  });

  it('keeps away from excluded dexes', async () => {
    const { body } = await sandbox.order({ ...plain, excludeDexes: 'Lagoon', excludeRouters: 'routerA,routerB' });
    expect(body.routePlan.map((entry: { swapInfo: { label: string } }) => entry.swapInfo.label))
      .not.toContain('Lagoon');
  });
});

describe('GET /swap/v2/order with taker', () => {
  it('adds a transaction that only the taker signs and pays', async () => {
    const { body } = await sandbox.order({ ...plain, taker: sandbox.wallet.address });
    const raw = Buffer.from(body.transaction, 'base64');
    expect(raw[0]).toBe(1);
    expect(raw.length).toBeLessThanOrEqual(1_232);
    expect(body).toMatchObject({
      router: 'iris', taker: sandbox.wallet.address, gasless: false, signatureFeeLamports: 5_000,
      signatureFeePayer: sandbox.wallet.address, prioritizationFeePayer: sandbox.wallet.address,
    });
    expect(body.prioritizationFeeLamports).toBeGreaterThan(0);
    expect(BigInt(body.lastValidBlockHeight)).toBe(BigInt(sandbox.chain.latestBlockhash().lastValidBlockHeight));
    expect(body).not.toHaveProperty('errorCode');
  });

  it('answers 200 with an empty transaction and code 1 when the taker lacks the tokens', async () => {
    const poor = await sandbox.newWallet({ [SOL]: '1000000000' });
    const { status, body } = await sandbox.order({ ...plain, taker: poor.address });
    expect([status, body.transaction, body.errorCode]).toEqual([200, '', 1]);
    expect(body.errorMessage).toBe('Insufficient funds');
    expect(body.error).toBe(body.errorMessage);
  });

  it('answers code 1 when the taker lacks the SOL to swap', async () => {
    const poor = await sandbox.newWallet({ [SOL]: '1000000' });
    const { body } = await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '2000000', taker: poor.address });
    expect([body.transaction, body.errorCode]).toEqual(['', 1]);
  });

  it('answers code 2 when the taker lacks SOL for gas and rent', async () => {
    const poor = await sandbox.newWallet({ [USDC]: '50000000', [SOL]: '1000000' });
    const friend = await sandbox.newWallet({ [SOL]: '1000000' });
    const { body } = await sandbox.order({
      inputMint: USDC, outputMint: TIDE, amount: '25000000', taker: poor.address, receiver: friend.address,
    });
    expect([body.transaction, body.errorCode]).toEqual(['', 2]);
    expect(body.errorMessage).toMatch(/^Top up 0\.00\d+ SOL for gas$/);
    const all = await sandbox.newWallet({ [SOL]: '1000000000' });
    const spendsAll = await sandbox.order({
      inputMint: SOL, outputMint: USDC, amount: '1000000000', taker: all.address, excludeRouters: 'rfqz',
    });
    expect([spendsAll.body.transaction, spendsAll.body.errorCode]).toEqual(['', 2]);
  });

  it('says what rent a new account costs, and nothing when it exists', async () => {
    const fresh = await sandbox.newWallet({ [USDC]: '50000000', [SOL]: '1000000000' });
    const rent = async (symbol: string): Promise<number> =>
      (await sandbox.order(
        { inputMint: USDC, outputMint: sandbox.mint(symbol), amount: '1000000', taker: fresh.address },
      )).body.rentFeeLamports;
    expect(await rent('TIDE')).toBe(2_039_280);
    expect(await rent('BUOY')).toBe(2_074_080);
    const known = await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '1000000', taker: fresh.address });
    expect(known.body.rentFeeLamports).toBe(0);
  });

  it('bids what it is told: exactly, or at most', async () => {
    const taker = sandbox.wallet.address;
    const lamports = async (extra: Record<string, string | number>): Promise<number> =>
      (await sandbox.order({ ...plain, taker, ...extra })).body.prioritizationFeeLamports;
    const automatic = await lamports({});
    expect(await lamports({ priorityFeeLamports: 777_777 })).toBe(777_777);
    expect(await lamports({ priorityFeeLamports: 777_777, broadcastFeeType: 'exactFee' })).toBe(777_777);
    expect(await lamports({ priorityFeeLamports: 777_777, broadcastFeeType: 'maxCap' })).toBe(automatic);
    expect(await lamports({ priorityFeeLamports: 1, broadcastFeeType: 'maxCap' })).toBe(1);
    expect(await lamports({ priorityFeeLamports: 0 })).toBe(0);
    expect(await lamports({ priorityFeeLamports: 1_000, bundleTipLamports: 50_000 })).toBe(51_000);
    expect(await lamports({ priorityFeeLamports: '777777.9', bundleTipLamports: '0.5' })).toBe(777_777);
    // No cap is described; 2.5 SOL the wallet can pay.
    expect(await lamports({ priorityFeeLamports: 1_500_000_000, bundleTipLamports: 1_000_000_000 }))
      .toBe(2_500_000_000);
  });

  it('quotes unpayable bids to the lamport, and says that they cannot be paid', async () => {
    const most = 2n ** 64n - 1n;
    for (const name of ['priorityFeeLamports', 'bundleTipLamports']) {
      const { status, text, body } =
        await sandbox.order({ ...plain, taker: sandbox.wallet.address, [name]: most.toString() });
      expect([status, body.transaction, body.errorCode]).toEqual([200, '', 2]);
      const [, told = '0'] = /"prioritizationFeeLamports":(\d+)/.exec(text) ?? [];
      expect(BigInt(told)).toBeGreaterThan(2n ** 60n);
      expect(BigInt(told)).toBeLessThan(2n ** 65n);
      if (name === 'bundleTipLamports') expect(BigInt(told)).toBeGreaterThanOrEqual(most);
    }
  });

  it('rounds a referral fee down to whole basis points', async () => {
    const referrer = await sandbox.newWallet({ [USDC]: '1' });
    const { body } = await sandbox.order({
      ...plain, taker: sandbox.wallet.address, referralAccount: referrer.address, referralFee: '50.75',
    });
    expect(body).toMatchObject({ feeBps: 50, platformFee: { feeBps: 50, amount: '125000', feeMint: USDC } });
  });

  it('issue 13.31: lets the platform collect the fee of a referrer without a token account', async () => {
    const referrer = await sandbox.newWallet({});
    const { status, body } = await sandbox.order({
      ...plain, taker: sandbox.wallet.address, referralAccount: referrer.address, referralFee: 60,
    });
    expect([status, body.feeBps, body.referralAccount]).toEqual([200, 60, referrer.address]);
    expect(body.transaction).not.toBe('');
  });

  it('bids in swaps through pools: a maker pays for his own', async () => {
    const taker = sandbox.wallet.address;
    const large = { ...plain, amount: '900000000', taker };
    expect((await sandbox.order(large)).body.router).toBe('rfqz');
    for (const bid of [{ priorityFeeLamports: 777_777 }, { bundleTipLamports: 777_777 }]) {
      const { body } = await sandbox.order({ ...large, ...bid });
      expect(body.router).not.toBe('rfqz');
      expect(body.prioritizationFeeLamports).toBeGreaterThanOrEqual(777_777);
    }
  });
});
