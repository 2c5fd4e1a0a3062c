import type { Observable } from 'rxjs';
import { EMPTY, catchError, defer, exhaustMap, filter, from, ignoreElements, merge, mergeMap, tap, timer } from 'rxjs';
import type { Amount } from '../../core/amount.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import { isUnreadable, type LandedSwap, type UnreadableTransaction } from '../../trading/attempt.ts';
import type { AdjustWallet, AdjustmentCause } from '../../trading/engine-command.ts';
import type { Intent } from '../../trading/intent.ts';

/** The ledger at one moment. */
interface LedgerView {
  readonly balances: ReadonlyMap<Mint, Amount>;
  /** Open swaps, whose movements are not booked yet. */
  readonly open?: readonly Intent[] | undefined;
  /** Changes with every booking. */
  readonly version: number;
}

export interface WalletWatchOptions {
  /** Base58. */
  readonly wallet: string;
  readonly chain: {
    /** With `agreed`, two nodes must give the same balances where there are several. */
    balances(owner: string, how?: { readonly agreed: boolean }): Promise<ReadonlyMap<Mint, Amount>>;
    /** The wallet's transactions, newest first. */
    newestTransactions(owner: string): Promise<readonly { readonly signature: string }[]>;
    landedSwap(options: {
      readonly signature: string; readonly owner: string; readonly inputMint: Mint; readonly outputMint: Mint;
    }): Promise<LandedSwap | UnreadableTransaction | undefined>;
  };
  /** Undefined while a finished swap is not written yet. */
  readonly ledger: () => LedgerView | undefined;
  /** Whether a transaction is one of ours. */
  readonly isOwn: (signature: string) => boolean;
  /** The wallet's newest transaction when ledger and chain last agreed; undefined while unknown. */
  readonly agreedAt?: (() => string | undefined) | undefined;
  /** Called when they agree. */
  readonly onAgreed?: (() => void) | undefined;
  /** Emits where something may have changed for the wallet. Absent for none: then the interval alone decides. */
  readonly hints$?: Observable<unknown> | undefined;
  readonly clock: Clock;
}

const EVERY_MS: Millis = 60_000;
/** How often the watch checks whether a comparison is due. */
const TICK_MS: Millis = 5_000;
/** The least time between two comparisons while swaps end all the time, and the time a difference must last. */
const GAP_MS: Millis = 10_000;
const TRANSACTIONS_MAX = 20;
/** The most lamports that a swap may cost or bring beside its amounts: fees of all attempts, tips, deposits. */
const BESIDE_MAX_LAMPORTS = 40_000_000n;
/**
 * After a loss that no transaction explains, the watch compares this long at short intervals: the node may have been
 * wrong, and without a balance no swap calls for a comparison.
 */
const AFTER_MISMATCH_MS: Millis = 600_000;
/** A loss of this many times the cost of open swaps is booked whole where none of them spends the mint. */
const FAR_OFF = 4n;

/**
 * Returns the differences between chain and ledger as commands that book them; undefined where a booking in between
 * makes them uncertain. A mint that no open swap touches must agree to the unit. Of other mints only the part counts
 * that open swaps cannot explain. A difference needs two equal readings, because balances come in several answers and a
 * transaction may land between them; of several nodes, two must give the second. Throws the errors of the node.
 *
 * More is a deposit. Less is a withdrawal where foreign transactions took as much since ledger and chain agreed, or,
 * where that is unknown, since our own last one; one of a later version than Gannet reads may have taken any
 * part. Any other loss is a mismatch.
 */
export async function compareWallet(options: WalletWatchOptions): Promise<AdjustWallet[] | undefined> {
  return (await findDifferences(options))?.map(({ command }) => command);
}

/** A difference between chain and ledger. */
interface Difference {
  readonly command: AdjustWallet;
  /** Whether readable transactions explain it to the unit. */
  readonly isExplained: boolean;
}

async function findDifferences(options: WalletWatchOptions): Promise<Difference[] | undefined> {
  const { wallet, chain, ledger } = options;
  const before = ledger();
  if (before === undefined) return undefined;
  const first = differences(before.balances, await chain.balances(wallet));
  if (first.size === 0) {
    if (ledger()?.version !== before.version) return undefined;
    options.onAgreed?.();
    return [];
  }
  const second = differences(before.balances, await chain.balances(wallet, { agreed: true }));
  const after = ledger();
  if (after?.version !== before.version) return undefined;
  const open = [...(before.open ?? []), ...(after.open ?? [])];
  const unexplained = unexplainedBy([...new Map(open.map((intent) => [intent.id, intent])).values()], first, second);
  const found: Difference[] = [];
  for (const [mint, { least, whole }] of unexplained) {
    const elsewhere = least > 0n ? NOTHING_TAKEN : await takenElsewhere(options, mint, -whole);
    const isExplained = least < 0n && elsewhere.taken >= -least;
    const cause = least > 0n ? 'deposit' : isExplained || elsewhere.mayHaveTakenMore ? 'withdrawal' : 'mismatch';
    // Foreign transactions are known to the unit, although an open swap may have moved as much beside them.
    const change = isExplained ? -smaller(elsewhere.taken, -whole) : least;
    const reason = cause === 'withdrawal' && !isExplained ? UNREADABLE_WITHDRAWAL : REASONS[cause];
    found.push({
      isExplained, command: { kind: 'command', name: 'adjust-wallet', mint, change: change.toString(), cause, reason },
    });
  }
  return ledger()?.version === before.version ? found : undefined;
}

