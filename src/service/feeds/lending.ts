import type { LendingSubjects } from '../../market/feeds/lending.ts';
import type { FeedRequests } from './feed-request.ts';
import { eachAlone } from './feed-request.ts';

/** The requests of the feeds of the lending API. */
export const LENDING_REQUESTS: FeedRequests<keyof LendingSubjects> = {
  'lend-earnings': eachAlone(async ({ owner, positions }, { lend }, call) =>
    ({ owner, earnings: await lend.earnings({ user: owner, positions }, call) })),
};
