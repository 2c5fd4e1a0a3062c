import { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import { isUnreadable, type UnreadableTransaction } from '../trading/attempt.ts';

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
  readonly signaturesOf: (signature: string) => Promise<readonly string[] | UnreadableTransaction | undefined>;
  readonly clock: Clock;
  /** Returns whether an id is a signature of the transaction by its fee payer. */
  readonly isIdOf: (transaction: Uint8Array, id: string) => boolean;
}

/** What is searched. */
interface SoughtTransaction {
  readonly owner: string;
  readonly ownSignature: string;
  /** With the wallet's signature; that of the fee payer need not be in it. */
  readonly transaction: Uint8Array;
  /** Its slot, or an earlier one. */
  readonly sinceSlot?: bigint | undefined;
}

/**
 * Finds the transaction that carries the wallet's signature, made after a slot, though another account paid for it. One
 * that the node lists and does not give in a form that can be read is told by its id alone (D-346).
 */
export type SignerSearch = (sought: SoughtTransaction) => Promise<string | undefined>;

const PAGE_SIZE = 100;
/** As many as the cache holds: more would be read again each time. */
const MAX_PAGES = 40;
const CACHED_ENTRIES = MAX_PAGES * PAGE_SIZE;
/** A minute: the slot of the signing was the word of one node. */
const MARGIN_SLOTS = 150n;
const LOOKUPS_AT_A_TIME = 8;
/** A landed transaction never changes, but a wrong answer must not stay in the cache. */
const CACHED_MS: Millis = 20_000;
/** A wallet can have many that a node does not give. */
const CACHED_UNREADABLE_MS: Millis = 3_000;

/** A node's answer on a transaction. */
interface CachedAnswer {
  readonly answer: readonly string[] | UnreadableTransaction;
  readonly at: Millis;
}

/**
 * Returns a search through a wallet's transactions since a slot, by default all. It returns undefined only after it
 * read all of them, or saw by the id that one is another transaction. Throws CHAIN_RESPONSE_INVALID where there are
 * more than 4000.
 */
export function createSignerSearch(options: SignerSearchOptions): SignerSearch {
  const { history, signaturesOf, clock, isIdOf } = options;
  // A caller that waits for a transaction searches repeatedly.
  const cached = new Map<string, CachedAnswer>();

  /** Returns undefined while the node does not have what it lists, for a moment after it landed. */
  async function answerOn(signature: string): Promise<CachedAnswer['answer'] | undefined> {
    const known = cached.get(signature);
    const ageMs = known === undefined ? Infinity : clock.now() - known.at;
    const keptMs = known !== undefined && isUnreadable(known.answer) ? CACHED_UNREADABLE_MS : CACHED_MS;
    if (known !== undefined && ageMs >= 0 && ageMs < keptMs) return known.answer;
    cached.delete(signature);
    const answer = await signaturesOf(signature);
    if (answer === undefined) return undefined;
    if (cached.size >= CACHED_ENTRIES) cached.delete(cached.keys().next().value!);
    cached.set(signature, { answer, at: clock.now() });
    return answer;
  }

  async function findIn(
    entries: readonly HistoryEntry[], { ownSignature, transaction }: SoughtTransaction,
  ): Promise<string | undefined> {
    for (let start = 0; start < entries.length; start += LOOKUPS_AT_A_TIME) {
      const group = entries.slice(start, start + LOOKUPS_AT_A_TIME);
      const answers = await Promise.all(group.map(({ signature }) => answerOn(signature)));
      const position = answers.findIndex((answer, index) => (answer === undefined || isUnreadable(answer)
        ? isIdOf(transaction, group[index]!.signature) : answer.includes(ownSignature)));
      if (position >= 0) return group[position]!.signature;
    }
    return undefined;
  }

  return async (sought) => {
    const { owner, sinceSlot } = sought;
    const oldestSlot = sinceSlot === undefined ? 0n : sinceSlot - MARGIN_SLOTS;
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      const found = await findIn(entries.filter(({ slot }) => slot >= oldestSlot), sought);
      if (found !== undefined) return found;
      const oldest = entries.at(-1);
      if (oldest === undefined || entries.length < PAGE_SIZE || oldest.slot < oldestSlot) return undefined;
      before = oldest.signature;
    }
    throw new GannetError(
      'CHAIN_RESPONSE_INVALID',
      `whether the wallet's signature has landed is undecided: ${owner} has more than ${MAX_PAGES * PAGE_SIZE} `
        + `transactions${sinceSlot === undefined ? '' : ` since slot ${sinceSlot}`}`,
    );
  };
}
