import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { QuoteAnswer, QuoteRequest, QuoteSwapRequest } from '../../../src/service/endpoints/swap-v1.ts';
import { quoteToKeep } from '../../../src/service/endpoints/swap-v1.ts';
import { readQuote } from '../../../src/service/wire/v1-answers.ts';
import { ASKED, mintNumber, PROGRAM, TAKER } from '../answers.ts';
import type { Loopback, Received } from '../loopback.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { MARKET, PAYER, QUOTE_TEXT, quoteAnswer, quoteInstructionsAnswer, quoteSwapAnswer } from '../swap-answers.ts';
import { dialectOf } from '../dialect-text.ts';

const MALFORMED = expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error;
const ASKED_QUOTE: QuoteRequest = { inputMint: ASKED.inputMint, outputMint: ASKED.outputMint, amount: ASKED.amount };
const TO_SOL: QuoteRequest = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(1_000_000n) };
const TO_SOL_ANSWER = quoteAnswer({ inputMint: USDC_MINT, outputMint: SOL_MINT, inAmount: '1000000' });

/** A service of V1 that quotes as told; a text is sent as it is. */
async function serve(quote: unknown = quoteAnswer(), swap: unknown = quoteSwapAnswer()): Promise<Loopback> {
  return listen((request: Received, response) => {
    const answers: Record<string, unknown> = {
      '/swap/v1/quote': quote, '/swap/v1/swap': swap, '/swap/v1/swap-instructions': swap,
      '/swap/v1/program-id-to-label': swap,
    };
    json(answers[request.path])(request, response);
  });
}

async function quoted(request: QuoteRequest = ASKED_QUOTE, answer: unknown = quoteAnswer()): Promise<QuoteAnswer> {
  return clientOf(await serve(answer)).swapV1.quote(request);
}

/** The body that a swap leaves with, or the refusal before it does. */
async function bodyOf(changes: Partial<QuoteSwapRequest>, quote?: QuoteAnswer): Promise<Record<string, unknown>> {
  const server = await serve();
  await clientOf(server).swapV1.swap({ userPublicKey: TAKER, quoteResponse: quote ?? await quoted(), ...changes });
  return JSON.parse(server.received[0]!.body) as Record<string, unknown>;
}

