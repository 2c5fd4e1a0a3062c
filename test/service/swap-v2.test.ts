import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import type { SwapService } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import { readSwapOrder } from '../../src/service/wire/swap-order.ts';
import type { SwapRequest } from '../../src/trading/swap-order.ts';
import { ASKED, ASKED_BY_TAKER, buildAnswer, mintNumber, orderAnswer, PROGRAM, SIGNATURE, TAKER, takerAnswer } from './answers.ts';
import { clientOf, json, listen } from './loopback.ts';

const MALFORMED = expect.objectContaining({ code: 'SERVICE_MALFORMED' }) as Error;
const EXECUTE = { signedTransaction: new Uint8Array([9, 8, 7]), requestId: 'r-1', lastValidBlockHeight: 321n };

describe('an order', () => {
  test('is asked for with the names and values of the reference', async () => {
    const server = await listen(json(takerAnswer()));
    await clientOf(server).swap.order({ ...ASKED_BY_TAKER, slippageBps: 50, excludeRouters: ['rfqz', 'routerB'] });
    const [request] = server.received;
    expect(`${request!.method} ${request!.path}`).toBe('GET /swap/v2/order');
    expect(Object.fromEntries(request!.query)).toEqual({
      inputMint: ASKED.inputMint, outputMint: ASKED.outputMint, amount: '1000000000', taker: TAKER, slippageBps: '50', excludeRouters: 'rfqz,routerB',
    });
  });

  test('leaves out what was not asked for', async () => {
    const server = await listen(json(orderAnswer()));
    await clientOf(server).swap.order(ASKED);
    expect([...server.received[0]!.query.keys()]).toEqual(['inputMint', 'outputMint', 'amount']);
  });

  test('of a wallet has its transaction and the terms in exact amounts', () => {
    expect(readSwapOrder(takerAnswer({ expireAt: '1758598698', maker: PROGRAM, contextSlot: 9n }), ASKED_BY_TAKER)).toEqual({
      inputMint: ASKED.inputMint, outputMint: ASKED.outputMint, inAmount: 1_000_000_000n, outAmount: 150_000_000n, threshold: 149_250_000n,
      slippageBps: 50, priceImpact: -0.001, feeBps: 2, router: 'iris', contextSlot: 9n, requestId: 'r-1', taker: TAKER,
      transaction: new Uint8Array([1, 2, 3, 4]), lastValidBlockHeight: 321n, signatureFeePayer: TAKER, maker: PROGRAM,
      expireAt: 1_758_598_698_000, buildError: undefined,
    });
  });

  test('needs only what nothing can be done without', () => {
    const { inputMint, outputMint, inAmount, outAmount, otherAmountThreshold, router } = orderAnswer();
    const order = readSwapOrder({ inputMint, outputMint, inAmount, outAmount, otherAmountThreshold, router }, ASKED);
    expect(order).toMatchObject({ feeBps: 0, priceImpact: undefined, transaction: undefined, requestId: undefined });
  });

  test.each([['text', '123', 123n], ['a number', 123, 123n], ['a long number', 123n, 123n], ['nothing', '', undefined], ['null', null, undefined]])('reads a block height written as %s', (_name, lastValidBlockHeight, height) => {
    expect(readSwapOrder(takerAnswer({ lastValidBlockHeight }), ASKED_BY_TAKER).lastValidBlockHeight).toBe(height);
  });

  test.each([
    ['1758598698', 1_758_598_698_000], [1_758_598_698, 1_758_598_698_000], ['1758598698123', 1_758_598_698_123],
    [1_758_598_698_123, 1_758_598_698_123], ['2025-09-23T03:38:18Z', 1_758_598_698_000], ['2025-09-23T03:38:18.123456789+00:00', 1_758_598_698_123],
    [null, undefined], ['', undefined],
  ])('reads the expiry %j', (expireAt, instant) => {
    expect(readSwapOrder(takerAnswer({ expireAt }), ASKED_BY_TAKER).expireAt).toBe(instant);
  });

  test('keeps amounts beyond 2^53 exact, written as text or as a number', async () => {
    const most = 18_446_744_073_709_551_615n;
    const request = { ...ASKED, amount: amount(most) };
    const text = JSON.stringify(orderAnswer({ inAmount: '#', outAmount: '9007199254740993', otherAmountThreshold: '9007199254740993' })).replace('"#"', `${most}`);
    const order = await clientOf(await listen(json(text))).swap.order(request);
    expect([order.inAmount, order.outAmount]).toEqual([most, 9_007_199_254_740_993n]);
  });

  test('of a router nobody knows yet keeps its name', () => {
    expect(readSwapOrder(orderAnswer({ router: 'newcomer' }), ASKED).router).toBe('newcomer');
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
    ['a price impact beyond all', { priceImpact: -10.42 }],
    ['a price impact that is not a number', { priceImpact: 'NaN' }],
    ['a negative fee', { feeBps: -1 }],
    ['a fee of more than everything', { feeBps: 10_001 }],
    ['a slippage of more than everything', { slippageBps: 10_001 }],
    ['no router', { router: null }],
    ['an expiry in no unit', { expireAt: '12345' }],
    ['an expiry in words', { expireAt: 'tomorrow 5' }],
    ['a transaction nobody asked for', { transaction: 'AQID' }],
    ['a taker nobody named', { taker: TAKER }],
  ])('with %s is malformed', (_name, changes) => {
    expect(() => readSwapOrder(orderAnswer(changes), ASKED)).toThrow(MALFORMED);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another taker', { taker: PROGRAM }],
    ['a transaction that is not base64', { transaction: 'a transaction!' }],
    ['a transaction larger than any', { transaction: Buffer.alloc(1_233).toString('base64') }],
    ['a transaction of megabytes', { transaction: 'A'.repeat(4_000_000) }],
    ['a transaction beside an error', { errorCode: 1 }],
    ['a block height of zero', { lastValidBlockHeight: '0' }],
    ['a fee payer that is no address', { signatureFeePayer: 'me' }],
  ])('for a wallet with %s is malformed', (_name, changes) => {
    expect(() => readSwapOrder(takerAnswer(changes), ASKED_BY_TAKER)).toThrow(MALFORMED);
  });

  test('may have the largest transaction there is', () => {
    const transaction = Buffer.alloc(1_232, 7).toString('base64');
    expect(readSwapOrder(takerAnswer({ transaction }), ASKED_BY_TAKER).transaction).toHaveLength(1_232);
  });

  test.each<[string, Record<string, unknown>, unknown]>([
    ['with code and message', { transaction: '', errorCode: 2, errorMessage: 'Top up 0.01 SOL for gas', error: 'x' }, { code: 2, message: 'Top up 0.01 SOL for gas' }],
    ['with the code as text', { transaction: '', errorCode: '3', error: 'Minimum 10 USD' }, { code: 3, message: 'Minimum 10 USD' }],
    ['without a word', { transaction: '' }, { code: undefined, message: 'the service gave no transaction and no reason' }],
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

  test('takes the last of two members of one name, as every JSON reader does', async () => {
    const text = JSON.stringify(orderAnswer()).replace('"inAmount"', '"inAmount":"1","inAmount"');
    expect((await clientOf(await listen(json(text))).swap.order(ASKED)).inAmount).toBe(1_000_000_000n);
  });
});

describe('a request that breaks a rule', () => {
  test.each<[string, Partial<SwapRequest>, string]>([
    ['a mint that is none', { inputMint: 'SOL' as Mint }, 'inputMint'],
    ['a swap into itself', { outputMint: SOL_MINT }, 'outputMint'],
    ['an amount of zero', { amount: amount(0n) }, 'amount'],
    ['a taker that is no address', { taker: 'me' }, 'taker'],
    ['a negative slippage', { slippageBps: -1 }, '0 to 10000'],
    ['a slippage of half a point', { slippageBps: 0.5 }, '0 to 10000'],
    ['a slippage above all', { slippageBps: 10_001 }, '0 to 10000'],
    ['an unknown router', { excludeRouters: ['irs'] }, 'did you mean "iris"'],
  ])('for %s never leaves', async (_name, changes, words) => {
    const server = await listen(json(orderAnswer()));
    const { swap } = clientOf(server);
    const refused = swap.order({ ...ASKED, ...changes });
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string });
    expect(server.received).toHaveLength(0);
  });

  test('for a build without a router it has not got never leaves', async () => {
    const server = await listen(json(buildAnswer()));
    await expect(clientOf(server).swap.build({ ...ASKED_BY_TAKER, excludeRouters: ['iris'] })).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
  });

  test.each([
    ['no bytes', { ...EXECUTE, signedTransaction: new Uint8Array() }],
    ['too many bytes', { ...EXECUTE, signedTransaction: new Uint8Array(1_233) }],
    ['no requestId', { ...EXECUTE, requestId: '' }],
  ])('to execute %s never leaves', async (_name, request) => {
    const server = await listen(json({}));
    await expect(clientOf(server).swap.execute(request)).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(server.received).toHaveLength(0);
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
    expect(build.swapInstruction).toEqual({ programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }], data: new Uint8Array([1, 2, 3]) });
  });

  test('without lookup tables has none', async () => {
    const build = await clientOf(await listen(json(buildAnswer({ addressesByLookupTableAddress: null })))).swap.build(ASKED_BY_TAKER);
    expect(build.lookupTables).toEqual({});
  });

  test.each<[string, Record<string, unknown>]>([
    ['no swap instruction', { swapInstruction: null }],
    ['a program that is no address', { swapInstruction: { programId: 'x', accounts: [], data: '' } }],
    ['an account without its rights', { swapInstruction: { programId: PROGRAM, accounts: [{ pubkey: TAKER }], data: '' } }],
    ['more accounts than fit', { swapInstruction: { programId: PROGRAM, accounts: Array.from({ length: 300 }, () => ({ pubkey: TAKER, isSigner: false, isWritable: false })), data: '' } }],
    ['a blockhash of 31 bytes', { blockhashWithMetadata: { blockhash: Array.from({ length: 31 }, () => 1), lastValidBlockHeight: 5 } }],
    ['a blockhash of other numbers', { blockhashWithMetadata: { blockhash: Array.from({ length: 32 }, () => 256), lastValidBlockHeight: 5 } }],
    ['no block height', { blockhashWithMetadata: { blockhash: Array.from({ length: 32 }, () => 1) } }],
    ['a table that is no address', { addressesByLookupTableAddress: { here: [TAKER] } }],
    ['another amount', { inAmount: '5' }],
  ])('with %s is malformed', async (_name, changes) => {
    await expect(clientOf(await listen(json(buildAnswer(changes)))).swap.build(ASKED_BY_TAKER)).rejects.toEqual(MALFORMED);
  });
});

