import type { WalletActivityEvent } from '../wallet-activity.ts';
import type { FeedKind } from './feed-kind.ts';
import { readAddress } from './feed-kind.ts';

/** The subjects of the feeds about wallets on the chain, by kind. */
export interface WalletSubjects {
  readonly 'wallet-activity': { readonly owner: string };
}

/** The events of the same feeds. */
export interface WalletEvents {
  readonly 'wallet-activity': WalletActivityEvent;
}

/** The feeds about wallets on the chain. */
export const WALLET_FEEDS: { readonly [K in keyof WalletSubjects]: FeedKind<WalletSubjects[K], WalletEvents[K]> } = {
  'wallet-activity': {
    input: 'walletActivity',
    keyOf: ({ owner }) => owner,
    read: ({ owner }, reading) => {
      const account = readAddress('wallet', owner, reading);
      return typeof account === 'string' ? account : { owner: account.address };
    },
    origin: 'node',
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['activity', 'activity'],
    reading: ({ transactions }) => `${transactions.length} new transactions`,
  },
};
