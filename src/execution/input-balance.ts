import type { Amount } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { TOKEN_ACCOUNT_RENT } from '../solana/constants.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { Chain, Journal, TokenBalance } from './ports.ts';
import { mostReceived } from './landed-fill.ts';
import type { HistoryCheck, ReportedEnd } from './wallet-history.ts';

/** An objection of the wallet's balance against an attempt's expiry: a contradiction, or missing knowledge. */
export type BalanceObjection = { readonly kind: 'disagrees'; readonly reason: string }
  | { readonly kind: 'open'; readonly because: string };

/** The sources that the wallet's balance is compared with. */
interface BalancePorts {
  readonly chain: Pick<Chain, 'tokenBalance'>;
  readonly journal: Pick<Journal, 'movesSince' | 'openIntents'>;
  /** The wallet, base58. */
  readonly owner: string;
  /** Returns the ledger's balance of a mint without open intents; absent without a ledger. */
  readonly ledger?: ((mint: Mint) => Amount | undefined) | undefined;
  /** Decides where the balance of the signing objects; optional. */
  readonly history?: Pick<HistoryCheck, 'isClear'> | undefined;
}

/** The most lamports of fees, tips and deposits that go with a swap of SOL. */
const SIDE_LAMPORTS_MAX = 40_000_000n;
/** A blockhash is valid for this many blocks, and no chain has more blocks than slots. */
const VALIDITY_SLOTS = 150n;

/**
 * Returns undefined where the wallet still has the input of an attempt that is reported as not made. The balance at the
 * signing was one answer, and wrong where the node lied or lagged. Where it objects, or another swap may hide the
 * difference, the wallet's transactions decide. So two swaps cannot wait for each other forever.
 */
export async function balanceObjection(
  ports: BalancePorts, intent: Intent, attempt: Attempt, said: ReportedEnd = { kind: 'not-found' },
): Promise<BalanceObjection | undefined> {
  const claim = said.kind === 'failed' ? `the node says that ${said.signature} failed`
    : 'no node finds the transaction and it can no longer land';
  // Read before the journal: every swap that has landed by then is in the journal, open or ended.
  const present = await ports.chain.tokenBalance(ports.owner, intent.inputMint, { agreed: true });
  const least = leastSlot(attempt, said);
  if (least !== undefined && present.slot < least) {
    return {
      kind: 'open',
      because: `${claim}, but the wallet's balance is of slot ${present.slot}, and counts from slot ${least} on`,
    };
  }
  const objection = objectionOfSigning(ports, { intent, attempt, said, claim, present });
  if (objection === undefined || await ports.history?.isClear({ intent, attempt, said, present }) === true)
    return undefined;
  return objection;
}

/**
 * Compares the present balance with the one at the signing, plus the changes by other swaps between the two slots.
 * Where it is unknown whether a balance includes a swap, its output counts and its input does not, so that the missing
 * amount is never underestimated. Where the difference far exceeds the swap, the balance is compared with the ledger
 * instead.
 */
function objectionOfSigning(
  { journal, ledger }: Pick<BalancePorts, 'journal' | 'ledger'>,
  { intent, attempt, said, claim, present }: {
    readonly intent: Intent; readonly attempt: Attempt; readonly said: ReportedEnd; readonly claim: string;
    readonly present: TokenBalance;
  },
): BalanceObjection | undefined {
  const { inputBalance } = attempt;
  const { id, inputMint, amountIn } = intent;
  if (inputBalance === undefined) return {
    kind: 'disagrees', reason: `${claim}, but an older Gannet signed it, and did not journal the wallet's balance`,
  };
  const fee = said.kind === 'failed' && inputMint === SOL_MINT ? said.feeLamports : 0n;
  const missing = inputBalance + movedBetween(attempt, present, journal.movesSince(attempt, inputMint)) - present.amount
    - fee;
  const booked = ledger?.(inputMint);
  const sideLamports = inputMint === SOL_MINT ? SIDE_LAMPORTS_MAX : 0n;
  // A difference far beyond the swap shows that the balance at the signing was wrong: the ledger decides.
  const isExplained = booked === undefined || abs(missing) <= 2n * amountIn + sideLamports;
  const gone = isExplained ? missing : booked - present.amount - fee;
  // Anyone can send the wallet a little, and a swap of SOL can return a deposit: half of the amount is an objection.
  const hidden = inputMint === SOL_MINT ? TOKEN_ACCOUNT_RENT : 0n;
  if (gone !== 0n && (gone + hidden) * 2n >= amountIn) {
    return { kind: 'disagrees', reason: `${claim}, but the wallet has ${present.amount} of ${inputMint} at slot `
      + `${present.slot} and had ${inputBalance} of ${inputMint} when it was signed: with all that other swaps are `
      + `known to have moved, ${missing} of ${inputMint} are missing, and it would have swapped ${amountIn} `
      + `of ${inputMint}` };
  }
  // Without any change nothing landed; the ledger may lack the fees of other swaps.
  if (gone === 0n || (!isExplained && gone > 0n && gone <= sideLamports && gone * 2n < amountIn)) return undefined;
  const others = journal.openIntents().flatMap((entry) => {
    const last = entry.attempts.at(-1);
    return entry.intent.id !== id && entry.intent.outputMint === inputMint && last?.number === entry.attempt
      ? [{ intent: entry.intent, attempt: last }] : [];
  });
  const brought = others.reduce((sum, other) => sum + mostReceived(other.intent, other.attempt), 0n);
  // The wallet has more than the open swaps could have brought after this swap: they hide nothing.
  if (others.length === 0 || amountIn - gone > brought) return undefined;
  return { kind: 'open', because: `${others[0]!.intent.id}, whose outcome is still unknown, may have brought `
    + `the wallet's ${inputMint}` };
}

/**
 * The slot from which on a balance would show the swap. Where no transaction is found, it is also past the validity of
 * a blockhash after the signing: slots, which every answer states, confirm a reported expiry.
 */
function leastSlot({ inputSlots }: Attempt, said: ReportedEnd): bigint | undefined {
  if (said.kind === 'failed') return said.slot;
  return inputSlots === undefined ? undefined : inputSlots.to + VALIDITY_SLOTS;
}

/** The most by which other swaps raised the balance between the reading at the signing and the present one. */
function movedBetween(
  { inputSlots }: Attempt, present: TokenBalance, moves: ReturnType<Journal['movesSince']>,
): bigint {
  return moves.reduce((sum, { slot, spent, received }) => {
    if (slot === undefined || inputSlots === undefined) return sum + received;
    if (slot <= inputSlots.from || slot > present.lastSlot) return sum;
    const isBetween = slot > inputSlots.to && slot <= present.slot;
    return sum + received - (isBetween ? spent : 0n);
  }, 0n);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
