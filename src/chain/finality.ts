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

  /** A slot that the chain cannot have come to would be waited for; before any finalized one is known nobody can tell. */
  const isReachable = (slot: bigint): boolean => slot - newestSlot <= UNFINALIZED_SLOTS_MAX;

  function sawConfirmed(slot: bigint): void {
    if (isReachable(slot) && (slot > landedSlot || !isReachable(landedSlot))) landedSlot = slot;
  }

  async function askFinalized(): Promise<Finalized> {
    // Not getBlockHeight: it does not say at which slot, and without that no other answer can be compared with it.
    const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], epochInfo);
    lastSeen = { slot: absoluteSlot, height: blockHeight };
    return lastSeen;
  }

  async function finalizedBlockHeight(): Promise<bigint> {
    const before = lastSeen;
    const first = await askFinalized();
    // A wrong slot of the future would make all that is true look behind it: a leap counts once it is said again.
    const leaps = before !== undefined && first.slot - before.slot > STEP_SLOTS;
    const seen = leaps ? await askFinalized() : first;
    if (leaps) refuseContradiction(first, seen);
    refuseContradiction(before === undefined || seen.slot - before.slot > LEAP_SLOTS ? first : before, seen);
    // One that is behind does no harm: its height only proves less, and it is not asked for anything else. Unless it is
    // so far behind, twice, that what was newest was wrong.
    if (seen.slot > newestSlot || newestSlot - seen.slot > LEAP_SLOTS) newestSlot = seen.slot;
    return seen.height;
  }

  return {
    finalizedSlot: () => newestSlot,
    // Held against the finalized slot once more: the one that it was held against before may have been wrong.
    confirmedSlot: () => (landedSlot > newestSlot && isReachable(landedSlot) ? landedSlot : newestSlot),
    sawConfirmed,
    finalizedBlockHeight,
    async isBlockhashValid(blockhash) {
      const asOf = newestSlot;
      const config = { commitment: 'finalized', minContextSlot: Number(asOf) };
      const { context, value } = await rpc.call('isBlockhashValid', [blockhash, config], blockhashValidity);
      if (!value) refuseLaggard('isBlockhashValid', context.slot, asOf);
      return value;
    },
    async signatureStatus(signature, { searchHistory }) {
      // Without a finalized slot there is nothing that a slot of a status could be held against.
      if (newestSlot === 0n) await finalizedBlockHeight();
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
      if (status.slot > context.slot) {
        const message = `getSignatureStatuses: expected a transaction of slot ${context.slot}, which the node has come to, or earlier, got one of ${status.slot}`;
        throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method: 'getSignatureStatuses', slot: status.slot } });
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

/** Two hours of slots: no node that is of use is as far behind another. */
const LEAP_SLOTS = 20_000n;

/** A minute of slots: who asks more rarely asks twice. What is wrong by less is put right by time. */
const STEP_SLOTS = 150n;

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
