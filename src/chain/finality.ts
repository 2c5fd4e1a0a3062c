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
  /** The newest slot in which something of ours was seen to be confirmed, or any to be finalized: balances of before it lack what is booked. */
  readonly confirmedSlot: () => bigint;
  /** Tells of a slot in which something of ours landed. */
  readonly sawConfirmed: (slot: bigint) => void;
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
  let landedSlot = 0n;
  let lastSeen: Finalized | undefined;

  function sawConfirmed(slot: bigint): void {
    // A slot that the chain cannot have come to would be waited for.
    if (slot > landedSlot && (newestSlot === 0n || slot - newestSlot <= UNFINALIZED_SLOTS_MAX)) landedSlot = slot;
  }

  async function askFinalized(): Promise<Finalized> {
    // Not getBlockHeight: it does not say at which slot, and without that no other answer can be compared with it.
    const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], epochInfo);
    lastSeen = { slot: absoluteSlot, height: blockHeight };
    return lastSeen;
  }

  return {
    finalizedSlot: () => newestSlot,
    confirmedSlot: () => (landedSlot > newestSlot ? landedSlot : newestSlot),
    sawConfirmed,
    async finalizedBlockHeight() {
      const before = lastSeen;
      const first = await askFinalized();
      // One wrong slot of the far future would make all that is true look behind it: it counts once it is said again.
      const leaps = before !== undefined && first.slot - before.slot > LEAP_SLOTS;
      const seen = leaps ? await askFinalized() : first;
      refuseContradiction(leaps ? first : before ?? first, seen);
      // One that is behind does no harm: its height only proves less, and it is not asked for anything else. Unless it is
      // so far behind, twice, that what was newest was wrong.
      if (seen.slot > newestSlot || newestSlot - seen.slot > LEAP_SLOTS) newestSlot = seen.slot;
      return seen.height;
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
      if (status.confirmationStatus !== 'processed') sawConfirmed(status.slot);
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

/** Two hours of slots: no node that is of use is as far behind another, and who asks more rarely asks twice. */
const LEAP_SLOTS = 20_000n;

/** Between two looks at the finalized slot there are seconds, and finality is a few dozen slots behind. */
const UNFINALIZED_SLOTS_MAX = 1_000n;

/** What a node said of its newest finalized block. */
interface Finalized {
  readonly slot: bigint;
  readonly height: bigint;
}

/**
 * A chain has at most one block a slot. Two answers that cannot be of one chain are of nodes that disagree, or one of
 * them is wrong (a slot taken for a height, say); which one, nobody knows, so the next two must agree again.
 */
function refuseContradiction(before: Finalized, answer: Finalized): void {
  const { slot, height } = answer;
  const [older, newer] = before.slot > slot ? [answer, before] : [before, answer];
  const blocks = newer.height - older.height;
  const slots = newer.slot - older.slot;
  if (height <= slot && blocks >= 0n && blocks <= slots && slots <= LEAP_SLOTS) return;
  const message = `getEpochInfo: expected a block height that one chain can have, got ${height} at slot ${slot}, after ${before.height} at slot ${before.slot}`;
  throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method: 'getEpochInfo', slot, height } });
}
