import { GannetError } from '../core/errors.ts';

/** A transaction in a wallet's history. */
export interface HistoryEntry {
  readonly signature: string;
  readonly slot: bigint;
}

interface SignerSearchOptions {
  /** Returns a page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (owner: string, page: { readonly limit: number; readonly before?: string | undefined }) =>
    Promise<readonly HistoryEntry[]>;
  /** Returns a check whether an id is a signature of the transaction by its fee payer. */
  readonly idCheck: (transaction: Uint8Array) => (id: string) => boolean;
}

/** What is searched. */
interface SoughtTransaction {
  readonly owner: string;
  /** With the wallet's signature; that of the fee payer need not be in it. */
  readonly transaction: Uint8Array;
  /** Its slot, or an earlier one. */
  readonly sinceSlot?: bigint | undefined;
}

/**
 * Finds a transaction whose fee another account paid, in the wallet's history after a slot, and returns its id. The
 * signature of the fee payer tells it (D-346): no transaction is read, so that none can hide it.
 */
export type SignerSearch = (sought: SoughtTransaction) => Promise<string | undefined>;

/** The most that a node lists at a time. */
const PAGE_SIZE = 1_000;
const MAX_PAGES = 40;
/** A minute: the slot of the signing was the word of one node. */
const MARGIN_SLOTS = 150n;

/**
 * Returns a search through a wallet's transactions since a slot, by default all. It returns undefined only after it
 * went through all of them. Throws CHAIN_RESPONSE_INVALID where there are more than 40,000.
 */
export function createSignerSearch({ history, idCheck }: SignerSearchOptions): SignerSearch {
  return async ({ owner, transaction, sinceSlot }) => {
    const isId = idCheck(transaction);
    const oldestSlot = sinceSlot === undefined ? 0n : sinceSlot - MARGIN_SLOTS;
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      const found = entries.find(({ signature, slot }) => slot >= oldestSlot && isId(signature));
      if (found !== undefined) return found.signature;
      const oldest = entries.at(-1);
      if (oldest === undefined || entries.length < PAGE_SIZE || oldest.slot < oldestSlot) return undefined;
      before = oldest.signature;
    }
    throw new GannetError(
      'CHAIN_RESPONSE_INVALID',
      `whether the transaction has landed is undecided: ${owner} has more than ${MAX_PAGES * PAGE_SIZE} `
        + `transactions${sinceSlot === undefined ? '' : ` since slot ${sinceSlot}`}`,
    );
  };
}
