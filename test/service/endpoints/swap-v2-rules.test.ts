import { describe, expect, test } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { BuildRequest, OrderRequest, SwapV2 } from '../../../src/service/endpoints/swap-v2.ts';
import { ASKED, ASKED_BY_TAKER, buildAnswer, orderAnswer, TAKER, takerAnswer } from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { PAYER } from '../swap-answers.ts';

const EXECUTE: Parameters<SwapV2['execute']>[0] =
  { signedTransaction: new Uint8Array([9, 8, 7]), requestId: 'r-1', lastValidBlockHeight: 321n };
/** SOL as the output, as native destinations need it. */
const TO_SOL: BuildRequest = { inputMint: USDC_MINT, outputMint: SOL_MINT, amount: amount(1_000_000n), taker: TAKER };
const TO_SOL_ANSWER = buildAnswer({ inputMint: USDC_MINT, outputMint: SOL_MINT, inAmount: '1000000' });
const ASKED_TO_BUILD: BuildRequest = ASKED_BY_TAKER;

/** What came of a call: the query that left, or the refusal before anything did. */
async function outcomeOf(
  answer: unknown, call: (swap: SwapV2) => Promise<unknown>,
): Promise<{ readonly query?: Record<string, string>; readonly refusal?: unknown }> {
  const server = await listen(json(answer));
  try {
    await call(clientOf(server).swap);
  } catch (refusal) {
    expect(server.received).toHaveLength(0);
    return { refusal };
  }
  return { query: Object.fromEntries(server.received[0]!.query) };
}

