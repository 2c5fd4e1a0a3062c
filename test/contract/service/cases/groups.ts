/** One path of every group. */
export const GROUPS = [
  '/swap/v2/order', '/swap/v2/build', '/swap/v1/quote', '/swap/v1/program-id-to-label', '/ultra/v1/search',
  '/tokens/v2/recent', '/prediction/v1/history', '/prediction/v1/events/search', '/lend/v1/earn/earnings',
] as const;

