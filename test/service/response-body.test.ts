import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isGannetError } from '../../src/core/errors.ts';
import { parseBody } from '../../src/service/response-body.ts';
import { fullOrder, QUOTE_TEXT } from './swap-answers.ts';

const LIMITS = { levels: 64, containers: 250_000, members: 20_000, numberCharacters: 100 } as const;

/** Returns why a body is refused, undefined where it is read. */
function faultOf(text: string): string | undefined {
  try {
    parseBody(text, undefined);
    return undefined;
  } catch (thrown) {
    if (isGannetError(thrown) && thrown.code === 'SERVICE_MALFORMED') return thrown.message;
    throw thrown;
  }
}

describe('a JSON text', () => {
  test.each([
    ['an answer', JSON.stringify(fullOrder())],
    ['a quote in odd spaces', QUOTE_TEXT],
    [
      'the same name in objects beside and within each other',
      '{"a":{"a":1,"b":{"a":2}},"b":[{"a":1},{"a":2}],"c":{"a":1}}',
    ],
    ['values that have the form of names', '{"a":"b","b":"a","c":["a","a","b"]}'],
    ['brackets and quotes within texts', '{"a":"{\\"a\\":1,\\"a\\":2}[[[\\\\","b":"]"}'],
    ['an empty name, once', '{"":1}'],
    ['names of an object’s own functions', '{"constructor":1,"toString":2,"hasOwnProperty":3}'],
    ['as many levels as may be', `${'['.repeat(LIMITS.levels)}${']'.repeat(LIMITS.levels)}`],
    ['as long a number as may be', `[-${'1'.repeat(LIMITS.numberCharacters - 1)}]`],
  ])('of %s is read', (_name, text) => {
    expect(faultOf(text)).toBeUndefined();
  });

  test.each([
    ['a member twice', '{"inAmount":"1","outAmount":"2","inAmount":"3"}', '"inAmount" twice'],
    ['a member twice, apart by a whole object', '{"a":{"a":1,"b":[{}]},"b":{},"a":3}', '"a" twice'],
    ['a member twice within', '[[{"b":1},{"a":{"x":1,"x":1}}]]', '"x" twice'],
    ['a member twice, once in escapes', '{"outAmount":"1","\\u006futAmount":"2"}', '"outAmount" twice'],
    ['a member twice with a value of no kind', '{"a":nul,"a":1}', '"a" twice'],
    ['a member twice with controls in its name', '{"a\\u001b[31m":1,"a\\u001b[31m":2}', '"a\\u001b[31m" twice'],
    ['a member that would replace the prototype', '{"a":[{"__proto__":{"isAdmin":true}}]}', '__proto__'],
    ['the same in escapes', '{"\\u005f_proto__":1}', '__proto__'],
    ['one level more than may be', '['.repeat(LIMITS.levels + 1), `${LIMITS.levels} levels`],
    ['objects without end', `[${'{},'.repeat(LIMITS.containers)}{}]`, `${LIMITS.containers} objects`],
    [
      'members without end', `{${Array.from({ length: LIMITS.members + 1 }, (_, i) => `"${i}":0`).join(',')}}`,
      `${LIMITS.members} members`,
    ],
    ['a number without end', `{"a":${'9'.repeat(1_000_000)}}`, 'one of 1000000'],
  ])('with %s is refused', (_name, text, words) => {
    expect(faultOf(text)).toContain(words);
  });

  test.each(['}}]]"', ''])('that is no JSON is left to the parser: %j', (text) => {
    expect(faultOf(text)).toContain('expected JSON, got');
  });

  test('says a member twice exactly where its parser drops one', () => {
    const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.constantFrom('1', 'null', '"a"', '"{\\"a\\",\\"a\\"}"', '-1.5e3'),
        tie('object'),
          fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`)),
      object: fc.array(
        fc.tuple(fc.constantFrom('"a"', '"b"', '"\\u0061"', '"c\\""', '"c"'), tie('value')), { maxLength: 4 },
      )
        .map((members) => `{${members.map(([name, inner]) => `${name} : ${inner}`).join(' , ')}}`),
    }));
    fc.assert(fc.property(value, (text) => {
      // Colons stand after names only here.
      expect(faultOf(text) !== undefined).toBe(membersIn(JSON.parse(text)) < (text.match(/:/g)?.length ?? 0));
    }), { numRuns: 2_000 });
  });

  test('costs little and never throws, whatever it is', () => {
    fc.assert(fc.property(fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a', '1', '-', ' '), maxLength: 200,
    }), (text) => {
      faultOf(text);
    }), { numRuns: 2_000 });
  });
});

/** How many members the objects in a value have, all together. */
function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce<number>((sum, each) => sum + membersIn(each), 0);
  return inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
}
