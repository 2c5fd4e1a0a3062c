import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isGannetError } from '../../../src/core/errors.ts';
import type { Json } from '../../../src/core/json.ts';
import { readContentFeed, readContents } from '../../../src/service/wire/token-content.ts';
import { readOrderBook } from '../../../src/service/wire/order-book-answer.ts';
import { MARKETS, readEvents } from '../../../src/service/wire/prediction-events.ts';
import { HISTORY } from '../../../src/service/wire/prediction-history.ts';
import { readPage } from '../../../src/service/endpoints/paged-list.ts';
import { POSITIONS, readPosition } from '../../../src/service/wire/prediction-position.ts';
import { readTokenRecords } from '../../../src/service/wire/token-record.ts';
import { mintNumber, tokenAnswer } from '../answers.ts';
import {
  eventAnswer, flatMarketAnswer, liveHistoryAnswer, livePositionAnswer, POSITION,
} from '../endpoints/prediction-answers.ts';

const page = (data: unknown): Json => ({ data, pagination: { start: 0, end: 1, total: 1, hasNext: false } }) as Json;
const content = {
  mint: mintNumber(0), contents: [{ contentId: 'c', content: 'text', submittedBy: { id: 'u' } }],
  tokenSummary: { citations: ['x'] }, newsSummary: null,
};

const READERS: readonly (readonly [string, (answer: Json) => unknown, unknown])[] = [
  [
    'tokens', readTokenRecords,
    [tokenAnswer(mintNumber(0), { stats7d: { priceChange: 1 }, firstPool: { id: 'p' }, apy: { platformEarn: 1 } })],
  ],
  ['content', readContents, { data: [content] }],
  ['a content feed', readContentFeed, { data: { ...content, pagination: { page: 1 } } }],
  ['events', readEvents, { data: [eventAnswer('E', { markets: [flatMarketAnswer('M')] })] }],
  ['markets', (answer) => readPage(MARKETS, answer), page([flatMarketAnswer('M')])],
  ['history', (answer) => readPage(HISTORY, answer), page([liveHistoryAnswer(1)])],
  ['positions', (answer) => readPage(POSITIONS, answer), page([livePositionAnswer()])],
  ['a position', (answer) => readPosition(answer, POSITION), livePositionAnswer()],
  ['a book', readOrderBook, { yes: [[42, 1.5]], no: [], yes_dollars: [['0.42', 1.5]], no_dollars: [] }],
];

/** JSON with what is most likely to be taken for something else. */
const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '', '0', '-1', '1e400', 'NaN', 'null', '__proto__', [], {}, [null], { data: null }, 1e308, -0, 2n ** 70n,
    -(2n ** 70n), 'x'.repeat(10_000), '9'.repeat(20), '9'.repeat(40),
  ),
);

/** Returns a copy with another value at one place; `choices` leads there. */
function spoilt(value: unknown, choices: readonly number[], replacement: unknown): unknown {
  const [choice, ...further] = choices;
  if (choice === undefined || typeof value !== 'object' || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[choice % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  const inner = spoilt((value as Record<string, unknown>)[key], further, replacement);
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...value, [key]: inner };
}

describe.each(READERS)('an answer with %s', (_name, read, answer) => {
  test('is read', () => {
    const result = read(answer as Json);
    expect(result).toBeDefined();
    expect(result).not.toMatchObject({ records: [] });
  });

  test('that is spoilt at any place is read without it, or malformed, and never anything else', () => {
    fc.assert(fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), json, (choices, replacement) => {
      try {
        read(spoilt(answer, choices, replacement) as Json);
      } catch (thrown) {
        if (!isGannetError(thrown) || thrown.code !== 'SERVICE_MALFORMED') throw thrown;
      }
    }), { numRuns: 400 });
  });
});
