import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable, printableJson } from '../../src/core/text.ts';

it('escapes what can forge a line, a terminal or the direction of reading', () => {
  expect(printable('a\nb\r\tc')).toBe('a\\u000ab\\u000d\\u0009c');
  expect(printable('\u001b]0;owned\u0007')).toBe('\\u001b]0;owned\\u0007');
  expect(printable('\u009b31m')).toBe('\\u009b31m');
  expect(printable('US\u200bDC \u202eCDSU\u2066 \u061c\u00ad\ufeff'))
    .toBe('US\\u200bDC \\u202eCDSU\\u2066 \\u061c\\u00ad\\ufeff');
});

it('leaves words of every script alone', () => {
  expect(printable('Größe 日本語 🚀 <b>&"')).toBe('Größe 日本語 🚀 <b>&"');
});

it('makes JSON safe to print without changing what it says', () => {
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

it('cuts at the limit, whatever comes', () => {
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
