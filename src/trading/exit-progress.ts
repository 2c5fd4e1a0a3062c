import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration, timeOfDay } from '../core/time.ts';
import { showAmount } from '../market/market-text.ts';
import type { Denial, DenialCategory, DenialCode } from './limits.ts';
import { DENIALS } from './limits.ts';
import type { ExitOrder } from './exit-orders.ts';
import { limitOfPart } from './exit-orders.ts';
import { exitPart, learnDepth } from './exit-sizing.ts';
import type { Intent, Outcome } from './intent.ts';
import type { DueExit } from './positions/exit-rules.ts';
import { noteTaken } from './positions/position-watch.ts';
import type { SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';
import type { SwapCandidate } from './risk/swap-candidate.ts';
import type { EngineState } from './engine-state.ts';
import { isSlippageCode } from './swap-terms.ts';

/** The failed parts in a row after which an exit is given up. */
export const EXIT_FAILURES_MAX = 8;

/** The categories of refusals that are transient. */
const TRANSIENT_CATEGORIES: ReadonlySet<string> =
  new Set<DenialCategory>(['state', 'protection', 'freshness', 'count']);
/** Faults of the service are transient, except for a rejected request: that may never get a price. */
const SERVICE_FAULT = /^SERVICE_(?!BAD_REQUEST$)/;
/** Transient faults of nodes, disk, caps, processes, prices and a congested chain. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR', 'CHAIN_RESPONSE_INVALID', 'CHAIN_UNREAD', 'TABLE_UNREAD',
  'CAP_DECIMALS_UNREAD', 'JOURNAL_FAILED', 'COUNTERS_UNPROVEN', 'COUNTERS_UNWRITABLE', 'DISK_FULL', 'SIGNER_LOST',
  'RESTARTED', 'PRICE_BELOW_GUARD', 'PRICE_GUARD_UNAVAILABLE',
  'CAP_EXCEEDED_HOUR', 'CAP_EXCEEDED_DAY', 'FEE_EXCEEDS', 'TIP_EXCEEDS', 'FEE_EXCEEDS_MAX',
  'LIMIT_NOT_MET', 'PRICE_OFF_REFERENCE', 'IMPACT_EXCEEDS_MAX', 'SIZE_BEYOND_LADDER',
  'QUOTE_EXPIRED', 'MAKER_REJECTED', 'EXPIRED', 'INTENT_TOO_OLD', 'ORDER_INCOMPLETE',
]);
/** The swap is larger than the depth of the market. */
const TOO_LARGE: ReadonlySet<string> = new Set(['IMPACT_EXCEEDS_MAX', 'SIZE_BEYOND_LADDER']);

/** Returns whether the cause of a code is transient. */
export function isTransientCode(code: string): boolean {
  return SERVICE_FAULT.test(code) || TRANSIENT_CODES.has(code)
    || (Object.hasOwn(DENIALS, code) && TRANSIENT_CATEGORIES.has(DENIALS[code as DenialCode].category));
}

/** Returns whether a swap ended for a transient cause. That includes a moved price, as long as no fee was paid. */
export function endedTransiently({ state, code }: Outcome): boolean {
  return code !== undefined && (isTransientCode(code) || (state === 'abandoned' && isSlippageCode(code)));
}

/** Returns whether a swap was given up for its size alone: for the room of a cap, or the depth of the market. */
export function isTooLarge({ state, code, capRoom }: Outcome): boolean {
  return state === 'abandoned' && (capRoom !== undefined || (code !== undefined && TOO_LARGE.has(code)));
}

/** The part of an approved exit that is sold now, or the reason why it waits. */
type SizedExit =
  | { readonly kind: 'sell'; readonly proposal: SwapProposal; readonly swap: SwapCandidate }
  | { readonly kind: 'wait'; readonly denial: Denial };

/**
 * Returns the part of an approved exit that one swap may sell now. For a larger exit of a strategy, the state keeps the
 * rest, and the engine proposes part after part until all is sold. `isBegun` is true for the first part of an exit that
 * the state holds already.
 */
export function sizeExit(
  state: EngineState, proposal: SwapProposal, swap: SwapCandidate, isBegun = false,
): SizedExit {
  const { inputMint, outputMint, amountIn, at, strategy } = swap;
  // The engine sized a further part to the depth when it proposed it.
  const least = swap.continues && !isBegun ? amountIn : undefined;
  const { amount, waits } = exitPart(state, { inputMint, outputMint, amount: amountIn, least }, at);
  const isOwn = !swap.continues && !state.flattening.has(strategy.name);
  if (amount < amountIn && isOwn) {
    state.exits.put(orderOf(strategy.name, proposal, amountIn));
  }
  if (waits !== undefined) {
    // The engine continues the exit by itself: the strategy must not propose it again.
    if (isOwn && swap.key !== undefined) state.keys.add(intentKey(strategy.name, swap.key));
    const until = `${timeOfDay(waits.until)} (in ${roughDuration(waits.until - at)})`;
    const none =
      `the signer’s cap of the ${waits.span} leaves no room for ${showAmount(state.tokens, inputMint, amountIn)}`;
    return {
      kind: 'wait', denial: { code: 'CAP_USED_UP', reason: `${none} before ${until}; the exit goes on by itself then` },
    };
  }
  if (amount === amountIn) return { kind: 'sell', proposal, swap };
  const limit = limitOfPart(proposal.limit, amount, amountIn);
  const part = { ...proposal, ...(limit === undefined ? {} : { limit }) };
  return { kind: 'sell', proposal: part, swap: { ...swap, amountIn: amount } };
}

/** Begins an exit that a rule of the configuration asks for; it goes on until it is sold. */
export function beginExit(state: EngineState, proposal: SwapProposal, { strategy, mint, amount, rule }: DueExit): void {
  state.exits.put({ ...orderOf(strategy, proposal, amount), rule });
  if (rule === 'take_profit') noteTaken(state, strategy, mint);
}

/** Records the refusal of a part; repeated refusals that are not transient end the exit. */
export function refusePart(state: EngineState, { strategy, inputMint }: SwapCandidate, code: string): void {
  const order = state.exits.get(strategy.name, inputMint);
  if (order !== undefined && !isTransientCode(code)) countFailure(state, order);
}

/** Updates an exit by the outcome of one of its parts. After a part that was too large, smaller parts follow. */
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
  else if (!endedTransiently(outcome)) countFailure(state, order);
}

function orderOf(strategy: string, proposal: SwapProposal, left: Amount): ExitOrder {
  const { inputMint, outputMint, limit, slippageBps, route, reason, key, tag } = proposal;
  return { strategy, inputMint, outputMint, left, limit, slippageBps, route, reason, key, tag, failures: 0 };
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
  // The engine does not continue it, so the strategy may propose it again.
  if (order.key !== undefined) state.keys.delete(intentKey(order.strategy, order.key));
}

/** Corrects the engine's counters by the signer's answer: the signer also counts swaps unknown to the engine. */
function correctSpends({ limits, spends }: EngineState, { inputMint }: Intent, { capRoom }: Outcome, at: Millis): void {
  if (capRoom === undefined) return;
  const cap = limits.caps?.get(inputMint);
  const most = capRoom.span === 'hour' ? cap?.perHour : cap?.perDay;
  if (most !== undefined) spends.correct(inputMint, capRoom, most, at);
}
