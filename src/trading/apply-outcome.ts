import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import { SOL_MINT } from '../market/token.ts';
import { takeBackOwed } from './budget-change.ts';
import type { ExitResult } from './costs.ts';
import { currentValue } from './exposure.ts';
import { settleExit } from './exit-course.ts';
import type { Intent, Outcome } from './intent.ts';
import { canTransition, isTerminal, needsOperator } from './intent.ts';
import { advanceTime, lookAtProtections } from './protections/look.ts';
import { recordOutcome } from './protections/record.ts';
import { intentKey } from './recent-keys.ts';
import type { EngineState } from './state.ts';

/** Moves an intent on; books what a terminal outcome moved, and lets protections see it. */
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
    if (outcome.state === 'unknown') lookAtProtections(state, at);
    return;
  }
  state.intents.delete(intent.id);
  settleExit(state, intent, outcome, at);
  // Nothing was signed, so nothing was done: the strategy may come back to it, unless the engine does. A further
  // attempt comes after a signed one.
  const isUndone = outcome.state === 'abandoned' && outcome.attempt === 1
    && !state.exits.get(intent.strategy, intent.inputMint);
  if (isUndone && intent.key !== undefined) state.keys.delete(intentKey(intent.strategy, intent.key));
  state.portfolio.release(intent);
  recordOutcome(state.protections, intent, outcome, bookOutcome(state, intent, outcome));
  takeBackOwed(state, intent.strategy);
  lookAtProtections(state, at);
}

/** Books what a terminal outcome moved and cost; returns the result of an exit where it is known. */
function bookOutcome(state: EngineState, { strategy }: Intent, { fill, feeLamports }: Outcome): ExitResult | undefined {
  if (fill === undefined) {
    if (feeLamports !== undefined) state.portfolio.applyFee(strategy, feeLamports);
    return undefined;
  }
  const currency = state.portfolio.book(strategy).budget?.mint;
  const fee = currency === undefined ? undefined
    : currentValue(state, { mint: SOL_MINT, amount: fill.feeLamports }, currency, state.protections.now);
  return state.portfolio.applyFill(strategy, fill, fee);
}
