import type { LendEarningsEvent } from '../lending.ts';
import type { FeedKind } from './feed-kind.ts';
import { readAddress } from './feed-kind.ts';

/** The subjects of the feeds of the lending API, by kind. */
export interface LendingSubjects {
  readonly 'lend-earnings': { readonly owner: string; readonly positions: readonly string[] };
}

/** The events of the same feeds. */
export interface LendingEvents {
  readonly 'lend-earnings': LendEarningsEvent;
}

/** The addresses fit the address of one request. */
const POSITIONS_MAX = 20;

/** The feeds of the lending API. */
export const LENDING_FEEDS: {
  readonly [K in keyof LendingSubjects]: FeedKind<LendingSubjects[K], LendingEvents[K]>
} = {
  'lend-earnings': {
    input: 'lendEarnings',
    keyOf: ({ owner, positions }) => `${owner}:${positions.join(',')}`,
    read: ({ owner, positions }, reading) => {
      const account = readAddress('owner', owner, reading);
      if (typeof account === 'string') return account;
      if (!Array.isArray(positions) || positions.length < 1 || positions.length > POSITIONS_MAX)
        return `names the positions ${reading.shown(positions)}: expected 1 to ${POSITIONS_MAX} addresses`;
      const read = positions.map((position: unknown) => readAddress('position', position, reading));
      const wrong = read.find((each) => typeof each === 'string');
      return wrong ?? { owner: account.address, positions: read.flatMap((each) =>
        (typeof each === 'string' ? [] : [each.address])) };
    },
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['lending earnings', 'lending earnings'],
    reading: ({ earnings }) => `${earnings.length} positions`,
  },
};