describe('a quote of V1', () => {
  test('is asked for with every parameter of the reference', async () => {
    const server = await serve(TO_SOL_ANSWER);
    await clientOf(server).swapV1.quote({
      ...TO_SOL, slippageBps: 65_535, swapMode: 'ExactIn', dexes: ['Guano Pool', 'Other'],
      restrictIntermediateTokens: false, onlyDirectRoutes: true, asLegacyTransaction: false, platformFeeBps: 20,
      maxAccounts: 2n ** 64n - 1n, instructionVersion: 'V2', dynamicSlippage: false, forBundle: true,
    });
    await clientOf(server).swapV1.quote({ ...TO_SOL, excludeDexes: ['Other'] });
    expect(`${server.received[0]!.method} ${server.received[0]!.path}`).toBe('GET /swap/v1/quote');
    expect(Object.fromEntries(server.received[0]!.query)).toEqual({
      inputMint: USDC_MINT, outputMint: SOL_MINT, amount: '1000000', slippageBps: '65535', swapMode: 'ExactIn',
      dexes: 'Guano Pool,Other',
      restrictIntermediateTokens: 'false', onlyDirectRoutes: 'true', asLegacyTransaction: 'false', platformFeeBps: '20',
      maxAccounts: '18446744073709551615', instructionVersion: 'V2', dynamicSlippage: 'false', forBundle: 'true',
    });
    expect(server.received[1]!.query.get('excludeDexes')).toBe('Other');
  });

  test('has every field of the reference by its name, and the deprecated ones', async () => {
    const { raw, asked, ...quote } = await quoted();
    expect(quote).toEqual({
      inputMint: SOL_MINT, inAmount: 1_000_000_000n, outputMint: USDC_MINT, outAmount: 150_000_000n,
      threshold: 149_250_000n, swapMode: 'ExactIn', slippageBps: 50, priceImpact: -0.0012, priceImpactPct: 0.0012,
      platformFee: { amount: 30_006n, feeBps: 2, feeMint: undefined },
      contextSlot: 123_456_789n, timeTaken: 0.0123, mostReliableAmmsQuoteReport: { [MARKET]: 149_990_000n }, unread: [],
      routePlan: [{
        percent: 100, bps: 10_000, usdValue: undefined,
        swapInfo: {
          ammKey: MARKET, label: 'Guano Pool', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: 1_000_000_000n,
          outAmount: 150_000_000n, feeAmount: 0n, feeMint: SOL_MINT,
        },
      }],
    });
    expect(asked).toEqual(ASKED_QUOTE);
    expect(JSON.parse(raw.rawJson)).toEqual(quoteAnswer());
  });

  test('of a host of later days is read the same', () => {
    const { feeAmount: _amount, feeMint: _mint, ...swapInfo } =
      (quoteAnswer()['routePlan'] as [{ swapInfo: Record<string, unknown> }])[0].swapInfo;
    const live = quoteAnswer({
      platformFee: null, routePlan: [
        { swapInfo: { ...swapInfo, updateContextSlot: 5 }, percent: null, bps: 5_000 },
        { swapInfo, percent: 50, bps: null },
      ], mostReliableAmmsQuoteReport: { info: { [MARKET]: '149990000' } }, contextSlot: '77', swapUsdValue: '1.5',
      simplerRouteUsed: true,
    });
    expect(readQuote(live, ASKED_QUOTE)).toMatchObject({
      platformFee: undefined, contextSlot: 77n, mostReliableAmmsQuoteReport: { [MARKET]: 149_990_000n }, unread: [],
      routePlan: [{ percent: undefined, bps: 5_000 }, { percent: 50, bps: 5_000 }],
    });
  });

  test('by its output has the most input as its threshold', async () => {
    const request: QuoteRequest = { ...ASKED_QUOTE, amount: amount(150_000_000n), swapMode: 'ExactOut' };
    const answer = quoteAnswer({ swapMode: 'ExactOut', inAmount: '999000000', otherAmountThreshold: '1003995000' });
    expect(await quoted(request, answer))
      .toMatchObject({ inAmount: 999_000_000n, outAmount: 150_000_000n, threshold: 1_003_995_000n });
    await expect(quoted(request, quoteAnswer({ swapMode: 'ExactOut', otherAmountThreshold: '999999999' })))
      .rejects.toEqual(MALFORMED);
    await expect(quoted(request, { ...answer, outAmount: '149999999' })).rejects.toEqual(MALFORMED);
    await expect(quoted(request, quoteAnswer())).rejects.toEqual(MALFORMED);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another input mint', { inputMint: mintNumber(1) }],
    ['another output mint', { outputMint: mintNumber(1) }],
    ['another amount', { inAmount: '5' }],
    ['another mode', { swapMode: 'ExactOut', otherAmountThreshold: '2000000000' }],
    ['a threshold above the output', { otherAmountThreshold: '150000001' }],
    ['no output', { outAmount: '0' }],
    ['an output beyond u64', { outAmount: '18446744073709551616' }],
    ['a slippage beyond uint16', { slippageBps: 65_536 }],
    ['no slippage', { slippageBps: null }],
    ['no mode', { swapMode: null }],
  ])('with %s is malformed', (_name, changes) => {
    expect(() => readQuote(quoteAnswer(changes), ASKED_QUOTE)).toThrow(MALFORMED);
  });

  test('never throws anything but a GannetError, whatever a member holds', () => {
    fc.assert(fc.property(fc.constantFrom(...Object.keys(quoteAnswer())), fc.jsonValue(), (name, value) => {
      try {
        expect(readQuote(quoteAnswer({ [name]: value }), ASKED_QUOTE).inAmount).toBe(ASKED.amount);
      } catch (thrown) {
        expect(thrown).toEqual(MALFORMED);
      }
    }), { numRuns: 1_000 });
  });

  test.each<[string, object, string, string]>([
    ['a mint that is none', { inputMint: 'SOL' }, 'inputMint', 'base58'],
    ['a swap into itself', { outputMint: SOL_MINT }, 'outputMint', 'differ'],
    ['an amount of zero', { amount: 0n }, 'amount', '2^64 - 1'],
    ['a slippage beyond uint16', { slippageBps: 65_536 }, 'slippageBps', '0 to 65535'],
    ['a mode that is none', { swapMode: 'ExactInn' }, 'swapMode', 'did you mean "ExactIn"'],
    ['dexes and excludeDexes', { dexes: ['a'], excludeDexes: ['b'] }, 'excludeDexes', 'mutually exclusive'],
    ['a flag as a word', { onlyDirectRoutes: 'yes' }, 'onlyDirectRoutes', 'true or false'],
    ['a platform fee beyond uint16', { platformFeeBps: 65_536 }, 'platformFeeBps', '0 to 65535'],
    ['accounts beyond u64', { maxAccounts: 2n ** 64n }, 'maxAccounts', '2^64 - 1'],
    ['an instruction version that is none', { instructionVersion: 'V3' }, 'instructionVersion', 'V1, V2'],
    ['a wallet', { taker: TAKER }, 'taker', 'userPublicKey'],
    ['a fee account', { feeAccount: PAYER }, 'feeAccount', '/swap has it'],
  ])('for %s never leaves', async (_name, changes, parameter, words) => {
    const server = await serve();
    const refused = clientOf(server).swapV1.quote({ ...ASKED_QUOTE, ...changes });
    await expect(refused).rejects.toMatchObject({
      code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string, details: { parameter },
    });
    expect(server.received).toHaveLength(0);
  });
});

