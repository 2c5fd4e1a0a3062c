import type { Observable } from 'rxjs';
import { EMPTY, catchError, defer, exhaustMap, filter, from, mergeMap, timer } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { LandedSwap } from '../trading/attempt.ts';
import type { AdjustWallet, AdjustmentCause } from '../trading/command.ts';
import type { Intent } from '../trading/intent.ts';

/** The ledger at a moment. */
export interface LedgerView {
  readonly balances: ReadonlyMap<Mint, Amount>;
  /** Swaps that are under way: what they move is not booked yet. */
  readonly open?: readonly Intent[] | undefined;
  /** Another one after every booking: two equal ones mean that nothing was booked in between. */
  readonly version: number;
}

export interface WalletWatchOptions {
  /** Base58. */
  readonly wallet: string;
  readonly chain: {
    balances(owner: string): Promise<ReadonlyMap<Mint, Amount>>;
    /** The wallet's transactions, newest first. */
    newestTransactions(owner: string): Promise<readonly { readonly signature: string }[]>;
    landedSwap(options: { readonly signature: string; readonly owner: string; readonly inputMint: Mint; readonly outputMint: Mint }): Promise<LandedSwap | undefined>;
  };
  /** Undefined while what has ended is not written down yet. */
  readonly ledger: () => LedgerView | undefined;
  /** Whether a transaction is one of ours. */
  readonly isOwn: (signature: string) => boolean;
  /** The wallet's newest transaction as of which ledger and chain agreed; undefined where that is not known. */
  readonly agreedAt?: (() => string | undefined) | undefined;
  /** Told when they agree. */
  readonly onAgreed?: (() => void) | undefined;
  readonly clock: Clock;
}

const EVERY_MS: Millis = 60_000;
/** How often it is decided whether a comparison is due. */
const TICK_MS: Millis = 5_000;
/** The least time between two comparisons while swaps end all the time, and that a difference must hold before it is told. */
const GAP_MS: Millis = 10_000;
const LOOKED_AT_MAX = 20;
/** What a swap may cost or bring in lamports besides what it swaps: fees of all its attempts, tips, deposits. */
const BESIDE_MAX_LAMPORTS = 40_000_000n;
/** A loss of so many times what open swaps may cost is booked whole where none of them spends the mint. */
const FAR_OFF = 4n;

/**
 * Returns by what the chain's balances differ from the ledger's, as commands that book it; undefined where it cannot be
 * told, because something was booked meanwhile. A mint that no open swap touches must agree to the unit; of the others
 * what goes beyond all that the open swaps may move is told. A difference counts only where two readings agree on it:
 * balances are several answers, and something may land between them. Throws what the node's calls throw.
 *
 * More is a deposit. Less is a withdrawal where transactions that are not ours took as much since ledger and chain agreed,
 * or, where that is not known, since our own last one; else it is a mismatch.
 */
export async function compareWallet(options: WalletWatchOptions): Promise<AdjustWallet[] | undefined> {
  const { wallet, chain, ledger } = options;
  const before = ledger();
  if (before === undefined) return undefined;
  const first = differences(before.balances, await chain.balances(wallet));
  if (first.size === 0) {
    if (ledger()?.version !== before.version) return undefined;
    options.onAgreed?.();
    return [];
  }
  const second = differences(before.balances, await chain.balances(wallet));
  const after = ledger();
  if (after?.version !== before.version) return undefined;
  const open = [...(before.open ?? []), ...(after.open ?? [])];
  const unexplained = unexplainedBy([...new Map(open.map((intent) => [intent.id, intent])).values()], first, second);
  const commands: AdjustWallet[] = [];
  for (const [mint, { least, whole }] of unexplained) {
    const taken = least > 0n ? 0n : await takenElsewhere(options, mint, -whole);
    const cause = least > 0n ? 'deposit' : taken >= -least ? 'withdrawal' : 'mismatch';
    // What was taken elsewhere is known to the unit, though an open swap may have moved as much beside it.
    const change = cause === 'withdrawal' ? -smaller(taken, -whole) : least;
    commands.push({ kind: 'command', name: 'adjust-wallet', mint, change: change.toString(), cause, reason: REASONS[cause] });
  }
  return ledger()?.version === before.version ? commands : undefined;
}

/**
 * Compares at least once a minute, soon after a swap has ended and no other is under way, and soon again where it could
 * not be told. A withdrawal is told at once: transactions explain it. Any other difference is told once it has held for
 * ten seconds, so that one wrong balance is not booked. Faults of the node are handed over, and it is tried again.
 */
