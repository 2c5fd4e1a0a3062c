import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { readContents } from '../../../src/service/wire/token-content.ts';
import { readExecuteAnswer } from '../../../src/service/wire/execute-answer.ts';
import { readOrderBook } from '../../../src/service/wire/order-book-answer.ts';
import { readEvents } from '../../../src/service/wire/prediction-events.ts';
import { HISTORY } from '../../../src/service/wire/prediction-history.ts';
import { readPage } from '../../../src/service/endpoints/paged-list.ts';
import { readSwapBuild } from '../../../src/service/wire/build-answer.ts';
import { readSwapOrder } from '../../../src/service/wire/order-answer.ts';
import { readTokenRecords } from '../../../src/service/wire/token-record.ts';
import {
  ASKED, ASKED_BY_TAKER, buildAnswer, mintNumber, orderAnswer, PROGRAM, SIGNATURE, tokenAnswer,
} from '../answers.ts';

// A list of a million small things fits into the bytes that an answer may have. To check each of them, and to say of
// each what is wrong with it, would take a minute and gigabytes.
const LONG = Array.from({ length: 1_000_000 }, () => 1);
const broken = (count: number): Json[] => Array.from({ length: count }, () => ({}));

function refusal(what: string): unknown {
  const words = `${what}: expected elements that can be read, more than 1000 cannot; the first: `;
  return expect.objectContaining({ code: 'SERVICE_MALFORMED', message: expect.stringContaining(words) as string });
}

const pagination = { start: 0, end: 20, total: 20, hasNext: false };

describe('a list that no answer has', () => {
  test.each<[string, () => unknown, string]>([
    [
      'the levels of a book', () => readOrderBook({ yes_dollars: LONG, no: [] }),
      'yes_dollars: expected a list of at most 10000, got a list of 1000000',
    ],
    [
      'instructions', () => readSwapBuild(buildAnswer({ setupInstructions: LONG }), ASKED_BY_TAKER),
      'setupInstructions: expected a list of at most 64',
    ],
    ['the accounts of one', () => readSwapBuild(
      buildAnswer({ swapInstruction: { programId: PROGRAM, accounts: LONG, data: '' } }), ASKED_BY_TAKER,
    ), 'accounts: expected a list of at most 256'],
    ['the addresses of a table', () => readSwapBuild(
      buildAnswer({ addressesByLookupTableAddress: { [PROGRAM]: LONG } }), ASKED_BY_TAKER,
    ), 'expected a list of at most 256'],
    ['tables', () => readSwapBuild(buildAnswer({
      addressesByLookupTableAddress: Object.fromEntries(LONG.slice(0, 65).map((_, i) => [mintNumber(i), LONG])),
    }), ASKED_BY_TAKER), 'expected at most 64 tables'],
    ['a blockhash', () => readSwapBuild(
      buildAnswer({ blockhashWithMetadata: { blockhash: LONG, lastValidBlockHeight: 5 } }), ASKED_BY_TAKER,
    ), 'expected 32 bytes'],
    ['tokens', () => readTokenRecords(LONG), 'tokens: expected a list of at most 50000, got a list of 1000000'],
    ['a ledger', () => readPage(HISTORY, { data: LONG, pagination }), 'history: expected a list of at most 50000'],
  ])('of %s is refused before any element is read', (_name, read, words) => {
    expect(read).toThrow(
      expect.objectContaining({ code: 'SERVICE_MALFORMED', message: expect.stringContaining(words) as string }),
    );
  });

  test('of what is only shown is left out, and said to be', () => {
    expect(readSwapOrder(orderAnswer({ routePlan: LONG }), ASKED))
      .toMatchObject({ outAmount: 150_000_000n, routePlan: [], unread: ['routePlan'] });
    expect(readExecuteAnswer({ status: 'Success', code: 0, signature: SIGNATURE, swapEvents: LONG }))
      .toMatchObject({ status: 'success', amounts: { unread: ['swapEvents'] } });
  });
});

describe('a list that mostly cannot be read', () => {
  test('is of another form, and given up', () => {
    expect(readTokenRecords([tokenAnswer(mintNumber(1)) as Json, ...broken(1_000)]))
      .toMatchObject({ records: [{ id: mintNumber(1) }], rejected: { length: 1_000 } });
    expect(() => readTokenRecords(broken(1_001))).toThrow(refusal('tokens'));
  });

  test('is so wherever it stands, and over all elements together', () => {
    expect(() => readEvents({ data: [{ eventId: 'E', markets: broken(1_001) }] })).toThrow(refusal('markets'));
    expect(() =>
      readContents({ data: Array.from({ length: 3 }, (_, i) => ({ mint: mintNumber(i), contents: broken(400) })) }))
      .toThrow(refusal('content by token'));
  });
});
