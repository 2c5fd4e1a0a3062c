import type { Lamports } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { SOL_MINT } from '../market/token.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { BalanceChange, BalanceStep, BalanceSteps, Chain, TokenBalance } from './ports.ts';

/** A node's report that an attempt did not swap: no transaction is found, or it failed. */
export type ReportedEnd =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'failed'; readonly signature: string; readonly slot: bigint; readonly feeLamports: Lamports };

/** A swap that is reported as not made, and the wallet's present balance of its input. */
interface HistoryQuestion {
  readonly intent: Pick<Intent, 'inputMint'>;
  readonly attempt: Pick<Attempt, 'signature' | 'transactionId' | 'inputSlots'>;
  readonly said: ReportedEnd;
  readonly present: TokenBalance;
}

/** A minute: the slot of the signing was the word of one node. */
const MARGIN_SLOTS = 150n;

/**
 * Returns why the wallet's own transactions do not prove that a swap was never made; undefined where they prove it. The
 * proof is an unbroken chain of balances from before the signing to the present: each transaction starts with the
 * balances that the one before left, so that none can be hidden. The swap must be absent, or have failed without moving
 * anything. The lamports must agree to the unit, since every transaction of the wallet costs some. Tokens that others
 * send are in no list of the wallet, so there may be more of them. Across a transaction that cannot be read, balances
 * may rise, as by a deposit, and never fall, so that it can be no swap of the input (D-347).
 */
export function historyGap({ native, steps, unreadable }: BalanceSteps, question: HistoryQuestion): string | undefined {
  const { intent: { inputMint }, attempt: { signature, transactionId, inputSlots }, said, present } = question;
  const slots = [native.slot, present.slot, present.lastSlot].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const ordered = inOrder(steps.filter(({ slot }) => slot <= slots.at(-1)!));
  if (ordered.some(({ slot }) => slot > slots[0]!)) return 'a transaction landed while the balances were read';
  const own = ordered.filter(({ signatures }) => signatures.includes(signature));
  const contradiction = contradictionOf(question, own);
  if (contradiction !== undefined) return contradiction;

  // Transactions before the swap show balances that it cannot have changed.
  const position = own.length > 0 ? ordered.indexOf(own[0]!)
    : ordered.findIndex(({ slot }) => inputSlots === undefined || slot >= inputSlots.from - MARGIN_SLOTS);
  const earlier = position < 0 ? ordered : ordered.slice(0, position);
  const mayRiseBetween = (from: bigint, to: bigint): boolean =>
    unreadable.some(({ slot }) => slot >= from && slot <= to);
  const mayRise = mayRiseBetween(ordered[0]?.slot ?? 0n, slots.at(-1)!);
  // With another fee payer only the tokens can show a hidden swap, so they must agree to the unit. Otherwise the
  // lamports suffice, unless an unreadable transaction may have raised them.
  const isExact = transactionId === undefined && !mayRise;
  const needsTokens = inputMint !== SOL_MINT && (transactionId === undefined || mayRise || said.kind === 'failed');
  if (!earlier.some(({ accounts }) => !needsTokens || accounts.size > 0))
    return 'no transaction before the swap shows its input';
  const known = new Map<string, bigint>();
  let [lamports, slotBefore] = [ordered[0]!.native.before, ordered[0]!.slot];
  for (const [index, { signatures, slot, native: change, accounts }] of ordered.entries()) {
    if (isMissing(lamports - change.before, !mayRiseBetween(slotBefore, slot))) {
      return `before ${signatures[0]} the wallet has ${change.before} lamports, the transaction before it left `
        + lamports;
    }
    lamports = change.after;
    slotBefore = slot;
    for (const [address, { before, after }] of accounts) {
      const left = known.get(address) ?? (index < earlier.length || !needsTokens ? before : 0n);
      // An account that was opened since starts at 0; the earlier balance of any other one is unknown.
      if (isMissing(left - before, isExact) || (left < before && !known.has(address)))
        return `before ${signatures[0]} there is ${before} in ${address}, the transaction before it left ${left}`;
      known.set(address, after);
    }
  }
  if (isMissing(lamports - native.lamports, !mayRiseBetween(slotBefore, slots.at(-1)!)))
    return `the wallet has ${native.lamports} lamports, its last transaction left ${lamports}`;
  const left = [...known.values()].reduce((sum, amount) => sum + amount, inputMint === SOL_MINT ? lamports : 0n);
  return isMissing(left - present.amount, isExact)
    ? `the wallet has ${present.amount} of ${inputMint}, its transactions left ${left}` : undefined;
}