describe('an execution', () => {
  test('hands over the signed bytes once, with the order they belong to', async () => {
    const server = await listen(json({ status: 'Success', code: 0, signature: SIGNATURE, slot: '5', totalInputAmount: '1' }));
    const port: SwapService = clientOf(server).swap;
    expect(await port.execute(EXECUTE)).toEqual({ status: 'success', signature: SIGNATURE });
    const [request] = server.received;
    expect(`${request!.method} ${request!.path}`).toBe('POST /swap/v2/execute');
    expect(JSON.parse(request!.body)).toEqual({ signedTransaction: 'CQgH', requestId: 'r-1', lastValidBlockHeight: '321' });
  });

  test.each<[string, unknown, number, unknown]>([
    ['a failure on chain', { status: 'Failed', code: 6001, signature: SIGNATURE, error: 'Slippage tolerance exceeded' }, 200, { status: 'failed', code: 6001, signature: SIGNATURE, error: 'Slippage tolerance exceeded' }],
    ['a failure to land', { status: 'Failed', code: '-1000', error: 'failed to land', signature: '' }, 200, { status: 'failed', code: -1000, error: 'failed to land' }],
    ['an order that is gone, which has no status', { code: -1, error: 'Order not found, it might have expired' }, 200, { status: 'failed', code: -1, error: 'Order not found, it might have expired' }],
    ['a refusal with a code of the service', { code: -2, error: 'invalid signed transaction' }, 400, { status: 'failed', code: -2, error: 'invalid signed transaction' }],
  ])('may end with %s', async (_name, body, status, expected) => {
    expect(await clientOf(await listen(json(body, { status }))).swap.execute(EXECUTE)).toEqual(expected);
  });

  test.each<[string, unknown, number, string]>([
    ['a success without signature', { status: 'Success', code: 0 }, 200, 'SERVICE_MALFORMED'],
    ['a success with an error code', { status: 'Success', code: 6001, signature: SIGNATURE }, 200, 'SERVICE_MALFORMED'],
    ['a failure without code', { status: 'Failed', error: 'no' }, 200, 'SERVICE_MALFORMED'],
    ['a failure with the code of success', { status: 'Failed', code: 0 }, 200, 'SERVICE_MALFORMED'],
    ['a status nobody knows', { status: 'Pending', code: -1 }, 200, 'SERVICE_MALFORMED'],
    ['an empty object', {}, 200, 'SERVICE_MALFORMED'],
    ['a code of the chain without status', { code: 6001 }, 200, 'SERVICE_MALFORMED'],
    ['a refusal by the gateway, which must not pass for an error of the chain', { code: 400, message: 'Bad Request' }, 400, 'SERVICE_STATUS'],
    ['an error of the server', { signature: SIGNATURE, error: 'internal' }, 500, 'SERVICE_STATUS'],
    ['a refusal for the rate', { code: 429, message: 'Too many requests' }, 429, 'SERVICE_RATE_LIMITED'],
  ])('is no answer when it brings %s', async (_name, body, status, code) => {
    await expect(clientOf(await listen(json(body, { status }))).swap.execute(EXECUTE)).rejects.toMatchObject({ code });
  });

  test('that ended in an error of the server keeps the signature for whoever looks it up', async () => {
    const refused = clientOf(await listen(json({ signature: SIGNATURE, error: 'internal' }, { status: 500 }))).swap.execute(EXECUTE);
    await expect(refused).rejects.toMatchObject({ details: { signature: SIGNATURE } });
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
    const server = await listen((request, response) => json(request.path.endsWith('order') ? takerAnswer() : buildAnswer())(request, response));
    const { swap } = clientOf(server);
    await Promise.all([swap.order(ASKED_BY_TAKER), swap.order(ASKED_BY_TAKER), swap.build(ASKED_BY_TAKER), swap.build(ASKED_BY_TAKER)]);
    expect(server.received).toHaveLength(4);
  });
});