describe('an order', () => {
  test('is asked for with every parameter of the reference', async () => {
    const request: Required<OrderRequest> = {
      ...ASKED, taker: TAKER, receiver: PAYER, swapMode: 'ExactIn', slippageBps: 50, referralAccount: PAYER,
      referralFee: 50, payer: PAYER, priorityFeeLamports: 5_000n, bundleTipLamports: 1_000n, broadcastFeeType: 'maxCap',
      excludeRouters: ['rfqz', 'routerB'],
      excludeDexes: ['Guano Pool', 'Other'],
    };
    expect(await outcomeOf(takerAnswer(), (swap) => swap.order(request))).toEqual({
      query: {
        inputMint: SOL_MINT, outputMint: USDC_MINT, amount: '1000000000', taker: TAKER, receiver: PAYER,
        swapMode: 'ExactIn', slippageBps: '50',
        referralAccount: PAYER, referralFee: '50', payer: PAYER, priorityFeeLamports: '5000', bundleTipLamports: '1000',
        broadcastFeeType: 'maxCap', excludeRouters: 'rfqz,routerB', excludeDexes: 'Guano Pool,Other',
      },
    });
  });

  test.each<[string, Partial<OrderRequest>]>([
    ['no slippage at all', { slippageBps: 0 }],
    ['all the slippage there is', { slippageBps: 10_000 }],
    ['the largest referral fee', { referralAccount: PAYER, referralFee: 255 }],
    ['the largest amount', { amount: amount(2n ** 64n - 1n) }],
    ['a tip of nothing', { bundleTipLamports: 0n }],
    ['lists of nothing', { excludeRouters: [], excludeDexes: [] }],
    ['a receiver without a taker', { receiver: PAYER }],
    ['the exact fee', { priorityFeeLamports: 1n, broadcastFeeType: 'exactFee' }],
  ])('of %s leaves', async (_name, changes) => {
    const asked = { ...ASKED, ...changes };
    expect((await outcomeOf(orderAnswer({ inAmount: String(asked.amount) }), (swap) => swap.order(asked))).query)
      .toBeDefined();
  });

  // Each line is a rule of the reference, broken.
  test.each<[string, object, string, string]>([
    ['an input mint that is none', { inputMint: 'SOL' as Mint }, 'inputMint', 'base58'],
    ['no input mint', { inputMint: undefined }, 'inputMint', 'got nothing'],
    ['an output mint that is none', { outputMint: '' as Mint }, 'outputMint', 'base58'],
    ['a swap into itself', { outputMint: SOL_MINT }, 'outputMint', 'differ from inputMint'],
    ['an amount of zero', { amount: amount(0n) }, 'amount', '2^64 - 1'],
    ['an amount beyond u64', { amount: 2n ** 64n }, 'amount', '2^64 - 1'],
    ['an amount that is no bigint', { amount: 1.5 }, 'amount', '"1.5"'],
    ['a taker that is no address', { taker: 'me' }, 'taker', 'base58'],
    ['a receiver that is no address', { receiver: 'you' }, 'receiver', 'base58'],
    ['a receiver that is the taker', { taker: TAKER, receiver: TAKER }, 'receiver', 'differ from taker'],
    ['ExactOut', { swapMode: 'ExactOut' }, 'swapMode', '"ExactIn"'],
    ['a negative slippage', { slippageBps: -1 }, 'slippageBps', '0 to 10000'],
    ['a slippage above all', { slippageBps: 10_001 }, 'slippageBps', '0 to 10000'],
    ['a slippage of half a point', { slippageBps: 0.5 }, 'slippageBps', '0 to 10000'],
    ['a slippage that is not a number', { slippageBps: Number.NaN }, 'slippageBps', '0 to 10000'],
    ['a slippage in text', { slippageBps: '50' }, 'slippageBps', '0 to 10000'],
    ['a referral account alone', { referralAccount: PAYER }, 'referralFee', 'together with referralFee'],
    ['a referral fee alone', { referralFee: 50 }, 'referralAccount', 'together with referralAccount'],
    ['a referral account that is none', { referralAccount: 'x', referralFee: 50 }, 'referralAccount', 'base58'],
    ['a referral fee below the least', { referralAccount: PAYER, referralFee: 49 }, 'referralFee', '50 to 255'],
    ['a referral fee above the most', { referralAccount: PAYER, referralFee: 256 }, 'referralFee', '50 to 255'],
    ['a payer that is no address', { payer: 'x' }, 'payer', 'base58'],
    ['a negative priority fee', { priorityFeeLamports: -1n }, 'priorityFeeLamports', '2^64 - 1'],
    ['a tip beyond u64', { bundleTipLamports: 2n ** 64n }, 'bundleTipLamports', '2^64 - 1'],
    ['a type of fee that is none', { broadcastFeeType: 'maxcap' }, 'broadcastFeeType', 'did you mean "maxCap"'],
    [
      'all four routers excluded (issue 13.31)', { excludeRouters: ['iris', 'rfqz', 'routerA', 'routerB'] },
      'excludeRouters', 'got all of them',
    ],
    ['an unknown router', { excludeRouters: ['iris', 'rfqs'] }, 'excludeRouters', 'did you mean "rfqz"'],
    ['a market with a comma in its name', { excludeDexes: ['a,b'] }, 'excludeDexes', 'without commas'],
    ['a market without a name', { excludeDexes: [' '] }, 'excludeDexes', 'without commas'],
    ['the wallet by its name of V1', { userPublicKey: TAKER }, 'userPublicKey', 'called taker since V2'],
    ['only some markets', { dexes: ['a'] }, 'dexes', 'excludeDexes'],
    ['a parameter with a slip', { slipageBps: 5 }, 'slipageBps', 'did you mean "slippageBps"'],
    ['a parameter of no kind', { '\u001b[31mred': 5 }, '\\u001b[31mred', 'no such parameter'],
  ])('for %s never leaves', async (_name, changes, parameter, words) => {
    const { refusal } = await outcomeOf(orderAnswer(), (swap) => swap.order({ ...ASKED, ...changes }));
    expect(refusal).toMatchObject({
      code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string, details: { parameter },
    });
    expect((refusal as Error).message).toContain(`GET /swap/v2/order, ${parameter}: `);
  });
});

