import type { TokenTable } from '../market/token.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { ProtectionAction } from '../trading/protection.ts';
import type { ProtectionChange } from '../trading/protections/protection-change.ts';
import { symbolOf } from '../market/market-text.ts';
import { kindText, releaseText } from './protection-text.ts';

const ACTIONS: Readonly<Record<ProtectionAction, string>> = {
  deny: 'entries are refused', 'reduce-only': 'only exits are let through', halt: 'nothing is traded', flatten: 'what is held is sold, and entries are refused',
};

/** Returns what a protection does now that it came on, or that it let go, for people. */
export function describeProtectionChange(tokens: TokenTable, { change, protection: { trigger: { kind }, scope, action, release }, subject, reason }: ProtectionChange): string {
  const whom = scope === 'global' ? 'everything' : scope === 'token' ? symbolOf(tokens, subject) : subject;
  if (change === 'released') return `${kindText(kind)} lets go of ${whom}: ${reason}`;
  return `${kindText(kind)} is on for ${whom}, ${ACTIONS[action]} (${reason}) ${releaseText(release)}`;
}

/** Returns whether somebody should be called: a pause between two swaps is nothing to call for. */
export function raisesAlert({ change, protection: { action } }: ProtectionChange): boolean {
  return change === 'fired' && action !== 'deny';
}

/** Returns the alert that a protection came on. */
export function protectionAlert(tokens: TokenTable, change: ProtectionChange): AlertProposal {
  const { protection: { action }, code, subject } = change;
  return {
    kind: 'alert',
    level: action === 'halt' || action === 'flatten' ? 'critical' : 'warning',
    message: describeProtectionChange(tokens, change),
    data: { code, action, subject },
  };
}
