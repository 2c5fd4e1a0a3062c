import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { platformFee, quoteHop } from '../../../src/sandbox/chain/swap-math.ts';

const U64 = 2n ** 64n - 1n;
const hops = fc.record({
  reserveIn: fc.bigInt({ min: 1n, max: U64 }),
  reserveOut: fc.bigInt({ min: 1n, max: U64 }),
  feeBps: fc.integer({ min: 0, max: 10_000 }),
  amountIn: fc.bigInt({ min: 0n, max: U64 }),
});

describe('the arithmetic of a hop', () => {
  test('a known trade pays what a hand calculation says', () => {
    // net = 997_000, out = floor(10^13 * 997_000 / (10^12 + 997_000))
    expect(quoteHop({ reserveIn: 10n ** 12n, reserveOut: 10n ** 13n, feeBps: 30, amountIn: 1_000_000n })).toBe(9_969_990n);
  });

  test('the product of the reserves never shrinks, so nobody can drain a pool by rounding', () => {
    fc.assert(
      fc.property(hops, (hop) => {
        const out = quoteHop(hop);
        if (out === 0n) return;
        expect((hop.reserveIn + hop.amountIn) * (hop.reserveOut - out)).toBeGreaterThanOrEqual(hop.reserveIn * hop.reserveOut);
        expect(out).toBeLessThan(hop.reserveOut);
      }),
    );
  });

  test('more in never pays less out', () => {
    fc.assert(
      fc.property(hops, fc.bigInt({ min: 0n, max: 2n ** 40n }), (hop, more) => {
        const larger = { ...hop, amountIn: hop.amountIn + more };
        if (larger.reserveIn + larger.amountIn <= U64) expect(quoteHop(larger)).toBeGreaterThanOrEqual(quoteHop(hop));
      }),
    );
  });

  test('a trade that would carry a reserve beyond u64 is not filled', () => {
    expect(quoteHop({ reserveIn: U64, reserveOut: 10n, feeBps: 0, amountIn: 1n })).toBe(0n);
    expect(quoteHop({ reserveIn: U64 - 10n, reserveOut: U64, feeBps: 0, amountIn: 10n })).toBe(10n);
  });

  test('the platform and the user share an output without losing a unit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: U64 }), fc.integer({ min: 0, max: 10_000 }), (out, bps) => {
        const fee = platformFee(out, bps);
        expect(fee * 10_000n).toBeLessThanOrEqual(out * BigInt(bps));
        expect((fee + 1n) * 10_000n).toBeGreaterThan(out * BigInt(bps));
      }),
    );
  });
});
