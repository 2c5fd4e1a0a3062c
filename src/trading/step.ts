import { assert } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { applyCommand } from './apply-command.ts';
import type { Command } from './engine-command.ts';
import type { Denial } from './limits.ts';
import { beginExit, refusePart, sizeExit } from './exit-progress.ts';
import { applyOutcome, openIntent } from './intent-transitions.ts';
import type { Intent, Outcome } from './intent.ts';
import { isTerminal } from './intent.ts';
import { isManualBook } from './manual/manual-book.ts';
import type { DueExit } from './positions/exit-rules.ts';
import { guardPositions, notePrice } from './positions/position-watch.ts';
import type { AlertProposal, Proposal } from './proposal.ts';
import { checkOnMarketEvent } from './protections/check-protections.ts';
import { firstDenial } from './risk/rules.ts';
import { candidateOf } from './risk/swap-candidate.ts';
import type { WaitingProposal } from './retries.ts';
import { isPassing, isRetried } from './retries.ts';
import type { EngineState } from './engine-state.ts';
import type { StrategyState } from './strategy-state.ts';

/** An external input, in order of arrival. */
export type Input = MarketEvent | Outcome | Command;

/** A strategy's proposal on its way through the inbox. */
export interface ProposalInput {
  readonly kind: 'proposal';
  readonly strategy: string;
  readonly proposal: Proposal;
  /** Whether the engine itself continues an exit or a flatten. */
  readonly continues?: boolean | undefined;
  /** Whether a person ordered it: it depends on no input of its strategy. */
  readonly byHand?: boolean | undefined;
  /** The exit that it begins, where a rule of the configuration asks for one. */
  readonly begins?: DueExit | undefined;
}

/** The decision on a proposal: exactly the fields that the decision hash covers. */
export interface Decision {
  readonly seq: number;
  readonly at: Millis;
  readonly strategy: string;
  readonly proposal: Proposal;
  readonly verdict: 'approved' | 'denied';
  /** The denial's code, null when approved. */
  readonly code: string | null;
}

/** An action outside the engine; plain data. */
export type Effect =
  | {
    readonly kind: 'execute';
    readonly intent: Intent;
    /** The strategy's state as of this swap; the journal saves both together. */
    readonly strategyState?: StrategyState | undefined;
  }
  | { readonly kind: 'alert'; readonly strategy: string; readonly alert: AlertProposal };

/** A decision with its effect or its denial. */
export interface Ruling {
  readonly decision: Decision;
  readonly effect?: Effect | undefined;
  readonly denial?: Denial | undefined;
  /** Whether the engine makes the refused proposal again, so that its strategy does not see the refusal. */
  readonly isRetried?: boolean | undefined;
}

/**
 * Applies one stamped input to the state. This is the only place where the state changes; `step` owns and mutates it.
 * Reads no clock, does no I/O and draws no random number. Returns a ruling for a proposal, undefined for other inputs.
 * Changes of protections stay in the state until `takeChanges` takes them.
 */
export function step(state: EngineState, seq: number, at: Millis, input: Input | ProposalInput): Ruling | undefined {
  const { kind } = input;
  if (kind === 'proposal') return rule(state, seq, at, input);
  state.protections.isCurrent = false;
  if (kind === 'outcome') {
    applyOutcome(state, at, input);
    if (state.hasExitRules && isTerminal(input.state)) guardPositions(state, at);
  } else if (kind === 'command') {
    applyCommand(state, at, input);
  } else {
    // Everything else is a market event, of any feed.
    state.market.observe(input);
    if (state.guarded.size > 0 && kind === 'quote') notePrice(state, input, at);
    if (at >= state.protections.nextCheckAt) checkOnMarketEvent(state, at);
  }
  return undefined;
}

function rule(
  state: EngineState, seq: number, at: Millis, { strategy, proposal, begins, continues, byHand }: ProposalInput,
): Ruling {
  if (proposal.kind === 'alert') {
    return {
      decision: { seq, at, strategy, proposal, verdict: 'approved', code: null },
      effect: { kind: 'alert', strategy, alert: proposal },
    };
  }
  const record = state.strategies.get(strategy);
  assert(record, () => `proposal of the unknown strategy ${strategy}`);
  checkOnMarketEvent(state, at);
  if (begins !== undefined) beginExit(state, proposal, begins);
  const swap = candidateOf(state, record, proposal, at, { continues, byHand });
  const refused = (denial: Denial): Ruling => ({
    decision: { seq, at, strategy, proposal, verdict: 'denied', code: denial.code }, denial,
    isRetried: isRetried(proposal) && keepsWaiting(state, { strategy, proposal }, denial, at),
  });
  const denial = firstDenial(state, swap);
  if (denial !== undefined) {
    if (swap.continues) refusePart(state, swap, denial.code);
    if (isManualBook(strategy)) state.portfolio.returnUnspent(strategy);
    return refused(denial);
  }
  if (!swap.isExit) return approved(openIntent(state, proposal, swap));
  const sized = sizeExit(state, proposal, swap, begins !== undefined);
  return sized.kind === 'wait' ? refused(sized.denial) : approved(openIntent(state, sized.proposal, sized.swap));

  function approved(intent: Intent): Ruling {
    state.protections.isCurrent = false;
    if (proposal.kind === 'swap' && proposal.key !== undefined) state.retries.delete(strategy, proposal.key);
    return {
      decision: { seq, at, strategy, proposal, verdict: 'approved', code: null }, effect: { kind: 'execute', intent },
    };
  }
}

/** Returns whether a refused proposal waits for its next try; one that does not is forgotten. */
function keepsWaiting(state: EngineState, waiting: WaitingProposal, { code }: Denial, at: Millis): boolean {
  const { strategy, proposal: { key, retry } } = waiting;
  if (isPassing(code) && at < retry.until && state.retries.put(waiting)) return true;
  // A key that is used means that another proposal under it was approved, and nothing waits any longer.
  state.retries.delete(strategy, key);
  return false;
}
