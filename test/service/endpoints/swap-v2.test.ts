import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { readSwapOrder } from '../../../src/service/wire/order-answer.ts';
import {
  ASKED, ASKED_BY_TAKER, buildAnswer, mintNumber, orderAnswer, PROGRAM, TAKER, takerAnswer,
} from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { fullOrder, liveOrder, MARKET, PAYER, routeStep } from '../swap-answers.ts';

const MALFORMED = expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error;

/** The router of an order that names only its type. */
function routerOfType(swapType: string): string {
  return readSwapOrder(orderAnswer({ router: null, swapType }), ASKED).router;
}

describe('an order', () => {
  test('is asked for with the names and values of the reference', async () => {
    const server = await listen(json(takerAnswer()));
    await clientOf(server).swap.order({ ...ASKED_BY_TAKER, slippageBps: 50, excludeRouters: ['rfqz', 'routerB'] });
    const [request] = server.received;
    expect(`${request!.method} ${request!.path}`).toBe('GET /swap/v2/order');
    expect(Object.fromEntries(request!.query)).toEqual({
      inputMint: ASKED.inputMint, outputMint: ASKED.outputMint, amount: '1000000000', taker: TAKER, slippageBps: '50',
      excludeRouters: 'rfqz,routerB',
    });
  });

  test('leaves out what was not asked for', async () => {
    const server = await listen(json(orderAnswer()));
    await clientOf(server).swap.order(ASKED);
    expect([...server.received[0]!.query.keys()]).toEqual(['inputMint', 'outputMint', 'amount']);
  });

  test('of a wallet has its transaction and the terms in exact amounts', () => {
    expect(readSwapOrder(takerAnswer({ expireAt: '1758598698', maker: PROGRAM, contextSlot: 9n }), ASKED_BY_TAKER))
      .toMatchObject({
        inputMint: ASKED.inputMint, outputMint: ASKED.outputMint, inAmount: 1_000_000_000n, outAmount: 150_000_000n,
        threshold: 149_250_000n, slippageBps: 50, priceImpact: -0.001, feeBps: 2, router: 'iris', contextSlot: 9n,
        requestId: 'r-1', taker: TAKER,
        transaction: new Uint8Array([1, 2, 3, 4]), lastValidBlockHeight: 321n, signatureFeePayer: TAKER, maker: PROGRAM,
        expireAt: 1_758_598_698_000, buildError: undefined,
      });
  });

  test('has every field of the reference by its name', () => {
    expect(readSwapOrder(fullOrder(), ASKED_BY_TAKER)).toEqual({
      mode: 'manual', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: 1_000_000_000n, outAmount: 150_000_000n,
      threshold: 149_250_000n, inUsdValue: 150.15, outUsdValue: 149.99985, swapUsdValue: 150.15, priceImpact: -0.001,
      statedPriceImpact: -0.001, priceImpactPct: -0.001,
      priceImpactBasis: 'confirmed', swapMode: 'ExactIn', slippageBps: 50,
      routePlan: [{
        swapInfo: {
          ammKey: MARKET, label: 'Guano Pool', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: 1_000_000_000n,
          outAmount: 150_030_000n, feeAmount: undefined, feeMint: undefined,
        },
        percent: 100, bps: 10_000, usdValue: 150.15,
      }],
      referralAccount: PAYER, feeMint: USDC_MINT, feeBps: 60,
      platformFee: { amount: 30_006n, feeBps: 2, feeMint: USDC_MINT }, signatureFeeLamports: 10_000n,
      signatureFeePayer: MARKET, prioritizationFeeLamports: 4_321n, prioritizationFeePayer: MARKET,
      rentFeeLamports: 2_039_280n, rentFeePayer: TAKER, swapType: 'rfq', router: 'rfqz',
      transaction: new Uint8Array([1, 2, 3, 4]), lastValidBlockHeight: 321n, gasless: true, requestId: 'r-9',
      totalTimeMs: 12.5, taker: TAKER, quoteId: 'q-1', maker: MARKET,
      expireAt: 1_758_598_698_000, contextSlot: 77n, buildError: undefined, unread: [],
    });
  });

  test('is the same whether what is not known is absent or null', () => {
    const needed = new Set(['inputMint', 'outputMint', 'inAmount', 'outAmount', 'otherAmountThreshold', 'router']);
    const names = Object.keys(fullOrder()).filter((name) => !needed.has(name));
    for (const name of names) {
      const { [name]: _left, ...absent } = fullOrder();
      expect(readSwapOrder(fullOrder({ [name]: null }), ASKED_BY_TAKER), name)
        .toEqual(readSwapOrder(absent, ASKED_BY_TAKER));
    }
  });

  test('of a host of later days is read the same', () => {
    expect(readSwapOrder(liveOrder(), ASKED)).toMatchObject({
      priceImpact: -0.001, statedPriceImpact: -0.1, priceImpactBasis: 'confirmed', threshold: 150_000_000n,
      slippageBps: 0,
      platformFee: { feeBps: 2 }, signatureFeeLamports: 0n, prioritizationFeePayer: undefined, expireAt: undefined,
      routePlan: [{ percent: 100, bps: 10_000 }], unread: [],
    });
    expect(readSwapOrder(liveOrder({ slippageBps: 'auto' }), ASKED).slippageBps).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>]>([
    ['a new shape of the route', { routePlan: { steps: [] } }],
    ['a step without amounts', { routePlan: [{ swapInfo: {} }] }],
    ['a time in words', { totalTime: 'soon' }],
    ['a flag as a word', { gasless: 'maybe' }],
    ['fractions of lamports', { rentFeeLamports: 0.5 }],
    ['a fee of another shape', { platformFee: [1] }],
    ['a reason that is no text', { error: { code: 1 } }],
    ['a slot that is none', { contextSlot: 'now' }],
  ])('with %s goes on without it, and says so', (_name, changes) => {
    const order = readSwapOrder(takerAnswer(changes), ASKED_BY_TAKER);
    expect(order.unread).toEqual(Object.keys(changes));
    expect(order.outAmount).toBe(150_000_000n);
    expect(readSwapOrder(takerAnswer(), ASKED_BY_TAKER)).toMatchObject({ transaction: order.transaction, unread: [] });
  });

  test('of a token without a price, whose dollars and impact are no numbers, does not know its impact', () => {
    const unpriced = {
      priceImpact: null, priceImpactPct: 'NaN', inUsdValue: 'Infinity', outUsdValue: '-Infinity', swapUsdValue: 'NaN',
    };
    expect(readSwapOrder(orderAnswer(unpriced), ASKED)).toMatchObject({
      outAmount: 150_000_000n, priceImpact: undefined, priceImpactPct: undefined, inUsdValue: undefined,
    });
    expect(readSwapOrder(orderAnswer({ ...unpriced, priceImpact: -0.01 }), ASKED).priceImpact).toBe(-0.01);
  });

  test('without a taker needs none of the members that a signature rests on', () => {
    const strange =
      {
        lastValidBlockHeight: '0', signatureFeePayer: 'no address', maker: 'maker 7', expireAt: '55', errorCode: 'NONE',
      };
    expect(readSwapOrder(orderAnswer(strange), ASKED))
      .toMatchObject({ outAmount: 150_000_000n, unread: Object.keys(strange) });
    expect(readSwapOrder(orderAnswer({ expireAt: '1758598698' }), ASKED).expireAt).toBe(1_758_598_698_000);
  });

  test('of before the router had a name is of the one its type stands for', () => {
    expect(['aggregator', 'rfq', 'routerA', 'routerB'].map(routerOfType))
      .toEqual(['iris', 'rfqz', 'routerA', 'routerB']);
    expect(() => routerOfType('aggregator+rfq')).toThrow(MALFORMED);
  });

  test('needs only what nothing can be done without', () => {
    const { inputMint, outputMint, inAmount, outAmount, otherAmountThreshold, router } = orderAnswer();
    const order = readSwapOrder({ inputMint, outputMint, inAmount, outAmount, otherAmountThreshold, router }, ASKED);
    expect(order).toMatchObject({ feeBps: 0, priceImpact: undefined, transaction: undefined, requestId: undefined });
  });

  test.each([
    ['text', '123', 123n], ['a number', 123, 123n], ['a long number', 123n, 123n], ['nothing', '', undefined],
    ['null', null, undefined],
  ])('reads a block height written as %s', (_name, lastValidBlockHeight, height) => {
    expect(readSwapOrder(takerAnswer({ lastValidBlockHeight }), ASKED_BY_TAKER).lastValidBlockHeight).toBe(height);
  });

  test.each([
    ['1758598698', 1_758_598_698_000], [1_758_598_698, 1_758_598_698_000], ['1758598698123', 1_758_598_698_123],
    [1_758_598_698_123, 1_758_598_698_123], ['2025-09-23T03:38:18Z', 1_758_598_698_000],
    ['2025-09-23T03:38:18.123456789+00:00', 1_758_598_698_123], [null, undefined], ['', undefined],
  ])('reads the expiry %j', (expireAt, instant) => {
    expect(readSwapOrder(takerAnswer({ expireAt }), ASKED_BY_TAKER).expireAt).toBe(instant);
  });

  test('keeps amounts beyond 2^53 exact, written as text or as a number', async () => {
    const most = 18_446_744_073_709_551_615n;
    const request = { ...ASKED, amount: amount(most) };
    const text = JSON.stringify(
      orderAnswer({ inAmount: '#', outAmount: '9007199254740993', otherAmountThreshold: '9007199254740993' }),
    ).replace('"#"', `${most}`);
    const order = await clientOf(await listen(json(text))).swap.order(request);
    expect([order.inAmount, order.outAmount]).toEqual([most, 9_007_199_254_740_993n]);
  });

  test('of an unknown router keeps its name', () => {
    expect(readSwapOrder(orderAnswer({ router: 'newcomer' }), ASKED).router).toBe('newcomer');
  });

  test.each([
    ['half a character', 'tern\ud83d', 'tern\ufffd'],
    ['a character across the place where it is cut', `${'r'.repeat(199)}🦤`, `${'r'.repeat(199)}\ufffd`],
  ])('whose router has %s is the same once it was written down', (_name, router, expected) => {
    expect(readSwapOrder(orderAnswer({ router }), ASKED).router).toBe(expected);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another input mint', { inputMint: mintNumber(1) }],
    ['another output mint', { outputMint: mintNumber(1) }],
    ['a mint that is none', { outputMint: '<script>' }],
    ['another amount', { inAmount: '1000000001' }],
    ['an output of zero', { outAmount: '0', otherAmountThreshold: '0' }],
    ['a negative output', { outAmount: '-5' }],
    ['an output with decimals', { outAmount: '1.5' }],
    ['an output in exponents', { outAmount: 1e21 }],
    ['an output beyond u64', { outAmount: '18446744073709551616' }],
    ['an output that is not a number', { outAmount: 'NaN' }],
    ['an output that is an object', { outAmount: { toString: 1 } }],
    ['no output', { outAmount: null }],
    ['a threshold above the output', { otherAmountThreshold: '150000001' }],
    ['no threshold', { otherAmountThreshold: undefined }],
    ['a negative fee', { feeBps: -1 }],
    ['a fee of more than everything', { feeBps: 10_001 }],
    ['no router', { router: null }],
    ['a transaction without a taker', { transaction: 'AQID' }],
    ['a taker that the request did not name', { taker: TAKER }],
  ])('with %s is malformed', (_name, changes) => {
    expect(() => readSwapOrder(orderAnswer(changes), ASKED)).toThrow(MALFORMED);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another taker', { taker: PROGRAM }],
    ['an id longer than any', { requestId: 'r'.repeat(201) }],
    ['a transaction that is not base64', { transaction: 'a transaction!' }],
    ['a transaction larger than any', { transaction: Buffer.alloc(4_097).toString('base64') }],
    ['a transaction of megabytes', { transaction: 'A'.repeat(4_000_000) }],
    ['a transaction beside an error', { errorCode: 1 }],
    ['a block height of zero', { lastValidBlockHeight: '0' }],
    ['an expiry in no unit', { expireAt: '12345' }],
    ['an expiry in words', { expireAt: 'tomorrow 5' }],
    ['an error without a number', { errorCode: 'E_FUNDS' }],
    ['a fee payer that is no address', { signatureFeePayer: 'me' }],
  ])('for a wallet with %s is malformed', (_name, changes) => {
    expect(() => readSwapOrder(takerAnswer(changes), ASKED_BY_TAKER)).toThrow(MALFORMED);
  });

  test('may have the largest transaction there is', () => {
    const transaction = Buffer.alloc(4_096, 7).toString('base64');
    expect(readSwapOrder(takerAnswer({ transaction }), ASKED_BY_TAKER).transaction).toHaveLength(4_096);
  });

  test.each<[string, Record<string, unknown>, unknown]>([
    [
      'with code and message', { transaction: '', errorCode: 2, errorMessage: 'Top up 0.01 SOL for gas', error: 'x' },
      { code: 2, message: 'Top up 0.01 SOL for gas' },
    ],
    [
      'with the code as text', { transaction: '', errorCode: '3', error: 'Minimum 10 USD' },
      { code: 3, message: 'Minimum 10 USD' },
    ],
    [
      'without a word', { transaction: '' },
      { code: undefined, message: 'the service gave no transaction and no reason' },
    ],
    [
      'with a code alone', { transaction: '', errorCode: 2 },
      { code: 2, message: 'the wallet has too little SOL for fees and rent' },
    ],
    [
      'with the same code of a maker', { transaction: '', errorCode: 2, router: 'rfqz' },
      { code: 2, message: 'an associated token account is missing' },
    ],
    [
      'with an undescribed code', { transaction: '', errorCode: 77 },
      { code: 77, message: 'the service gave no transaction and no reason' },
    ],
    ['as null', { transaction: null }, { code: undefined, message: 'the service gave no transaction and no reason' }],
  ])('that could not be built, %s, says so', (_name, changes, expected) => {
    const order = readSwapOrder(takerAnswer(changes), ASKED_BY_TAKER);
    expect(order.transaction).toBeUndefined();
    expect(order.buildError).toEqual(expected);
  });

  test('never throws anything but a GannetError, whatever a member holds', () => {
    const names = Object.keys(takerAnswer({ errorCode: 0, maker: null, expireAt: null }));
    fc.assert(fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
      try {
        const order = readSwapOrder(takerAnswer({ [name]: value }), ASKED_BY_TAKER);
        expect(order.inAmount).toBe(ASKED.amount);
        expect(order.threshold <= order.outAmount && order.outAmount > 0n).toBe(true);
      } catch (thrown) {
        expect(thrown).toEqual(MALFORMED);
      }
    }), { numRuns: 2_000 });
  });

  test('that repeats a member is refused, since the first and the last could be different swaps', async () => {
    const text = JSON.stringify(orderAnswer()).replace('"inAmount"', '"inAmount":"1","inAmount"');
    const refused = clientOf(await listen(json(text))).swap.order(ASKED);
    await expect(refused).rejects.toMatchObject({
      code: 'SERVICE_MALFORMED', message: expect.stringContaining('"inAmount" twice') as string,
    });
  });

  test('of percentage points and of fractions has one price impact', async () => {
    const [fraction, points] =
      await Promise.all([orderAnswer({ priceImpact: -0.1042, inUsdValue: 100, outUsdValue: 89.58 }),
        orderAnswer({ priceImpact: -10.42, inUsdValue: 100, outUsdValue: 89.58 })]
        .map(async (answer) => (await clientOf(await listen(json(answer))).swap.order(ASKED)).priceImpact));
    expect(fraction).toBe(-0.1042);
    expect(points).toBeCloseTo(-0.1042, 10);
  });
});

