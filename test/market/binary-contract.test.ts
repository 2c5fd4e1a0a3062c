import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bps, MicroUsd } from '../../src/core/amount.ts';
import { breakEvenProbability, kellyFraction, quadraticFee } from '../../src/market/binary-contract.ts';

const SEVEN_PERCENT = 700 as Bps;
const feeInCents = (contracts: number, cents: number, rate = SEVEN_PERCENT): number =>
  Number(quadraticFee({ contractsMicro: BigInt(contracts) * 1_000_000n, priceMicroUsd: cents * 10_000, rate })) / 1e4;

describe('the quadratic fee', () => {
  // The fee schedule of a provider for a rate of 7 %: price and fee in cents of 1 and of 100 contracts.
  it.each([
    [1, 1, 7], [5, 1, 34], [10, 1, 63], [15, 1, 90], [20, 2, 112], [25, 2, 132], [30, 2, 147], [35, 2, 160],
    [40, 2, 168], [45, 2, 174], [50, 2, 175], [55, 2, 174], [60, 2, 168], [65, 2, 160], [70, 2, 147], [75, 2, 132],
    [80, 2, 112], [85, 1, 90], [90, 1, 63], [95, 1, 34], [99, 1, 7],
  ])('at %d cents is %d for one contract and %d for a hundred, as published', (price, one, hundred) => {
    expect([feeInCents(1, price), feeInCents(100, price)]).toEqual([one, hundred]);
  });

  it('is exact where doubles round up to one cent more', () => {
    expect(Math.ceil(0.07 * 100 * 0.1 * 0.9 * 100)).toBe(64);
    expect(feeInCents(100, 10)).toBe(63);
  });

  it('rounds up once for the order, to the unit of the provider', () => {
    const order = { contractsMicro: 1_500_000n, priceMicroUsd: 333_333, rate: 175 as Bps };
    // 0.0175 * 1.5 * 0.333333 * 0.666667 = 0.005833332…
    expect(quadraticFee(order)).toBe(10_000n);
    expect(quadraticFee({ ...order, unit: 10n as MicroUsd })).toBe(5_840n);
    expect(quadraticFee({ ...order, unit: 1n as MicroUsd })).toBe(5_834n);
  });

  it('is 0 at the ends and without contracts, the same for both sides, and largest at one half', () => {
    fc.assert(fc.property(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 0, max: 1_000_000 }),
      (contractsMicro, priceMicroUsd) => {
        const fee = (price: number): MicroUsd =>
          quadraticFee({ contractsMicro, priceMicroUsd: price, rate: SEVEN_PERCENT, unit: 1n as MicroUsd });
        expect(fee(priceMicroUsd)).toBe(fee(1_000_000 - priceMicroUsd));
        expect(fee(priceMicroUsd)).toBeLessThanOrEqual(fee(500_000));
        expect([fee(0), fee(1_000_000)]).toEqual([0n, 0n]);
      }));
    expect(feeInCents(0, 50)).toBe(0);
  });

  it.each([-1, 1_000_001, 0.5, Number.NaN])('refuses a price of %d', (priceMicroUsd) => {
    expect(() => quadraticFee({ contractsMicro: 1n, priceMicroUsd, rate: SEVEN_PERCENT }))
      .toThrow('expected a price of 0 to 1000000');
  });

  it('refuses negative contracts and units', () => {
    const order = { contractsMicro: 1n, priceMicroUsd: 1, rate: SEVEN_PERCENT };
    expect(() => quadraticFee({ ...order, contractsMicro: -1n })).toThrow('contracts of at least 0');
    expect(() => quadraticFee({ ...order, unit: 0n as MicroUsd })).toThrow('a unit above 0');
  });
});

/** Returns the expected logarithm of the capital after staking a fraction of it. */
function growth(fraction: number, probability: number, cost: number): number {
  return probability * Math.log(1 + fraction * (1 - cost) / cost) + (1 - probability) * Math.log(1 - fraction);
}

describe('the Kelly fraction of a binary contract', () => {
  it('is (p - c) / (1 - c), as computed manually, with the fee as part of the cost', () => {
    expect(kellyFraction({ probability: 0.6, priceMicroUsd: 500_000 })).toBeCloseTo(0.2, 12);
    // 100 contracts at 0.50 pay 1.75 dollars: 0.0175 each, so (0.6 - 0.5175) / 0.4825.
    expect(kellyFraction({ probability: 0.6, priceMicroUsd: 500_000, feePerContract: 17_500 }))
      .toBeCloseTo(0.170_984_456, 8);
  });

  it('is 0 without an edge after the fee', () => {
    expect(kellyFraction({ probability: 0.5, priceMicroUsd: 500_000 })).toBe(0);
    expect(kellyFraction({ probability: 0.51, priceMicroUsd: 500_000, feePerContract: 17_500 })).toBe(0);
    expect(kellyFraction({ probability: 1, priceMicroUsd: 990_000, feePerContract: 10_000 })).toBe(0);
  });

  it('maximises the expected logarithm of the capital, and is never more than the edge over the best outcome', () => {
    const cents = fc.integer({ min: 1, max: 98 });
    fc.assert(fc.property(cents, fc.integer({ min: 1, max: 999 }), fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      (price, thousandths, other) => {
        const probability = thousandths / 1_000;
        const fraction = kellyFraction({ probability, priceMicroUsd: price * 10_000, feePerContract: 1_000 });
        const cost = breakEvenProbability(price * 10_000, 1_000);
        expect(fraction).toBeGreaterThanOrEqual(0);
        expect(fraction).toBeLessThanOrEqual(probability);
        expect(growth(fraction, probability, cost)).toBeGreaterThanOrEqual(growth(other, probability, cost) - 1e-12);
      }));
  });

  it('breaks even where price and fee are the probability', () => {
    expect(breakEvenProbability(500_000, 17_500)).toBe(0.5175);
    expect(breakEvenProbability(10_000)).toBe(0.01);
    expect(() => breakEvenProbability(500_000, -1)).toThrow('a fee of at least 0');
    expect(() => kellyFraction({ probability: 1.1, priceMicroUsd: 1 })).toThrow('a probability from 0 to 1');
    expect(() => kellyFraction({ probability: Number.NaN, priceMicroUsd: 1 })).toThrow('got NaN');
  });
});