describe('a build', () => {
  test('is asked for with every parameter of the reference', async () => {
    const request = {
      ...TO_SOL, slippageBps: 70, mode: 'fast', dexes: ['Guano Pool', 'Other'], platformFeeBps: 10, feeAccount: PAYER,
      maxAccounts: 40,
      payer: PAYER, wrapAndUnwrapSol: false, nativeDestinationAccount: PAYER, blockhashSlotsToExpiry: 100,
    } as const;
    expect(await outcomeOf(TO_SOL_ANSWER, (swap) => swap.build(request))).toEqual({
      query: {
        inputMint: USDC_MINT, outputMint: SOL_MINT, amount: '1000000', taker: TAKER, slippageBps: '70', mode: 'fast',
        dexes: 'Guano Pool,Other', platformFeeBps: '10', feeAccount: PAYER, maxAccounts: '40', payer: PAYER,
        wrapAndUnwrapSol: 'false', nativeDestinationAccount: PAYER,
        blockhashSlotsToExpiry: '100',
      },
    });
    const others = await outcomeOf(TO_SOL_ANSWER, (swap) =>
      swap.build({ ...TO_SOL, excludeDexes: ['Other'], destinationTokenAccount: PAYER }));
    expect(others.query).toMatchObject({ excludeDexes: 'Other', destinationTokenAccount: PAYER });
  });

  test.each<[string, Partial<BuildRequest>]>([
    ['a platform fee of nothing without an account', { platformFeeBps: 0 }],
    ['one account, one slot', { maxAccounts: 1, blockhashSlotsToExpiry: 1 }],
    ['as many accounts and slots as may be', { maxAccounts: 64, blockhashSlotsToExpiry: 300 }],
    ['an empty list beside a full one', { dexes: [], excludeDexes: ['a'] }],
  ])('of %s leaves', async (_name, changes) => {
    expect((await outcomeOf(buildAnswer(), (swap) => swap.build({ ...ASKED_TO_BUILD, ...changes }))).query)
      .toBeDefined();
  });

  test.each<[string, object, string, string]>([
    ['no taker', { taker: undefined }, 'taker', 'got nothing'],
    ['a swap into itself', { outputMint: SOL_MINT }, 'outputMint', 'differ from inputMint'],
    ['a slippage above all', { slippageBps: 10_001 }, 'slippageBps', '0 to 10000'],
    ['a mode that is none', { mode: 'slow' }, 'mode', '"fast"'],
    ['dexes and excludeDexes', { dexes: ['a'], excludeDexes: ['b'] }, 'excludeDexes', 'mutually exclusive'],
    [
      'a positive platform fee without an account', { platformFeeBps: 1 }, 'feeAccount',
      'required where platformFeeBps is positive',
    ],
    ['a platform fee above all', { platformFeeBps: 10_001, feeAccount: PAYER }, 'platformFeeBps', '0 to 10000'],
    ['a fee account that is none', { platformFeeBps: 1, feeAccount: 'x' }, 'feeAccount', 'base58'],
    ['no accounts', { maxAccounts: 0 }, 'maxAccounts', '1 to 64'],
    ['too many accounts', { maxAccounts: 65 }, 'maxAccounts', '1 to 64'],
    ['a payer that is none', { payer: 'x' }, 'payer', 'base58'],
    ['wrapping as a word', { wrapAndUnwrapSol: 'true' }, 'wrapAndUnwrapSol', 'true or false'],
    ['both destinations', {
      outputMint: SOL_MINT, inputMint: USDC_MINT, destinationTokenAccount: PAYER, nativeDestinationAccount: PAYER,
    }, 'nativeDestinationAccount', 'mutually exclusive'],
    [
      'a native destination for a token', { nativeDestinationAccount: PAYER }, 'nativeDestinationAccount',
      'only where the output is SOL',
    ],
    ['no slots', { blockhashSlotsToExpiry: 0 }, 'blockhashSlotsToExpiry', '1 to 300'],
    ['too many slots', { blockhashSlotsToExpiry: 301 }, 'blockhashSlotsToExpiry', '1 to 300'],
    ['ExactOut', { swapMode: 'ExactOut' }, 'swapMode', 'ExactIn always'],
    ['a router it has not got', { excludeRouters: ['iris'] }, 'excludeRouters', 'one router'],
    ['a receiver', { receiver: PAYER }, 'receiver', 'destinationTokenAccount'],
    ['the wallet by its name of V1', { userPublicKey: TAKER }, 'userPublicKey', 'called taker since V2'],
  ])('for %s never leaves', async (_name, changes, parameter, words) => {
    const { refusal } = await outcomeOf(buildAnswer(), (swap) => swap.build({ ...ASKED_TO_BUILD, ...changes }));
    expect(refusal).toMatchObject({
      code: 'SERVICE_BAD_REQUEST', message: expect.stringContaining(words) as string, details: { parameter },
    });
  });
});

describe('an execution', () => {
  test.each<[string, object, string]>([
    ['no bytes', { signedTransaction: new Uint8Array() }, 'signedTransaction'],
    ['too many bytes', { signedTransaction: new Uint8Array(4_097) }, 'signedTransaction'],
    ['text in the place of bytes', { signedTransaction: 'CQgH' }, 'signedTransaction'],
    ['no requestId', { requestId: undefined }, 'requestId'],
    ['an empty requestId', { requestId: '' }, 'requestId'],
    ['a negative block height', { lastValidBlockHeight: -1n }, 'lastValidBlockHeight'],
  ])('of %s never leaves', async (_name, changes, parameter) => {
    const { refusal } = await outcomeOf({}, (swap) => swap.execute({ ...EXECUTE, ...changes }));
    expect(refusal).toMatchObject({ code: 'SERVICE_BAD_REQUEST', details: { parameter } });
  });
});
