import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration, timeOfDay } from '../core/time.ts';
import type { DenialCategory, DenialCode } from './denials.ts';
import { DENIALS } from './denials.ts';
import type { ExitOrder } from './exit-orders.ts';
import { limitOfPart } from './exit-orders.ts';
import { exitPart, learnDepth } from './exit-part.ts';
import type { Intent, Outcome } from './intent.ts';
import type { SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';
import { showAmount } from './risk/amount-text.ts';
import type { Denial } from './risk/denial.ts';
import type { SwapWish } from './risk/swap-wish.ts';
import { isSlippageCode } from './slippage-codes.ts';
import type { EngineState } from './state.ts';

/** So many parts in a row may come to nothing before an exit is given up. */
export const EXIT_FAILURES_MAX = 8;

/** Refusals that say nothing of the holding: they pass by themselves. */
const PASSING: ReadonlySet<string> = new Set<DenialCategory>(['state', 'protection', 'freshness', 'count']);
/** Nor does a service that is out of reach; one that calls the request bad may never have a price for it. */
const OUT_OF_REACH = /^SERVICE_(?!BAD_REQUEST$)/;
/** Nor do a node, a disk, a cap, a process, a price or a congested chain: each may be well again a minute later. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR', 'CHAIN_RESPONSE_INVALID', 'CHAIN_UNREAD', 'TABLE_UNREAD',
  'CAP_DECIMALS_UNREAD', 'JOURNAL_FAILED', 'COUNTERS_UNWRITABLE', 'DISK_FULL', 'SIGNER_LOST', 'RESTARTED',
  'CAP_EXCEEDED_HOUR', 'CAP_EXCEEDED_DAY', 'FEE_EXCEEDS', 'TIP_EXCEEDS', 'FEE_EXCEEDS_MAX',
  'LIMIT_NOT_MET', 'PRICE_OFF_REFERENCE', 'IMPACT_EXCEEDS_MAX', 'SIZE_BEYOND_LADDER',
  'QUOTE_EXPIRED', 'MAKER_REJECTED', 'EXPIRED', 'INTENT_TOO_OLD', 'ORDER_INCOMPLETE',
]);
/** The market does not take so much at once. */
const TOO_LARGE: ReadonlySet<string> = new Set(['IMPACT_EXCEEDS_MAX', 'SIZE_BEYOND_LADDER']);

/** Returns whether what a code says passes by itself, however often it comes. */
export function isPassing(code: string): boolean {
  return OUT_OF_REACH.test(code) || PASSING_CODES.has(code)
    || (Object.hasOwn(DENIALS, code) && PASSING.has(DENIALS[code as DenialCode].category));
}

/** Returns whether a swap ended for what passes by itself: a price that moved while nothing was paid for it, too. */
export function endedPassing({ state, code }: Outcome): boolean {
  return code !== undefined && (isPassing(code) || (state === 'abandoned' && isSlippageCode(code)));
}

/** Returns whether a swap was given up for its size alone: a cap's room, or the market's depth. */
export function isTooLarge({ state, code, capRoom }: Outcome): boolean {
  return state === 'abandoned' && (capRoom !== undefined || (code !== undefined && TOO_LARGE.has(code)));
}

/** What an approved exit comes to: the part that is sold now, or why nothing is. */
export type SizedExit =
  | { readonly kind: 'sell'; readonly proposal: SwapProposal; readonly wish: SwapWish }
  | { readonly kind: 'wait'; readonly denial: Denial };

/**
 * Returns as much of an approved exit as one swap may sell now. Of a strategy's own exit that is larger, the state
 * remembers what is left: the engine proposes part after part until all is sold.
 */
export function sizeExit(state: EngineState, proposal: SwapProposal, wish: SwapWish): SizedExit {
  const { inputMint, outputMint, amountIn, at, strategy } = wish;
  // A part that goes on was fitted to the depth when it was proposed.
  const least = wish.continues ? amountIn : undefined;
  const { amount, waits } = exitPart(state, { inputMint, outputMint, amount: amountIn, least }, at);
  const isOwn = !wish.continues && !state.flattening.has(strategy.name);
  if (amount < amountIn && isOwn) {
    state.exits.put(orderOf(strategy.name, proposal, amountIn));
  }
  if (waits !== undefined) {
    // The engine comes back to it by itself: the strategy must not do so too.
    if (isOwn && wish.key !== undefined) state.keys.add(intentKey(strategy.name, wish.key));
    const until = `${timeOfDay(waits.until)} (in ${roughDuration(waits.until - at)})`;
    const none = `the signer’s cap of the ${waits.span} leaves no room for ${showAmount(state, inputMint, amountIn)}`;
    return {
      kind: 'wait', denial: { code: 'CAP_USED_UP', reason: `${none} before ${until}; the exit goes on by itself then` },
    };
  }
  if (amount === amountIn) return { kind: 'sell', proposal, wish };
  const limit = limitOfPart(proposal.limit, amount, amountIn);
  const part = { ...proposal, ...(limit === undefined ? {} : { limit }) };
  return { kind: 'sell', proposal: part, wish: { ...wish, amountIn: amount } };
}

/** Takes the refusal of a part: what can never be sold ends the exit. */
export function refusePart(state: EngineState, { strategy, inputMint }: SwapWish, code: string): void {
  const order = state.exits.get(strategy.name, inputMint);
  if (order !== undefined && !isPassing(code)) countFailure(state, order);
}

/**
 * Brings an exit on by what became of one of its parts. One that was too large for the market goes on in smaller parts.
 */
export function settleExit(state: EngineState, intent: Intent, outcome: Outcome, at: Millis): void {
  const { id, strategy, inputMint, amountIn, purpose } = intent;
  const proposal = state.exitProposals.get(id);
  state.exitProposals.delete(id);
  correctSpends(state, intent, outcome, at);
  if (purpose !== 'exit') return;
  const { state: end, fill } = outcome;
  const isSmaller = isTooLarge(outcome)
    && (outcome.capRoom !== undefined || learnDepth(state, { ...intent, amount: amountIn }, at));
  if (isSmaller && proposal !== undefined && !state.exits.get(strategy, inputMint) && !state.flattening.has(strategy)) {
    state.exits.put(orderOf(strategy, proposal, amountIn));
  }
  const order = state.exits.get(strategy, inputMint);
  if (order === undefined || isSmaller) return;
  if (end === 'confirmed') bookPart(state, order, fill?.amountIn ?? amountIn);
  else if (!endedPassing(outcome)) countFailure(state, order);
}

function orderOf(strategy: string, proposal: SwapProposal, left: Amount): ExitOrder {
  const { inputMint, outputMint, limit, slippageBps, route, reason, key } = proposal;
  return { strategy, inputMint, outputMint, left, limit, slippageBps, route, reason, key, failures: 0 };
}

function bookPart(state: EngineState, order: ExitOrder, sold: Amount): void {
  const left = (order.left > sold ? order.left - sold : 0n) as Amount;
  if (left === 0n) state.exits.delete(order.strategy, order.inputMint);
  else state.exits.put({ ...order, left, limit: limitOfPart(order.limit, left, order.left), failures: 0 });
}

function countFailure(state: EngineState, order: ExitOrder): void {
  const failures = order.failures + 1;
  if (failures < EXIT_FAILURES_MAX) {
    state.exits.put({ ...order, failures });
    return;
  }
  state.exits.delete(order.strategy, order.inputMint);
  // The engine comes back to it no more: the strategy may.
  if (order.key !== undefined) state.keys.delete(intentKey(order.strategy, order.key));
}

/** The signer counts by itself, also what the engine never heard of: its answer is the truth. */
function correctSpends({ limits, spends }: EngineState, { inputMint }: Intent, { capRoom }: Outcome, at: Millis): void {
  if (capRoom === undefined) return;
  const cap = limits.caps?.get(inputMint);
  const most = capRoom.span === 'hour' ? cap?.perHour : cap?.perDay;
  if (most !== undefined) spends.correct(inputMint, capRoom, most, at);
}
