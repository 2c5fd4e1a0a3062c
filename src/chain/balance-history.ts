import { GannetError } from '../core/errors.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import type { NativeBalance } from './balances.ts';
import { readBalances, type BalanceChange } from './landed-swap.ts';
import { readTransactionError, type LandedTransaction } from './rpc-answers.ts';
import type { HistoryEntry } from './signer-search.ts';

/** A landed transaction of a wallet, with its changes of one mint. */
interface BalanceStep {
  /** All signatures, the fee payer's first. */
  readonly signatures: readonly string[];
  readonly slot: bigint;
  readonly hasFailed: boolean;
  /** Lamports without wrapped SOL. */
  readonly native: BalanceChange;
  /** The wallet's token accounts of the mint in the transaction, by address. */
  readonly accounts: ReadonlyMap<string, BalanceChange>;
}

/** A wallet's transactions, oldest first, and its lamports as they were read before them. */
interface BalanceSteps {
  readonly native: NativeBalance;
  readonly steps: readonly BalanceStep[];
}

interface BalanceHistoryOptions {
  readonly native: (owner: string) => Promise<NativeBalance>;
  /** Returns a page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (
    owner: string, page: { readonly limit: number; readonly before?: string | undefined },
  ) => Promise<readonly HistoryEntry[]>;
  /** Returns a landed transaction; undefined while the node does not have it. */
  readonly transaction: (signature: string) => Promise<LandedTransaction | undefined>;
}

/**
 * Returns a wallet's transactions: all from a minute before a slot on, and as many earlier ones as it takes to see the
 * mint once. Throws CHAIN_RESPONSE_INVALID where the node lists one that it does not return, or too many.
 */
export type BalanceHistory = (
  options: { readonly owner: string; readonly mint: Mint; readonly sinceSlot: bigint },
) => Promise<BalanceSteps>;

const PAGE_SIZE = 100;
const MAX_PAGES = 40;
const LOOKUPS_AT_A_TIME = 8;
/** A minute: the slot of the signing was the word of one node. */
const MARGIN_SLOTS = 150n;

/** Returns a reader without a cache: a decision about money is based on fresh answers each time. */
export function createBalanceHistory(
  { native: readNative, history, transaction }: BalanceHistoryOptions,
): BalanceHistory {
  async function stepOf(signature: string, owner: string, mint: Mint): Promise<BalanceStep> {
    const landed = await transaction(signature);
    if (landed === undefined) throw undecided(`the node lists the transaction ${signature} but does not have it yet`);
    const hasFailed = readTransactionError(landed.meta.err) !== undefined;
    const { signatures } = landed.transaction;
    return { signatures, slot: landed.slot, hasFailed, ...readBalances(landed, owner, mint) };
  }

  return async ({ owner, mint, sinceSlot }) => {
    const native = await readNative(owner);
    const newestFirst: BalanceStep[] = [];
    const isEarlier = ({ slot, accounts }: BalanceStep): boolean =>
      slot < sinceSlot - MARGIN_SLOTS && (mint === SOL_MINT || accounts.size > 0);
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      for (let start = 0; start < entries.length; start += LOOKUPS_AT_A_TIME) {
        const group = await Promise.all(entries.slice(start, start + LOOKUPS_AT_A_TIME)
          .map(({ signature }) => stepOf(signature, owner, mint)));
        newestFirst.push(...group);
        if (group.some(isEarlier)) return { native, steps: newestFirst.reverse() };
      }
      before = entries.at(-1)?.signature;
      if (entries.length < PAGE_SIZE) return { native, steps: newestFirst.reverse() };
    }
    throw undecided(`it has more than ${MAX_PAGES * PAGE_SIZE} transactions since slot ${sinceSlot}`);
  };
}

function undecided(reason: string): GannetError {
  return new GannetError('CHAIN_RESPONSE_INVALID', `the effects of the wallet's transactions are undecided: ${reason}`);
}
