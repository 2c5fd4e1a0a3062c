import type { Observable } from 'rxjs';
import { EMPTY, catchError, defer, exhaustMap, from, mergeMap, timer } from 'rxjs';
import type { Amount } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { LandedSwap } from '../trading/attempt.ts';
import type { AdjustWallet, AdjustmentCause } from '../trading/command.ts';

/** The ledger at a moment at which no swap is under way. */
export interface LedgerView {
  readonly balances: ReadonlyMap<Mint, Amount>;
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
  /** Undefined while swaps are under way: what they move is not booked yet. */
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
const LOOKED_AT_MAX = 20;

/**
 * Returns by what the chain's balances differ from the ledger's, as commands that book it; undefined where it cannot be
 * told, because swaps are under way or something was booked meanwhile. A difference counts only where two readings
 * agree on it: balances are several answers, and something may land between them. Throws what the node's calls throw.
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
  if (!isSame(first, second)) return undefined;
  const commands: AdjustWallet[] = [];
  for (const [mint, change] of second) {
    const cause = change > 0n ? 'deposit' : await isWithdrawn(options, mint, -change) ? 'withdrawal' : 'mismatch';
    commands.push({ kind: 'command', name: 'adjust-wallet', mint, change: change.toString(), cause, reason: REASONS[cause] });
  }
  return ledger()?.version === before.version ? commands : undefined;
}

/** Compares in turns, and tells each difference once it is sure. Faults of the node are handed over, and the next turn tries again. */
export function watchWallet(options: WalletWatchOptions & { readonly onFault: (error: Error) => void; readonly everyMs?: Millis | undefined }): Observable<AdjustWallet> {
  const { clock, everyMs = EVERY_MS, onFault } = options;
  return timer(everyMs, everyMs, clock).pipe(
    exhaustMap(() => defer(() => compareWallet(options)).pipe(
      mergeMap((commands) => from(commands ?? [])),
      catchError((error: unknown) => {
        if (!isGannetError(error)) throw error;
        onFault(error);
        return EMPTY;
      }),
    )),
  );
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

function isSame(a: ReadonlyMap<Mint, bigint>, b: ReadonlyMap<Mint, bigint>): boolean {
  return a.size === b.size && [...a].every(([mint, change]) => b.get(mint) === change);
}

/** Looks at the newest transactions that are not ours for what they took; swaps of ours between them are booked. */
async function isWithdrawn({ wallet, chain, isOwn, agreedAt }: WalletWatchOptions, mint: Mint, missing: bigint): Promise<boolean> {
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
    if (taken >= missing) return true;
  }
  return false;
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
