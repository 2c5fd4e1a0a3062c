import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../../src/sandbox/chain/addresses.ts';
import { startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';
import { BUY, SELL, transactionOf, v1Of, type Body, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let v1: V1;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  v1 = v1Of(sandbox);
});
afterAll(() => sandbox.close());

describe('POST /swap/v1/swap takes back what it quoted, and nothing else', () => {
  it('in any order of members, with a threshold of one\'s own and members that it does not know', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
    const reversed = Object.fromEntries(Object.entries(quote).reverse());
    expect((await v1.swap(reversed, wallet)).status).toBe(200);
    expect((await v1.swap({ ...quote, otherAmountThreshold: '1', mine: { more: [1] } }, wallet)).status).toBe(200);
  });

  const changes: [string, (quote: Body) => Body, number, RegExp][] = [
    [
      'another output', (quote) => ({ ...quote, outAmount: (BigInt(quote.outAmount) + 1n).toString() }), 400,
      /quoteResponse\.outAmount: expected \d+, as in the quote/,
    ],
    ['more slippage', (quote) => ({ ...quote, slippageBps: 5_000 }), 400, /quoteResponse\.slippageBps: expected 50/],
    ['another impact', (quote) => ({ ...quote, priceImpactPct: '0.5' }), 400, /quoteResponse\.priceImpactPct: exp/],
    ['another mode', (quote) => ({ ...quote, swapMode: 'ExactOut' }), 400, /quoteResponse\.swapMode: expected ExactIn/],
    ['another market', (quote) => ({
      ...quote, routePlan: [{ ...quote.routePlan[0], swapInfo: { ...quote.routePlan[0].swapInfo, label: 'Reef' } }],
    }), 400, /quoteResponse\.routePlan\.0\.swapInfo\.label: expected (?:Tidepool|Lagoon), as in the quote/],
    ['one step more', (quote) => ({ ...quote, routePlan: [...quote.routePlan, quote.routePlan[0]] }), 400, /as GET/],
    ['two changes', (quote) => ({ ...quote, slippageBps: 1, inAmount: '1' }), 400, /quoteResponse: expected the req/],
    ['no plan', (quote) => ({ ...quote, routePlan: [] }), 400, /quoteResponse: expected the required/],
    ['one of its own making', () => ({}), 422, /quoteResponse\.inputMint: missing/],
    ...[
      'inputMint', 'inAmount', 'outputMint', 'outAmount', 'otherAmountThreshold', 'swapMode', 'slippageBps',
      'priceImpactPct', 'routePlan',
    ].map((name): [string, (quote: Body) => Body, number, RegExp] =>
      [`no ${name}`, (quote) => ({ ...quote, [name]: undefined }), 422, new RegExp(`\\.${name}: missing`)]),
  ];
  it.each(changes)('but not with %s', async (_name, change, status, error) => {
    const answer = await v1.swap(change(await v1.quoted(BUY)), await v1.wealthy());
    expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(error) }]);
  });

  const rewritings: [string, (quote: Body) => Body][] = [
    ['a number for a text', (quote: Body) => ({ ...quote, inAmount: Number(quote.inAmount) })],
    ['a text for a number', (quote: Body) => ({ ...quote, slippageBps: '50' })],
    ...['contextSlot', 'timeTaken', 'mostReliableAmmsQuoteReport', 'platformFee'].map((name) =>
      [`no ${name}`, (quote: Body) => ({ ...quote, [name]: undefined })] as [string, (quote: Body) => Body]),
    ['null for what is not there', (quote: Body) => ({ ...quote, platformFee: null, updateContextSlot: null })],
    ['no share', (quote: Body) => ({
      ...quote, routePlan: quote.routePlan.map(({ swapInfo }: Body) => ({ swapInfo })),
    })],
    ['no fee of a market', (quote: Body) => ({
      ...quote, routePlan: quote.routePlan.map(
        ({ swapInfo: { feeAmount: _a, feeMint: _m, ...swapInfo }, ...rest }: Body) => ({ ...rest, swapInfo }),
      ),
    })],
  ];
  it.each(rewritings)('and with %s: only the required members identify a quote', async (_name, change) => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
    const body = await v1.swapped(change(quote), wallet);
    expect((await v1.land(body.swapTransaction, wallet)).err).toBeNull();
  });

  it('and tells quotes apart that differ in options alone', async () => {
    const wallet = await v1.wealthy();
    const [plain, unversioned, second] = [
      await v1.quoted(SELL), await v1.quoted({ ...SELL, asLegacyTransaction: 'true' }),
      await v1.quoted({ ...SELL, instructionVersion: 'V2' }),
    ];
    expect([unversioned.outAmount, second.outAmount]).toEqual([plain.outAmount, plain.outAmount]);
    const versionOf = async (quote: Body, fields = {}): Promise<unknown> =>
      transactionOf(await v1.swapped(quote, wallet, fields)).version;
    expect(await versionOf(plain)).toBe(0);
    expect(await versionOf(unversioned, { asLegacyTransaction: true })).toBe('legacy');
    // Only the second version pays SOL to any account; of these two quotes the one with its share in points may.
    const native = { nativeDestinationAccount: (await v1.wealthy()).address };
    const [buy, buySecond] = [await v1.quoted(BUY), await v1.quoted({ ...BUY, instructionVersion: 'V2' })];
    expect((await v1.swap(buySecond, wallet, native)).status).toBe(200);
    expect((await v1.swap(buy, wallet, native)).status).toBe(400);
  });

  it('however old it is, and never what another quoted', async () => {
    const [wallet, quote] = [await v1.wealthy(), await v1.quoted(BUY)];
    const another = await startTestSandbox({ speed: 0, seed: 8 });
    try {
      expect((await v1Of(another).swap(quote, wallet)).status).toBe(400);
      await sandbox.passSlots(200);
      expect((await v1.swapped(quote, wallet)).simulationError).toBeNull();
    } finally {
      await another.close();
    }
  });
});

