import { describe, expect, it } from 'vitest';
import type { ValueKind } from '../../../src/research/metrics/value-text.ts';
import { valueText } from '../../../src/research/metrics/value-text.ts';

describe('a displayed number', () => {
  it.each<[number, ValueKind, string]>([
    [6171.816315, 'amount', '6,171.82'], [-1234567.891, 'amount', '-1,234,567.89'], [0.945561, 'amount', '0.9456'],
    [-0.0348872, 'amount', '-0.03489'], [1.00049, 'amount', '1.00'], [0, 'amount', '0'],
    [183.423, 'price', '183.423'], [1.00049, 'price', '1.00049'], [0.0000123456789, 'price', '0.0000123457'],
    [64321.987, 'price', '64,321.99'], [-1.5, 'price', '-1.5'], [100, 'price', '100'], [0, 'price', '0'],
    [2.0859, 'share', '208.59 %'], [-0.00001, 'share', '0.00 %'], [23987.268, 'ratio', '23,987.27'],
    [8824, 'count', '8,824'], [12.345, 'bps', '12.35 bps'],
  ])('%d as %s is %s', (value, kind, text) => {
    expect(valueText(value, kind)).toBe(text);
  });
});
