import { expect } from 'vitest';
import type { FeedSource } from '../../../src/service/feeds/feed-request.ts';

function unasked(): never {
  return expect.unreachable('this test does not ask for it');
}

/** Calls of the service that a test does not expect. */
export const UNASKED: Pick<FeedSource, 'tokens' | 'prediction' | 'lend'> = {
  tokens: { search: unasked, recent: unasked, tag: unasked, category: unasked },
  prediction: {
    orderBook: unasked, eventMarkets: unasked, searchEvents: unasked, suggestedEvents: unasked, positions: unasked,
    history: unasked,
  },
  lend: { earnings: unasked },
};
