import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupThousands, nearest, pluralize, printable, printableJson } from '../../src/core/text.ts';

it('printable escapes characters that forge lines, terminals or the reading direction', () => {
  expect(printable('a\nb\r\tc')).toBe('a\\u000ab\\u000d\\u0009c');
  expect(printable('\u001b]0;owned\u0007')).toBe('\\u001b]0;owned\\u0007');
  expect(printable('\u009b31m')).toBe('\\u009b31m');
  expect(printable('US\u200bDC \u202eCDSU\u2066 \u061c\u00ad\ufeff'))
    .toBe('US\\u200bDC \\u202eCDSU\\u2066 \\u061c\\u00ad\\ufeff');
});

it('printable leaves words of every script unchanged', () => {
  expect(printable('Größe 日本語 🚀 <b>&"')).toBe('Größe 日本語 🚀 <b>&"');
});

it('printableJson makes JSON safe to print without changing its content', () => {
  expect(printableJson('{\n  "name": "\u009b31m \u202egnp.exe\u007f"\n}'))
    .toBe('{\n  "name": "\\u009b31m \\u202egnp.exe\\u007f"\n}');
  fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(0, 2), (json, indent) => {
    const text = JSON.stringify(JSON.parse(json), null, indent);
    const shown = printableJson(text);
    expect(JSON.parse(shown)).toStrictEqual(JSON.parse(text));
    // oxlint-disable-next-line no-control-regex -- controls are what must not be there
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }));
});

it('printable cuts at the limit', () => {
  expect(printable('x'.repeat(500))).toBe(`${'x'.repeat(200)}…`);
  expect(printable('abcdef', 3)).toBe('abc…');
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 1, max: 300 }),
    (text, limit) => {
      const shown = printable(text, limit);
      expect(shown.length).toBeLessThanOrEqual(limit * 6 + 1);
      // oxlint-disable-next-line no-control-regex -- controls are what must not be there
      expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }));
});

describe('pluralize', () => {
  it('uses the singular for one and the plural for other counts', () => {
    expect([
      pluralize(0, 'fill'), pluralize(1, 'fill'), pluralize(2, 'fill'), pluralize(1, 'fill is', 'fills are'),
      pluralize(4_412, 'fill is', 'fills are'),
    ])
      .toEqual(['0 fills', '1 fill', '2 fills', '1 fill is', '4,412 fills are']);
  });

  it('separates thousands, and leaves decimals unchanged', () => {
    expect([groupThousands('999'), groupThousands('-1234567.1234567'), groupThousands('1000')])
      .toEqual(['999', '-1,234,567.1234567', '1,000']);
  });
});

it('nearest finds the intended word', () => {
  expect(nearest('max_slipage_bps', ['max_slippage_bps', 'max_fee_bps', 'max_trade'])).toBe('max_slippage_bps');
  expect(nearest('usdc', ['SOL', 'USDC', 'USDT'])).toBe('USDC');
  expect(nearest('windw', ['window', 'k'])).toBe('window');
});

it('nearest suggests nothing without a close word, and the first of equally close ones', () => {
  expect(nearest('elephant', ['window', 'k', 'size'])).toBeUndefined();
  expect(nearest('anything', [])).toBeUndefined();
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
});
