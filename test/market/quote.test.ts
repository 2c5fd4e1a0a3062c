import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { outputAt, rateOf } from '../../src/market/quote.ts';

const units = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }) as fc.Arbitrary<Amount>;

it('a quote gives its output at its own size, and never more per unit at another', () => {
  fc.assert(fc.property(units, units, units, (inAmount, outAmount, other) => {
    expect(outputAt({ inAmount, outAmount }, inAmount)).toBe(outAmount);
    const out = outputAt({ inAmount, outAmount }, other);
    expect(out * inAmount <= outAmount * other).toBe(true);
    expect((out + 1n) * inAmount > outAmount * other).toBe(true);
  }));
});

it('a quote’s rate is in smallest units', () => {
  expect(rateOf(1_000_000_000n, 150_000_000n)).toBe(0.15);
  expect(rateOf(2n ** 63n, 2n ** 63n)).toBe(1);
});