describe('a quote that goes back', () => {
  test('is the bytes that came, whatever is in them', async () => {
    const server = await serve(QUOTE_TEXT);
    const { swapV1 } = clientOf(server);
    const quoteResponse = await swapV1.quote(ASKED_QUOTE);
    await swapV1.swap({
      userPublicKey: TAKER, quoteResponse, computeUnitPriceMicroLamports: 18_446_744_073_709_551_615n,
    });
    expect(server.received[1]!.body).toBe(
      `{"userPublicKey":"${TAKER}","quoteResponse":${QUOTE_TEXT},"computeUnitPriceMicroLamports":18446744073709551615}`,
    );
  });

  test('is so in every dialect, and from a document that was kept', async () => {
    const dialect =
      dialectOf('dialect: coast\nfields: { outAmount: yield, bundleTipLamports: coastTip }\n');
    const text = JSON.stringify(quoteAnswer())
      .replace('"outAmount":"150000000","otherAmountThreshold"', '"yield":"150000000","otherAmountThreshold"');
    const server = await serve();
    const { swapV1 } = clientOf(server, { dialect });
    const quote = swapV1.readQuote(text);
    expect([quote.outAmount, quote.asked]).toEqual([150_000_000n, undefined]);
    await swapV1.swap({
      userPublicKey: TAKER, quoteResponse: quote, feeAccount: PAYER,
      prioritizationFeeLamports: { bundleTipLamports: 9 },
    });
    expect(server.received[0]!.body)
      .toBe(`{"userPublicKey":"${TAKER}","quoteResponse":${text},"feeAccount":"${PAYER}",`
        + '"prioritizationFeeLamports":{"coastTip":9}}');
  });

  test('issue 13.31: brings what was asked for into another process, and goes out as it came', async () => {
    const server = await serve(QUOTE_TEXT);
    const { swapV1 } = clientOf(server);
    const asked = { platformFeeBps: 0, instructionVersion: 'V2' } as const;
    const kept = quoteToKeep(await swapV1.quote({ ...ASKED_QUOTE, ...asked, dexes: ['a'] }));
    const quoteResponse = clientOf(server).swapV1.readQuote(kept);
    expect([quoteResponse.raw.rawJson, quoteResponse.asked]).toEqual([QUOTE_TEXT, asked]);
    expect([quoteToKeep(quoteResponse), quoteToKeep(swapV1.readQuote(QUOTE_TEXT))]).toEqual([kept, QUOTE_TEXT]);
    const withoutAccount = swapV1.swap({ userPublicKey: TAKER, quoteResponse });
    await expect(withoutAccount).rejects.toMatchObject({ details: { parameter: 'feeAccount' } });
    await swapV1.swap({ userPublicKey: TAKER, quoteResponse, feeAccount: PAYER });
    const body = `{"userPublicKey":"${TAKER}","quoteResponse":${QUOTE_TEXT},"feeAccount":"${PAYER}"}`;
    expect(server.received[1]!.body).toBe(body);
  });

  test.each([
    '{"gannetRequest":{"instructionVersion":"V3"},', '{"gannetRequest":{"a":"},"},',
    '{"gannetRequest":{},"gannetRequest":{},', '{"x":1,"gannetRequest":{},',
    '{"gannetRequest":{},"zeta":1,"gannetRequest":1,',
  ])('issue 13.31: is refused where what was asked for cannot be told: %j', async (begin) => {
    const { swapV1 } = clientOf(await serve());
    expect(() => swapV1.readQuote(`${begin}${JSON.stringify(quoteAnswer()).slice(1)}`)).toThrow(MALFORMED);
  });

  test.each([
    '', '[]', '{"inputMint":1}', '{"a":1},"userPublicKey":"x"', '<html>',
  ])('is never the document %j', async (document) => {
    const { swapV1 } = clientOf(await serve());
    expect(() => swapV1.readQuote(document)).toThrow(MALFORMED);
  });
});