export function watchWallet(options: WalletWatchOptions & { readonly onFault: (error: Error) => void; readonly everyMs?: Millis | undefined }): Observable<AdjustWallet> {
  const { clock, ledger, everyMs = EVERY_MS, onFault } = options;
  let lastAt = clock.now();
  let lastVersion = ledger()?.version;
  let isUnsure = false;
  let held: ReadonlyMap<string, Millis> = new Map();

  const isDue = (): boolean => {
    const sinceMs = clock.now() - lastAt;
    const view = ledger();
    const isIdle = view !== undefined && (view.open ?? []).length === 0 && view.version !== lastVersion;
    return sinceMs >= everyMs || (sinceMs >= GAP_MS && (isIdle || held.size > 0)) || (isUnsure && sinceMs >= TICK_MS);
  };
  const look = async (): Promise<AdjustWallet[]> => {
    lastAt = clock.now();
    lastVersion = ledger()?.version;
    isUnsure = true;
    const commands = await compareWallet(options);
    isUnsure = commands === undefined;
    if (commands === undefined) return [];
    const known = held;
    const isTold = (command: AdjustWallet): boolean => command.cause === 'withdrawal' || clock.now() - (known.get(nameOf(command)) ?? Infinity) >= GAP_MS;
    held = new Map(commands.filter((command) => !isTold(command)).map((command) => [nameOf(command), known.get(nameOf(command)) ?? lastAt]));
    return commands.filter(isTold);
  };
  return timer(TICK_MS, TICK_MS, clock).pipe(
    filter(isDue),
    exhaustMap(() => defer(look).pipe(
      mergeMap((commands) => from(commands)),
      catchError((error: unknown) => {
        if (!isGannetError(error)) throw error;
        onFault(error);
        return EMPTY;
      }),
    )),
  );
}

/** A difference of the same kind; what is sure of it changes with the swaps that are open. */
function nameOf({ mint, cause }: AdjustWallet): string {
  return `${mint} ${cause}`;
}

/** A difference that no open swap explains: what is sure of it, and the whole difference. */
interface Unexplained {
  readonly least: bigint;
  readonly whole: bigint;
}

/** Returns what two readings agree on and open swaps do not explain. */
function unexplainedBy(open: readonly Intent[], first: ReadonlyMap<Mint, bigint>, second: ReadonlyMap<Mint, bigint>): Map<Mint, Unexplained> {
  const found = new Map<Mint, Unexplained>();
  for (const mint of new Set([...first.keys(), ...second.keys()])) {
    const readings = [first.get(mint) ?? 0n, second.get(mint) ?? 0n] as const;
    const touching = open.filter(({ inputMint, outputMint }) => inputMint === mint || outputMint === mint || mint === SOL_MINT);
    if (touching.length === 0) {
      // It is moving now, dust that others send among it: the next comparison tells, and the other mints do not wait for it.
      if (readings[0] !== readings[1]) continue;
      found.set(mint, { least: readings[1], whole: readings[1] });
      continue;
    }
    const bound = boundOf(mint, touching);
    const [one, other] = readings.map((change) => beyond(change, bound)) as [bigint, bigint];
    // While a swap lands between two readings they differ; what both say is the lesser of them.
    const least = one < 0n && other < 0n ? (one > other ? one : other) : one > 0n && other > 0n ? smaller(one, other) : 0n;
    if (least === 0n) continue;
    const whole = least < 0n ? (readings[0] > readings[1] ? readings[0] : readings[1]) : least;
    // So far off, the ledger is wrong, whatever became of the swaps. What an open swap spends stays in the ledger all the
    // same: without it the balance could not speak against a proof that the swap never landed.
    const isSpent = touching.some(({ inputMint }) => inputMint === mint);
    found.set(mint, { least: !isSpent && least < bound.low * FAR_OFF ? whole : least, whole });
  }
  return found;
}

/** What open swaps may move of a mint: at least and at most; what they bring has no bound. */
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

/** Returns by how much a change goes beyond a bound; 0 where it does not. */
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

/** Adds up what the newest transactions that are not ours took, until it is as much as is missing; swaps of ours between them are booked. */
async function takenElsewhere({ wallet, chain, isOwn, agreedAt }: WalletWatchOptions, mint: Mint, missing: bigint): Promise<bigint> {
  const newest = await chain.newestTransactions(wallet);
  let taken = 0n;
  const agreed = agreedAt?.();
  const since = agreed === undefined ? isOwn : (signature: string) => signature === agreed;
  const until = newest.findIndex(({ signature }) => since(signature));
  const foreign = newest.slice(0, until < 0 ? newest.length : until).filter(({ signature }) => !isOwn(signature));
  for (const { signature } of foreign.slice(0, LOOKED_AT_MAX)) {
    const landed = await paidOut(chain, { signature, owner: wallet, inputMint: mint, outputMint: mint === SOL_MINT ? USDC_MINT : SOL_MINT });
    if (landed === undefined) continue;
    taken += landed.amountIn + (mint === SOL_MINT ? landed.feeLamports + landed.rentLamports : 0n);
    if (taken >= missing) break;
  }
  return taken;
}

/** One that paid in instead contradicts what it is read as: it took nothing. */
async function paidOut(chain: WalletWatchOptions['chain'], of: Parameters<WalletWatchOptions['chain']['landedSwap']>[0]): Promise<LandedSwap | undefined> {
  try {
    return await chain.landedSwap(of);
  } catch (error) {
    if (isGannetError(error) && error.code === 'CHAIN_RESPONSE_INVALID') return undefined;
    throw error;
  }
}

const REASONS: Readonly<Record<AdjustmentCause, string>> = {
  deposit: 'the wallet has more than the ledger: somebody paid in',
  withdrawal: 'the wallet has less than the ledger: somebody with its key paid out elsewhere',
  mismatch: 'the wallet has less than the ledger, and no transaction of the wallet explains it',
};
