import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox({ slotMs: 60_000 });
});
afterEach(() => sandbox.close());

describe('the first line', () => {
  it('names addresses, a funded wallet and at least ten tokens', () => {
    const { addresses, chain } = sandbox;
    expect(addresses).toMatchObject({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      rpc_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/), ws_url: expect.stringMatching(/^ws:\/\//),
      wallet: { address: expect.any(String), private_key: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/) },
    });
    expect(addresses.tokens.length).toBeGreaterThanOrEqual(10);
    expect(new Set(addresses.tokens.map(({ decimals }) => decimals))).toEqual(new Set([5, 6, 8, 9]));
    expect(new Set(addresses.tokens.map(({ token_program: program }) => program)).size).toBe(2);
    for (const { mint, decimals, token_program: program } of addresses.tokens) {
      expect(chain.mint(mint)).toMatchObject({ decimals, tokenProgram: program });
    }
    expect(chain.balance(addresses.wallet.address)).toBe(100_000_000_000n);
    expect(chain.tokenBalance({ owner: addresses.wallet.address, mint: USDC })).toBe(10_000_000_000n);
    expect(chain.tokenBalance({ owner: addresses.wallet.address, mint: sandbox.mint('KELP') })).toBeGreaterThan(0n);
  });

  it('is the same for the same seed, but for its ports', async () => {
    const [again, other] = [await startTestSandbox(), await startTestSandbox({ seed: 8 })];
    try {
      expect(again.addresses.wallet).toEqual(sandbox.addresses.wallet);
      expect(again.addresses.tokens).toEqual(sandbox.addresses.tokens);
      expect(other.addresses.wallet).not.toEqual(sandbox.addresses.wallet);
      for (const each of [sandbox, again, other]) await each.passSlots(40);
      const [a, b, c] = await Promise.all([sandbox, again, other].map(async (each) =>
        (await each.get('/sandbox/state')).body));
      expect(b.pools).toEqual(a.pools);
      expect(b.prediction_markets).toEqual(a.prediction_markets);
      expect(c.pools).not.toEqual(a.pools);
    } finally {
      await Promise.all([again.close(), other.close()]);
    }
  });
});

describe('GET /sandbox/state', () => {
  it('tells slots, prices, pools and faults, without a key', async () => {
    const { status, body } = await sandbox.get('/sandbox/state', {}, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      seed: 7, speed: 1, slot: sandbox.chain.slot, block_height: sandbox.chain.blockHeight, time: expect.any(String),
      orders: 0, faults: [], maker: expect.any(String), transactions: expect.any(Number),
    });
    expect(body.prices[0]).toEqual({ mint: SOL, symbol: 'SOL', usd: 182.4 });
    expect(body.pools[0]).toMatchObject({
      label: 'Tidepool', mint_a: SOL, mint_b: USDC, fee_bps: 4, reserve_a: expect.stringMatching(/^\d+$/),
    });
    expect(body.prediction_markets.length).toBeGreaterThanOrEqual(3);
  });
});

describe('POST /sandbox/price', () => {
  it('moves quotes at once', async () => {
    const answer = await sandbox.post('/sandbox/price', { mint: SOL, usd: 100 }, {});
    expect([answer.status, answer.body]).toEqual([200, { mint: SOL, usd: 100 }]);
    const { body } =
      await sandbox.order({ inputMint: SOL, outputMint: USDC, amount: '1000000000', excludeRouters: 'rfqz' });
    expect(Number(body.outAmount) / 1e6).toBeCloseTo(100, 0);
    expect(body.inUsdValue).toBe(100);
  });

  it.each([
    [{}], [{ mint: SOL }], [{ mint: SOL, usd: 0 }], [{ mint: SOL, usd: -1 }], [{ mint: SOL, usd: '5' }],
    [{ mint: SOL, usd: 1e300 }], [{ mint: 'x', usd: 1 }], [{ mint: SOL, usd: 1, eur: 1 }], [null], [[]],
  ])(
    'refuses %j', async (body) => {
      const answer = await sandbox.post('/sandbox/price', body);
      expect([answer.status, typeof answer.body.error]).toEqual([400, 'string']);
    },
  );
});

describe('POST /sandbox/time', () => {
  it('lets slots pass, and the market with them', async () => {
    const before = { slot: sandbox.chain.slot, prices: (await sandbox.get('/sandbox/state')).body.prices };
    const { body } = await sandbox.post('/sandbox/time', { advance_slots: 25 }, {});
    expect(body).toEqual({ slot: before.slot + 25, block_height: sandbox.chain.blockHeight });
    expect((await sandbox.get('/sandbox/state')).body.prices).not.toEqual(before.prices);
  });

  it('leaps far in one go', async () => {
    const { slot } = sandbox.chain;
    const { status, body } = await sandbox.post('/sandbox/time', { advance_slots: 20_000 });
    expect([status, body.slot]).toEqual([200, slot + 20_000]);
    expect((await sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '5000000' })).status).toBe(200);
  });

  it('leaves a frozen market where it is', async () => {
    const frozen = await startTestSandbox({ speed: 0 });
    try {
      const before = (await frozen.get('/sandbox/state')).body;
      await frozen.passSlots(50);
      const after = (await frozen.get('/sandbox/state')).body;
      expect(after.slot).toBe(before.slot + 50);
      expect([after.prices, after.pools]).toEqual([before.prices, before.pools]);
    } finally {
      await frozen.close();
    }
  });

  it.each([
    [{}], [{ advance_slots: 0 }], [{ advance_slots: 1.5 }], [{ advance_slots: '5' }], [{ advance_slots: 1e9 }],
    [{ advance_slots: 1, x: 1 }],
  ])('refuses %j', async (body) => {
    expect((await sandbox.post('/sandbox/time', body)).status).toBe(400);
  });
});

