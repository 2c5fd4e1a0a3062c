import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';
import { v1Of, type Body, type Query, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let live: TestSandbox;
let v1: V1;
beforeAll(async () => {
  [sandbox, live] =
    await Promise.all([startTestSandbox({ speed: 0 }), startTestSandbox({ speed: 0, profile: 'live' })]);
  v1 = v1Of(sandbox);
});
afterAll(() => Promise.all([sandbox.close(), live.close()]));

const plain = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
const DIGITS = /^\d+$/;

function labels(quote: Body): string[] {
  return quote.routePlan.map((entry: Body) => entry.swapInfo.label);
}

/** The mints between the hops. */
function between(quote: Body): string[] {
  return quote.routePlan.slice(1).map((entry: Body) => entry.swapInfo.inputMint);
}

function shares({ routePlan }: Body): unknown[] {
  return routePlan.map(({ percent, bps }: Body) => [percent, bps]);
}

describe('GET /swap/v1/quote', () => {
  it('answers with every field of the reference', async () => {
    const quote = await v1.quoted({ ...plain, platformFeeBps: 30 });
    const [{ swapInfo }] = quote.routePlan;
    const fee = (BigInt(swapInfo.outAmount) * 30n) / 10_000n;
    expect(quote).toEqual({
      inputMint: USDC, inAmount: '25000000', outputMint: SOL, outAmount: (BigInt(swapInfo.outAmount) - fee).toString(),
      otherAmountThreshold: expect.stringMatching(DIGITS), swapMode: 'ExactIn', slippageBps: 50,
      platformFee: { amount: fee.toString(), feeBps: 30 },
      priceImpactPct: expect.stringMatching(/^0\.00\d+$/),
      routePlan: [{
        swapInfo: {
          ammKey: expect.any(String), label: 'Lagoon', inputMint: USDC, outputMint: SOL, inAmount: '25000000',
          outAmount: expect.stringMatching(DIGITS), feeAmount: '0', feeMint: USDC,
        },
        percent: 100,
      }],
      contextSlot: sandbox.chain.slot, timeTaken: expect.any(Number), mostReliableAmmsQuoteReport: expect.any(Object),
    });
    expect(quote.timeTaken).toBeLessThan(1);
    // Two markets trade the pair itself; the better one is the route.
    const outputs = Object.values<string>(quote.mostReliableAmmsQuoteReport).map(BigInt);
    expect(outputs).toHaveLength(2);
    expect(outputs.reduce((a, b) => (a > b ? a : b))).toBe(BigInt(swapInfo.outAmount));
    expect(await v1.quoted(plain)).not.toHaveProperty('platformFee');
  });

  it('rounds the threshold up: of the output with ExactIn, of the input with ExactOut', async () => {
    for (const slippageBps of [0, 1, 37, 10_000]) {
      const exactIn = await v1.quoted({ ...plain, amount: '33333333', slippageBps });
      expect(exactIn.otherAmountThreshold)
        .toBe(((BigInt(exactIn.outAmount) * BigInt(10_000 - slippageBps) + 9_999n) / 10_000n).toString());
      const exactOut = await v1.quoted({ ...plain, amount: '133333333', slippageBps, swapMode: 'ExactOut' });
      expect([exactOut.swapMode, exactOut.outAmount]).toEqual(['ExactOut', '133333333']);
      expect(exactOut.otherAmountThreshold)
        .toBe(((BigInt(exactOut.inAmount) * BigInt(10_000 + slippageBps) + 9_999n) / 10_000n).toString());
    }
    expect(BigInt((await v1.quoted({ ...plain, slippageBps: 65_535, swapMode: 'ExactOut' })).otherAmountThreshold))
      .toBeGreaterThan(0n);
  });

  it('asks with ExactOut for the least input: one unit less would not pay', async () => {
    for (const [input, output, amount] of [
      ['USDC', 'SOL', '137000001'], ['SOL', 'USDC', '25000001'], ['KELP', 'TIDE', '12345'],
      ['LHSOL', 'PEARL', '7777777'],
    ] as const) {
      const [inputMint, outputMint] = [sandbox.mint(input), sandbox.mint(output)];
      const quote = await v1.quoted({ inputMint, outputMint, amount, swapMode: 'ExactOut' });
      const { ammKey: lastPool } = quote.routePlan.at(-1).swapInfo;
      // The same path with ExactIn; other paths may pay more.
      const dexes = [...new Set(labels(quote))].join(',');
      const least = await v1.quoted({ inputMint, outputMint, amount: quote.inAmount, dexes });
      expect(BigInt(least.outAmount)).toBeGreaterThanOrEqual(BigInt(amount));
      const less = await v1.quoted({ inputMint, outputMint, amount: (BigInt(quote.inAmount) - 1n).toString(), dexes });
      if (less.routePlan.at(-1).swapInfo.ammKey === lastPool)
        expect(BigInt(less.outAmount)).toBeLessThan(BigInt(amount));
    }
  });

  it('adds a platform fee to what ExactOut needs', async () => {
    const wanted = { ...plain, amount: '137000000', swapMode: 'ExactOut' };
    const [free, charged] = [await v1.quoted(wanted), await v1.quoted({ ...wanted, platformFeeBps: 100 })];
    expect(charged.outAmount).toBe('137000000');
    expect(Number(charged.inAmount) / Number(free.inAmount)).toBeCloseTo(1 / 0.99, 4);
    expect(BigInt(charged.platformFee.amount) + 137_000_000n)
      .toBeLessThanOrEqual(BigInt(charged.routePlan[0].swapInfo.outAmount));
  });

  it('lets only some markets be asked for an exact output, or stand in a bundle', async () => {
    const conch = { inputMint: sandbox.mint('CONCH'), outputMint: USDC, amount: '5000000', onlyDirectRoutes: 'true' };
    expect(labels(await v1.quoted(conch))).toEqual(['Estuary']);
    for (const extra of [{ swapMode: 'ExactOut' }, { forBundle: 'true' }]) {
      expect((await v1.quote({ ...conch, ...extra })).body)
        .toEqual({ error: expect.any(String), errorCode: 'NO_ROUTES_FOUND' });
    }
    const krill = {
      inputMint: sandbox.mint('KRILL'), outputMint: SOL, amount: '500000000000', restrictIntermediateTokens: 'false',
    };
    expect(labels(await v1.quoted({ ...krill, forBundle: 'true' }))).not.toContain('Estuary');
  });

  it('goes through steadier tokens alone in between, unless told otherwise', async () => {
    const pearl = { inputMint: sandbox.mint('PEARL'), outputMint: USDC, amount: '5000000', dexes: 'Tidepool' };
    expect(between(await v1.quoted(pearl))).toEqual([SOL]);
    // One pool gives PEARL away for SOL: the way over it pays most, if one may go there.
    const pool = sandbox.chain.pools().find(({ mintA, mintB }) => mintA === sandbox.mint('PEARL') && mintB === SOL)!;
    const reserves = sandbox.chain.readPool(pool.address);
    sandbox.chain.writeReserves(pool.address, { ...reserves, reserveA: reserves.reserveA * 2n });
    const sale = { inputMint: SOL, outputMint: USDC, amount: '1000000000' };
    expect(between(await v1.quoted(sale))).toEqual([]);
    expect(between(await v1.quoted({ ...sale, restrictIntermediateTokens: 'true' }))).toEqual([]);
    expect(between(await v1.quoted({ ...sale, restrictIntermediateTokens: 'false' }))).toEqual([sandbox.mint('PEARL')]);
    sandbox.chain.writeReserves(pool.address, reserves);
  });

  it('keeps to markets, hops and accounts', async () => {
    expect(labels(await v1.quoted({ ...plain, dexes: 'Tidepool' }))).toEqual(['Tidepool']);
    expect(labels(await v1.quoted({ ...plain, excludeDexes: 'Tidepool,Estuary' }))).toEqual(['Lagoon']);
    const long = { inputMint: sandbox.mint('KELP'), outputMint: sandbox.mint('BUOY'), amount: '5000000000' };
    expect((await v1.quoted(long)).routePlan).toHaveLength(3);
    for (const extra of [{ onlyDirectRoutes: 'true' }, { maxAccounts: 17 }]) {
      expect((await v1.quote({ ...long, ...extra })).body.errorCode).toBe('NO_ROUTES_FOUND');
    }
    expect((await v1.quoted({ ...plain, maxAccounts: '18446744073709551615' })).outAmount)
      .toBe((await v1.quoted(plain)).outAmount);
  });

  it('never uses what belongs to one router of the second version', async () => {
    const pearl = { inputMint: USDC, outputMint: sandbox.mint('PEARL'), amount: '20000000' };
    expect(labels(await v1.quoted(pearl))).not.toContain('Sound');
    expect((await v1.quote({ ...pearl, dexes: 'Sound' })).body.errorCode).toBe('NO_ROUTES_FOUND');
  });

  it('tells shares in basis points with V2 instructions, in percent with V1', async () => {
    expect(shares(await v1.quoted(plain))).toEqual([[100, undefined]]);
    expect(shares(await v1.quoted({ ...plain, instructionVersion: 'V2' }))).toEqual([[null, 10_000]]);
  });

  it('takes dynamicSlippage, which changes nothing here', async () => {
    expect((await v1.quoted({ ...plain, dynamicSlippage: 'true' })).slippageBps).toBe(50);
  });
});

describe('GET /swap/v1/quote refuses with 400', () => {
  const broken: [string, Query, RegExp][] = [
    ['no inputMint', { outputMint: SOL, amount: '1' }, /inputMint: missing/],
    ['a mint that is no address', { ...plain, outputMint: 'SOL' }, /outputMint: expected a base58 address/],
    ['an amount of zero', { ...plain, amount: '0' }, /amount/],
    ['an amount beyond u64', { ...plain, amount: '18446744073709551616' }, /amount/],
    ['a slippage beyond 16 bits', { ...plain, slippageBps: 65_536 }, /slippageBps: expected an integer of 0 to 65535/],
    ['another swapMode', { ...plain, swapMode: 'ExactBoth' }, /swapMode/],
    ['both dexes and excludeDexes', { ...plain, dexes: 'Lagoon', excludeDexes: 'Tidepool' }, /dexes and excludeDexes/],
    ['a fee of everything', { ...plain, platformFeeBps: 10_000 }, /platformFeeBps/],
    ['negative accounts', { ...plain, maxAccounts: -1 }, /maxAccounts/],
    ['another version', { ...plain, instructionVersion: 'V3' }, /instructionVersion/],
    ...['restrictIntermediateTokens', 'onlyDirectRoutes', 'asLegacyTransaction', 'dynamicSlippage', 'forBundle']
      .map((name): [string, Query, RegExp] =>
        [`${name} that is no boolean`, { ...plain, [name]: 'maybe' }, new RegExp(`${name}: expected true or false`)]),
  ];
  it.each(broken)('and an error alone: %s', async (_name, query, error) => {
    const answer = await v1.quote(query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(error) }]);
  });

  const unroutable: [string, Query, string][] = [
    [
      'a mint without a pool', { ...plain, outputMint: 'Bear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' },
      'TOKEN_NOT_TRADABLE',
    ],
    ['the same mint twice', { ...plain, outputMint: USDC }, 'CIRCULAR_ARBITRAGE_IS_DISABLED'],
    ['a label in another spelling', { ...plain, dexes: 'lagoon' }, 'NO_ROUTES_FOUND'],
    ['an amount of which nothing comes out', {
      inputMint: USDC, outputMint: 'TideEfvvA2AqoL6xgDriC2JUjQpsHzUng31qBnKkEVb', amount: '1',
    }, 'COULD_NOT_FIND_ANY_ROUTE'],
    [
      'an output that no pool holds', { ...plain, amount: '18446744073709551615', swapMode: 'ExactOut' },
      'COULD_NOT_FIND_ANY_ROUTE',
    ],
  ];
  it.each(unroutable)('with an errorCode: %s', async (_name, query, errorCode) => {
    const answer = await v1.quote(query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String), errorCode }]);
  });
});

