import type { Mint } from '../../market/token.ts';
import type { DenialCode } from '../denials.ts';
import type { Unpriced } from '../exposure.ts';
import { addedBy, currentValue, exposureOf, positionIn, sum } from '../exposure.ts';
import type { EngineState } from '../state.ts';
import type { ValueLimit } from '../value-limit.ts';
import { showAmount, showMint } from './amount-text.ts';
import type { Denial } from './denial.ts';
import type { Rule, SwapWish } from './swap-wish.ts';

// Exits make what these limits bound smaller, whatever they are worth: none of them refuses one.

export const tradeSize: Rule = (state, { inputMint, amountIn, isExit, at }) => {
  const { maxTrade } = state.limits;
  if (maxTrade === undefined || isExit) return undefined;
  const value = currentValue(state, { mint: inputMint, amount: amountIn }, maxTrade.mint, at);
  return value === undefined ? unvalued(state, inputMint, maxTrade.mint)
    : unless(state, 'TRADE_EXCEEDS_MAX', value, maxTrade);
};

export const positionSize: Rule = (state, wish) => {
  const limit = state.limits.maxPosition.get(wish.outputMint);
  if (limit === undefined || wish.isExit) return undefined;
  const position = positionIn(state, wish.outputMint, limit.mint, wish.at, wish.retryOf);
  return withWish(
    state, 'POSITION_EXCEEDS_MAX', limit, wish, position, [{ mint: wish.inputMint, amount: wish.amountIn }],
  );
};

export const strategyExposure: Rule = (state, wish) => {
  const limit = wish.strategy.limits.maxExposure;
  if (limit === undefined || wish.isExit) return undefined;
  const exposure = exposureOf(state, wish.strategy.name, limit.mint, wish.at, wish.retryOf);
  return withWish(state, 'STRATEGY_EXPOSURE_EXCEEDS_MAX', limit, wish, exposure, addedBy(state, {
    ...wish, strategy: wish.strategy.name,
  }));
};

export const totalExposure: Rule = (state, wish) => {
  const limit = state.limits.maxExposure;
  if (limit === undefined || wish.isExit) return undefined;
  const exposure = exposureOf(state, undefined, limit.mint, wish.at, wish.retryOf);
  return withWish(
    state, 'EXPOSURE_EXCEEDS_MAX', limit, wish, exposure, addedBy(state, { ...wish, strategy: wish.strategy.name }),
  );
};

function withWish(
  state: EngineState, code: DenialCode, limit: ValueLimit, { at }: SwapWish,
  before: bigint | Unpriced, added: readonly { readonly mint: Mint; readonly amount: bigint }[],
): Denial | undefined {
  if (typeof before !== 'bigint') return unvalued(state, before.unpriced, limit.mint);
  const more = sum(state, added, limit.mint, at);
  return typeof more === 'bigint' ? unless(state, code, before + more, limit)
    : unvalued(state, more.unpriced, limit.mint);
}

function unless(state: EngineState, code: DenialCode, value: bigint, limit: ValueLimit): Denial | undefined {
  if (value <= limit.amount) return undefined;
  return {
    code, reason: `${showAmount(state, limit.mint, value)}, allowed are ${showAmount(state, limit.mint, limit.amount)}`,
  };
}

/** Returns the refusal of what cannot be held against a limit. */
export function unvalued(state: EngineState, mint: Mint, currency: Mint): Denial {
  return {
    code: 'VALUE_UNKNOWN',
    reason: `there is no price of ${showMint(state, mint)} in ${showMint(state, currency)} to hold the limit against: `
      + 'none came in yet, none is watched, or it is too old',
  };
}
