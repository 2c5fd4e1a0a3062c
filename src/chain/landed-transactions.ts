import { idCheck } from '../solana/signatures.ts';
import { isUnreadable, type LandedSwap, type UnreadableTransaction } from '../trading/attempt.ts';
import { createBalanceHistory, type BalanceHistory } from './balance-history.ts';
import type { Balances } from './balances.ts';
import { readLandedSwap, readOwnMoves, type SwapSide } from './landed-swap.ts';
import * as answers from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';
import { createSignerSearch, type HistoryEntry, type SignerSearch } from './signer-search.ts';
import type { SlotFloor } from './slot-floor.ts';
import { createTransactionReader } from './transaction-reader.ts';
import { createWalletActivity, type ReadWalletActivity } from './wallet-activity.ts';

/**
 * The calls about transactions that have landed. A transaction that the node has and that cannot be read is a state of
 * that transaction, never a fault of the call (D-345).
 */
export interface LandedTransactions {
  /** Returns the effect of a landed transaction on a wallet; undefined while the node does not have it. */
  landedSwap(
    options: SwapSide & { readonly signature: string },
  ): Promise<LandedSwap | UnreadableTransaction | undefined>;
  /**
   * Returns a wallet's token changes in a landed transaction that it signed; undefined while the node does not have it,
   * and where it cannot be read.
   */
  ownMoves(
    options: { readonly signature: string; readonly owner: string },
  ): Promise<ReadonlyMap<string, bigint> | undefined>;
  findBySigner: SignerSearch;
  balanceHistory: BalanceHistory;
  /**
   * Returns all signatures of a landed transaction, the fee payer's first; undefined while the node does not have it.
   */
  signaturesOf(signature: string): Promise<readonly string[] | UnreadableTransaction | undefined>;
  walletActivity: ReadWalletActivity;
  /** Returns a wallet's newest transactions, at most 100, newest first. */
  newestTransactions(owner: string): Promise<readonly HistoryEntry[]>;
}

/** Returns the calls over one client. */
export function createLandedTransactions({ rpc, floor, nativeBalance }: Pick<Balances, 'nativeBalance'> & {
  readonly rpc: RpcClient; readonly floor: SlotFloor;
}): LandedTransactions {
  const transaction = createTransactionReader(rpc);

  async function signaturesOf(
    signature: string,
  ): Promise<readonly string[] | UnreadableTransaction | undefined> {
    const landed = await transaction(signature);
    return landed === undefined || isUnreadable(landed) ? landed : landed.transaction.signatures;
  }

  function history(
    owner: string, page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<readonly HistoryEntry[]> {
    // "Not in it" is a proof only from a node that has reached the finalized slot; others refuse.
    const asOf = floor.finalized;
    const config = { ...page, commitment: 'confirmed', minContextSlot: Number(asOf) };
    return floor.ask({
      method: 'getSignaturesForAddress', asOf,
      call: () => rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory),
      slotOf: () => undefined,
    });
  }

  return {
    async landedSwap({ signature, ...swap }) {
      const landed = await transaction(signature);
      if (landed === undefined || isUnreadable(landed)) return landed;
      floor.sawConfirmed(landed.slot);
      return readLandedSwap(landed, swap);
    },
    async ownMoves({ signature, owner }) {
      const landed = await transaction(signature);
      return landed === undefined || isUnreadable(landed) ? undefined : readOwnMoves(landed, owner);
    },
    findBySigner: createSignerSearch({ history, idCheck }),
    balanceHistory: createBalanceHistory({ native: nativeBalance, history, transaction }),
    signaturesOf,
    walletActivity: createWalletActivity({
      slot: (signal) => rpc.call('getSlot', [{ commitment: 'confirmed' }], answers.slot, { signal }),
      history: async (owner, page, signal) => {
        const config = { ...page, commitment: 'confirmed' };
        const entries =
          await rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory, { signal });
        return entries.slice(0, page.limit);
      },
      transaction,
    }),
    newestTransactions(owner) {
      const config = { limit: 100, commitment: 'confirmed' };
      return rpc.call('getSignaturesForAddress', [owner, config], answers.signatureHistory);
    },
  };
}
