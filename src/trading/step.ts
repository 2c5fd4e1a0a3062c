import { assert, assertNever } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { applyCommand } from './apply-command.ts';
import { applyOutcome } from './apply-outcome.ts';
import type { Command } from './command.ts';
import type { Intent, Outcome } from './intent.ts';
import { refusePart, sizeExit } from './exit-course.ts';
import { openIntent } from './open-intent.ts';
import type { AlertProposal, Proposal } from './proposal.ts';
import { lookAtMarket } from './protections/look.ts';
import type { Denial } from './risk/denial.ts';
import { firstDenial } from './risk/first-denial.ts';
import { wishOf } from './risk/swap-wish.ts';
import type { EngineState } from './state.ts';
import type { StrategyState } from './strategy-state.ts';

/** What comes from outside, in the order in which it came. */
export type Input = MarketEvent | Outcome | Command;

/** A strategy's wish on its way through the inbox. */
export interface ProposalInput {
  readonly kind: 'proposal';
  readonly strategy: string;
  readonly proposal: Proposal;
  /** Whether the engine itself goes on with an exit or a flatten. */
  readonly continues?: boolean | undefined;
}

/** What was decided about a proposal: exactly the fields that the decision hash covers. */
export interface Decision {
  readonly seq: number;
  readonly at: Millis;
  readonly strategy: string;
  readonly proposal: Proposal;
  readonly verdict: 'approved' | 'denied';
  /** The denial's code, null when approved. */
  readonly code: string | null;
}

/** What is to be done in the world; plain data. */
export type Effect =
  | {
    readonly kind: 'execute'; readonly intent: Intent;
    /** What the strategy keeps as of this swap: written down with it. */ readonly strategyState?: StrategyState
      | undefined;
  }
  | { readonly kind: 'alert'; readonly strategy: string; readonly alert: AlertProposal };

/** A decision with its consequence, or with the reason for none. */
export interface Ruling {
  readonly decision: Decision;
  readonly effect?: Effect | undefined;
  readonly denial?: Denial | undefined;
}

/**
 * Applies one stamped input to the state, the only place where state changes; it owns the state and mutates it.
 * Reads no clock, does no I/O and draws no random number. Returns a ruling for a proposal, nothing otherwise; what
 * protections came on or let go stands in the state until somebody takes it up (`takeChanges`).
 */
export function step(state: EngineState, seq: number, at: Millis, input: Input | ProposalInput): Ruling | undefined {
  switch (input.kind) {
    case 'quote':
    case 'order-book':
    case 'token-stats':
    case 'feed-health':
      state.market.observe(input);
      if (at >= state.protections.nextLookAt) lookAtMarket(state, at);
      return undefined;
    case 'proposal':
      return rule(state, seq, at, input);
    case 'outcome':
      applyOutcome(state, at, input);
      return undefined;
    case 'command':
      applyCommand(state, at, input);
      return undefined;
    default:
      return assertNever(input, 'input');
  }
}

function rule(state: EngineState, seq: number, at: Millis, { strategy, proposal, continues }: ProposalInput): Ruling {
  if (proposal.kind === 'alert') {
    return {
      decision: { seq, at, strategy, proposal, verdict: 'approved', code: null },
      effect: { kind: 'alert', strategy, alert: proposal },
    };
  }
  const record = state.strategies.get(strategy);
  assert(record, () => `proposal of the unknown strategy ${strategy}`);
  lookAtMarket(state, at);
  const wish = wishOf(state, record, proposal, at, continues);
  const refused = (denial: Denial): Ruling =>
    ({ decision: { seq, at, strategy, proposal, verdict: 'denied', code: denial.code }, denial });
  const denial = firstDenial(state, wish);
  if (denial !== undefined) {
    if (wish.continues) refusePart(state, wish, denial.code);
    return refused(denial);
  }
  if (!wish.isExit) return approved(openIntent(state, proposal, wish));
  const sized = sizeExit(state, proposal, wish);
  return sized.kind === 'wait' ? refused(sized.denial) : approved(openIntent(state, sized.proposal, sized.wish));

  function approved(intent: Intent): Ruling {
    return {
      decision: { seq, at, strategy, proposal, verdict: 'approved', code: null }, effect: { kind: 'execute', intent },
    };
  }
}
