import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from './sandbox-client.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const TIDE = 'TideEfvvA2AqoL6xgDriC2JUjQpsHzUng31qBnKkEVb';
const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };

describe('GET /swap/v2/order refuses with 400, a requestId and an error', () => {
  const taker = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
  const cases: [string, Record<string, string | number>, RegExp][] = [
    ['no inputMint', { outputMint: SOL, amount: '1' }, /inputMint: missing/],
    ['no outputMint', { inputMint: SOL, amount: '1' }, /outputMint: missing/],
    ['no amount', { inputMint: USDC, outputMint: SOL }, /amount: missing/],
    ['an empty mint', { ...plain, inputMint: '' }, /inputMint/],
    ['a mint that is no address', { ...plain, inputMint: 'SOL' }, /inputMint: expected a base58 address, got "SOL"/],
    ['a mint with a letter outside base58', { ...plain, outputMint: 'So1111111111111111111111111111111111111111O' }, /outputMint/],
    ['twice the same mint', { ...plain, outputMint: USDC }, /outputMint: expected another mint/],
    ['a mint nobody trades', { ...plain, outputMint: taker.replace('Pear', 'Bear') }, /Failed to get quotes/],
    ['an amount of zero', { ...plain, amount: '0' }, /amount: expected an integer/],
    ['a negative amount', { ...plain, amount: '-5' }, /amount/],
    ['a fraction', { ...plain, amount: '1.5' }, /amount/],
    ['an exponent', { ...plain, amount: '1e6' }, /amount/],
    ['an amount beyond u64', { ...plain, amount: '18446744073709551616' }, /amount/],
    ['a taker that is no address', { ...plain, taker: 'me' }, /taker/],
    ['a receiver that is no address', { ...plain, receiver: 'you' }, /receiver/],
    ['a receiver equal to the taker', { inputMint: SOL, outputMint: USDC, amount: '9', taker, receiver: taker }, /receiver: expected another address than taker/],
    ['a receiver that is an account of a token program', { ...plain, receiver: taker }, /receiver: expected a wallet/],
    ['another swapMode', { ...plain, swapMode: 'ExactOut' }, /swapMode: expected one of ExactIn/],
    ['a slippage beyond 10000', { ...plain, slippageBps: 10_001 }, /slippageBps: expected an integer of 0 to 10000/],
    ['a negative slippage', { ...plain, slippageBps: -1 }, /slippageBps/],
    ['a slippage that is no integer', { ...plain, slippageBps: '1.5' }, /slippageBps/],
    ['a referralFee below 50', { ...plain, referralAccount: taker, referralFee: 49 }, /referralFee: expected an integer of 50 to 255/],
    ['a referralFee above 255', { ...plain, referralAccount: taker, referralFee: 256 }, /referralFee/],
    ['a referralAccount without referralFee', { ...plain, referralAccount: taker }, /expected both or neither/],
    ['a referralFee without referralAccount', { ...plain, referralFee: 100 }, /expected both or neither/],
    ['a referralAccount without token account', { ...plain, referralAccount: taker, referralFee: 100 }, /referralAccount: expected an owner of a token account/],
    ['a payer that is no address', { ...plain, payer: '?' }, /payer/],
    ['a priority fee that is no integer', { ...plain, priorityFeeLamports: 'lots' }, /priorityFeeLamports/],
    ['a negative tip', { ...plain, bundleTipLamports: -1 }, /bundleTipLamports/],
    ['another broadcastFeeType', { ...plain, broadcastFeeType: 'some' }, /broadcastFeeType: expected one of maxCap, exactFee/],
    ['an unknown router', { ...plain, excludeRouters: 'iris,router9' }, /excludeRouters.*router9/],
    ['all routers excluded', { ...plain, excludeRouters: 'iris,rfqz,routerA,routerB' }, /Failed to get quotes/],
    ['an empty label among excludeDexes', { ...plain, excludeDexes: 'Lagoon,,Tidepool' }, /excludeDexes/],
    ['all dexes excluded', { ...plain, excludeDexes: 'Lagoon,Tidepool,Estuary', excludeRouters: 'rfqz,routerA,routerB' }, /Failed to get quotes/],
    ['an amount so small that nothing comes out', { inputMint: USDC, outputMint: TIDE, amount: '1' }, /Failed to get quotes/],
  ];

  it.each(cases)('%s', async (_name, query, error) => {
    const answer = await sandbox.order(query);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ requestId: expect.stringMatching(UUID_7), error: expect.stringMatching(error) });
  });

  it('a parameter given twice', async () => {
    const answer = await sandbox.get(`/swap/v2/order?inputMint=${USDC}&outputMint=${SOL}&amount=1&amount=2`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/amount: expected one value/);
  });
});

