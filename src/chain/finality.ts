import { GannetError } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import { blockhashValidity, epochInfo, readTransactionError, signatureStatuses } from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';
import { type Finalized, LEAP_SLOTS, SlotFloor } from './slot-floor.ts';

/** The status of a signature by a node. */
interface SignatureStatus {
  readonly slot: bigint;
  readonly confirmation: 'processed' | 'confirmed' | 'finalized';
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The calls whose answers prove that a transaction landed, or never can. */
export interface Finality {
  /** The least slot that a node must have reached for a part of a proof, or for balances. */
  readonly floor: SlotFloor;
  /** Block height (not slot) at finalized. Before a signature, the only node that answers is enough. */
  finalizedBlockHeight(how?: { readonly beforeSigning: boolean }): Promise<bigint>;
  /** At finalized. */
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** Undefined where the node does not know it; that is a proof only with `searchHistory`. */
  signatureStatus(
    signature: string, options: { readonly searchHistory: boolean },
  ): Promise<SignatureStatus | undefined>;
}

/**
 * Returns the three calls of an expiry proof, whose answers may be combined. One address can stand for several nodes,
 * and "not valid" or "not found" from a node that lags proves nothing. Therefore an answer from before the newest
 * finalized slot throws CHAIN_RESPONSE_INVALID, or CHAIN_RPC_ERROR where the node itself refuses. A height that
 * contradicts the one before throws CHAIN_RESPONSE_INVALID too.
 */
export function createFinality(rpc: RpcClient, clock: Clock): Finality {
  let lastSeen: Finalized | undefined;
  const floor = new SlotFloor(clock, askFinalized);

  async function askFinalized(): Promise<Finalized> {
    // Not getBlockHeight: it names no slot, so no other answer can be compared with it.
    const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], epochInfo);
    lastSeen = { slot: absoluteSlot, height: blockHeight };
    return lastSeen;
  }

  async function finalizedBlockHeight(): Promise<bigint> {
    const before = lastSeen;
    const first = await askFinalized();
    // A wrong future slot would make all correct answers count as old: a leap counts once a second answer confirms it.
    const leaps = before !== undefined && first.slot - before.slot > STEP_SLOTS;
    const seen = leaps ? await askFinalized() : first;
    if (leaps) refuseContradiction(first, seen);
    refuseContradiction(before === undefined || seen.slot - before.slot > LEAP_SLOTS ? first : before, seen);
    floor.sawFinalized(seen.slot);
    return seen.height;
  }

  return {
    floor,
    finalizedBlockHeight,
    async isBlockhashValid(blockhash) {
      const asOf = floor.finalized;
      const config = { commitment: 'finalized', minContextSlot: Number(asOf) };
      const { value } = await floor.ask({
        method: 'isBlockhashValid', asOf,
        call: () => rpc.call('isBlockhashValid', [blockhash, config], blockhashValidity),
        slotOf: (answer) => (answer.value ? undefined : answer.context.slot),
      });
      return value;
    },
    async signatureStatus(signature, { searchHistory }) {
      // The slot of a status is compared with a finalized one.
      if (floor.finalized === 0n) await finalizedBlockHeight();
      const { context, value: [status] } = await floor.ask({
        method: 'getSignatureStatuses', asOf: floor.finalized,
        call: () => rpc.call(
          'getSignatureStatuses', [[signature], { searchTransactionHistory: searchHistory }], signatureStatuses,
        ),
        slotOf: ({ context: { slot }, value: [found] }) => (found === null && searchHistory ? slot : undefined),
      });
      if (status === null) return undefined;
      if (status.slot > context.slot) {
        const message = `getSignatureStatuses: expected a transaction of slot ${context.slot}, which the node has `
          + `reached, or earlier, got one of ${status.slot}`;
        throw new GannetError('CHAIN_RESPONSE_INVALID', message, {
          details: { method: 'getSignatureStatuses', slot: status.slot },
        });
      }
      if (status.confirmationStatus !== 'processed') floor.sawConfirmed(status.slot);
      return { slot: status.slot, confirmation: status.confirmationStatus, error: readTransactionError(status.err) };
    },
  };
}

/** A minute of slots; a wrong slot that is closer is outdated soon. */
const STEP_SLOTS = 150n;

/**
 * Refuses two answers that cannot be of one chain, which has at most one block a slot. Either the nodes disagree, or
 * one answer is wrong, for example a slot instead of a height. Which one is unknown, so the next two must agree again.
 */
function refuseContradiction(before: Finalized, answer: Finalized): void {
  const { slot, height } = answer;
  const [older, newer] = before.slot > slot ? [answer, before] : [before, answer];
  const blocks = newer.height - older.height;
  const slots = newer.slot - older.slot;
  if (height <= slot && blocks >= 0n && blocks <= slots && slots <= LEAP_SLOTS) return;
  const message = `getEpochInfo: expected a block height that one chain can have, got ${height} at slot ${slot}, after `
    + `${before.height} at slot ${before.slot}`;
  throw new GannetError('CHAIN_RESPONSE_INVALID', message, { details: { method: 'getEpochInfo', slot, height } });
}
