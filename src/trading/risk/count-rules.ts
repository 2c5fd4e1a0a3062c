import { formatDuration } from '../../core/time.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import { RATE_SPANS } from '../usage-counters.ts';
import type { Rule } from './swap-candidate.ts';

const RATE_CODES =
  [['perMinute', 'RATE_PER_MINUTE'], ['perHour', 'RATE_PER_HOUR'], ['perDay', 'RATE_PER_DAY']] as const;

/** Allows one open swap for each input, so that balances prove outcomes, and a maximum of open entries. */
const intentsOpen: Rule = (state, { inputMint, isExit, retryOf }) => {
  for (const { intent, state: intentState } of state.intents.values()) {
    if (intent.inputMint === inputMint && intent.id !== retryOf?.id) {
      return {
        code: 'INTENT_OPEN_FOR_MINT',
        reason: `${intent.id} spends ${symbolOf(state.tokens, inputMint)} too and is not finished yet (${intentState})`,
      };
    }
  }
  const { maxOpenIntents } = state.limits;
  if (isExit || retryOf !== undefined || state.intents.size < maxOpenIntents) return undefined;
  // A swap that may stay unknown for hours locks its own input only, and does not count.
  const open = state.intents.values().filter(({ isUnproven }) => isUnproven !== true).length;
  if (open < maxOpenIntents) return undefined;
  return { code: 'INTENTS_OPEN_LIMIT', reason: `${open} open, allowed are ${maxOpenIntents}` };
};

/** Refuses to sell or buy a token while an exit from it is under way in parts; a flatten sells everything anyway. */
const exitUnderWay: Rule = (
  state, { strategy: { name }, inputMint, outputMint, isExit, continues, retryOf },
) => {
  if (state.exits.size === 0 || continues || retryOf !== undefined || (isExit && state.flattening.has(name)))
    return undefined;
  const order = state.exits.get(name, inputMint) ?? state.exits.get(name, outputMint);
  if (order === undefined) return undefined;
  return { code: 'EXIT_UNDER_WAY',
    reason: `${showAmount(state.tokens, order.inputMint, order.left)} of an exit are still to `
      + 'be sold, in parts; it goes on by itself' };
};

/** Bounds the rate of entries. Exits cannot outnumber entries, and a delayed exit may cost more than many of them. */
const swapRate: Rule = (state, { isExit, retryOf, at }) => {
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

/** The rules on the number of swaps, in the order of their application. */
export const COUNT_RULES: readonly Rule[] = [intentsOpen, exitUnderWay, swapRate];
