import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beforePlatformFee, inputForHop, platformFee, quoteHop } from '../../../src/sandbox/chain/swap-math.ts';

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
    expect(quoteHop({ reserveIn: 10n ** 12n, reserveOut: 10n ** 13n, feeBps: 30, amountIn: 1_000_000n }))
      .toBe(9_969_990n);
  });

  test('the product of the reserves never shrinks, so rounding cannot drain a pool', () => {
    fc.assert(
      fc.property(hops, (hop) => {
        const out = quoteHop(hop);
        if (out === 0n) return;
        expect((hop.reserveIn + hop.amountIn) * (hop.reserveOut - out))
          .toBeGreaterThanOrEqual(hop.reserveIn * hop.reserveOut);
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

  test('the least input for an output pays it, and one unit less does not', () => {
    let fillable = 0;
    fc.assert(
      fc.property(hops, fc.bigInt({ min: 1n, max: U64 }), (hop, wanted) => {
        const amountOut = wanted % hop.reserveOut;
        const amountIn = inputForHop({ ...hop, amountOut });
        if (amountIn === undefined) return;
        fillable += 1;
        expect(quoteHop({ ...hop, amountIn })).toBeGreaterThanOrEqual(amountOut);
        expect(quoteHop({ ...hop, amountIn: amountIn - 1n })).toBeLessThan(amountOut);
      }),
      { numRuns: 2_000 },
    );
    expect(fillable).toBeGreaterThan(200);
  });

  test('no input is named where none would do', () => {
    const pool = { reserveIn: 1_000n, reserveOut: 1_000n, feeBps: 30 };
    expect(inputForHop({ ...pool, amountOut: 0n })).toBeUndefined();
    expect(inputForHop({ ...pool, amountOut: 1_000n })).toBeUndefined();
    expect(inputForHop({ ...pool, feeBps: 10_000, amountOut: 1n })).toBeUndefined();
    expect(inputForHop({ ...pool, reserveIn: U64 - 5n, amountOut: 999n })).toBeUndefined();
    fc.assert(
      fc.property(hops, fc.bigInt({ min: 1n, max: U64 }), (hop, amountOut) => {
        // Where the inverse knows no input, the one that paid would be its contradiction.
        const paid = quoteHop(hop);
        if (paid >= amountOut) expect(inputForHop({ ...hop, amountOut })).toBeLessThanOrEqual(hop.amountIn);
      }),
    );
  });

  test('the least amount before a share leaves what it must, and one unit less does not', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: U64 }), fc.integer({ min: 0, max: 9_999 }), (net, bps) => {
        const amount = beforePlatformFee(net, bps)!;
        expect(amount - platformFee(amount, bps)).toBe(net);
        expect(amount - 1n - platformFee(amount - 1n, bps)).toBeLessThan(net);
      }),
    );
    expect(beforePlatformFee(1n, 10_000)).toBeUndefined();
    expect(beforePlatformFee(0n, 50)).toBe(0n);
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
