import type { Rule } from './swap-wish.ts';

/** What the operator, the file STOP or the configuration said; exits go on unless it was to halt. */
export const tradingState: Rule = (state, { strategy, isExit }) => {
  const own = state.strategyTrading.get(strategy.name) ?? 'active';
  if (state.trading === 'halted') return { code: 'TRADING_HALTED', reason: 'trading is halted' };
  if (own === 'halted') return { code: 'TRADING_HALTED', reason: `trading is halted for ${strategy.name}` };
  if (isExit) return undefined;
  if (state.trading === 'reduce-only' || own === 'reduce-only') {
    return { code: 'TRADING_REDUCE_ONLY', reason: 'only swaps back into the budget’s token are allowed now' };
  }
  if (state.flattening.has(strategy.name)) {
    return {
      code: 'TRADING_REDUCE_ONLY',
      reason: `what ${strategy.name} holds is being sold; only swaps back into the budget’s token are allowed`,
    };
  }
  return undefined;
};

/** Exits too: whoever refuses the key quotes for nobody and lands nothing. */
export const serviceAccess: Rule = (state, { isExit }) => {
  if (state.serviceAccess === 'granted') return undefined;
  if (state.serviceAccess === 'silent') {
    // An exit is tried all the same: its own request may be the first that is answered.
    return isExit ? undefined
      : { code: 'SERVICE_SILENT', reason: 'the service does not answer; entries go on as soon as it does' };
  }
  return {
    code: 'SERVICE_UNAUTHORIZED',
    reason: 'the service refuses the API key; trading goes on by itself once it takes it again',
  };
};
