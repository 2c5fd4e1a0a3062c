import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { Chain, Journal, TokenBalance } from './ports.ts';

/** What speaks against the death of an attempt: the wallet itself, or what is not known yet of the wallet. */
export type BalanceDoubt = { readonly kind: 'disagrees'; readonly reason: string } | { readonly kind: 'open'; readonly because: string };

/** What the wallet's balance is held against. */
export interface BalanceWorld {
  readonly chain: Pick<Chain, 'tokenBalance'>;
  readonly journal: Pick<Journal, 'movesSince' | 'openIntents'>;
  /** The wallet, base58. */
  readonly owner: string;
}

/**
 * Returns undefined where the wallet still has what an attempt that nobody finds would have swapped: the balance as it
 * was when it was signed, with what other swaps took and brought between that slot and the present one. Where it is not
 * known whether a balance holds one of them, it is taken to have brought and not to have cost anything: what is
 * missing is then never less than it is.
 */
export async function doubtOfBalance({ chain, journal, owner }: BalanceWorld, intent: Intent, attempt: Attempt): Promise<BalanceDoubt | undefined> {
  const { inputBalance, inputSlots } = attempt;
  const { id, inputMint, amountIn } = intent;
  const nowhere = 'no node finds the transaction and it can land no more';
  if (inputBalance === undefined) return { kind: 'disagrees', reason: `${nowhere}, but an older Gannet signed it, and did not write down what the wallet had` };
  // Before the journal is read: who brought something by then stands in it, as open or as ended.
  const present = await chain.tokenBalance(owner, inputMint);
  if (inputSlots !== undefined && present.slot < inputSlots.to) {
    return { kind: 'open', because: `the wallet's balance is of slot ${present.slot}, before slot ${inputSlots.to}, when it was signed` };
  }
  const missing = inputBalance + movedBetween(attempt, present, journal.movesSince(attempt, inputMint)) - present.amount;
  if (missing >= amountIn) {
    return { kind: 'disagrees', reason: `${nowhere}, but the wallet has ${present.amount} of ${inputMint} at slot ${present.slot} and had ${inputBalance} of ${inputMint} when it was signed: with all that other swaps are known to have moved, ${missing} of ${inputMint} are missing, and it would have swapped ${amountIn} of ${inputMint}` };
  }
  // Nothing landed where nothing has moved.
  if (missing === 0n) return undefined;
  const other = journal.openIntents().find((entry) => entry.intent.id !== id && entry.intent.outputMint === inputMint && entry.attempts.at(-1)?.number === entry.attempt);
  if (other === undefined) return undefined;
  return { kind: 'open', because: `${other.intent.id}, of which nobody knows yet what became, may have brought what the wallet has of ${inputMint}` };
}

/** By how much other swaps raised the balance, at most, between the reading of it when an attempt was signed and the present one. */
function movedBetween({ inputSlots }: Attempt, present: TokenBalance, moves: ReturnType<Journal['movesSince']>): bigint {
  return moves.reduce((sum, { slot, spent, received }) => {
    if (slot === undefined || inputSlots === undefined) return sum + received;
    if (slot <= inputSlots.from || slot > present.lastSlot) return sum;
    const isBetween = slot > inputSlots.to && slot <= present.slot;
    return sum + received - (isBetween ? spent : 0n);
  }, 0n);
}
