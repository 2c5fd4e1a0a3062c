import { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';

/** A transaction in a wallet's history. */
export interface HistoryEntry {
  readonly signature: string;
  readonly slot: bigint;
}

interface SignerSearchOptions {
  /** Returns a page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (owner: string, page: { readonly limit: number; readonly before?: string | undefined }) =>
    Promise<readonly HistoryEntry[]>;
  /** Returns all signatures of a landed transaction; undefined while the node does not have it. */
  readonly signaturesOf: (signature: string) => Promise<readonly string[] | undefined>;
  readonly clock: Clock;
}

/** Finds the transaction that carries the wallet's signature, made after a slot, though another account paid for it. */
export type SignerSearch = (
  options: { readonly owner: string; readonly ownSignature: string; readonly sinceSlot?: bigint | undefined },
) => Promise<string | undefined>;

const PAGE_SIZE = 100;
/** As many as the cache holds: more would be read again each time. */
const MAX_PAGES = 40;
const CACHED_ENTRIES = MAX_PAGES * PAGE_SIZE;
/** A minute: the slot of the signing was the word of one node. */
const MARGIN_SLOTS = 150n;
const LOOKUPS_AT_A_TIME = 8;
/** A landed transaction never changes, but a wrong answer must not stay in the cache. */
const CACHED_MS: Millis = 20_000;

/** A node's answer on a transaction. */
interface CachedSignatures {
  readonly signatures: readonly string[];
  readonly at: Millis;
}

/**
 * Returns a search through a wallet's transactions since a slot, by default all. It returns undefined only after it
 * read all of them. Throws CHAIN_RESPONSE_INVALID where it cannot decide: the node lists a transaction that it does not
 * return, or there are more than 4000.
 */
export function createSignerSearch(options: SignerSearchOptions): SignerSearch {
  const { history, signaturesOf, clock } = options;
  // A caller that waits for a transaction searches repeatedly.
  const cached = new Map<string, CachedSignatures>();

  async function signaturesOfEntry(signature: string): Promise<readonly string[]> {
    const known = cached.get(signature);
    const ageMs = known === undefined ? Infinity : clock.now() - known.at;
    if (known !== undefined && ageMs >= 0 && ageMs < CACHED_MS) return known.signatures;
    cached.delete(signature);
    const signatures = await signaturesOf(signature);
    if (signatures === undefined) {
      throw undecided(`the node lists the transaction ${signature} but does not have it yet; ask again`);
    }
    if (cached.size >= CACHED_ENTRIES) cached.delete(cached.keys().next().value!);
    cached.set(signature, { signatures, at: clock.now() });
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
    throw undecided(`${owner} has more than ${MAX_PAGES * PAGE_SIZE} `
      + `transactions${sinceSlot === undefined ? '' : ` since slot ${sinceSlot}`}`);
  };
}

function undecided(reason: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `whether the wallet's signature has landed is undecided: ${reason}`);
}
