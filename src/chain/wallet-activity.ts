import { GannetError, isGannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import type { WalletActivity, WalletTransaction } from '../market/wallet-activity.ts';
import { isUnreadable } from '../trading/attempt.ts';
import { readWalletChanges } from './landed-swap.ts';
import type { LandedTransaction } from './rpc-answers.ts';
import { readTransactionError } from './rpc-answers.ts';
import type { HistoryEntry } from './signer-search.ts';
import type { ReadTransaction } from './transaction-reader.ts';

interface WalletActivityOptions {
  /** Returns the slot of the newest confirmed block. */
  readonly slot: (signal?: AbortSignal) => Promise<bigint>;
  /** Returns a page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (
    owner: string, page: { readonly limit: number; readonly before?: string | undefined }, signal?: AbortSignal,
  ) => Promise<readonly HistoryEntry[]>;
  readonly transaction: ReadTransaction;
}

/**
 * Returns a wallet's transactions since the last call, oldest first. The first call returns none: it notes the present.
 * Throws CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID, and loses nothing by that.
 */
export type ReadWalletActivity = (owner: string, signal?: AbortSignal) => Promise<WalletActivity>;

const PAGE_SIZE = 100;
/** Of one call. What is older than these pages is left out. */
const MAX_PAGES = 3;
/** Of one call; the others wait for the next. */
const LOOKUPS_MAX = 20;
/** A transaction that cannot be read so often is left out; one of a later version than Gannet reads at once. */
const ATTEMPTS_MAX = 3;
/** The nodes behind one address are not equally far: what is this much older than the newest may still appear. */
const LATE_SLOTS = 150n;
const CHANGES_MAX = 64;
/** Block times beyond the year 2100 are none. */
const SECONDS_MAX = 4_102_444_800;
const MS_PER_SECOND = 1_000;

/** What is known of a wallet between two calls. */
interface Watched {
  /** What landed until then was before the first call. */
  readonly since: bigint;
  newest: bigint;
  /** The slots of signatures that were listed and may be listed again. */
  readonly listed: Map<string, bigint>;
  /** Listed and not read yet, oldest first. */
  waiting: { readonly signature: string; attempts: number }[];
  hasGap: boolean;
}

/** Returns a reader that keeps its place in the history of each wallet. */
export function createWalletActivity({ slot, history, transaction }: WalletActivityOptions): ReadWalletActivity {
  const wallets = new Map<string, Watched>();

  async function list(owner: string, watched: Watched, signal: AbortSignal | undefined): Promise<void> {
    const oldest = watched.newest - LATE_SLOTS;
    const found: HistoryEntry[] = [];
    let before: string | undefined;
    for (let page = 0; ; page++) {
      if (page === MAX_PAGES) {
        watched.hasGap = true;
        break;
      }
      const entries = await history(owner, { limit: PAGE_SIZE, before }, signal);
      found.push(...entries.filter((entry) =>
        entry.slot > watched.since && entry.slot >= oldest && !watched.listed.has(entry.signature)));
      const last = entries.at(-1);
      if (last === undefined || entries.length < PAGE_SIZE || last.slot <= watched.since || last.slot < oldest) break;
      before = last.signature;
    }
    await refuseFuture(owner, { found, newest: watched.newest, signal });
    // A page that shifted meanwhile repeats entries.
    for (const { signature, slot: landedAt } of found.reverse()) {
      if (watched.listed.has(signature)) continue;
      watched.listed.set(signature, landedAt);
      watched.waiting.push({ signature, attempts: 0 });
      if (landedAt > watched.newest) watched.newest = landedAt;
    }
    for (const [signature, landedAt] of watched.listed)
      if (landedAt < watched.newest - LATE_SLOTS) watched.listed.delete(signature);
    const tooMany = watched.waiting.length - MAX_PAGES * PAGE_SIZE;
    if (tooMany <= 0) return;
    watched.waiting = watched.waiting.slice(tooMany);
    watched.hasGap = true;
  }

  /** One wrong slot must not make all later transactions count as old. */
  async function refuseFuture(owner: string, { found, newest, signal }: {
    readonly found: readonly HistoryEntry[]; readonly newest: bigint; readonly signal: AbortSignal | undefined;
  }): Promise<void> {
    const last = found.reduce((top, entry) => (entry.slot > top ? entry.slot : top), newest);
    if (last === newest) return;
    const now = await slot(signal);
    if (last > now + LATE_SLOTS) {
      throw new GannetError('CHAIN_RESPONSE_INVALID',
        `the node lists a transaction of ${owner} in slot ${last}, and its newest slot is ${now}`);
    }
  }

  async function read(owner: string, watched: Watched, signal: AbortSignal | undefined): Promise<WalletTransaction[]> {
    const done: WalletTransaction[] = [];
    while (done.length < LOOKUPS_MAX && watched.waiting.length > 0) {
      const [next] = watched.waiting as [Watched['waiting'][number]];
      next.attempts += 1;
      let isFinal = next.attempts >= ATTEMPTS_MAX;
      try {
        const landed = await transaction(next.signature, signal);
        if (landed === undefined || isUnreadable(landed)) {
          isFinal ||= landed?.mayBeOwn === false;
          throw new GannetError('CHAIN_RESPONSE_INVALID', `the node lists the transaction ${next.signature} but `
            + (landed === undefined ? 'does not have it yet' : `it cannot be read: ${landed.reason}`));
        }
        done.push({ ...transactionOf(landed, owner), ...(watched.hasGap ? { isAfterGap: true } : {}) });
        watched.hasGap = false;
      } catch (error) {
        const isLeftOut = isFinal && isGannetError(error) && error.code !== 'CHAIN_UNREACHABLE';
        // What was read until here is not read again.
        if (!isLeftOut && done.length > 0) return done;
        if (!isLeftOut) throw error;
        watched.hasGap = true;
      }
      watched.waiting.shift();
    }
    return done;
  }

  return async (owner, signal) => {
    const watched = wallets.get(owner);
    if (watched === undefined) {
      const since = await slot(signal);
      wallets.set(owner, { since, newest: since, listed: new Map(), waiting: [], hasGap: false });
      return { owner, transactions: [] };
    }
    await list(owner, watched, signal);
    return { owner, transactions: await read(owner, watched, signal) };
  };
}

function transactionOf(landed: LandedTransaction, owner: string): WalletTransaction {
  const { changes, isSigner } = readWalletChanges(landed, owner);
  const { blockTime } = landed;
  const isTime = typeof blockTime === 'number' && blockTime > 0 && blockTime < SECONDS_MAX;
  return {
    signature: landed.transaction.signatures[0]!, slot: Number(landed.slot),
    ...(isTime ? { blockTime: blockTime * MS_PER_SECOND } : {}),
    hasFailed: readTransactionError(landed.meta.err) !== undefined, isSigner,
    changes: [...changes].slice(0, CHANGES_MAX).map(([mint, { amount, decimals }]) =>
      ({ mint: mint as Mint, amount, ...(decimals === undefined ? {} : { decimals }) })),
  };
}
