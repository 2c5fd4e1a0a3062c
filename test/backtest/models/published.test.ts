import { describe, expect, it } from 'vitest';
import { attemptCosts, createTokenAccounts } from '../../../src/backtest/models/swap-costs.ts';
import { transferFeeOf } from '../../../src/backtest/models/token-fees.ts';
import { createLadder, outputOf } from '../../../src/backtest/models/quote-ladder.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { quoteHop } from '../../../src/sandbox/chain/swap-math.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { FISH } from '../../market/tokens.ts';
import { rungsOf } from './pool.ts';

/** Calculations with published results. */

const UNIT = 10n ** 12n;
const priced = (computeUnitLimit: number, microLamportsPerUnit: bigint): bigint =>
  attemptCosts({ ...BASE_MODEL.costs, signatures: 1, computeUnitLimit, microLamportsPerUnit }).feeLamports;

describe('a constant-product pool', () => {
  // H. Adams, "Uniswap Whitepaper" (2018), example ETH → OMG: 10 and 500 in the pool, a fee of 0.25 %, 1 goes in.
  const pool = { reserveIn: 10n * UNIT, reserveOut: 500n * UNIT, feeBps: 25 };
  const published = 45.35;

  it('pays 45.35 for 1 in the whitepaper’s example', () => {
    expect(Number(quoteHop({ ...pool, amountIn: UNIT })) / Number(UNIT)).toBeCloseTo(published, 2);
  });

  it('has the same output by a ladder of a smaller and a larger size', () => {
    const ladder = createLadder(rungsOf(pool, [UNIT / 10n, 3n * UNIT]))!;
    expect(Number(outputOf(ladder, UNIT)) / Number(UNIT)).toBeCloseTo(published, 2);
  });
});

describe('the cost of a transaction', () => {
  it('is 155 000 lamports for 300 000 units at 500 000, as measured on a chain', () => {
    expect(priced(300_000, 500_000n)).toBe(155_000n);
  });

  it('is rounded up: 200 000 units at 1 073 are 214.6 lamports, so 215, plus 5 000 for the signature', () => {
    expect(priced(200_000, 1_073n)).toBe(5_215n);
  });

  it('counts millionths of a lamport: 200 000 units at 1 000 are 200 lamports, not 200 000', () => {
    expect(priced(200_000, 1_000n)).toBe(5_200n);
  });
});

it('rent of a token account is (128 + 165 bytes) · 3 480 lamports · 2 years', () => {
  expect(createTokenAccounts([], () => false).open(FISH.mint)).toBe(BigInt((128 + 165) * 3_480 * 2));
  expect(createTokenAccounts([], () => true).open(FISH.mint)).toBe(BigInt((128 + 170) * 3_480 * 2));
});

describe('the transfer fee of a token, in the cases of the token program’s tests: 1 bp, at most 5 000', () => {
  it.each([
    ['hits the most', 2n ** 64n - 1n, 5_000n], ['is exactly the most', 50_000_000n, 5_000n],
    ['would be rounded up, but is the most', 50_000_001n, 5_000n], ['is rounded up to the most', 49_999_999n, 5_000n],
    ['is rounded up from the smallest', 1n, 1n], ['is one', 10_000n, 1n], ['is rounded up', 10_001n, 2n],
    ['is nothing of nothing', 0n, 0n],
  ])('%s', (_, amount, fee) => {
    expect(transferFeeOf(amount as Amount, { bps: 1, maximum: 5_000n })).toBe(fee);
  });
});
