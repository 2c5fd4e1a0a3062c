import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import {
  afterSlippage, amount, bps, formatDecimal, lamports, mulDiv, parseDecimal, parseRaw, U64_MAX,
} from '../../src/core/amount.ts';
import type { GannetError } from '../../src/core/errors.ts';

const invalid = expect.objectContaining({ name: 'GannetError', code: 'AMOUNT_INVALID' }) as GannetError;
const decimalsOfTokens = fc.constantFrom(0, 5, 6, 9, 12, 18);
const u64 = fc.bigInt({ min: 0n, max: U64_MAX });
const natural = fc.bigInt({ min: 0n, max: 2n ** 70n });
const positive = fc.bigInt({ min: 1n, max: 2n ** 70n });

describe('an amount', () => {
  it('accepts exactly the values of a u64', () => {
    expect(amount(0n)).toBe(0n);
    expect(amount(U64_MAX)).toBe(18_446_744_073_709_551_615n);
    expect(() => amount(-1n)).toThrow(invalid);
    expect(() => amount(U64_MAX + 1n)).toThrow(invalid);
    expect(() => lamports(-1n)).toThrow(invalid);
  });

  it('is parsed from digits alone', () => {
    expect(parseRaw('18446744073709551615')).toBe(U64_MAX);
    expect(parseRaw('9007199254740993')).toBe(9_007_199_254_740_993n);
    for (const text of [
      '18446744073709551616', '', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '1\n', '0x10', '1_000', '١',
    ]) {
      expect(() => parseRaw(text), JSON.stringify(text)).toThrow(invalid);
    }
  });

  it('is shortened in an error', () => {
    try {
      parseRaw('9'.repeat(10_000));
      expect.unreachable();
    } catch (error) {
      expect((error as GannetError).message.length).toBeLessThan(200);
      expect(String((error as GannetError).details['found']).length).toBeLessThan(100);
    }
  });
});

describe('a decimal amount', () => {
  it.each([
    ['0', 0, 0n], ['7', 0, 7n], ['0.1', 9, 100_000_000n], ['1.5', 9, 1_500_000_000n], ['0.00001', 5, 1n],
    ['1', 18, 10n ** 18n],
    ['9007199254.740993', 6, 9_007_199_254_740_993n], ['9007199254.740991', 6, 9_007_199_254_740_991n],
    ['18446744073709.551615', 6, U64_MAX], ['18446744073709551615', 0, U64_MAX], ['18.446744073709551615', 18, U64_MAX],
  ])('reads "%s" at %i places exactly', (text, decimals, expected) => {
    expect(parseDecimal(text, decimals)).toBe(expected);
  });

  it.each([
    ['1e3', 6], ['0.1', 0], ['+1', 6], ['-1', 6], [' 1', 6], ['1 ', 6], ['.5', 6], ['1.', 6], ['', 6], ['.', 6],
    ['1,5', 6], ['1_000', 6], ['0.0000001', 6], ['1.0000000', 6], ['0x1', 6], ['NaN', 6], ['Infinity', 6], ['1.5.0', 6],
    ['18446744073709.551616', 6], ['18446744073709551616', 0], ['1\n', 6], ['１', 6],
  ])('refuses "%s" at %i places', (text, decimals) => {
    expect(() => parseDecimal(text, decimals)).toThrow(invalid);
  });

  it('survives writing and reading', () => {
    fc.assert(fc.property(u64, decimalsOfTokens, (value, decimals) => {
      expect(parseDecimal(formatDecimal(value, decimals), decimals)).toBe(value);
    }));
  });

  it('is written without trailing zeros and exponents', () => {
    expect(formatDecimal(1_500_000_000n, 9)).toBe('1.5');
    expect(formatDecimal(1n, 18)).toBe('0.000000000000000001');
    expect(formatDecimal(10n ** 30n, 6)).toBe('1000000000000000000000000');
    expect(formatDecimal(-1_500_000n, 6)).toBe('-1.5');
    expect(formatDecimal(0n, 9)).toBe('0');
    expect(formatDecimal(120n, 0)).toBe('120');
  });
});

describe('mulDiv', () => {
  it('floors to the greatest and ceils to the least whole number on its side of the quotient', () => {
    fc.assert(fc.property(natural, natural, positive, (a, num, den) => {
      const floor = mulDiv(a, num, den, 'floor');
      const ceil = mulDiv(a, num, den, 'ceil');
      expect(floor * den <= a * num && a * num < (floor + 1n) * den).toBe(true);
      expect(ceil * den >= a * num && (ceil - 1n) * den < a * num).toBe(true);
      expect(ceil - floor).toBe((a * num) % den === 0n ? 0n : 1n);
    }));
  });

  it('is the identity for a factor of one, and never grows in a round trip', () => {
    fc.assert(fc.property(natural, positive, positive, (a, num, den) => {
      expect(mulDiv(a, den, den, 'floor')).toBe(a);
      expect(mulDiv(mulDiv(a, num, den, 'floor'), den, num, 'floor') <= a).toBe(true);
      expect(mulDiv(mulDiv(a, num, den, 'ceil'), den, num, 'ceil') >= a).toBe(true);
    }));
  });

  it('refuses a zero denominator and negative operands', () => {
    expect(() => mulDiv(1n, 1n, 0n, 'floor')).toThrow(RangeError);
    expect(() => mulDiv(-1n, 1n, 1n, 'floor')).toThrow(RangeError);
    expect(() => mulDiv(1n, -1n, 1n, 'ceil')).toThrow(RangeError);
    expect(() => mulDiv(1n, 1n, -1n, 'ceil')).toThrow(RangeError);
  });
});

describe('basis points', () => {
  it('are whole numbers of 0 to 10000', () => {
    expect([bps(0), bps(10_000)]).toEqual([0, 10_000]);
    for (const value of [-1, 10_001, 0.5, Number.NaN, Infinity]) expect(() => bps(value)).toThrow(invalid);
  });

  it('subtract slippage, floored', () => {
    expect(afterSlippage(999n as Amount, bps(50))).toBe(994n);
    expect(afterSlippage(U64_MAX as Amount, bps(0))).toBe(U64_MAX);
    expect(afterSlippage(U64_MAX as Amount, bps(10_000))).toBe(0n);
  });
});
