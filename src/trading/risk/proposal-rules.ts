import { formatDuration } from '../../core/time.ts';
import { describeFeedKey, showAmount, symbolOf } from '../../market/market-text.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { Denial } from '../limits.ts';
import { intentKey } from '../recent-keys.ts';
import { priceAge, readingAge } from '../valuation.ts';
import type { Rule } from './swap-candidate.ts';

/**
 * Requires two different tokens and an amount. A token that is not configured can be bought where that is allowed, and
 * what a strategy holds of it can always be sold.
 */
export const sensible: Rule = (state, { strategy, inputMint, outputMint, amountIn, isExit }) => {
  if (inputMint === outputMint) return invalid('input and output are the same token');
  for (const mint of [inputMint, outputMint]) {
    if (state.tokens.byMint(mint) !== undefined) continue;
    const mayPass = mint === outputMint ? !isExit && state.limits.discovered !== undefined
      : isExit && (state.portfolio.book(strategy.name).balances.get(mint) ?? 0n) > 0n;
    if (!mayPass) return invalid(`${mint} is not among the configured tokens`);
  }
  if (amountIn > 0n) return undefined;
  if (isExit && inputMint === SOL_MINT && state.portfolio.unreserved(SOL_MINT) > 0n) {
    return { code: 'SOL_RESERVE', reason: 'nothing is left to sell beyond the '
      + `${showAmount(state.tokens, SOL_MINT, state.limits.solReserve)} that stay untouched` };
  }
  return invalid('the amount is zero');
};

/** Refuses a key that the strategy has used before. */
export const keyUnused: Rule = (state, { strategy, key }) => {
  if (key === undefined || !state.keys.has(intentKey(strategy.name, key))) return undefined;
  return { code: 'KEY_REPEATED', reason: `the key "${key}" was used before` };
};

/** Refuses more slippage than `max_slippage_bps`. */
export const slippage: Rule = (state, { slippageBps }) => {
  const { maxSlippageBps } = state.limits;
  if (slippageBps === undefined || slippageBps <= maxSlippageBps) return undefined;
  return { code: 'SLIPPAGE_EXCEEDS_MAX', reason: `${slippageBps} bps asked for, allowed are ${maxSlippageBps}` };
};

function invalid(reason: string): Denial {
  return { code: 'PROPOSAL_INVALID', reason };
}

/** Refuses swaps that are based on stale inputs, exits too. A flatten and a manual swap are not based on inputs. */
export const inputsFresh: Rule = (state, { strategy, isExit, continues, byHand, at }) => {
  const { maxAgeMs } = strategy.limits;
  if (maxAgeMs === undefined || byHand) return undefined;
  if (isExit && (continues || state.flattening.has(strategy.name))) return undefined;
  const { inputs, watches } = strategy;
  for (const slot of watches.length === 0 ? inputs : [...inputs, ...watches]) {
    const event = state.market.latest(slot);
    if (event === undefined) {
      // A strategy decides nothing on a watch that has only begun.
      if (watches.includes(slot) && !inputs.includes(slot)) continue;
      return { code: 'INPUT_STALE', reason: 'an input has not arrived yet' };
    }
    const ageMs = readingAge(event, at);
    if (ageMs <= maxAgeMs) continue;
    const reason = ageMs === Infinity
      ? `${describeFeedKey(state.tokens, event.feed)} has an invalid time: it is in the future, or not a `
        + 'number'
      : `${describeFeedKey(state.tokens, event.feed)} is ${formatDuration(ageMs)} old, allowed `
        + `are ${formatDuration(maxAgeMs)}`;
    return { code: 'INPUT_STALE', reason };
  }
  return undefined;
};

/** Refuses entries without a fresh price. An exit needs none: after the loss of a feed it matters even more. */
export const pairPriceFresh: Rule = (state, { inputMint, outputMint, isExit, at }) => {
  const { maxQuoteAgeMs } = state.limits;
  if (maxQuoteAgeMs === undefined || isExit) return undefined;
  const ageMs = priceAge(state.market, inputMint, outputMint, at);
  if (ageMs <= maxQuoteAgeMs) return undefined;
  const pair = `${symbolOf(state.tokens, inputMint)} in ${symbolOf(state.tokens, outputMint)}`;
  return {
    code: 'QUOTE_STALE',
    reason: ageMs === Infinity ? `there is no price of ${pair}: none has arrived yet, or none is watched`
      : `the newest price of ${pair} is ${formatDuration(ageMs)} old, allowed are ${formatDuration(maxQuoteAgeMs)}`,
  };
};

/** Requires a recent safety check without findings for an entry. Exits are always allowed. */
export const tokenSafety: Rule = (state, { outputMint, isExit, at }) => {
  const safety = state.limits.tokenSafety;
  if (isExit || (safety === undefined ? state.tokens.byMint(outputMint) !== undefined : safety.trusted.has(outputMint)))
    return undefined;
  const check = state.tokenFindings.get(outputMint);
  if (check === undefined || safety === undefined)
    return { code: 'TOKEN_UNVETTED', reason: `${symbolOf(state.tokens, outputMint)} has not been checked yet` };
  if (check.findings.length > 0)
    return { code: 'TOKEN_UNSAFE', reason: `${symbolOf(state.tokens, outputMint)}: ${check.findings.join(', ')}` };
  const ageMs = at - check.at;
  if (ageMs >= 0 && ageMs <= safety.validForMs) return undefined;
  return { code: 'TOKEN_UNVETTED',
    reason: `the check of ${symbolOf(state.tokens, outputMint)} is ${formatDuration(ageMs)} `
      + `old, it is valid for ${formatDuration(safety.validForMs)}` };
};