describe('a swap of V1', () => {
  test('is asked for with every member of the reference', async () => {
    const quoteResponse = await quoted(
      { ...TO_SOL, platformFeeBps: 5, asLegacyTransaction: true, instructionVersion: 'V2' }, TO_SOL_ANSWER,
    );
    const members = {
      payer: PAYER, wrapAndUnwrapSol: false, useSharedAccounts: true, feeAccount: PAYER, trackingAccount: PAYER,
      prioritizationFeeLamports: {
        priorityLevelWithMaxLamports: { priorityLevel: 'veryHigh', maxLamports: 1_000_000, global: false },
      }, asLegacyTransaction: true, nativeDestinationAccount: PAYER, dynamicComputeUnitLimit: true,
      skipUserAccountsRpcCalls: true, dynamicSlippage: true, blockhashSlotsToExpiry: 255,
    } as const;
    expect(await bodyOf(members, quoteResponse))
      .toEqual({ userPublicKey: TAKER, quoteResponse: TO_SOL_ANSWER, ...members });
    expect(await bodyOf({ destinationTokenAccount: PAYER })).toMatchObject({ destinationTokenAccount: PAYER });
  });

  test.each([[5_000], ['auto'], [{ priorityLevelWithMaxLamports: { priorityLevel: 'medium', maxLamports: 5 } }],
    [{ bundleTipLamports: 7 }],
      [
        { bundleTipLamportsWithPayer: { lamports: 7, payer: PAYER } },
      ]] as const)('pays as told: %j', async (prioritizationFeeLamports) => {
    expect(await bodyOf({ prioritizationFeeLamports })).toMatchObject({ prioritizationFeeLamports });
  });

  test('brings a transaction, and what the service says of it', async () => {
    const server = await serve();
    const { swapV1 } = clientOf(server);
    const swap = await swapV1.swap({ userPublicKey: TAKER, quoteResponse: await quoted() });
    expect(`${server.received[0]!.method} ${server.received[0]!.path}`).toBe('POST /swap/v1/swap');
    expect(swap).toEqual({
      transaction: new Uint8Array([9, 8, 7]), lastValidBlockHeight: 321n, prioritizationFeeLamports: 4_321n,
      dynamicSlippageReport: {
        slippageBps: 40, otherAmount: 149_400_000n, simulatedIncurredSlippageBps: -3, amplificationRatio: '1.5',
      }, simulationError: undefined, simulationSlot: 55n, computeUnitLimit: 98_765, unread: [],
    });
  });

  test.each<[string, unknown, unknown]>([
    [
      'with its code', { errorCode: 'TRANSACTION_ERROR', error: 'custom program error: 0x1771' },
      { code: 'TRANSACTION_ERROR', message: 'custom program error: 0x1771' },
    ],
    ['as text', 'doomed\u001b[31m', { message: 'doomed\\u001b[31m' }],
    ['in a form of the future', [1], { message: 'the service gave no reason' }],
    ['without a word', {}, { message: 'the service gave no reason' }],
  ])('that would fail says so, %s', async (_name, simulationError, expected) => {
    const server = await serve(quoteAnswer(), quoteSwapAnswer({ simulationError }));
    const swap = await clientOf(server).swapV1.swap({ userPublicKey: TAKER, quoteResponse: await quoted() });
    expect(swap.simulationError).toEqual(expected);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no transaction', { swapTransaction: null }],
    ['an empty transaction', { swapTransaction: '' }],
    ['a transaction larger than any', { swapTransaction: Buffer.alloc(4_097).toString('base64') }],
    ['no block height', { lastValidBlockHeight: 0 }],
  ])('with %s is malformed', async (_name, changes) => {
    const server = await serve(quoteAnswer(), quoteSwapAnswer(changes));
    await expect(clientOf(server).swapV1.swap({ userPublicKey: TAKER, quoteResponse: await quoted() }))
      .rejects.toEqual(MALFORMED);
  });

  // Each line is a rule of the reference, broken; the second column is what the quote was asked for.
  test.each<[string, Partial<QuoteRequest>, object, string, string]>([
    ['a user that is none', {}, { userPublicKey: 'me' }, 'userPublicKey', 'base58'],
    ['no quote', {}, { quoteResponse: undefined }, 'quoteResponse', 'got nothing'],
    ['a quote without its bytes', {}, { quoteResponse: quoteAnswer() }, 'quoteResponse', 'as it came'],
    ['a payer that is none', {}, { payer: 'x' }, 'payer', 'base58'],
    [
      'a platform fee without an account', { platformFeeBps: 20 }, {}, 'feeAccount',
      'required where platformFeeBps was passed',
    ],
    ['a fee account that is none', { platformFeeBps: 20 }, { feeAccount: 'x' }, 'feeAccount', 'base58'],
    ['a tracking account that is none', {}, { trackingAccount: 'x' }, 'trackingAccount', 'base58'],
    [
      'a legacy transaction of another quote', {}, { asLegacyTransaction: true }, 'asLegacyTransaction',
      'must match the quote',
    ],
    [
      'a versioned transaction of an unversioned quote', { asLegacyTransaction: true }, {}, 'asLegacyTransaction',
      'must match the quote',
    ],
    ['a priority fee and a tip', {}, { prioritizationFeeLamports: {
      priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 1 }, bundleTipLamports: 1,
    } },
      'prioritizationFeeLamports', 'either a priority fee or a tip, not both'],
    [
      'two prices of a unit', {}, { prioritizationFeeLamports: 5, computeUnitPriceMicroLamports: 5n },
      'computeUnitPriceMicroLamports', 'got both',
    ],
    ['half a lamport', {}, { prioritizationFeeLamports: 0.5 }, 'prioritizationFeeLamports', 'whole lamports'],
    ['a level that is none', {}, {
      prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'low', maxLamports: 1 } },
    }, 'prioritizationFeeLamports', 'medium, high or veryHigh'],
    ['a level without a limit', {}, {
      prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'high' } },
    }, 'prioritizationFeeLamports', 'maxLamports'],
    ['a fee of no kind', {}, { prioritizationFeeLamports: {} }, 'prioritizationFeeLamports', 'whole lamports'],
    [
      'both destinations', {}, { destinationTokenAccount: PAYER, nativeDestinationAccount: PAYER },
      'nativeDestinationAccount', 'mutually exclusive',
    ],
    [
      'a native destination of a token', { instructionVersion: 'V2' }, { nativeDestinationAccount: PAYER },
      'nativeDestinationAccount', 'only where the output is SOL',
    ],
    ['too many slots', {}, { blockhashSlotsToExpiry: 256 }, 'blockhashSlotsToExpiry', '0 to 255'],
    ['the wallet by its name of V2', {}, { taker: TAKER }, 'taker', 'userPublicKey'],
  ])('for %s never leaves', async (_name, asked, changes, parameter, words) => {
    const quoteResponse = await quoted({ ...ASKED_QUOTE, ...asked });
    const server = await serve();
    const { swapV1 } = clientOf(server);
    for (const call of ['swap', 'swapInstructions'] as const) {
      await expect(swapV1[call]({ userPublicKey: TAKER, quoteResponse, ...changes }))
        .rejects.toMatchObject({
          code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string, details: { parameter },
        });
    }
    expect(server.received).toHaveLength(0);
  });

  test('with a native destination needs V2 instructions', async () => {
    const native = { nativeDestinationAccount: PAYER };
    await expect(bodyOf(native, await quoted(TO_SOL, TO_SOL_ANSWER)))
      .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining('V2') as string });
    expect(await bodyOf(native, await quoted({ ...TO_SOL, instructionVersion: 'V2' }, TO_SOL_ANSWER)))
      .toMatchObject(native);
  });

  test('of a quote that was kept goes by what the quote says', async () => {
    const { swapV1 } = clientOf(await serve());
    const kept = swapV1.readQuote(JSON.stringify(quoteAnswer()));
    await expect(bodyOf({}, kept)).rejects.toMatchObject({ details: { parameter: 'feeAccount' } });
    expect(
      await bodyOf({ asLegacyTransaction: true }, swapV1.readQuote(JSON.stringify(quoteAnswer({ platformFee: null })))),
    ).toMatchObject({ asLegacyTransaction: true });
  });
});