/**
 * Compares at least once a minute, and soon after the last open swap ended, after a hint, and after an uncertain
 * comparison. What transactions explain to the unit is emitted at once. Any other difference must last ten seconds, so
 * that one wrong balance is not booked. After a loss that no transaction explains it compares every ten seconds for ten
 * minutes. Errors of the node go to `onFault`, and the watch goes on.
 */
export function watchWallet(
  options: WalletWatchOptions & { readonly onFault: (error: Error) => void; readonly everyMs?: Millis | undefined },
): Observable<AdjustWallet> {
  const { clock, ledger, everyMs = EVERY_MS, hints$ = EMPTY, onFault } = options;
  let lastAt = clock.now();
  let lastVersion = ledger()?.version;
  let isUnsure = false;
  let isHinted = false;
  let held: ReadonlyMap<string, Millis> = new Map();
  let mismatchAt: Millis | undefined;

  const isDue = (): boolean => {
    const sinceMs = clock.now() - lastAt;
    const view = ledger();
    // The hints of an open swap wait for its end.
    const isIdle = view !== undefined && (view.open ?? []).length === 0 && (view.version !== lastVersion || isHinted);
    const isAfterMismatch = mismatchAt !== undefined && clock.now() - mismatchAt < AFTER_MISMATCH_MS;
    return sinceMs >= everyMs || (sinceMs >= GAP_MS && (isIdle || isAfterMismatch || held.size > 0))
      || (isUnsure && sinceMs >= TICK_MS);
  };
  const compare = async (): Promise<AdjustWallet[]> => {
    lastAt = clock.now();
    lastVersion = ledger()?.version;
    isUnsure = true;
    isHinted = false;
    const found = await findDifferences(options);
    isUnsure = found === undefined;
    if (found === undefined) return [];
    const known = held;
    const isCertain = ({ command, isExplained }: Difference): boolean =>
      isExplained || clock.now() - (known.get(nameOf(command)) ?? Infinity) >= GAP_MS;
    held = new Map(found.filter((difference) => !isCertain(difference)).map(({ command }) =>
      [nameOf(command), known.get(nameOf(command)) ?? lastAt]));
    const certain = found.filter(isCertain).map(({ command }) => command);
    if (certain.some(({ cause }) => cause === 'mismatch')) mismatchAt = clock.now();
    return certain;
  };
  const noted$ = hints$.pipe(tap(() => { isHinted = true; }), ignoreElements());
  return merge(timer(TICK_MS, TICK_MS, clock), noted$).pipe(
    filter(isDue),
    exhaustMap(() => defer(compare).pipe(
      mergeMap((commands) => from(commands)),
      catchError((error: unknown) => {
        if (!isGannetError(error)) throw error;
        onFault(error);
        return EMPTY;
      }),
    )),
  );
}

/** Names a difference. Its certain part changes with the open swaps. */
function nameOf({ mint, cause }: AdjustWallet): string {
  return `${mint} ${cause}`;
}

/** A difference that no open swap explains: its certain part, and all of it. */
interface Unexplained {
  readonly least: bigint;
  readonly whole: bigint;
}

/** Returns the differences in which two readings agree and that open swaps do not explain. */
function unexplainedBy(
  open: readonly Intent[], first: ReadonlyMap<Mint, bigint>, second: ReadonlyMap<Mint, bigint>,
): Map<Mint, Unexplained> {
  const found = new Map<Mint, Unexplained>();
  for (const mint of new Set([...first.keys(), ...second.keys()])) {
    const readings = [first.get(mint) ?? 0n, second.get(mint) ?? 0n] as const;
    const touching = open.filter(({ inputMint, outputMint }) =>
      inputMint === mint || outputMint === mint || mint === SOL_MINT);
    if (touching.length === 0) {
      // It moves at the moment, for example dust from others. The next comparison decides; other mints do not wait.
      if (readings[0] !== readings[1]) continue;
      found.set(mint, { least: readings[1], whole: readings[1] });
      continue;
    }
    const bound = boundOf(mint, touching);
    const [one, other] = readings.map((change) => beyond(change, bound)) as [bigint, bigint];
    // The readings differ while a swap lands between them; both confirm the smaller one.
    const least = one < 0n && other < 0n ? (one > other ? one : other)
      : one > 0n && other > 0n ? smaller(one, other) : 0n;
    if (least === 0n) continue;
    const whole = least < 0n ? (readings[0] > readings[1] ? readings[0] : readings[1]) : least;
    // So large a difference is an error of the ledger, whatever the outcome of the swaps. The input of an open swap
    // stays in the ledger: without it the balance could not contradict a proof that the swap never landed.
    const isSpent = touching.some(({ inputMint }) => inputMint === mint);
    found.set(mint, { least: !isSpent && least < bound.low * FAR_OFF ? whole : least, whole });
  }
  return found;
}

