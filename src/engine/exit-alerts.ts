import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration, roughDuration, timeOfDay } from '../core/time.ts';
import { showAmount, symbolOf } from '../market/market-text.ts';
import type { Mint } from '../market/token.ts';
import type { ExitOrder } from '../trading/exit-orders.ts';
import { EXIT_FAILURES_MAX } from '../trading/exit-progress.ts';
import type { ExitPart } from '../trading/exit-sizing.ts';
import { exitEndsAt } from '../trading/exit-sizing.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { EngineState } from '../trading/engine-state.ts';

// The decision hash covers these alerts: a changed text changes the hash of every run with such an exit.

/** The longest pause between two tries of an exit. */
export const PAUSE_MAX_MS = 60_000;

/** A token of a strategy that is to be sold, and how much of it remains. */
interface Remaining {
  readonly strategy: string;
  readonly mint: Mint;
  readonly amount: Amount;
}

/** Returns why an exit waits for a cap: which one, until when, and when the last part is expected to be sold. */
export function capWaitReason(
  state: EngineState, { mint, amount }: Remaining, { until, span }: NonNullable<ExitPart['waits']>, now: Millis,
): string {
  const cap = state.limits.caps?.get(mint);
  const spent = state.spends.counted(mint, 'day', now);
  const endsAt = exitEndsAt({ amount, cap, at: now, spent });
  const last = endsAt === undefined ? 'the last one in a day or later' : `the last one at about ${when(endsAt, now)}`;
  const used = `signer.caps.${symbolOf(state.tokens, mint)}.per_${span} is used up`;
  return `${used}; the next part goes at ${when(until, now)}, ${last}`;
}

/** Returns the alert that an exit waits for a cap. */
export function capWaitAlert(
  state: EngineState, { strategy, mint, amount }: Remaining, until: Millis, reason: string,
): AlertProposal {
  return {
    kind: 'alert', level: 'critical',
    message: `${showAmount(state.tokens, mint, amount)} of ${strategy} remain to be sold: ${reason}`,
    data: { mint, remaining: amount, until },
  };
}

/** Returns the alert that the last part of an exit is sold. */
export function exitMadeAlert(
  state: EngineState, strategy: string, { inputMint, rule }: Pick<ExitOrder, 'inputMint' | 'rule'>,
): AlertProposal {
  const what = `the exit of ${strategy} from ${symbolOf(state.tokens, inputMint)} is made`;
  return { kind: 'alert', level: 'info', message: rule === undefined ? `${what}, in parts` : `${what}: exits.${rule}` };
}

/** Returns the alert that an exit in parts is given up; `code` is how its last part ended. */
export function exitGivenUpAlert(
  state: EngineState, { strategy, mint, amount }: Remaining, code: string,
): AlertProposal {
  return {
    kind: 'alert', level: 'critical',
    message: `the exit of ${strategy} from ${symbolOf(state.tokens, mint)} is given up with `
      + `${showAmount(state.tokens, mint, amount)} unsold; the last try ended with ${code}. `
      + `"gannet flatten --strategy ${strategy}" sells what it holds`,
    data: { mint, code, remaining: amount },
  };
}

/** Returns the alert that a holding of a flattening strategy is given up. */
export function holdingGivenUpAlert(state: EngineState, mint: Mint, code: string): AlertProposal {
  return {
    kind: 'alert', level: 'critical',
    message: `could not sell its ${symbolOf(state.tokens, mint)}: ${EXIT_FAILURES_MAX} tries, `
      + `${formatDuration(PAUSE_MAX_MS)} apart in the end, the last one ${code}. It is left where it is; `
      + '"gannet flatten" tries anew',
    data: { mint, code },
  };
}

/** Returns the alert that several tries in a row failed for a transient cause. */
export function exitDelayedAlert(
  state: EngineState,
  { strategy, mint, amount }: Omit<Remaining, 'amount'> & { readonly amount: Amount | undefined }, code: string,
): AlertProposal {
  const what = amount === undefined ? symbolOf(state.tokens, mint) : showAmount(state.tokens, mint, amount);
  return {
    kind: 'alert', level: 'critical',
    message: `${what} of ${strategy} remain to be sold: ${EXIT_FAILURES_MAX} tries in a row failed, the last one `
      + `${code}; it is tried again every ${formatDuration(PAUSE_MAX_MS)} until it is sold`,
    data: { mint, code, ...(amount === undefined ? {} : { remaining: amount }) },
  };
}

/** Returns the alert that a flattening strategy has nothing left that can be sold; `left` is what it still holds. */
export function flatAlert(
  state: EngineState, strategy: string, into: Mint, left: readonly Mint[],
): AlertProposal {
  if (left.length === 0) {
    return {
      kind: 'alert', level: 'info',
      message: `flat: ${strategy} holds nothing but ${symbolOf(state.tokens, into)} and enters nothing while it is `
        + 'flattening',
    };
  }
  const symbols = left.map((mint) => symbolOf(state.tokens, mint)).join(', ');
  return {
    kind: 'alert', level: 'warning',
    message: `flat but for its ${symbols}: what could not be sold, or is kept for fees; ${strategy} enters nothing `
      + 'while it is flattening',
  };
}

function when(at: Millis, now: Millis): string {
  return `${timeOfDay(at)} (in ${roughDuration(Math.max(0, at - now))})`;
}
