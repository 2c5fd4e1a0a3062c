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

describe('GET /swap/v2/order refuses with 400, a requestId and an error', () => {
  const taker = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
  const cases: [string, Record<string, string | number>, RegExp][] = [
    ['no inputMint', { outputMint: SOL, amount: '1' }, /inputMint: missing/],
    ['no outputMint', { inputMint: SOL, amount: '1' }, /outputMint: missing/],
    ['no amount', { inputMint: USDC, outputMint: SOL }, /amount: missing/],
    ['an empty mint', { ...plain, inputMint: '' }, /inputMint/],
    ['a mint that is no address', { ...plain, inputMint: 'SOL' }, /inputMint: expected a base58 address, got "SOL"/],
    [
      'a mint with a letter outside base58', { ...plain, outputMint: 'So1111111111111111111111111111111111111111O' },
      /outputMint/,
    ],
    ['twice the same mint', { ...plain, outputMint: USDC }, /outputMint: expected another mint/],
    ['a mint without a pool', { ...plain, outputMint: taker.replace('Pear', 'Bear') }, /Failed to get quotes/],
    ['an amount of zero', { ...plain, amount: '0' }, /amount: expected an integer/],
    ['a negative amount', { ...plain, amount: '-5' }, /amount/],
    ['a fraction', { ...plain, amount: '1.5' }, /amount/],
    ['an exponent', { ...plain, amount: '1e6' }, /amount/],
    ['an amount beyond u64', { ...plain, amount: '18446744073709551616' }, /amount/],
    ['a taker that is no address', { ...plain, taker: 'me' }, /taker/],
    ['a receiver that is no address', { ...plain, receiver: 'you' }, /receiver/],
    [
      'a receiver equal to the taker', { inputMint: SOL, outputMint: USDC, amount: '9', taker, receiver: taker },
      /receiver: expected another address than taker/,
    ],
    ['a receiver that is an account of a token program', { ...plain, receiver: taker }, /receiver: expected a wallet/],
    ['another swapMode', { ...plain, swapMode: 'ExactOut' }, /swapMode: expected one of ExactIn/],
    ['a slippage beyond 10000', { ...plain, slippageBps: 10_001 }, /slippageBps: expected an integer of 0 to 10000/],
    ['a negative slippage', { ...plain, slippageBps: -1 }, /slippageBps/],
    ['a slippage that is no integer', { ...plain, slippageBps: '1.5' }, /slippageBps/],
    [
      'a referralFee below 50', { ...plain, referralAccount: taker, referralFee: 49 },
      /referralFee: expected a number of 50 to 255, got "49"/,
    ],
    [
      'a referralFee a fraction below 50', { ...plain, referralAccount: taker, referralFee: '49.99' },
      /referralFee: expected a number/,
    ],
    [
      'a referralFee a fraction above 255', { ...plain, referralAccount: taker, referralFee: '255.01' },
      /referralFee: expected a number/,
    ],
    [
      'a referralFee with an exponent', { ...plain, referralAccount: taker, referralFee: '1e2' },
      /referralFee: expected a number/,
    ],
    ['a referralFee above 255', { ...plain, referralAccount: taker, referralFee: 256 }, /referralFee/],
    ['a referralAccount without referralFee', { ...plain, referralAccount: taker }, /expected both or neither/],
    ['a referralFee without referralAccount', { ...plain, referralFee: 100 }, /expected both or neither/],
    ['a payer that is no address', { ...plain, payer: '?' }, /payer/],
    ['a priority fee that is no integer', { ...plain, priorityFeeLamports: 'lots' }, /priorityFeeLamports/],
    ['a negative tip', { ...plain, bundleTipLamports: -1 }, /bundleTipLamports/],
    [
      'a tip beyond u64', { ...plain, bundleTipLamports: '18446744073709551616' },
      /bundleTipLamports: expected a number/,
    ],
    [
      'another broadcastFeeType', { ...plain, broadcastFeeType: 'some' },
      /broadcastFeeType: expected one of maxCap, exactFee/,
    ],
    ['an unknown router', { ...plain, excludeRouters: 'iris,router9' }, /excludeRouters.*router9/],
    ['all routers excluded', { ...plain, excludeRouters: 'iris,rfqz,routerA,routerB' }, /Failed to get quotes/],
    ['an empty label among excludeDexes', { ...plain, excludeDexes: 'Lagoon,,Tidepool' }, /excludeDexes/],
    ['all dexes excluded', {
      ...plain, excludeDexes: 'Lagoon,Tidepool,Estuary', excludeRouters: 'rfqz,routerA,routerB',
    }, /Failed to get quotes/],
    [
      'an amount so small that nothing comes out', { inputMint: USDC, outputMint: TIDE, amount: '1' },
      /Failed to get quotes/,
    ],
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
