import { array, assert, constant, letrec, oneof, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GannetError } from '../../../src/core/errors.ts';
import { createRedactor } from '../../../src/daemon/reporting/log.ts';

const SECRET = 'canary-0b51-secret';
/** 64 bytes in base58: the form of a secret key. */
const KEY = '5'.repeat(88);
const redact = createRedactor([SECRET]);

describe('the redaction of the log', () => {
  it('hides the text of a secret at any depth, in values of any kind', () => {
    const place = letrec<{ node: unknown }>((tie) => ({
      node: oneof(
        { maxDepth: 5 }, constant(`before ${SECRET} after`), array(tie('node'), { minLength: 1, maxLength: 3 }),
        record({ inner: tie('node') }),
      ),
    })).node;
    assert(property(place, (value) => {
      expect(JSON.stringify(redact(value))).not.toContain(SECRET);
    }));
  });

  it('hides secrets in the message, details and causes of an error', () => {
    const inner = new Error(`connect with ${SECRET} failed`);
    const middle = new GannetError('SERVICE_UNREACHABLE', `tried ${SECRET}`, {
      details: { url: `https://host/?key=${SECRET}` }, cause: inner,
    });
    const shown = JSON.stringify(redact({ error: new Error('outermost', { cause: middle }) }));
    expect(shown).not.toContain(SECRET);
    expect(shown).toContain('outermost');
    expect(shown).toContain('SERVICE_UNREACHABLE');
    expect(shown).toContain('connect with');
  });

  it.each([
    'apiKey', 'api_key', 'x-api-key', 'private_key', 'privateKey', 'secret', 'token', 'controlToken', 'password',
    'authorization', 'mnemonic',
  ])(
    'hides any value of a member named "%s"', (name) => {
      expect(redact({ deep: [{ [name]: 'short' }] })).toStrictEqual({ deep: [{ [name]: '[redacted]' }] });
    },
  );

  it('hides values in the form of a key, as text and as an array of numbers', () => {
    const bytes = Array.from({ length: 64 }, (_, index) => index);
    expect(JSON.stringify(redact({ note: `mine is ${KEY}!`, bytes, text: JSON.stringify(bytes) })))
      .not.toMatch(/5{20}|62,63/);
  });

  it('shows signatures, which have the same form, in members for signatures', () => {
    expect(redact({ signature: KEY })).toStrictEqual({ signature: KEY });
  });

  it('hides 16 characters of a longer secret, in values and in names', () => {
    const secret = 'QbrB9UyNStjeEB6ogyBGju2YLwTMDu9c7epao';
    const part = secret.slice(11, 30);
    const shown = JSON.stringify(createRedactor([secret])(
      { note: `no key begins ${part}`, [part]: 1, error: new Error(`at ${encodeURIComponent(part)}`) },
    ));
    expect(shown).not.toContain(part.slice(1, 17));
    expect(shown).toContain('no key begins [redacted]');
  });

  it('leaves other values unchanged, and writes amounts as text', () => {
    expect(redact({ amount: 5n, list: [1, true, null], text: 'plain' }))
      .toStrictEqual({ amount: '5', list: [1, true, null], text: 'plain' });
  });

  it('marks circular references, and does not print bytes', () => {
    const circle: Record<string, unknown> = { bytes: new Uint8Array(3) };
    circle['self'] = circle;
    expect(redact(circle)).toStrictEqual({ bytes: '[3 bytes]', self: '[circular]' });
  });
});