describe('POST /sandbox/fund', () => {
  it('gives SOL natively and tokens into the associated account', async () => {
    const { address: owner } = await sandbox.newWallet();
    expect((await sandbox.post('/sandbox/fund', { owner, mint: SOL, amount: '5000000000' }, {})).body)
      .toEqual({ owner, mint: SOL, balance: '5000000000' });
    expect((await sandbox.post('/sandbox/fund', { owner, mint: sandbox.mint('BUOY'), amount: '77' })).body)
      .toEqual({ owner, mint: sandbox.mint('BUOY'), account: expect.any(String), balance: '77' });
    expect(sandbox.chain.tokenBalance({ owner, mint: sandbox.mint('BUOY') })).toBe(77n);
  });

  it.each([['legacy'], [0], [1], [2]])('pays by a transaction of version %s', async (transaction_version) => {
    const { address: owner } = await sandbox.newWallet();
    for (const [mint, amount] of [[SOL, '5000000000'], [sandbox.mint('BUOY'), '77'], [sandbox.mint('KELP'), '1']]) {
      const { status, body } = await sandbox.post('/sandbox/fund', { owner, mint, amount, transaction_version });
      expect({ status, body }).toMatchObject({ status: 200, body: { owner, mint, balance: amount } });
      const landed = sandbox.chain.transaction((body as { signature: string }).signature)!;
      expect(landed).toMatchObject({ version: transaction_version, error: null });
      expect(landed.accountKeys[0]).toBe(sandbox.chain.faucet.address);
      expect(landed.accountKeys).toContain(owner);
    }
  });

  it.each([
    [{ owner: SOL, mint: SOL, amount: '5000000000', transaction_version: 3 }],
    [{ owner: SOL, mint: SOL, amount: '5000000000', transaction_version: '1' }],
    [{}], [{ owner: 'x', mint: SOL, amount: '1' }], [{ owner: SOL, mint: 'x', amount: '1' }],
    [{ owner: SOL, mint: USDC, amount: 5 }], [{ owner: SOL, mint: USDC, amount: '0' }],
    [{ owner: SOL, mint: USDC, amount: '99999999999999999999' }],
    [{ owner: USDC, mint: SOL, amount: '9007199254740993' }],
    [{ owner: 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfik', mint: SOL, amount: '5' }],
  ])('refuses %j', async (body) => {
    expect((await sandbox.post('/sandbox/fund', body)).status).toBe(400);
  });
});

describe('a scenario', () => {
  const scenario = [
    { at: '2m', mint: SOL, usd: 150 },
    { every: '1m', match: { path: '/ultra/v1/search' }, fault: { kind: 'status', status: 500 }, times: 1 },
  ];

  it('performs its steps when their slots have passed', async () => {
    const staged = await startTestSandbox({ slotMs: 30_000, speed: 0, scenario });
    try {
      const usd = async (): Promise<number> => (await staged.get('/sandbox/state')).body.prices[0].usd;
      const faults = async (): Promise<number> => (await staged.get('/sandbox/state')).body.faults.length;
      await staged.passSlots(3);
      expect([await usd(), await faults()]).toEqual([182.4, 1]);
      await staged.passSlots(1);
      expect([await usd(), await faults()]).toEqual([150, 2]);
      await staged.passSlots(20);
      expect(await faults()).toBe(12);
    } finally {
      await staged.close();
    }
  });

  it.each([
    [[{ mint: SOL, usd: 1 }], /step 1: expected one of "at" and "every"/],
    [[...scenario, { at: '1s', every: '1s', mint: SOL, usd: 1 }], /step 3/],
    [[{ at: 'soon', mint: SOL, usd: 1 }], /step 1: expected a duration/],
    [[{ at: '1s', mint: 'x', usd: 1 }], /step 1: mint/],
    [[{ at: '1s', match: { path: '/x' }, fault: { kind: 'burn' } }], /step 1: fault\.kind/],
  ])('that makes no sense is refused before anything starts', async (steps, message) => {
    await expect(startTestSandbox({ scenario: steps }))
      .rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) });
  });
});

describe('options', () => {
  it.each([{ speed: -1 }, { speed: Number.NaN }, { slotMs: 0 }])('%j are refused', async (options) => {
    await expect(startTestSandbox(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('a port in use is a clear failure', async () => {
    const port = Number(new URL(sandbox.addresses.base_url).port);
    await expect(startTestSandbox({ port })).rejects.toMatchObject({
      code: 'SANDBOX_FAILED', message: expect.stringMatching(/service cannot listen on 127\.0\.0\.1/),
    });
  });
});
