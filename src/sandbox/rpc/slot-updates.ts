import type { Block, SandboxChain } from '../chain/chain.ts';

/** A stage that a slot has reached. */
interface SlotUpdate {
  readonly type: string;
  readonly slot: number;
  /** In milliseconds since the epoch. */
  readonly timestamp: number;
}

/** After a leap of slots only so many of the newest are told of. */
const MOST_SLOTS_AT_ONCE = 64;

/**
 * Returns what gives the stages that slots have reached since the last call, in order. A slot's block takes
 * transactions until the next slot begins, and then it is complete. Skipped slots have no stages.
 */
export function slotUpdates(chain: SandboxChain): () => SlotUpdate[] {
  let [opened, closed] = [chain.slot, chain.slot - 1];
  let [confirmed, rooted] = [chain.slotAt('confirmed'), chain.slotAt('finalized')];

  return () => {
    const { slot } = chain;
    const timestamp = chain.blockAt('processed').unixSeconds * 1_000;
    const updates: SlotUpdate[] = [];
    const tell = (type: string, block: Block, more: object = {}): void => {
      updates.push({ slot: block.slot, timestamp, type, ...more });
    };
    const since = (told: number, until: number): readonly Block[] =>
      chain.blocksBetween(Math.max(told + 1, until - MOST_SLOTS_AT_ONCE), until);
    for (const block of since(Math.min(opened, closed), slot)) {
      if (block.slot > opened) {
        tell('firstShredReceived', block);
        tell('createdBank', block, { parent: block.parentSlot });
        opened = block.slot;
      }
      if (block.slot === slot || block.slot <= closed) continue;
      tell('completed', block);
      tell('frozen', block, { stats: statsOf(chain, block.slot) });
      closed = block.slot;
    }
    for (const block of since(confirmed, chain.slotAt('confirmed'))) tell('optimisticConfirmation', block);
    for (const block of since(rooted, chain.slotAt('finalized'))) tell('root', block);
    [confirmed, rooted] = [chain.slotAt('confirmed'), chain.slotAt('finalized')];
    return updates;
  };
}

/** Each transaction is an entry of its own. */
function statsOf(chain: SandboxChain, slot: number): object {
  let [succeeded, failed] = [0, 0];
  for (const landed of chain.landedNewestFirst()) {
    if (landed.slot < slot) break;
    if (landed.slot > slot) continue;
    if (landed.error === null) succeeded += 1;
    else failed += 1;
  }
  const all = succeeded + failed;
  return {
    numTransactionEntries: all, numSuccessfulTransactions: succeeded, numFailedTransactions: failed,
    maxTransactionsPerEntry: Math.min(all, 1),
  };
}
