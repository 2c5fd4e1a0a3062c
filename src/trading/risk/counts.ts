import { formatDuration } from '../../core/time.ts';
import { RATE_SPANS } from '../swap-rate.ts';
import { showAmount, showMint } from './amount-text.ts';
import type { Rule } from './swap-wish.ts';

const RATE_CODES =
  [['perMinute', 'RATE_PER_MINUTE'], ['perHour', 'RATE_PER_HOUR'], ['perDay', 'RATE_PER_DAY']] as const;

/** One open swap per input, or balances prove nothing; and only so many at all, though never too many to get out. */
export const intentsOpen: Rule = (state, { inputMint, isExit, retryOf }) => {
  for (const { intent, state: intentState } of state.intents.values()) {
    if (intent.inputMint === inputMint && intent.id !== retryOf?.id) {
      return {
        code: 'INTENT_OPEN_FOR_MINT',
        reason: `${intent.id} spends ${showMint(state, inputMint)} too and is not finished yet (${intentState})`,
      };
    }
  }
  const { maxOpenIntents } = state.limits;
  if (isExit || retryOf !== undefined || state.intents.size < maxOpenIntents) return undefined;
  // One that may stay unknown for hours locks its own input: everything else goes on.
  const open = state.intents.values().filter(({ isUnproven }) => isUnproven !== true).length;
  if (open < maxOpenIntents) return undefined;
  return { code: 'INTENTS_OPEN_LIMIT', reason: `${open} open, allowed are ${maxOpenIntents}` };
};

/** What is being sold in parts is neither sold a second time nor bought meanwhile; a flatten sells it all anyway. */
export const exitUnderWay: Rule = (
  state, { strategy: { name }, inputMint, outputMint, isExit, continues, retryOf },
) => {
  if (state.exits.size === 0 || continues || retryOf !== undefined || (isExit && state.flattening.has(name)))
    return undefined;
  const order = state.exits.get(name, inputMint) ?? state.exits.get(name, outputMint);
  if (order === undefined) return undefined;
  return { code: 'EXIT_UNDER_WAY', reason: `${showAmount(state, order.inputMint, order.left)} of an exit are still to `
    + 'be sold, in parts; it goes on by itself' };
};

/** There can be no more exits than entries let in, and one that has to wait may cost more than any number of them. */
export const swapRate: Rule = (state, { isExit, retryOf, at }) => {
  if (isExit || retryOf !== undefined) return undefined;
  for (const [span, code] of RATE_CODES) {
    const limit = state.limits.maxSwaps[span];
    if (limit === undefined) continue;
    const used = state.swapRate.count(span, at);
    if (used >= limit)
      return { code, reason: `${used} within ${formatDuration(RATE_SPANS[span])}, allowed are ${limit}` };
  }
  return undefined;
};
