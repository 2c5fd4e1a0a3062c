import type { Amount, Bps } from '../core/amount.ts';
import { afterSlippage, mulDiv } from '../core/amount.ts';
import { assert, assertNever } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import type { MarketEvent } from '../market/event.ts';
import { outputAt } from '../market/quote.ts';
import type { Command, TradingState } from './command.ts';
import type { Intent, Outcome } from './intent.ts';
import { canTransition, isTerminal } from './intent.ts';
import type { AlertProposal, Proposal, SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';
import type { Denial } from './risk.ts';
import { firstDenial, isExit, slippageCap } from './risk.ts';
import type { EngineState, StrategyRecord } from './state.ts';

/** What comes from outside, in the order in which it came. */
export type Input = MarketEvent | Outcome | Command;

/** A strategy's wish on its way through the inbox. */
export interface ProposalInput {
  readonly kind: 'proposal';
  readonly strategy: string;
  readonly proposal: Proposal;
}

/** What was decided about a proposal: exactly the fields that the decision hash covers. */
export interface Decision {
  readonly seq: number;
  readonly at: Millis;
  readonly strategy: string;
  readonly proposal: Proposal;
  readonly verdict: 'approved' | 'denied';
  /** The denial's code, null when approved. */
  readonly code: string | null;
}

/** What is to be done in the world; plain data. */
export type Effect =
  | { readonly kind: 'execute'; readonly intent: Intent }
  | { readonly kind: 'alert'; readonly strategy: string; readonly alert: AlertProposal };

/** A decision with its consequence, or with the reason for none. */
export interface Ruling {
  readonly decision: Decision;
  readonly effect?: Effect | undefined;
  readonly denial?: Denial | undefined;
}

/**
 * Applies one stamped input to the state, the only place where state changes; it owns the state and mutates it.
 * Reads no clock, does no I/O and draws no random number. Returns a ruling for a proposal, nothing otherwise.
 */
export function step(state: EngineState, seq: number, at: Millis, input: Input | ProposalInput): Ruling | undefined {
  switch (input.kind) {
    case 'quote':
    case 'order-book':
    case 'token-stats':
    case 'feed-health':
      state.market.observe(input);
      return undefined;
    case 'proposal':
      return rule(state, seq, at, input);
    case 'outcome':
      applyOutcome(state, input);
      return undefined;
    case 'command':
      applyCommand(state, input);
      return undefined;
    default:
      return assertNever(input, 'input');
  }
}

function applyCommand(state: EngineState, command: Command): void {
  switch (command.name) {
    case 'set-trading-state':
      if (command.strategy === undefined) state.trading = command.state;
      else setStrategyTrading(state, command.strategy, command.state);
      return;
    case 'flatten':
      for (const name of command.strategy === undefined ? state.strategies.keys() : [command.strategy]) state.flattening.add(name);
      return;
    case 'adjust-wallet':
      state.portfolio.adjustWallet(command.mint, BigInt(command.change));
      return;
    case 'judge-token':
      state.tokenFindings.set(command.mint, command.findings);
      return;
    case 'report-presence':
      return;
    case 'set-service-access':
      state.serviceAccess = command.access;
      return;
    case 'leap-time':
      // Only the clock leaps.
      return;
    default:
      assertNever(command, 'command');
  }
}

function setStrategyTrading(state: EngineState, strategy: string, trading: TradingState): void {
  if (trading === 'active') state.strategyTrading.delete(strategy);
  else state.strategyTrading.set(strategy, trading);
}

function rule(state: EngineState, seq: number, at: Millis, { strategy, proposal }: ProposalInput): Ruling {
  if (proposal.kind === 'alert') {
    return { decision: { seq, at, strategy, proposal, verdict: 'approved', code: null }, effect: { kind: 'alert', strategy, alert: proposal } };
  }
  const record = state.strategies.get(strategy);
  assert(record, () => `proposal of the unknown strategy ${strategy}`);
  const amountIn = resolveSize(state, record, proposal);
  const denial = firstDenial(state, { strategy: record, proposal, amountIn, at });
  if (denial !== undefined) return { decision: { seq, at, strategy, proposal, verdict: 'denied', code: denial.code }, denial };
  const intent = openIntent(state, record, proposal, amountIn, at);
  return { decision: { seq, at, strategy, proposal, verdict: 'approved', code: null }, effect: { kind: 'execute', intent } };
}

/** Floors a fraction: what a strategy has is never exceeded by rounding. */
function resolveSize(state: EngineState, strategy: StrategyRecord, { amount, inputMint }: SwapProposal): Amount {
  if (typeof amount === 'bigint') return amount;
  const available = state.portfolio.available(strategy.name, inputMint);
  if (amount === 'all') return available;
  const millionths = Math.floor(Math.min(Math.max(amount.fraction, 0), 1) * 1_000_000) || 0;
  return mulDiv(available, BigInt(millionths), 1_000_000n, 'floor');
}

/** The approved intent counts as exposure before the next proposal is looked at. */
function openIntent(state: EngineState, strategy: StrategyRecord, proposal: SwapProposal, amountIn: Amount, at: Millis): Intent {
  strategy.intentCount += 1;
  const intent: Intent = {
    id: `${strategy.name}-${strategy.intentCount}`,
    strategy: strategy.name,
    createdAt: at,
    purpose: isExit(state, strategy.name, proposal) ? 'exit' : 'entry',
    inputMint: proposal.inputMint,
    outputMint: proposal.outputMint,
    amountIn,
    maxSlippageBps: slippageCap(state, proposal),
    maxPriceImpactBps: state.limits.maxPriceImpactBps,
    maxFeeBps: state.limits.maxFeeBps,
    minimumOut: leastOutput(state, proposal, amountIn),
    route: proposal.route ?? 'order',
    reason: proposal.reason,
    key: proposal.key,
  };
  state.intents.set(intent.id, { intent, state: 'approved' });
  state.portfolio.reserve(intent);
  if (proposal.key !== undefined) state.keys.add(intentKey(strategy.name, proposal.key));
  state.swapRate.add(at);
  return intent;
}

/**
 * The strategy's own limit, but not below what our last reading of the market says less the slippage and the impact that
 * are allowed: whoever answers for the swap must not be the only one who says what it is worth.
 */
function leastOutput(state: EngineState, { inputMint, outputMint, limit }: SwapProposal, amountIn: Amount): Amount | undefined {
  const reading = state.market.latestQuote(inputMint, outputMint);
  if (reading === undefined || reading.inAmount === 0n) return limit;
  const tolerance = Math.min(10_000, state.limits.maxSlippageBps + state.limits.maxPriceImpactBps) as Bps;
  const floor = afterSlippage(outputAt(reading, amountIn), tolerance);
  return limit !== undefined && limit > floor ? limit : floor;
}

function applyOutcome(state: EngineState, outcome: Outcome): void {
  const tracked = state.intents.get(outcome.intentId);
  assert(tracked, () => `outcome "${outcome.state}" of ${outcome.intentId}, which is not open`);
  assert(canTransition(tracked.state, outcome.state), () => `${outcome.intentId} cannot go from ${tracked.state} to ${outcome.state}`);
  assert(outcome.state !== 'confirmed' || outcome.fill !== undefined, () => `${outcome.intentId} is confirmed without a fill`);
  tracked.state = outcome.state;
  if (!isTerminal(outcome.state)) return;
  const { intent } = tracked;
  state.intents.delete(intent.id);
  // Nothing was signed, so nothing was done: the strategy may come back to it.
  if (outcome.state === 'abandoned' && intent.key !== undefined) state.keys.delete(intentKey(intent.strategy, intent.key));
  state.portfolio.release(intent);
  if (outcome.fill !== undefined) state.portfolio.applyFill(intent.strategy, outcome.fill);
  else if (outcome.feeLamports !== undefined) state.portfolio.applyFee(intent.strategy, outcome.feeLamports);
}
