import { GannetError } from '../core/errors.ts';
import { blockhashValidity, epochInfo, signatureStatuses } from './rpc-answers.ts';
import type { RpcClient } from './rpc.ts';
import { readTransactionError } from './transaction-error.ts';

/** What a node says of a signature. */
export interface SignatureStatus {
  readonly slot: bigint;
  readonly confirmation: 'processed' | 'confirmed' | 'finalized';
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The questions whose answers prove that a transaction landed, or never can. */
export interface Finality {
  /** The newest finalized slot that was seen; 0 before any. */
  readonly finalizedSlot: () => bigint;
  /** Block height (not slot) at finalized. */
  finalizedBlockHeight(): Promise<bigint>;
  /** At finalized. */
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** Undefined where the node knows nothing of it; that counts as a proof only with `searchHistory`. */
  signatureStatus(signature: string, options: { readonly searchHistory: boolean }): Promise<SignatureStatus | undefined>;
}

/**
 * Returns the three questions, asked so that their answers may be put together. Behind one address there can be several
 * nodes, and "not valid" or "not found" of one that lags behind the height seen before proves nothing: once a finalized
 * slot was seen, negative answers of nodes that are not there yet throw CHAIN_RESPONSE_INVALID.
 */
export function createFinality(rpc: RpcClient): Finality {
  let newestSlot = 0n;

  function refuseLaggard(method: string, slot: bigint): void {
    if (slot >= newestSlot) return;
    const message = `${method}: expected an answer as of slot ${newestSlot} or later, got one of a node at ${slot}`;
    throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method, slot, expectedSlot: newestSlot } });
  }

  return {
    finalizedSlot: () => newestSlot,
    async finalizedBlockHeight() {
      // Not getBlockHeight: it does not say at which slot, and without that no other answer can be compared with it.
      const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], epochInfo);
      if (absoluteSlot > newestSlot) newestSlot = absoluteSlot;
      return blockHeight;
    },
    async isBlockhashValid(blockhash) {
      const { context, value } = await rpc.call('isBlockhashValid', [blockhash, { commitment: 'finalized' }], blockhashValidity);
      if (!value) refuseLaggard('isBlockhashValid', context.slot);
      return value;
    },
    async signatureStatus(signature, { searchHistory }) {
      const { context, value } = await rpc.call(
        'getSignatureStatuses',
        [[signature], { searchTransactionHistory: searchHistory }],
        signatureStatuses,
      );
      const [status] = value;
      if (status === null) {
        if (searchHistory) refuseLaggard('getSignatureStatuses', context.slot);
        return undefined;
      }
      return { slot: status.slot, confirmation: status.confirmationStatus, error: readTransactionError(status.err) };
    },
  };
}