describe('GET /swap/v2/order without taker', () => {
  it('quotes with every field of the reference and no transaction', async () => {
    const { status, body } = await sandbox.order(plain);
    expect(status).toBe(200);
    expect(body).toEqual({
      mode: 'ultra', inputMint: USDC, outputMint: SOL, inAmount: '25000000',
      outAmount: expect.stringMatching(/^\d+$/), inUsdValue: 25, outUsdValue: expect.closeTo(25, 0), swapUsdValue: 25,
      priceImpact: expect.any(Number), priceImpactPct: expect.any(String), otherAmountThreshold: expect.stringMatching(/^\d+$/),
      swapMode: 'ExactIn', slippageBps: expect.any(Number),
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
      requestId: expect.stringMatching(UUID_7), taker: null, lastValidBlockHeight: sandbox.chain.latestBlockhash().lastValidBlockHeight.toString(),
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
    const { body } = await sandbox.order({ inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000' });
    expect(body.routePlan).toHaveLength(3);
    for (const [i, { swapInfo }] of body.routePlan.slice(1).entries()) {
      expect(swapInfo.inAmount).toBe(body.routePlan[i].swapInfo.outAmount);
      expect(swapInfo.inputMint).toBe(body.routePlan[i].swapInfo.outputMint);
    }
  });

  it('keeps away from excluded dexes', async () => {
    const { body } = await sandbox.order({ ...plain, excludeDexes: 'Lagoon', excludeRouters: 'routerA,routerB' });
    expect(body.routePlan.map((entry: { swapInfo: { label: string } }) => entry.swapInfo.label)).not.toContain('Lagoon');
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
    const { body } = await sandbox.order({ inputMint: USDC, outputMint: TIDE, amount: '25000000', taker: poor.address, receiver: friend.address });
    expect([body.transaction, body.errorCode]).toEqual(['', 2]);
    expect(body.errorMessage).toMatch(/^Top up 0\.00\d+ SOL for gas$/);
    const all = await sandbox.newWallet({ [SOL]: '1000000000' });
    const spendsAll = await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '1000000000', taker: all.address, excludeRouters: 'rfqz' });
    expect([spendsAll.body.transaction, spendsAll.body.errorCode]).toEqual(['', 2]);
  });

  it('says what rent a new account costs, and nothing when it exists', async () => {
    const fresh = await sandbox.newWallet({ [USDC]: '50000000', [SOL]: '1000000000' });
    const rent = async (symbol: string): Promise<number> =>
      (await sandbox.order({ inputMint: USDC, outputMint: sandbox.mint(symbol), amount: '1000000', taker: fresh.address })).body.rentFeeLamports;
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
  });
});

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
      { excludeRouters: 'rfqz' }, { receiver: other.address }, { payer: other.address }, { referralAccount: other.address, referralFee: 60 },
    ]) {
      expect((await sandbox.order({ ...sell, ...extra })).body.router).toBe('iris');
    }
    expect((await sandbox.order({ ...sell, payer: sandbox.wallet.address })).body.router).toBe('rfqz');
  });

  it('alone does not quote small swaps', async () => {
    const answer = await sandbox.order({ ...plain, excludeRouters: 'iris,routerA,routerB' });
    expect([answer.status, answer.body.error]).toEqual([400, 'Failed to get quotes']);
  });

  it('refuses with codes of its own: 1 without the tokens, 2 without an account for them, 3 where no transaction can be made', async () => {
    const sell = { inputMint: SOL, outputMint: USDC, amount: '5000000000' };
    expect(await refused({ [USDC]: '1' }, large)).toEqual(['rfqz', '', 1, 'Insufficient balance']);
    expect(await refused({ [SOL]: '4999999999' }, sell)).toEqual(['rfqz', '', 1, 'Insufficient balance']);
    expect(await refused({ [SOL]: '1000000000' }, large)).toEqual(['rfqz', '', 2, expect.stringContaining(USDC)]);
    // Without a lamport beside the amount nobody lends the wrapped account its rent.
    expect(await refused({ [SOL]: '5000000000' }, sell)).toEqual(['rfqz', '', 3, expect.stringMatching(/could not be built/)]);
  });
});

describe('the API key', () => {
  it.each(['/swap/v2/order', '/swap/v2/build', '/ultra/v1/search?query=SOL', '/prediction/v1/orderbook/540817'])('is required at GET %s', async (path) => {
    for (const headers of [{}, { 'x-api-key': '' }]) {
      const answer = await sandbox.get(path, {}, headers);
      expect([answer.status, answer.body]).toEqual([401, { code: 401, message: 'Unauthorized' }]);
    }
  });

  it('is required at POST /swap/v2/execute', async () => {
    const answer = await sandbox.post('/swap/v2/execute', {}, { 'x-api-key': ' ' });
    expect([answer.status, answer.body]).toEqual([401, { code: 401, message: 'Unauthorized' }]);
  });

  it('must be one of the given ones where some were given', async () => {
    const guarded = await startTestSandbox({ apiKeys: ['right'] });
    try {
      expect((await guarded.get('/swap/v2/order', plain, { 'x-api-key': 'wrong' })).status).toBe(401);
      expect((await guarded.get('/swap/v2/order', plain, { 'x-api-key': 'right' })).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