describe('issue 13.31: a quote with a slippage of more than everything', () => {
  it.each([10_001, 65_535])('at %d basis points takes any output', async (slippageBps) => {
    expect(await v1.quoted({ ...plain, slippageBps })).toMatchObject({ slippageBps, otherAmountThreshold: '0' });
  });
});

describe('a quote of the live profile', () => {
  it('says what the live service says, and no more', async () => {
    const quote = await v1Of(live).quoted(plain);
    expect(quote).toMatchObject({
      platformFee: null, contextSlot: expect.any(Number), updateContextSlot: expect.any(Number),
      timeTaken: expect.any(Number),
    });
    expect(quote).not.toHaveProperty('mostReliableAmmsQuoteReport');
    expect(quote.routePlan[0]).toMatchObject({ percent: 100, bps: null });
    expect(Object.keys(quote.routePlan[0].swapInfo)).not.toEqual(expect.arrayContaining(['feeAmount']));
  });
});

describe('GET /swap/v1/program-id-to-label', () => {
  it('lists the labels that dexes can name, two programs under one', async () => {
    const { status, body } = await sandbox.get('/swap/v1/program-id-to-label');
    expect(status).toBe(200);
    const found = Object.values<string>(body);
    expect(new Set(found)).toEqual(new Set(['Tidepool', 'Lagoon', 'Estuary']));
    expect(found.length).toBeGreaterThan(3);
  });
});