/** The least and the most that open swaps may move of a mint. Their output has no upper bound. */
interface Bound {
  /** 0 or less. */
  readonly low: bigint;
  readonly high: bigint | undefined;
}

function boundOf(mint: Mint, touching: readonly Intent[]): Bound {
  const besides = mint === SOL_MINT ? BESIDE_MAX_LAMPORTS * BigInt(touching.length) : 0n;
  const low = -touching.reduce((sum, { inputMint, amountIn }) => sum + (inputMint === mint ? amountIn : 0n), besides);
  return { low, high: touching.some(({ outputMint }) => outputMint === mint) ? undefined : besides };
}

/** Returns how far a change exceeds a bound; 0 within it. */
function beyond(change: bigint, { low, high }: Bound): bigint {
  if (change < low) return change - low;
  return high === undefined || change <= high ? 0n : change - high;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Returns chain less ledger by mint, where they differ. */
function differences(ledger: ReadonlyMap<Mint, Amount>, chain: ReadonlyMap<Mint, Amount>): Map<Mint, bigint> {
  const changes = new Map<Mint, bigint>();
  for (const mint of new Set([...ledger.keys(), ...chain.keys()])) {
    const change = (chain.get(mint) ?? 0n) - (ledger.get(mint) ?? 0n);
    if (change !== 0n) changes.set(mint, change);
  }
  return changes;
}

/** What foreign transactions took of a mint. */
interface TakenElsewhere {
  readonly taken: bigint;
  /** Whether one of a later version than Gannet reads may have taken more. */
  readonly mayHaveTakenMore: boolean;
}

const NOTHING_TAKEN: TakenElsewhere = { taken: 0n, mayHaveTakenMore: false };

/** Adds up what the newest foreign transactions took, up to the missing amount. Our own swaps are booked already. */
async function takenElsewhere(
  { wallet, chain, isOwn, agreedAt }: WalletWatchOptions, mint: Mint, missing: bigint,
): Promise<TakenElsewhere> {
  const newest = await chain.newestTransactions(wallet);
  let { taken, mayHaveTakenMore } = NOTHING_TAKEN;
  const agreed = agreedAt?.();
  const since = agreed === undefined ? isOwn : (signature: string) => signature === agreed;
  const until = newest.findIndex(({ signature }) => since(signature));
  const foreign = newest.slice(0, until < 0 ? newest.length : until).filter(({ signature }) => !isOwn(signature));
  for (const { signature } of foreign.slice(0, TRANSACTIONS_MAX)) {
    const landed = await paidOut(chain, {
      signature, owner: wallet, inputMint: mint, outputMint: mint === SOL_MINT ? USDC_MINT : SOL_MINT,
    });
    if (landed === undefined) continue;
    if (isUnreadable(landed)) {
      // A transaction that no node gives shows nothing: then the loss stays unexplained.
      mayHaveTakenMore ||= !landed.mayBeOwn;
      continue;
    }
    taken += landed.amountIn + (mint === SOL_MINT ? landed.feeLamports + landed.rentLamports : 0n);
    if (taken >= missing) break;
  }
  return { taken, mayHaveTakenMore };
}

/** A transaction that paid in cannot be read as a payment out: it took nothing. */
async function paidOut(
  chain: WalletWatchOptions['chain'], of: Parameters<WalletWatchOptions['chain']['landedSwap']>[0],
): Promise<LandedSwap | UnreadableTransaction | undefined> {
  try {
    return await chain.landedSwap(of);
  } catch (error) {
    if (isGannetError(error) && error.code === 'CHAIN_RESPONSE_INVALID') return undefined;
    throw error;
  }
}

const REASONS: Readonly<Record<AdjustmentCause, string>> = {
  deposit: 'the wallet has more than the ledger: a transfer from outside',
  withdrawal: 'the wallet has less than the ledger: another program with its key paid out',
  mismatch: 'the wallet has less than the ledger, and no transaction of the wallet explains it',
};
const UNREADABLE_WITHDRAWAL =
  'the wallet has less than the ledger: a transaction of a later version than Gannet reads may have paid out';
