import { formatDuration } from '../../core/time.ts';
import { showMint } from './amount-text.ts';
import type { Rule } from './swap-wish.ts';

/** What is bought must have been looked at, not too long ago, and nothing found; what is held may always be sold. */
export const tokenSafety: Rule = (state, { outputMint, isExit, at }) => {
  const safety = state.limits.tokenSafety;
  if (safety === undefined || isExit || safety.trusted.has(outputMint)) return undefined;
  const look = state.tokenFindings.get(outputMint);
  if (look === undefined)
    return { code: 'TOKEN_UNVETTED', reason: `${showMint(state, outputMint)} has not been looked at yet` };
  if (look.findings.length > 0)
    return { code: 'TOKEN_UNSAFE', reason: `${showMint(state, outputMint)}: ${look.findings.join(', ')}` };
  const ageMs = at - look.at;
  if (ageMs >= 0 && ageMs <= safety.validForMs) return undefined;
  return { code: 'TOKEN_UNVETTED', reason: `the look at ${showMint(state, outputMint)} is ${formatDuration(ageMs)} `
    + `old, it holds for ${formatDuration(safety.validForMs)}` };
};