/** Returns how the transactions with the swap's signature contradict the report. */
function contradictionOf({ said }: HistoryQuestion, own: readonly BalanceStep[]): string | undefined {
  const [landed] = own;
  if (said.kind === 'not-found') return landed === undefined ? undefined : `the node lists ${landed.signatures[0]}`;
  if (own.length !== 1 || landed?.signatures[0] !== said.signature || !landed.hasFailed)
    return `the node does not list ${said.signature} as failed`;
  const { native, accounts } = landed;
  const isUnmoved = native.before - native.after === said.feeLamports
    && [...accounts.values()].every(({ before, after }) => before === after);
  return isUnmoved ? undefined : `${said.signature} moved more than its fee`;
}

function isMissing(missing: bigint, isExact: boolean): boolean {
  return isExact ? missing !== 0n : missing > 0n;
}

/** Within a slot the node's order may differ from the chain's: the next transaction starts where the last one ended. */
function inOrder(steps: readonly BalanceStep[]): readonly BalanceStep[] {
  const left = [...steps];
  const ordered: BalanceStep[] = [];
  while (left.length > 0) {
    const { slot } = left[0]!;
    const end = left.findIndex((step) => step.slot !== slot);
    const last = ordered.at(-1);
    const fitting = left.slice(0, end < 0 ? left.length : end).findIndex((step) => follows(last, step));
    ordered.push(...left.splice(Math.max(0, fitting), 1));
  }
  return ordered;
}

function follows(last: BalanceStep | undefined, { native, accounts }: BalanceStep): boolean {
  return last === undefined || (isNext(last.native, native)
    && [...accounts].every(([address, change]) => isNext(last.accounts.get(address), change)));
}

function isNext(left: BalanceChange | undefined, { before }: BalanceChange): boolean {
  return left === undefined || left.after === before;
}

/**
 * How long an answer is cached, a negative one at first: shorter than the gap between the two expiry proofs, so that
 * each of them gets a fresh answer.
 */
const CACHED_MS: Millis = 3_000;
const GAP_MAX_MS: Millis = 60_000;

/** Checks a wallet's transactions, which are many, no more often than necessary. */
export class HistoryCheck {
  readonly #chain: Pick<Chain, 'balanceHistory'>;
  readonly #owner: string;
  readonly #elapsed: () => Millis;
  #known: { readonly report: string; readonly isClear: boolean; readonly until: Millis; readonly gapMs: Millis }
    | undefined;

  constructor({ chain, owner, elapsed }: {
    readonly chain: Pick<Chain, 'balanceHistory'>; readonly owner: string; readonly elapsed: () => Millis;
  }) {
    this.#chain = chain;
    this.#owner = owner;
    this.#elapsed = elapsed;
  }

  /** Returns whether the wallet's transactions prove that the swap was never made (see `historyGap`). */
  async isClear(question: HistoryQuestion): Promise<boolean> {
    const at = this.#elapsed();
    // The answer to one report proves nothing about another: the transaction may have landed between them.
    const report = question.said.kind === 'failed' ? `failed ${question.said.signature}` : question.said.kind;
    const known = this.#known?.report === report ? this.#known : undefined;
    if (known !== undefined && at < known.until) return known.isClear;
    const isClear = await this.#check(question);
    const gapMs = isClear || known === undefined || known.isClear ? CACHED_MS : Math.min(known.gapMs * 2, GAP_MAX_MS);
    this.#known = { report, isClear, gapMs, until: at + gapMs };
    return isClear;
  }

  async #check(question: HistoryQuestion): Promise<boolean> {
    const { said, attempt, intent } = question;
    const sinceSlot = said.kind === 'failed' ? said.slot : attempt.inputSlots?.from;
    if (sinceSlot === undefined) return false;
    try {
      return historyGap(
        await this.#chain.balanceHistory({ owner: this.#owner, mint: intent.inputMint, sinceSlot }), question,
      ) === undefined;
    } catch (error) {
      // Without an answer nothing is proven; the objection stays.
      if (!isGannetError(error)) throw error;
      return false;
    }
  }
}
