import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { RunRecord } from '../../store/journal.ts';
import type { SetTradingState } from '../../trading/engine-command.ts';
import type { AlertProposal } from '../../trading/proposal.ts';

/** The number of crashes within a span after which a start enters the safe mode. */
interface CrashLimit {
  readonly crashes: number;
  readonly withinMs: Millis;
}

export const CRASH_LIMIT: CrashLimit = { crashes: 3, withinMs: 600_000 };

/**
 * Returns how many of the newest runs in a row crashed, each started within the span before now; 0 after a run that
 * ended in order. Without this limit a daemon that a supervisor restarts into the same crash would trade each time.
 * Runs with a start in the future, from before the clock was set back, count too.
 */
export function crashesInARow(runs: readonly RunRecord[], now: Millis, { withinMs }: CrashLimit = CRASH_LIMIT): number {
  const unbroken = runs.findIndex(({ startedAt, endedAt }) => endedAt !== undefined || startedAt < now - withinMs);
  return unbroken < 0 ? runs.length : unbroken;
}

/** Returns the command that halts trading after repeated crashes. */
export function safeModeCommand(crashes: number): SetTradingState {
  return { kind: 'command', name: 'set-trading-state', state: 'halted', by: 'safe-mode', reason: reasonOf(crashes) };
}

/** Returns the explanation for people. */
export function safeModeText(crashes: number): string {
  return `${reasonOf(crashes)}. This run resolves open swaps, watches and records, but does not trade until "gannet `
    + 'resume"; the logs of the earlier runs may have the cause';
}

/** Returns the alert for a start in safe mode. */
export function safeModeAlert(crashes: number): AlertProposal {
  return {
    kind: 'alert', level: 'critical', message: `safe mode: ${safeModeText(crashes)}`,
    data: { crashes, code: 'SAFE_MODE' },
  };
}

function reasonOf(crashes: number): string {
  return `the last ${crashes} runs, all started within ${formatDuration(CRASH_LIMIT.withinMs)}, crashed`;
}
