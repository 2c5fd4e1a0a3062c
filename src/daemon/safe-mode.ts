import { formatDuration } from '../core/time.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { SetTradingState } from '../trading/command.ts';
import { CRASH_LIMIT } from './crash-count.ts';

/** Returns the word by which a start after repeated crashes trades nothing. */
export function safeModeCommand(crashes: number): SetTradingState {
  return { kind: 'command', name: 'set-trading-state', state: 'halted', by: 'safe-mode', reason: reasonOf(crashes) };
}

/** Returns what people are told of it. */
export function safeModeText(crashes: number): string {
  return `${reasonOf(crashes)}. This run resolves what was open, watches and records, and trades nothing until "gannet resume"; the log of the runs before may say why they ended`;
}

/** Returns the alert that goes with it. */
export function safeModeAlert(crashes: number): AlertProposal {
  return { kind: 'alert', level: 'critical', message: `safe mode: ${safeModeText(crashes)}`, data: { crashes } };
}

function reasonOf(crashes: number): string {
  return `the last ${crashes} runs, all begun within ${formatDuration(CRASH_LIMIT.withinMs)}, ended without anybody having ended them`;
}
