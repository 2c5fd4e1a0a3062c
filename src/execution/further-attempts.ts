import type { Millis } from '../core/time.ts';
import type { Intent, IntentPurpose } from '../trading/intent.ts';
import type { LiveWorld, Progress, RetryDenial } from './journey.ts';
import { isSlippageCode } from '../trading/slippage-codes.ts';

/** How many attempts may follow the first: an exit that does not come about costs more than an entry. */
const FURTHER_ATTEMPTS_MAX: Readonly<Record<IntentPurpose, number>> = { entry: 1, exit: 3 };
/** An intent older than this is not begun anew: what was decided then is no reason any more. */
const INTENT_AGE_MAX_MS: Millis = 180_000;

/**
 * Returns whether this is an end of the kind after which another attempt makes sense: proven never to land, or landed
 * too late for its price.
 */
export function isRepeatable({ state, code }: Progress): boolean {
  return state === 'expired' || (state === 'failed' && isSlippageCode(code));
}

/**
 * Returns why an attempt that ended repeatably is not followed by another, or undefined where it may be. The quote, its
 * terms and the signer's policy are asked anew by the attempt itself; the least output stays the intent's own.
 */
export function furtherAttemptDenial(
  { clock, mayTryAgain }: Pick<LiveWorld, 'clock' | 'mayTryAgain'>, intent: Intent, attemptNumber: number,
): RetryDenial | undefined {
  const max = FURTHER_ATTEMPTS_MAX[intent.purpose];
  if (attemptNumber > max) return {
    code: 'ATTEMPTS_LIMIT',
    reason: `${attemptNumber} attempts were made, ${max + 1} are allowed for an ${intent.purpose}`,
  };
  const ageMs = clock.now() - intent.createdAt;
  // Less than nothing: the clock went back, and nobody knows how old it is.
  if (!(ageMs >= 0 && ageMs <= INTENT_AGE_MAX_MS)) {
    return { code: 'INTENT_TOO_OLD', reason: `it was decided ${Math.round(ageMs / 1_000)} s ago, another attempt is `
      + `made within ${INTENT_AGE_MAX_MS / 1_000} s` };
  }
  return mayTryAgain?.(intent);
}
