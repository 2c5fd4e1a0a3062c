import { GannetError } from '../core/errors.ts';

/** A transaction in a wallet's history. */
export interface HistoryEntry {
  readonly signature: string;
  readonly slot: bigint;
}

export interface SignerSearchOptions {
  /** A page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (owner: string, page: { readonly limit: number; readonly before?: string | undefined }) => Promise<readonly HistoryEntry[]>;
  /** All signatures of a landed transaction; undefined while the node does not have it. */
  readonly signaturesOf: (signature: string) => Promise<readonly string[] | undefined>;
}

/** Finds the transaction that carries a signature of ours though someone else paid for it. */
export type SignerSearch = (options: { readonly owner: string; readonly ownSignature: string }) => Promise<string | undefined>;

const PAGE_SIZE = 100;
const MAX_PAGES = 10;
/** So many are always looked at: after a long stop of the daemon the one that is sought is old, but still among the newest. */
const MIN_ENTRIES = 100;
/** And everything of the newest hour (at 400 ms a slot), far more than a blockhash lives. */
const MIN_SLOTS = 9_000n;
const REMEMBERED_ENTRIES = 4_000;
const LOOKUPS_AT_A_TIME = 8;

/**
 * Returns a search through a wallet's newest transactions: at least 100 of them and all of an hour. It returns undefined
 * only after all of those were read. Throws CHAIN_RESPONSE_INVALID where it cannot tell: the node lists a transaction
 * that it does not give, or there are more than 1000 in that hour.
 */
export function createSignerSearch(options: SignerSearchOptions): SignerSearch {
  const { history, signaturesOf } = options;
  // A landed transaction never changes, and whoever waits for one asks again and again.
  const remembered = new Map<string, readonly string[]>();

  async function signaturesOfEntry(signature: string): Promise<readonly string[]> {
    const known = remembered.get(signature);
    if (known !== undefined) return known;
    const signatures = await signaturesOf(signature);
    if (signatures === undefined) {
      throw cannotTell(`the node lists the transaction ${signature} but does not have it yet; ask again`);
    }
    if (remembered.size >= REMEMBERED_ENTRIES) remembered.delete(remembered.keys().next().value!);
    remembered.set(signature, signatures);
    return signatures;
  }

  async function findIn(entries: readonly HistoryEntry[], ownSignature: string): Promise<string | undefined> {
    for (let start = 0; start < entries.length; start += LOOKUPS_AT_A_TIME) {
      const group = entries.slice(start, start + LOOKUPS_AT_A_TIME);
      const signatures = await Promise.all(group.map((entry) => signaturesOfEntry(entry.signature)));
      const position = signatures.findIndex((list) => list.includes(ownSignature));
      if (position >= 0) return group[position]!.signature;
    }
    return undefined;
  }

  return async ({ owner, ownSignature }) => {
    let newestSlot: bigint | undefined;
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      const found = await findIn(entries, ownSignature);
      if (found !== undefined) return found;
      const oldest = entries.at(-1);
      if (oldest === undefined || entries.length < PAGE_SIZE) return undefined;
      newestSlot ??= entries[0]!.slot;
      const looked = (page + 1) * PAGE_SIZE;
      if (looked >= MIN_ENTRIES && oldest.slot < newestSlot - MIN_SLOTS) return undefined;
      before = oldest.signature;
    }
    throw cannotTell(`${owner} has more than ${MAX_PAGES * PAGE_SIZE} transactions within an hour`);
  };
}

function cannotTell(reason: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `whether our signature has landed cannot be told: ${reason}`);
}
