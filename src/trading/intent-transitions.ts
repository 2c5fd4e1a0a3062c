import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import { outputAt } from '../market/quote.ts';
import { SOL_MINT } from '../market/token.ts';
import { payOut, takeBackOwed } from './book-snapshot.ts';
import { settleExit } from './exit-progress.ts';
import type { Intent, Outcome } from './intent.ts';
import { canTransition, isTerminal, needsOperator } from './intent.ts';
import { isManualBook } from './manual/manual-book.ts';
import type { ExitResult } from './portfolio.ts';
import type { SwapProposal } from './proposal.ts';
import { advanceTime, checkProtections } from './protections/check-protections.ts';
import { recordOutcome } from './protections/record-outcome.ts';
import { intentKey } from './recent-keys.ts';
import type { SwapCandidate } from './risk/swap-candidate.ts';
import type { EngineState } from './engine-state.ts';
import { currentValue, readingAge } from './valuation.ts';

/** How old a quote may be that bounds an exit's output, where the configuration sets no age of quotes. */
const EXIT_QUOTE_AGE_MS = 300_000;

/** Opens the intent of an approved proposal. It counts as exposure before the next proposal is ruled on. */
export function openIntent(
  state: EngineState, proposal: SwapProposal, { strategy, amountIn, isExit, at, continues }: SwapCandidate,
): Intent {
  strategy.intentCount += 1;
  // A further part of an exit belongs to the proposal that began it.
  const begun = continues ? state.exits.get(strategy.name, proposal.inputMint) : undefined;
  const intent: Intent = {
    id: `${strategy.name}-${strategy.intentCount}`,
    strategy: strategy.name,
    createdAt: at,
    purpose: isExit ? 'exit' : 'entry',
    inputMint: proposal.inputMint,
    outputMint: proposal.outputMint,
    amountIn,
    maxSlippageBps: proposal.slippageBps ?? state.limits.maxSlippageBps,
    maxPriceImpactBps: state.limits.maxPriceImpactBps,
    maxFeeBps: state.limits.maxFeeBps,
    minimumOut: leastOutput(state, proposal, { amountIn, isExit, at }),
    route: strategy.limits.route ?? proposal.route ?? 'order',
    reason: proposal.reason,
    key: proposal.key ?? begun?.key,
    tag: proposal.tag,
  };
  state.intents.add({ intent, state: 'approved' });
  state.portfolio.reserve(intent);
  if (proposal.key !== undefined) state.keys.add(intentKey(strategy.name, proposal.key));
  state.swapRate.add(at);
  if (isExit && !state.flattening.has(strategy.name)) state.exitProposals.set(intent.id, proposal);
  return intent;
}

/**
 * Returns the least output of a swap: the strategy's limit, or the last quote less the allowed slippage and impact
 * where that is more. So the service that executes the swap is not the only source of its price. An old quote does not
 * bound an exit: with a dead feed, a strategy could not leave a falling market.
 */
function leastOutput(state: EngineState, { inputMint, outputMint, limit }: SwapProposal, {
  amountIn, isExit, at,
}: Pick<SwapCandidate, 'amountIn' | 'isExit' | 'at'>): Amount | undefined {
  const quote = state.market.latestQuote(inputMint, outputMint);
  if (quote === undefined || quote.inAmount === 0n) return limit;
  if (isExit && !(readingAge(quote, at) <= (state.limits.maxQuoteAgeMs ?? EXIT_QUOTE_AGE_MS))) return limit;
  const tolerance = Math.min(10_000, state.limits.maxSlippageBps + state.limits.maxPriceImpactBps) as Bps;
  const floor = afterSlippage(outputAt(quote, amountIn), tolerance);
  return limit !== undefined && limit > floor ? limit : floor;
}

/** Applies an outcome to its intent, books what a terminal outcome moved, and checks the protections. */
export function applyOutcome(state: EngineState, at: Millis, outcome: Outcome): void {
  const tracked = state.intents.get(outcome.intentId);
  assert(tracked, () => `outcome "${outcome.state}" of ${outcome.intentId}, which is not open`);
  assert(canTransition(tracked.state, outcome.state), () =>
    `${outcome.intentId} cannot go from ${tracked.state} to ${outcome.state}`);
  assert(outcome.state !== 'confirmed' || outcome.fill !== undefined, () =>
    `${outcome.intentId} is confirmed without a fill`);
  tracked.state = outcome.state;
  if (outcome.state === 'unknown' && needsOperator(outcome.code)) tracked.isUnproven = true;
  const { intent } = tracked;
  advanceTime(state.protections, at);
  if (outcome.state === 'signed' && state.limits.caps?.has(intent.inputMint) === true) {
    state.spends.note(intent.inputMint, { at, amount: intent.amountIn, id: `${intent.id}/${outcome.attempt}` });
  }
  if (!isTerminal(outcome.state)) {
    recordOutcome(state.protections, intent, outcome, undefined);
    if (outcome.state === 'unknown') checkProtections(state, at);
    return;
  }
  state.intents.delete(intent.id);
  settleExit(state, intent, outcome, at);
  // Nothing was signed: the strategy may use the key again, unless the engine continues the exit. A further attempt
  // comes after a signed one.
  const isUndone = outcome.state === 'abandoned' && outcome.attempt === 1
    && !state.exits.get(intent.strategy, intent.inputMint);
  if (isUndone && intent.key !== undefined) state.keys.delete(intentKey(intent.strategy, intent.key));
  state.portfolio.release(intent);
  recordOutcome(state.protections, intent, outcome, bookOutcome(state, intent, outcome));
  takeBackOwed(state, intent.strategy);
  if (isManualBook(intent.strategy)) state.portfolio.returnUnspent(intent.strategy);
  checkProtections(state, at);
}

/** Books what a terminal outcome moved and cost. Returns the result of an exit where it is known. */
function bookOutcome(state: EngineState, { strategy }: Intent, { fill, feeLamports }: Outcome): ExitResult | undefined {
  if (fill === undefined) {
    if (feeLamports !== undefined) state.portfolio.applyFee(strategy, feeLamports);
    return undefined;
  }
  const currency = state.portfolio.book(strategy).budget?.mint;
  const fee = currency === undefined ? undefined
    : currentValue(state, { mint: SOL_MINT, amount: fill.feeLamports }, currency, state.protections.now);
  const result = state.portfolio.applyFill(strategy, fill, fee);
  if (fill.receiver !== undefined && currency !== undefined) {
    const spent = { mint: fill.inputMint, amount: fill.amountIn };
    const amount = currentValue(state, spent, currency, state.protections.now);
    if (amount !== undefined) payOut(state, strategy, { mint: currency, amount });
  }
  return result;
}
