import { GannetError } from '../../core/errors.ts';
import type { WalletSubjects } from '../../market/feeds/wallet.ts';
import type { FeedRequests } from './feed-request.ts';
import { eachAlone } from './feed-request.ts';

/** The requests of the feeds about wallets, which the chain's node answers. */
export const WALLET_REQUESTS: FeedRequests<keyof WalletSubjects> = {
  'wallet-activity': eachAlone(async ({ owner }, { node }, { onStart, signal }) => {
    if (node === undefined)
      throw new GannetError('CONFIG_INVALID', 'the activity of a wallet needs a node of the chain: set chain.rpc_url');
    // The rate of the service does not hold it back.
    onStart?.();
    return node.walletActivity(owner, signal);
  }),
};