describe('POST /swap/v1/swap refuses', () => {
  const address = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
  const level = { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 5 } };
  const cases: [string, number, Record<string, unknown>, RegExp][] = [
    ['no user', 422, { userPublicKey: undefined }, /userPublicKey: missing/],
    ['a user that is no address', 422, { userPublicKey: 'me' }, /userPublicKey: expected a base58 address, got "me"/],
    ['no quote', 422, { quoteResponse: null }, /quoteResponse: missing/],
    ['a quote that is none', 422, { quoteResponse: 'best' }, /quoteResponse: expected an object/],
    ['a list for a quote', 422, { quoteResponse: [] }, /quoteResponse: expected an object/],
    ['a payer that is no address', 422, { payer: 5 }, /payer/],
    ['a text for a boolean', 422, { wrapAndUnwrapSol: 'true' }, /wrapAndUnwrapSol: expected true or false/],
    ['a fraction for a fee', 422, { prioritizationFeeLamports: 1.5 }, /prioritizationFeeLamports/],
    ['a negative fee', 422, { prioritizationFeeLamports: -1 }, /prioritizationFeeLamports/],
    [
      'a fee in words', 422, { prioritizationFeeLamports: 'lots' },
      /prioritizationFeeLamports: expected whole lamports, "auto"/,
    ],
    ['a fee in no known form', 400, { prioritizationFeeLamports: { some: 1 } }, /prioritizationFeeLamports/],
    ['an unknown level', 422, {
      prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'utmost', maxLamports: 5 } },
    }, /priorityLevel: expected one of medium, high, veryHigh/],
    [
      'a level without a limit', 422,
      { prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'high' } } }, /maxLamports/,
    ],
    [
      'a fee and a tip', 400, { prioritizationFeeLamports: { ...level, bundleTipLamports: 5 } },
      /prioritizationFeeLamports/,
    ],
    [
      'a price and a fee', 400, { prioritizationFeeLamports: 5, computeUnitPriceMicroLamports: 5 },
      /expected one of them, got both/,
    ],
    [
      'a lifetime beyond 8 bits', 422, { blockhashSlotsToExpiry: 256 },
      /blockhashSlotsToExpiry: expected a whole number of 0 to 255/,
    ],
    [
      'both destinations', 400, { destinationTokenAccount: address, nativeDestinationAccount: address },
      /destinationTokenAccount and nativeDestinationAccount/,
    ],
    ['a native destination with V1 instructions', 400, { nativeDestinationAccount: address }, /instructionVersion V2/],
  ];
  it.each(cases)('%s: %i', async (_name, status, fields, error) => {
    const answer = await v1.swap(await v1.quoted(BUY), await v1.wealthy(), fields);
    expect([answer.status, answer.body.error], answer.text).toEqual([status, expect.stringMatching(error)]);
  });

  it('a price beside a fee with a code', async () => {
    const answer = await v1.swap(await v1.quoted(BUY), await v1.wealthy(), {
      prioritizationFeeLamports: level, computeUnitPriceMicroLamports: 5,
    });
    expect(answer.body.errorCode).toBe('INVALID_COMPUTE_UNIT_PRICE_AND_PRIORITIZATION_FEE');
  });

  it('a native destination of another output, of a token program, or of too little', async () => {
    const wallet = await v1.wealthy();
    const refused = async (query: Record<string, string>, nativeDestinationAccount: string): Promise<string> => {
      const answer =
        await v1.swap(await v1.quoted({ ...query, instructionVersion: 'V2' }), wallet, { nativeDestinationAccount });
      expect(answer.status).toBe(400);
      return answer.body.error;
    };
    expect(await refused(SELL, wallet.address))
      .toMatch(/nativeDestinationAccount: expected a quote whose output is SOL/);
    expect(await refused(BUY, associatedTokenAddress(wallet.address, USDC, TOKEN_PROGRAM)))
      .toMatch(/no token program owns/);
    expect(await refused({ ...BUY, amount: '100000' }, (await sandbox.newWallet()).address))
      .toMatch(/at least 2039280 lamports/);
  });

  it('a fee without its account, and an account of a third mint', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted({ ...BUY, platformFeeBps: 20 });
    expect((await v1.swap(quote, wallet)).body.error).toMatch(/feeAccount: missing/);
    const feeAccount = sandbox.chain.fundToken({ owner: wallet.address, mint: sandbox.mint('KELP'), amount: 1n });
    expect((await v1.swap(quote, wallet, { feeAccount })).body.error)
      .toMatch(/feeAccount: expected an initialised token account of/);
  });

  it('a body that is JSON and no object: 422', async () => {
    for (const body of [[], 5, null, 'x']) {
      const answer = await sandbox.post('/swap/v1/swap', body);
      expect([answer.status, answer.body]).toEqual([422, { error: 'the body: expected an object' }]);
    }
  });
});
