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
  /** The newest slot that was seen to be finalized; 0 before any. Whoever is asked for a part of a proof must have come so far. */
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
 * slot was seen, what nodes say that are not there yet throws CHAIN_RESPONSE_INVALID, or CHAIN_RPC_ERROR where the node
 * itself refuses; so does a height that cannot be of the same chain as the one seen before.
 */
export function createFinality(rpc: RpcClient): Finality {
  let newestSlot = 0n;
  let lastSeen: Finalized | undefined;

  return {
    finalizedSlot: () => newestSlot,
    async finalizedBlockHeight() {
      // Not getBlockHeight: it does not say at which slot, and without that no other answer can be compared with it.
      const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], epochInfo);
      const before = lastSeen;
      lastSeen = { slot: absoluteSlot, height: blockHeight };
      refuseContradiction(before, lastSeen);
      // One that is behind does no harm: its height only proves less, and it is not asked for anything else.
      if (absoluteSlot > newestSlot) newestSlot = absoluteSlot;
      return blockHeight;
    },
    async isBlockhashValid(blockhash) {
      const asOf = newestSlot;
      const config = { commitment: 'finalized', minContextSlot: Number(asOf) };
      const { context, value } = await rpc.call('isBlockhashValid', [blockhash, config], blockhashValidity);
      if (!value) refuseLaggard('isBlockhashValid', context.slot, asOf);
      return value;
    },
    async signatureStatus(signature, { searchHistory }) {
      const asOf = newestSlot;
      const { context, value } = await rpc.call(
        'getSignatureStatuses',
        [[signature], { searchTransactionHistory: searchHistory }],
        signatureStatuses,
      );
      const [status] = value;
      if (status === null) {
        if (searchHistory) refuseLaggard('getSignatureStatuses', context.slot, asOf);
        return undefined;
      }
      return { slot: status.slot, confirmation: status.confirmationStatus, error: readTransactionError(status.err) };
    },
  };
}

/** Throws CHAIN_RESPONSE_INVALID where an answer is of a slot before the one that was finalized when it was asked for. */
export function refuseLaggard(method: string, slot: bigint, asOf: bigint): void {
  if (slot >= asOf) return;
  const message = `${method}: expected an answer as of slot ${asOf} or later, got one of a node at ${slot}`;
  throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method, slot, expectedSlot: asOf } });
}

/** What a node said of its newest finalized block. */
interface Finalized {
  readonly slot: bigint;
  readonly height: bigint;
}

/**
 * A chain has at most one block a slot. Two answers that cannot be of one chain are of nodes that disagree, or one of
 * them is wrong (a slot taken for a height, say); which one, nobody knows, so the next two must agree again.
 */
function refuseContradiction(before: Finalized | undefined, answer: Finalized): void {
  const { slot, height } = answer;
  const [older, newer] = before === undefined || before.slot > slot ? [answer, before ?? answer] : [before, answer];
  const blocks = newer.height - older.height;
  if (height <= slot && blocks >= 0n && blocks <= newer.slot - older.slot) return;
  const seen = before === undefined ? '' : `, after ${before.height} at slot ${before.slot}`;
  const message = `getEpochInfo: expected a block height that one chain can have, got ${height} at slot ${slot}${seen}`;
  throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method: 'getEpochInfo', slot, height } });
}