describe('the instructions of V1', () => {
  test.each([
    ['at first', {}, { lookupTableAddresses: [PROGRAM], lookupTables: undefined, blockhash: undefined }],
    ['later', {
      addressesByLookupTableAddress: { [PROGRAM]: [TAKER] },
      blockhashWithMetadata: { blockhash: Array.from({ length: 32 }, (_, i) => i + 1), lastValidBlockHeight: 9 },
      simulationError: { errorCode: 'TRANSACTION_ERROR', error: 'no' }, computeUnitLimit: 7,
    }, {
      lookupTableAddresses: [PROGRAM], lookupTables: { [PROGRAM]: [TAKER] },
      blockhash: '4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw',
      lastValidBlockHeight: 9n, simulationError: { code: 'TRANSACTION_ERROR', message: 'no' }, computeUnitLimit: 7,
    }],
    ['with tables in the form of V2 alone', {
      addressLookupTableAddresses: null, addressesByLookupTableAddress: { [PROGRAM]: [] },
    }, { lookupTableAddresses: [PROGRAM] }],
    ['without tables', { addressLookupTableAddresses: null }, { lookupTableAddresses: [] }],
  ])('are read as they were %s', async (_name, changes, expected) => {
    const server = await serve(quoteAnswer(), quoteInstructionsAnswer(changes));
    const instructions = await clientOf(server)
      .swapV1.swapInstructions({ userPublicKey: TAKER, quoteResponse: await quoted() });
    expect(`${server.received[0]!.method} ${server.received[0]!.path}`).toBe('POST /swap/v1/swap-instructions');
    expect(instructions).toMatchObject(expected);
    expect(instructions.swapInstruction).toEqual({
      programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }],
      data: new Uint8Array([1, 2, 3]),
    });
    expect([
      instructions.computeBudgetInstructions.length, instructions.setupInstructions.length,
      instructions.otherInstructions.length,
    ]).toEqual([1, 1, 0]);
    expect(instructions.cleanupInstruction).toBeUndefined();
  });
});

describe('the names of markets', () => {
  test('are told by program, and may be shared', async () => {
    const server = await serve(undefined, { [PROGRAM]: 'Guano Pool', [MARKET]: 'Guano Pool' });
    expect([...await clientOf(server).swapV1.programIdToLabel()])
      .toEqual([[PROGRAM, 'Guano Pool'], [MARKET, 'Guano Pool']]);
    expect(server.received[0]!.path).toBe('/swap/v1/program-id-to-label');
  });

  test.each([[[]], [{ here: 'x' }], [{ [PROGRAM]: 5 }], ['x']])('are malformed as %j', async (answer) => {
    await expect(clientOf(await serve(undefined, JSON.stringify(answer))).swapV1.programIdToLabel())
      .rejects.toEqual(MALFORMED);
  });
});
