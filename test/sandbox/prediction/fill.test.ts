import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { affordable, fillFrom } from '../../../src/sandbox/prediction/order-execution.ts';
import { ONE } from '../../../src/sandbox/prediction/positions.ts';

const levels = fc.array(
  fc.record({ price: fc.integer({ min: 1, max: 9_999 }), size: fc.double({ min: 0.01, max: 5_000, noNaN: true }) }),
  { maxLength: 30 },
);

describe('a fill', () => {
  it('takes the best levels first, YES from the bids for NO', () => {
    const book = { yes: [{ price: 3_000, size: 50 }], no: [{ price: 5_900, size: 10 }, { price: 6_000, size: 20 }] };
    const buy = fillFrom(book, {
      isYes: true, isBuy: true, contracts: 25n * ONE, limitPriceUsd: 420_000n, contractStep: ONE, category: 'crypto',
    })!;
    expect(buy).toMatchObject({
      contracts: 25n * ONE, totalUsd: 20n * 400_000n + 5n * 410_000n, averagePriceUsd: 402_000n,
      highestPriceUsd: 410_000n,
    });
    const sale = fillFrom(book, {
      isYes: true, isBuy: false, contracts: 80n * ONE, limitPriceUsd: 1n, contractStep: ONE, category: 'sports',
    })!;
    expect(sale).toMatchObject({
      contracts: 50n * ONE, totalUsd: 15_000_000n, feesUsd: 315_000n,
    });
  });

  it('stops at its limit, and gives nothing where no level is within it', () => {
    const book = { yes: [], no: [{ price: 6_000, size: 20 }, { price: 5_000, size: 20 }] };
    const request = { isYes: true, isBuy: true, contracts: 100n * ONE, contractStep: ONE, category: 'crypto' } as const;
    expect(fillFrom(book, { ...request, limitPriceUsd: 450_000n })).toMatchObject({ contracts: 20n * ONE });
    expect(fillFrom(book, { ...request, limitPriceUsd: 390_000n })).toBeUndefined();
    expect(fillFrom(book, { ...request, isYes: false, limitPriceUsd: 999_000n })).toBeUndefined();
  });

  it('charges seven hundredths of contracts * price * (1 - price), three for sports', () => {
    const book = { yes: [], no: [{ price: 5_000, size: 200 }] };
    const request = { isYes: true, isBuy: true, limitPriceUsd: 999_000n, contractStep: 1n } as const;
    const feeOf = (contracts: bigint, category: 'crypto' | 'sports'): bigint | undefined =>
      fillFrom(book, { ...request, contracts, category })?.feesUsd;
    expect(feeOf(100n * ONE, 'crypto')).toBe(1_750_000n);
    expect(feeOf(100n * ONE, 'sports')).toBe(750_000n);
    expect(feeOf(1n, 'crypto')).toBe(1n);
  });

  it('never costs more than was paid in, whatever the book', () => {
    fc.assert(fc.property(
      levels, fc.bigInt({ min: 5n, max: 2_000n }), fc.integer({ min: 1, max: 9_950 }), fc.boolean(),
      fc.constantFrom(ONE, ONE / 100n),
      (no, dollars, limit, isSport, contractStep) => {
        const category = isSport ? 'sports' : 'crypto';
        const [depositUsd, limitPriceUsd] = [dollars * ONE, BigInt(limit) * 100n];
        const contracts = affordable(depositUsd, { price: limitPriceUsd, category, contractStep });
        if (contracts === 0n) return;
        const fill =
          fillFrom({ yes: [], no }, { isYes: true, isBuy: true, contracts, limitPriceUsd, contractStep, category });
        if (fill === undefined) return;
        expect(fill.totalUsd + fill.feesUsd).toBeLessThanOrEqual(depositUsd);
        expect(fill.contracts % contractStep).toBe(0n);
        expect(fill.highestPriceUsd).toBeLessThanOrEqual(limitPriceUsd);
      },
    ));
  });
});
