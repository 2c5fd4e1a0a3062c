import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressSecrets, createRedaction } from '../../src/core/redaction.ts';

const SECRET = 'QbrB9UyNStjeEB6ogyBGju2YLwTMDu9c7epao';
const redact = createRedaction([SECRET], '[key]');

const hexOf = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, '0');
const SPELLINGS: readonly ((char: string) => string)[] = [
  (char) => char, (char) => char, (char) => `\\u00${hexOf(char)}`, (char) => `\\u00${hexOf(char).toUpperCase()}`,
  (char) => `\\\\u00${hexOf(char)}`, (char) => `\\x${hexOf(char)}`, (char) => `%${hexOf(char)}`,
  (char) => `%25${hexOf(char).toUpperCase()}`, (char) => (/\w/.test(char) ? char : `\\${char}`),
];

describe('a redaction', () => {
  it('replaces a secret at every position', () => {
    expect(redact(`${SECRET} "${SECRET}", (${SECRET})`)).toBe('[key] "[key]", ([key])');
  });

  it('replaces any 16 characters of a secret in any spelling, and leaves the text around them', () => {
    // Of characters that continue no spelling, so that they are no part of what is found.
    const around = fc.string({ unit: fc.constantFrom('!', ' ', '"', '{', 'é', 'Z', '\\"'), maxLength: 40 });
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
        .filter((char) => !'\\%!"{Z'.includes(char)),
      minLength: 16, maxLength: 60,
    });
    fc.assert(fc.property(visible, fc.nat(), fc.nat(),
      fc.array(fc.nat({ max: SPELLINGS.length - 1 }), { minLength: 60, maxLength: 60 }), around, around,
      (secret, from, extra, spellings, before, after) => {
        const start = from % (secret.length - 15);
        const part = secret.slice(start, start + 16 + (extra % (secret.length - start - 15)));
        const spelled = Array.from(part, (char, index) => SPELLINGS[spellings[index]!]!(char)).join('');
        expect(createRedaction([secret], '')(`${before} ${spelled} ${after}`)).toBe(`${before}  ${after}`);
      }), { numRuns: 2_000 });
  });

  it('leaves shorter parts, and texts without a secret', () => {
    fc.assert(fc.property(fc.nat({ max: SECRET.length - 15 }), fc.string(), (start, text) => {
      const short = `${text} ${SECRET.slice(start, start + 15)}!${text}`;
      expect(redact(short)).toBe(short);
    }));
  });

  it('keeps JSON valid', () => {
    const document = { [SECRET]: [`"${SECRET}"\n`, `\n${SECRET}\\`, `${SECRET}\u0001`, 'C:\\n'] };
    expect(JSON.parse(redact(JSON.stringify(document))))
      .toEqual({ '[key]': ['"[key]"\n', '\n[key]\\', '[key]\u0001', 'C:\\n'] });
  });

  it('finds a secret of less than 16 characters as a whole, a very short one in plain spelling only', () => {
    expect(createRedaction(['hunter-2-key', 'pin42', ''], '*')('hunter-2-ke hunter\\u002d2-key pin4 pin42'))
      .toBe('hunter-2-ke * pin4 *');
  });

  it.each([
    ['backslashes', '\\'], ['percent signs', '%'], ['percent signs of percent signs', '%25'],
    ['a part of the secret that is too short', SECRET.slice(0, 15)], ['the secret', SECRET], ['one character', 'Q'],
  ])('reads a text of many %s in time that grows with it', (_, piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const before = process.cpuUsage();
    createRedaction([SECRET, 'Q'.repeat(40)], '*')(text);
    // Some hundredths of a second; were it to grow with the square, hours.
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});

describe('the secrets of an address', () => {
  it.each([
    [`https://node.example/v2/${SECRET}`, [SECRET]],
    [`https://node.example/rpc?cluster=main&api-key=${SECRET}`, [SECRET]],
    [`https://node.example/?${SECRET}`, [SECRET]],
    [`https://someone:${SECRET}@node.example/`, [SECRET]],
    ['https://node.example/?key=a%2Bbcdefghijklmnopq', ['a%2Bbcdefghijklmnopq', 'a+bcdefghijklmnopq']],
    ['https://api.node.example/v2/short?cluster=main', []],
    ['no address', []],
  ])('the secrets of %s are the parts that are long enough for a key', (address, secrets) => {
    expect(addressSecrets(address)).toEqual(secrets);
  });
});
