import { formatDuration } from '../../core/time.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import { priceAge, readingAge } from '../valuation.ts';
import { showMint } from './amount-text.ts';
import type { Rule } from './swap-wish.ts';

/**
 * Exits too, for a price of long ago is no reason to sell either; but a flatten does not act on what the strategy sees.
 */
export const inputsFresh: Rule = (state, { strategy, isExit, continues, at }) => {
  const { maxAgeMs } = strategy.limits;
  if (maxAgeMs === undefined || (isExit && (continues || state.flattening.has(strategy.name)))) return undefined;
  for (const slot of strategy.inputs) {
    const event = state.market.latest(slot);
    if (event === undefined) return { code: 'INPUT_STALE', reason: 'an input has not arrived yet' };
    const ageMs = readingAge(event, at);
    if (ageMs <= maxAgeMs) continue;
    const reason = ageMs === Infinity
      ? `${describeFeedKey(state.tokens, event.feed)} does not say an age that can be: it is from the future, or no `
        + 'number'
      : `${describeFeedKey(state.tokens, event.feed)} is ${formatDuration(ageMs)} old, allowed `
        + `are ${formatDuration(maxAgeMs)}`;
    return { code: 'INPUT_STALE', reason };
  }
  return undefined;
};

/**
 * Whoever buys must know the price of what he buys; who sells may have lost it, and then needs to sell all the more.
 */
export const pairPriceFresh: Rule = (state, { inputMint, outputMint, isExit, at }) => {
  const { maxQuoteAgeMs } = state.limits;
  if (maxQuoteAgeMs === undefined || isExit) return undefined;
  const ageMs = priceAge(state.market, inputMint, outputMint, at);
  if (ageMs <= maxQuoteAgeMs) return undefined;
  const pair = `${showMint(state, inputMint)} in ${showMint(state, outputMint)}`;
  return {
    code: 'QUOTE_STALE',
    reason: ageMs === Infinity ? `there is no price of ${pair}: none came in yet, or none is watched`
      : `the newest price of ${pair} is ${formatDuration(ageMs)} old, allowed are ${formatDuration(maxQuoteAgeMs)}`,
  };
};