describe('a build', () => {
  test('has its instructions, tables and blockhash in the forms a transaction is composed of', async () => {
    const server = await listen(json(buildAnswer()));
    const build = await clientOf(server).swap.build({ ...ASKED_BY_TAKER, slippageBps: 50 });
    expect(server.received[0]!.path).toBe('/swap/v2/build');
    expect(Object.fromEntries(server.received[0]!.query)).toMatchObject({ taker: TAKER, slippageBps: '50' });
    expect(build).toMatchObject({
      router: 'build', feeBps: 0, threshold: 149_250_000n, lastValidBlockHeight: 9_007_199_254n,
      blockhash: '4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw',
      lookupTables: { [PROGRAM]: [TAKER, SOL_MINT] }, cleanupInstruction: undefined, otherInstructions: [],
    });
    expect(build.setupInstructions).toHaveLength(2);
    expect(build.swapInstruction).toEqual({
      programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }],
      data: new Uint8Array([1, 2, 3]),
    });
  });

  test('says what it says beyond its terms', async () => {
    const answer = buildAnswer({
      routePlan: [routeStep()], priceImpactPct: '-0.002', platformFee: { amount: '5', feeBps: 10 }, swapUsdValue: 3,
    });
    const build = await clientOf(await listen(json(answer))).swap.build(ASKED_BY_TAKER);
    expect(build).toMatchObject({
      swapMode: 'ExactIn', priceImpact: -0.002, priceImpactBasis: 'priceImpactPct',
      platformFee: { amount: 5n, feeBps: 10 }, unread: [],
      routePlan: [{ bps: 10_000, usdValue: 150.15, swapInfo: { label: 'Guano Pool' } }],
    });
  });

  test('in the form before V2 is refused with what changed', async () => {
    const { addressesByLookupTableAddress: _tables, ...rest } = buildAnswer();
    const refused = clientOf(await listen(json({ ...rest, addressLookupTableAddresses: [PROGRAM] })))
      .swap.build(ASKED_BY_TAKER);
    await expect(refused).rejects.toMatchObject({
      code: 'SERVICE_MALFORMED', message: expect.stringContaining('addressLookupTableAddresses') as string,
    });
    expect((await clientOf(await listen(json(rest))).swap.build(ASKED_BY_TAKER)).lookupTables).toEqual({});
  });

  test('without lookup tables has none', async () => {
    const build = await clientOf(await listen(json(buildAnswer({ addressesByLookupTableAddress: null }))))
      .swap.build(ASKED_BY_TAKER);
    expect(build.lookupTables).toEqual({});
  });

  test.each<[string, Record<string, unknown>]>([
    ['no swap instruction', { swapInstruction: null }],
    ['a program that is no address', { swapInstruction: { programId: 'x', accounts: [], data: '' } }],
    [
      'an account without its rights',
      { swapInstruction: { programId: PROGRAM, accounts: [{ pubkey: TAKER }], data: '' } },
    ],
    ['more accounts than fit', { swapInstruction: {
      programId: PROGRAM,
      accounts: Array.from({ length: 300 }, () => ({ pubkey: TAKER, isSigner: false, isWritable: false })), data: '',
    } }],
    [
      'a blockhash of 31 bytes',
      { blockhashWithMetadata: { blockhash: Array.from({ length: 31 }, () => 1), lastValidBlockHeight: 5 } },
    ],
    [
      'a blockhash of other numbers',
      { blockhashWithMetadata: { blockhash: Array.from({ length: 32 }, () => 256), lastValidBlockHeight: 5 } },
    ],
    ['no block height', { blockhashWithMetadata: { blockhash: Array.from({ length: 32 }, () => 1) } }],
    ['a table that is no address', { addressesByLookupTableAddress: { here: [TAKER] } }],
    ['another amount', { inAmount: '5' }],
  ])('with %s is malformed', async (_name, changes) => {
    await expect(clientOf(await listen(json(buildAnswer(changes)))).swap.build(ASKED_BY_TAKER))
      .rejects.toEqual(MALFORMED);
  });
});

describe('two identical requests in flight', () => {
  test('share one answer where they are quotes', async () => {
    const server = await listen(json(orderAnswer()));
    const { swap } = clientOf(server);
    const [one, two] = await Promise.all([swap.order(ASKED), swap.order(ASKED)]);
    expect(one).toEqual(two);
    expect(server.received).toHaveLength(1);
    await swap.order(ASKED);
    expect(server.received).toHaveLength(2);
  });

  test('are two where they bring a transaction: one signed for both would count one swap twice', async () => {
    const server = await listen((request, response) =>
      json(request.path.endsWith('order') ? takerAnswer() : buildAnswer())(request, response));
    const { swap } = clientOf(server);
    await Promise.all([
      swap.order(ASKED_BY_TAKER), swap.order(ASKED_BY_TAKER), swap.build(ASKED_BY_TAKER), swap.build(ASKED_BY_TAKER),
    ]);
    expect(server.received).toHaveLength(4);
  });
});
