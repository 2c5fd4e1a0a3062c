import { formatDecimal } from '../../core/amount.ts';
import { assertNever } from '../../core/assert.ts';
import { formatDuration } from '../../core/time.ts';
import { showAmount, SOL_DECIMALS } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { Protection, ProtectionAction, ProtectionRelease, ProtectionTrigger } from '../limits.ts';

const SHORT: Readonly<Record<ProtectionAction, string>> =
  { deny: 'no entries', 'reduce-only': 'exits only', halt: 'halt', flatten: 'sell everything' };

/** Returns a protection for people: trigger, scope, action and end. */
export function describeProtection(protection: Protection, tokens: TokenTable): string {
  const { release } = protection;
  return `${summarizeProtection(protection, tokens)}${release.kind === 'elapsed' ? '' : ` ${releaseText(release)}`}`;
}

/** Returns the same for a short list. The end is named only for pauses. */
export function summarizeProtection(protection: Protection, tokens: TokenTable): string {
  const { trigger, scope, action, release } = protection;
  return `${triggerText(trigger, tokens)}${scope === 'global' ? '' : ` (each ${scope})`}: `
    + `${SHORT[action]}${release.kind === 'elapsed' ? ` ${releaseText(release)}` : ''}`;
}

/** Returns an action in one or two words. */
export function actionText(action: ProtectionAction): string {
  return SHORT[action];
}

/** Returns a kind as the configuration spells it. */
export function kindText(kind: string): string {
  return kind.replaceAll('-', '_');
}

/** Returns when a protection ends, for people. */
export function releaseText(release: ProtectionRelease): string {
  switch (release.kind) {
    case 'elapsed': return `for ${formatDuration(release.afterMs)}`;
    case 'cleared': return 'while it lasts';
    case 'next-day': return 'until midnight UTC';
    case 'operator': return 'until "gannet resume"';
    default: return assertNever(release, 'release');
  }
}

function triggerText(trigger: ProtectionTrigger, tokens: TokenTable): string {
  switch (trigger.kind) {
    case 'cooldown': return `a swap${trigger.after === 'loss' ? ' with a loss' : ''}`;
    case 'loss-streak': return `${trigger.losses} losses in a row within ${formatDuration(trigger.withinMs)}`;
    case 'low-profit':
      return `${trigger.trades} exits within ${formatDuration(trigger.withinMs)} that bring less than `
        + `${trigger.leastBps / 100} %`;
    case 'max-drawdown': return `${trigger.limitPct} % under the highest equity`;
    case 'daily-loss':
      return `a loss of ${showAmount(tokens, trigger.limit.mint, trigger.limit.amount)} within the day`;
    case 'fee-budget':
      return `${formatDecimal(trigger.limitLamports, SOL_DECIMALS)} SOL of network fees within the day`;
    case 'stale-feed': return `a feed silent for ${formatDuration(trigger.afterMs)}`;
    case 'blind-execution': return `${trigger.unknowns} unknown outcomes in a row`;
    case 'unresolved-intent': return `an outcome unknown for ${formatDuration(trigger.afterMs)}`;
    case 'error-rate': return `${trigger.failures} failed swaps within ${formatDuration(trigger.withinMs)}`;
    case 'reconciliation-mismatch': return 'less on the chain than in the ledger';
    case 'dead-man': return `no operator for ${formatDuration(trigger.afterMs)}`;
    default: return assertNever(trigger, 'trigger');
  }
}
