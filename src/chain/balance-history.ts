import { GannetError, isGannetError } from '../core/errors.ts';
import { SOL_MINT, type Mint } from '../market/token.ts';
import { isUnreadable } from '../trading/attempt.ts';
import type { NativeBalance } from './balances.ts';
import { readBalances, type BalanceChange } from './landed-swap.ts';
import { readTransactionError, type LandedTransaction } from './rpc-answers.ts';
import type { HistoryEntry } from './signer-search.ts';
import type { ReadTransaction } from './transaction-reader.ts';

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
  /** Those whose changes are unknown, as the node lists them. */
  readonly unreadable: readonly HistoryEntry[];
}

interface BalanceHistoryOptions {
  readonly native: (owner: string) => Promise<NativeBalance>;
  /** Returns a page of a wallet's history, newest first, of transactions older than `before`. */
  readonly history: (
    owner: string, page: { readonly limit: number; readonly before?: string | undefined },
  ) => Promise<readonly HistoryEntry[]>;
  readonly transaction: ReadTransaction;
}

/**
 * Returns a wallet's transactions: all from a minute before a slot on, and as many earlier ones as it takes to see the
 * mint once. Throws CHAIN_RESPONSE_INVALID where there are too many.
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
  /** Returns undefined where the changes of a transaction are unknown. */
  async function stepOf(signature: string, owner: string, mint: Mint): Promise<BalanceStep | undefined> {
    const landed = await transaction(signature);
    return landed === undefined || isUnreadable(landed) ? undefined : readStep(landed, owner, mint);
  }

  return async ({ owner, mint, sinceSlot }) => {
    const native = await readNative(owner);
    const newestFirst: BalanceStep[] = [];
    const unreadable: HistoryEntry[] = [];
    const all = (): BalanceSteps => ({ native, steps: newestFirst.reverse(), unreadable });
    const isEarlier = ({ slot, accounts }: BalanceStep): boolean =>
      slot < sinceSlot - MARGIN_SLOTS && (mint === SOL_MINT || accounts.size > 0);
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const entries = await history(owner, { limit: PAGE_SIZE, before });
      for (let start = 0; start < entries.length; start += LOOKUPS_AT_A_TIME) {
        const group = entries.slice(start, start + LOOKUPS_AT_A_TIME);
        const read = await Promise.all(group.map(({ signature }) => stepOf(signature, owner, mint)));
        const steps = read.filter((step) => step !== undefined);
        newestFirst.push(...steps);
        unreadable.push(...group.filter((_, index) => read[index] === undefined));
        if (steps.some(isEarlier)) return all();
      }
      before = entries.at(-1)?.signature;
      if (entries.length < PAGE_SIZE) return all();
    }
    throw new GannetError(
      'CHAIN_RESPONSE_INVALID', 'the effects of the wallet\'s transactions are undecided: it has more than '
        + `${MAX_PAGES * PAGE_SIZE} transactions since slot ${sinceSlot}`,
    );
  };
}

/** Undefined where the parts of a transaction contradict each other, so that its changes are as good as unread. */
function readStep(landed: LandedTransaction, owner: string, mint: Mint): BalanceStep | undefined {
  const hasFailed = readTransactionError(landed.meta.err) !== undefined;
  const { signatures } = landed.transaction;
  try {
    return { signatures, slot: landed.slot, hasFailed, ...readBalances(landed, owner, mint) };
  } catch (error) {
    if (isGannetError(error) && error.code === 'CHAIN_RESPONSE_INVALID') return undefined;
    throw error;
  }
}
