import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, parseJson, stringifyJson } from '../../src/core/json.ts';

describe('reading JSON', () => {
  it('keeps every integer exactly, as a number where a double can hold it and as a bigint where not', () => {
    const text = '{"a":9007199254740991,"b":9007199254740992,"c":9007199254740993,"d":18446744073709551615,'
      + '"e":-9007199254740993,"f":[12345678901234567890]}';
    expect(parseJson(text)).toEqual({
      a: 9_007_199_254_740_991,
      b: 9_007_199_254_740_992n,
      c: 9_007_199_254_740_993n,
      d: 18_446_744_073_709_551_615n,
      e: -9_007_199_254_740_993n,
      f: [12_345_678_901_234_567_890n],
    });
  });

  it('reads fractions as numbers and strings of digits as strings, however long', () => {
    expect(parseJson('{"a":0.12345678901234567890,"b":"12345678901234567890","c":1e21}')).toEqual({
      a: 0.123_456_789_012_345_68, b: '12345678901234567890', c: 1e21,
    });
  });

  it.each([
    '', '{', '{"a":}', '[1,]', 'undefined', "{'a':1}", '1 2', '<html>', '12345678901234567890x',
  ])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'JSON_INVALID' }) as Error);
  });

  it('shows only the beginning of an invalid text', () => {
    expect(() => parseJson('x'.repeat(100_000))).toThrow(/^.{0,300}$/);
  });

  it('reads any written integer back', () => {
    fc.assert(fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
      const [read] = parseJson(`[${value}]`) as readonly (number | bigint)[];
      expect(BigInt(read!)).toBe(value);
    }));
  });
});

describe('writing JSON', () => {
  it('writes bigints as strings', () => {
    expect(stringifyJson({ amount: 18_446_744_073_709_551_615n, list: [1n] }))
      .toBe('{"amount":"18446744073709551615","list":["1"]}');
  });

  it.each([Number.NaN, Infinity, -Infinity])('refuses %d instead of writing null', (value) => {
    expect(() => stringifyJson({ value })).toThrow(TypeError);
    expect(() => canonicalJson({ value: [value] })).toThrow(TypeError);
  });
});

describe('canonical JSON', () => {
  it('sorts keys by code unit at every depth, without white space', () => {
    expect(canonicalJson({ b: 1, a: { d: [true, null], c: 'x' }, B: 2 }))
      .toBe('{"B":2,"a":{"c":"x","d":[true,null]},"b":1}');
    // U+1F600 begins with the code unit D83D, below U+FB01, though its code point is above.
    expect(canonicalJson({ '\ufb01': 1, '\u{1f600}': 2, 'é': 3, 'z': 4, '10': 5, '9': 6 }))
      .toBe('{"10":5,"9":6,"z":4,"é":3,"\u{1f600}":2,"\ufb01":1}');
  });

  it('leaves out undefined members and writes bigints as strings', () => {
    expect(canonicalJson({ a: undefined, b: 5n, c: [undefined] })).toBe('{"b":"5","c":[null]}');
    expect(canonicalJson({ a: undefined })).toBe('{}');
  });

  it('does not depend on the order of members, and is valid JSON', () => {
    const plain = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.constant(null)));
    fc.assert(fc.property(plain, (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }));
  });

  it('refuses values that JSON cannot hold', () => {
    expect(() => canonicalJson(() => 1)).toThrow(TypeError);
    expect(() => canonicalJson({ a: Symbol('x') })).toThrow(TypeError);
  });
});
