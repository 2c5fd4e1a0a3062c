import { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';

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
  readonly clock: Clock;
}

/** Finds the transaction that carries a signature of ours, made after a slot, though someone else paid for it. */
export type SignerSearch = (options: { readonly owner: string; readonly ownSignature: string; readonly sinceSlot?: bigint | undefined }) => Promise<string | undefined>;

const PAGE_SIZE = 100;
/** As many as are remembered: more would be read anew each time. */
const MAX_PAGES = 40;
const REMEMBERED_ENTRIES = MAX_PAGES * PAGE_SIZE;
/** A minute: what a node says of the slot when a transaction was signed is its word alone. */
const MARGIN_SLOTS = 150n;
const LOOKUPS_AT_A_TIME = 8;
/** A landed transaction never changes, but a wrong answer must not be believed for ever. */
const REMEMBERED_MS: Millis = 20_000;

/** What a node said of a transaction. */
interface Remembered {
  readonly signatures: readonly string[];
  readonly at: Millis;
}

/**
 * Returns a search through all of a wallet's transactions since a slot, or since ever. It returns undefined only after all
 * of those were read; older ones are not. Throws CHAIN_RESPONSE_INVALID where it cannot tell: the node lists a
 * transaction that it does not give, or there are more than 4000.
 */
export function createSignerSearch(options: SignerSearchOptions): SignerSearch {
  const { history, signaturesOf, clock } = options;
  // Who waits for a transaction asks again and again.
  const remembered = new Map<string, Remembered>();

  async function signaturesOfEntry(signature: string): Promise<readonly string[]> {
    const known = remembered.get(signature);
    const ageMs = known === undefined ? Infinity : clock.now() - known.at;
    if (known !== undefined && ageMs >= 0 && ageMs < REMEMBERED_MS) return known.signatures;
    remembered.delete(signature);
    const signatures = await signaturesOf(signature);
    if (signatures === undefined) {
      throw cannotTell(`the node lists the transaction ${signature} but does not have it yet; ask again`);
    }
    if (remembered.size >= REMEMBERED_ENTRIES) remembered.delete(remembered.keys().next().value!);
    remembered.set(signature, { signatures, at: clock.now() });
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

  return async ({ owner, ownSignature, sinceSlot }) => {
    const oldestSlot = sinceSlot === undefined ? 0n : sinceSlot - MARGIN_SLOTS;
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      const found = await findIn(entries.filter(({ slot }) => slot >= oldestSlot), ownSignature);
      if (found !== undefined) return found;
      const oldest = entries.at(-1);
      if (oldest === undefined || entries.length < PAGE_SIZE || oldest.slot < oldestSlot) return undefined;
      before = oldest.signature;
    }
    throw cannotTell(`${owner} has more than ${MAX_PAGES * PAGE_SIZE} transactions${sinceSlot === undefined ? '' : ` since slot ${sinceSlot}`}`);
  };
}

function cannotTell(reason: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `whether our signature has landed cannot be told: ${reason}`);
}
