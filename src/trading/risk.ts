import type { Amount, Bps } from '../core/amount.ts';
import { formatDecimal } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { DenialCode, ValueLimit } from './limits.ts';
import { valueIn } from './market-cache.ts';
import type { SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';
import type { EngineState, StrategyRecord } from './state.ts';
import { RATE_SPANS } from './swap-rate.ts';

/** A refusal: a value with a code, never an exception. */
export interface Denial {
  readonly code: DenialCode;
  /** For people: what was found and what the limit is. */
  readonly reason: string;
}

/** A swap proposal with its size resolved, as the rules see it. */
export interface SwapRequest {
  readonly strategy: StrategyRecord;
  readonly proposal: SwapProposal;
  readonly amountIn: Amount;
  readonly at: Millis;
}

type Rule = (state: EngineState, request: SwapRequest) => Denial | undefined;

const RATE_CODES = [['perMinute', 'RATE_PER_MINUTE'], ['perHour', 'RATE_PER_HOUR'], ['perDay', 'RATE_PER_DAY']] as const;

/** The rules in the order in which they speak: the first refusal is the answer. */
const RULES: readonly Rule[] = [
  tradingState, serviceAccess, sensible, keyUnused, inputsFresh, openIntents, swapRate, slippage, budget, balance, tradeSize, positionSize,
];

/** Returns the first refusal of the limits, or undefined when the swap may go ahead. */
export function firstDenial(state: EngineState, request: SwapRequest): Denial | undefined {
  for (const rule of RULES) {
    const denial = rule(state, request);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** Returns the slippage cap of a swap: what was asked for, or the limit. */
export function slippageCap(state: EngineState, proposal: SwapProposal): Bps {
  return proposal.slippageBps ?? state.limits.maxSlippageBps;
}

function tradingState(state: EngineState, { strategy, proposal }: SwapRequest): Denial | undefined {
  const own = state.strategyTrading.get(strategy.name) ?? 'active';
  if (state.trading === 'halted') return { code: 'TRADING_HALTED', reason: 'trading is halted' };
  if (own === 'halted') return { code: 'TRADING_HALTED', reason: `trading is halted for ${strategy.name}` };
  const isReducing = state.trading === 'reduce-only' || own === 'reduce-only' || state.flattening.has(strategy.name);
  if (isReducing && !isExit(state, strategy.name, proposal)) {
    return { code: 'TRADING_REDUCE_ONLY', reason: 'only swaps back into the budget’s token are allowed now' };
  }
  return undefined;
}

/** Exits too: whoever refuses the key quotes for nobody and lands nothing. */
function serviceAccess(state: EngineState): Denial | undefined {
  if (state.serviceAccess === 'granted') return undefined;
  return { code: 'SERVICE_UNAUTHORIZED', reason: 'the service refuses the API key; trading goes on by itself once it takes it again' };
}

function sensible(state: EngineState, { proposal, amountIn }: SwapRequest): Denial | undefined {
  if (proposal.inputMint === proposal.outputMint) return invalid('input and output are the same token');
  for (const mint of [proposal.inputMint, proposal.outputMint]) {
    if (state.tokens.byMint(mint) === undefined) return invalid(`${mint} is not among the configured tokens`);
  }
  return amountIn <= 0n ? invalid('the amount is zero') : undefined;
}

function keyUnused(state: EngineState, { strategy, proposal }: SwapRequest): Denial | undefined {
  if (proposal.key === undefined || !state.keys.has(intentKey(strategy.name, proposal.key))) return undefined;
  return { code: 'KEY_REPEATED', reason: `"${proposal.key}" was acted on before` };
}

function inputsFresh(state: EngineState, { strategy, at }: SwapRequest): Denial | undefined {
  const { maxAgeMs } = strategy.limits;
  if (maxAgeMs === undefined) return undefined;
  for (const slot of strategy.inputs) {
    const event = state.market.latest(slot);
    if (event === undefined) return { code: 'INPUT_STALE', reason: 'an input has not arrived yet' };
    const ageMs = at - event.receivedAt;
    if (!(ageMs <= maxAgeMs)) {
      return { code: 'INPUT_STALE', reason: `${event.feed} is ${formatDuration(ageMs)} old, allowed are ${formatDuration(maxAgeMs)}` };
    }
  }
  return undefined;
}

function openIntents(state: EngineState, { proposal }: SwapRequest): Denial | undefined {
  for (const { intent, state: intentState } of state.intents.values()) {
    if (intent.inputMint === proposal.inputMint) {
      return { code: 'INTENT_OPEN_FOR_MINT', reason: `${intent.id} of the same input is ${intentState}` };
    }
  }
  const { maxOpenIntents } = state.limits;
  if (state.intents.size < maxOpenIntents) return undefined;
  return { code: 'INTENTS_OPEN_LIMIT', reason: `${state.intents.size} open, allowed are ${maxOpenIntents}` };
}

function swapRate(state: EngineState, { strategy, proposal, at }: SwapRequest): Denial | undefined {
  // There can be no more exits than entries let in, and one that has to wait may cost more than any number of them.
  if (isExit(state, strategy.name, proposal)) return undefined;
  for (const [span, code] of RATE_CODES) {
    const limit = state.limits.maxSwaps[span];
    if (limit === undefined) continue;
    const used = state.swapRate.count(span, at);
    if (used >= limit) return { code, reason: `${used} within ${formatDuration(RATE_SPANS[span])}, allowed are ${limit}` };
  }
  return undefined;
}

function slippage(state: EngineState, { proposal }: SwapRequest): Denial | undefined {
  const { maxSlippageBps } = state.limits;
  if (proposal.slippageBps === undefined || proposal.slippageBps <= maxSlippageBps) return undefined;
  return { code: 'SLIPPAGE_EXCEEDS_MAX', reason: `${proposal.slippageBps} bps asked for, allowed are ${maxSlippageBps}` };
}

function budget(state: EngineState, { strategy, proposal, amountIn }: SwapRequest): Denial | undefined {
  const available = state.portfolio.available(strategy.name, proposal.inputMint);
  if (amountIn <= available) return undefined;
  return { code: 'BUDGET_EXCEEDED', reason: `${show(state, proposal.inputMint, amountIn)} of ${show(state, proposal.inputMint, available)} left` };
}

function balance(state: EngineState, { strategy, proposal, amountIn }: SwapRequest): Denial | undefined {
  const { portfolio, limits } = state;
  const unreserved = portfolio.unreserved(proposal.inputMint);
  if (amountIn > unreserved) {
    return { code: 'BALANCE_INSUFFICIENT', reason: `${show(state, proposal.inputMint, amountIn)} of ${show(state, proposal.inputMint, unreserved)} in the wallet` };
  }
  // The reserve is there to pay for exits: one that does not spend SOL itself may touch it.
  if (isExit(state, strategy.name, proposal) && proposal.inputMint !== SOL_MINT) return undefined;
  const solLeft = portfolio.unreserved(SOL_MINT) - (proposal.inputMint === SOL_MINT ? amountIn : 0n);
  if (solLeft >= limits.solReserve) return undefined;
  return { code: 'SOL_RESERVE', reason: `${show(state, SOL_MINT, solLeft)} would be left, ${show(state, SOL_MINT, limits.solReserve)} stay untouched` };
}

function tradeSize(state: EngineState, { proposal, amountIn }: SwapRequest): Denial | undefined {
  const { maxTrade } = state.limits;
  if (maxTrade === undefined) return undefined;
  const value = valueIn(state.market, state.tokens, { mint: proposal.inputMint, amount: amountIn, currency: maxTrade.mint });
  if (value === undefined) return unvalued(state, proposal.inputMint, maxTrade);
  if (value <= maxTrade.amount) return undefined;
  return { code: 'TRADE_EXCEEDS_MAX', reason: `${show(state, maxTrade.mint, value)}, allowed are ${show(state, maxTrade.mint, maxTrade.amount)}` };
}

function positionSize(state: EngineState, { proposal, amountIn }: SwapRequest): Denial | undefined {
  const limit = state.limits.maxPosition.get(proposal.outputMint);
  if (limit === undefined) return undefined;
  const parts: { mint: Mint; amount: bigint }[] = [
    { mint: proposal.outputMint, amount: state.portfolio.held(proposal.outputMint) },
    { mint: proposal.inputMint, amount: amountIn },
  ];
  for (const { intent } of state.intents.values()) {
    if (intent.outputMint === proposal.outputMint) parts.push({ mint: intent.inputMint, amount: intent.amountIn });
  }
  let total = 0n;
  for (const part of parts) {
    if (part.amount === 0n) continue;
    const value = valueIn(state.market, state.tokens, { ...part, currency: limit.mint });
    if (value === undefined) return unvalued(state, part.mint, limit);
    total += value;
  }
  if (total <= limit.amount) return undefined;
  return { code: 'POSITION_EXCEEDS_MAX', reason: `${show(state, limit.mint, total)}, allowed are ${show(state, limit.mint, limit.amount)}` };
}

/** Returns whether a swap leads back into the token that the strategy's budget is in. */
export function isExit(state: EngineState, strategy: string, { outputMint }: SwapProposal): boolean {
  return state.portfolio.book(strategy).budget?.mint === outputMint;
}

function invalid(reason: string): Denial {
  return { code: 'PROPOSAL_INVALID', reason };
}

function unvalued(state: EngineState, mint: Mint, limit: ValueLimit): Denial {
  const symbol = (address: Mint): string => state.tokens.byMint(address)?.symbol ?? address;
  return { code: 'VALUE_UNKNOWN', reason: `there is no price of ${symbol(mint)} in ${symbol(limit.mint)} to hold the limit against: none came in yet, or none is watched` };
}

function show(state: EngineState, mint: Mint, amount: bigint): string {
  const token = state.tokens.byMint(mint);
  return token === undefined ? `${amount} raw of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
}
