import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { Chain, Journal, TokenBalance } from './ports.ts';
import { mostReceived } from './read-landed.ts';

/** What speaks against the death of an attempt: the wallet itself, or what is not known yet of the wallet. */
export type BalanceDoubt = { readonly kind: 'disagrees'; readonly reason: string }
  | { readonly kind: 'open'; readonly because: string };

/** What the wallet's balance is held against. */
export interface BalanceWorld {
  readonly chain: Pick<Chain, 'tokenBalance'>;
  readonly journal: Pick<Journal, 'movesSince' | 'openIntents'>;
  /** The wallet, base58. */
  readonly owner: string;
  /** What the ledger has of a mint, with everything but what is open; nothing is held against it where absent. */
  readonly ledger?: ((mint: Mint) => Amount | undefined) | undefined;
}

/** What a node says became of an attempt: it finds nothing of it, or it gives a transaction that failed. */
export type Unswapped =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'failed'; readonly signature: string; readonly slot: bigint; readonly feeLamports: Lamports };

/** Fees, tips and deposits that go with a swap of SOL. */
const BESIDE_MAX_LAMPORTS = 40_000_000n;
/** What an account of wrapped SOL gives back when a swap closes it. */
const RENT_LAMPORTS = 2_039_280n;
/** A blockhash lives for as many blocks, and no chain has more blocks than slots. */
const LIFE_SLOTS = 150n;

/**
 * Returns undefined where the wallet still has what an attempt would have swapped that is said not to have: the balance
 * as it was when it was signed, with what other swaps took and brought between that slot and the present one. Where it
 * is not known whether a balance holds one of them, it is taken to have brought and not to have cost anything: what is
 * missing is then never less than it is. A balance that was read wrong at the signing must not lock the input for ever:
 * where far more or less is there than the swap could have taken, the wallet need only have what the ledger has.
 */
export async function doubtOfBalance(
  { chain, journal, owner, ledger }: BalanceWorld, intent: Intent, attempt: Attempt,
  said: Unswapped = { kind: 'not-found' },
): Promise<BalanceDoubt | undefined> {
  const { inputBalance } = attempt;
  const { id, inputMint, amountIn } = intent;
  const claim = said.kind === 'failed' ? `the node says that ${said.signature} failed`
    : 'no node finds the transaction and it can land no more';
  if (inputBalance === undefined) return {
    kind: 'disagrees', reason: `${claim}, but an older Gannet signed it, and did not write down what the wallet had`,
  };
  // Before the journal is read: who brought something by then stands in it, as open or as ended.
  const present = await chain.tokenBalance(owner, inputMint);
  const least = leastSlot(attempt, said);
  if (least !== undefined && present.slot < least) {
    return {
      kind: 'open',
      because: `${claim}, but the wallet's balance is of slot ${present.slot}, and counts from slot ${least} on`,
    };
  }
  const fee = said.kind === 'failed' && inputMint === SOL_MINT ? said.feeLamports : 0n;
  const missing = inputBalance + movedBetween(attempt, present, journal.movesSince(attempt, inputMint)) - present.amount
    - fee;
  const booked = ledger?.(inputMint);
  const beside = inputMint === SOL_MINT ? BESIDE_MAX_LAMPORTS : 0n;
  // Far more or less is there than the swap could have taken: then the balance of the signing was wrong, and the ledger
  // knows.
  const isExplained = booked === undefined || abs(missing) <= 2n * amountIn + beside;
  const gone = isExplained ? missing : booked - present.amount - fee;
  // Anybody can send the wallet a little, and a swap of SOL can bring a deposit back: half of the amount speaks against
  // it.
  const hidden = inputMint === SOL_MINT ? RENT_LAMPORTS : 0n;
  if (gone !== 0n && (gone + hidden) * 2n >= amountIn) {
    return { kind: 'disagrees', reason: `${claim}, but the wallet has ${present.amount} of ${inputMint} at slot `
      + `${present.slot} and had ${inputBalance} of ${inputMint} when it was signed: with all that other swaps are `
      + `known to have moved, ${missing} of ${inputMint} are missing, and it would have swapped ${amountIn} `
      + `of ${inputMint}` };
  }
  // Nothing landed where nothing has moved; fees of others are not booked yet where the ledger is asked.
  if (gone === 0n || (!isExplained && gone > 0n && gone <= beside && gone * 2n < amountIn)) return undefined;
  const others = journal.openIntents().flatMap((entry) => {
    const last = entry.attempts.at(-1);
    return entry.intent.id !== id && entry.intent.outputMint === inputMint && last?.number === entry.attempt
      ? [{ intent: entry.intent, attempt: last }] : [];
  });
  const brought = others.reduce((sum, other) => sum + mostReceived(other.intent, other.attempt), 0n);
  // The wallet has more than all of them could have brought if this swap had taken its input: they hide nothing.
  if (others.length === 0 || amountIn - gone > brought) return undefined;
  return { kind: 'open', because: `${others[0]!.intent.id}, of which nobody knows yet what became, may have brought `
    + `what the wallet has of ${inputMint}` };
}

/**
 * From which slot on a balance would show the swap. Where nothing is found, also no sooner than a blockhash lives after
 * the signing: slots, which every answer states, then speak against a height and a blockhash that are said to be over.
 */
function leastSlot({ inputSlots }: Attempt, said: Unswapped): bigint | undefined {
  if (said.kind === 'failed') return said.slot;
  return inputSlots === undefined ? undefined : inputSlots.to + LIFE_SLOTS;
}

/**
 * By how much other swaps raised the balance, at most, between the reading of it when an attempt was signed and the
 * present one.
 */
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
