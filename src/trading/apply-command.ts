import { assertNever } from '../core/assert.ts';
import type { Millis } from '../core/time.ts';
import { ZERO } from '../core/amount.ts';
import type {
  Command, CommandSource, Flatten, OrderSwap, SetTradingState, TradingState,
} from './engine-command.ts';
import { isManualBook } from './manual/manual-book.ts';
import { setPause } from './manual/pauses.ts';
import { advanceTime, checkProtections, releaseByOperator } from './protections/check-protections.ts';
import { recordAdjustment } from './protections/record-outcome.ts';
import type { EngineState } from './engine-state.ts';

/** Applies a command to the state, then checks the protections. */
export function applyCommand(state: EngineState, at: Millis, command: Command): void {
  advanceTime(state.protections, at);
  switch (command.name) {
    case 'set-trading-state':
      if (isOperator(command)) state.protections.presenceAt = state.protections.now;
      setTrading(state, command);
      break;
    case 'flatten':
      if (isOperator(command)) state.protections.presenceAt = state.protections.now;
      flatten(state, command);
      break;
    case 'order-swap':
      state.protections.presenceAt = state.protections.now;
      fundManualSwap(state, command);
      break;
    case 'set-pause':
      state.protections.presenceAt = state.protections.now;
      setPause(state.pauses, command, at);
      break;
    case 'report-presence':
      state.protections.presenceAt = state.protections.now;
      break;
    case 'adjust-wallet':
      state.portfolio.adjustWallet(command.mint, BigInt(command.change));
      recordAdjustment(state.protections, command);
      break;
    case 'judge-token':
      state.tokenFindings.set(command.mint, { at, findings: command.findings });
      return;
    case 'set-service-access':
      state.serviceAccess = command.access;
      return;
    case 'leap-time':
    case 'stop-strategy':
    case 'start-strategy':
    case 'reload-strategy':
      // Only the clock or a strategy changes; the engine moves the one, and stops, starts or replaces the other.
      return;
    default:
      assertNever(command, 'command');
  }
  checkProtections(state, at);
}

function isOperator({ by }: SetTradingState | Flatten): boolean {
  return by === undefined || by === 'operator';
}

function setTrading(state: EngineState, command: SetTradingState): void {
  const { strategy, state: trading, by = 'operator', reason } = command;
  if (strategy === undefined) {
    if (!mayChange(state, trading, by)) return;
    state.trading = trading;
    state.tradingBy = by;
  } else if (by !== 'operator' && STRICTNESS[trading] < STRICTNESS[state.strategyTrading.get(strategy) ?? 'active']) {
    return;
  } else if (trading === 'active') {
    state.strategyTrading.delete(strategy);
  } else {
    state.strategyTrading.set(strategy, trading);
  }
  if (trading === 'active' && by === 'operator') resume(state, strategy, reason);
}

/** Any source may make the state stricter. Only the source that made it strict, or an operator, may relax it. */
function mayChange(state: EngineState, trading: TradingState, by: CommandSource): boolean {
  return by === 'operator' || by === state.tradingBy || STRICTNESS[trading] > STRICTNESS[state.trading];
}

const STRICTNESS: Readonly<Record<TradingState, number>> = { active: 0, 'reduce-only': 1, halted: 2 };

/** Ends what only an operator ends: protections with the release `operator`, and flattening. */
function resume(state: EngineState, strategy: string | undefined, reason: string): void {
  for (const name of strategy === undefined ? [...state.flattening] : [strategy]) {
    state.flattening.delete(name);
    state.flattenOrders.delete(name);
  }
  releaseByOperator(state, strategy, reason);
}

function flatten(state: EngineState, { strategy }: Flatten): void {
  for (const name of strategy === undefined ? state.strategies.keys() : [strategy]) {
    state.flattening.add(name);
    state.flattenOrders.add(name);
    // Flattening sells everything, so an exit in parts has nothing left to sell.
    state.exits.end(name);
    // A swap under way that turns out to be too large must not start one.
    for (const { intent } of state.intents.values()) {
      if (intent.strategy === name) state.exitProposals.delete(intent.id);
    }
  }
}

/**
 * Gives the book of manual swaps what an order spends, out of what no strategy has of the wallet. Where that is less,
 * the limits refuse the swap, because the book does not have enough.
 */
function fundManualSwap(state: EngineState, { strategy, inputMint, outputMint, amount }: OrderSwap): void {
  if (!isManualBook(strategy)) return;
  const { portfolio, strategies, retiredCounts } = state;
  if (!portfolio.books.has(strategy)) {
    portfolio.openBook(strategy, { mint: inputMint, amount: ZERO }, { isManual: true });
  }
  if (!strategies.has(strategy)) {
    strategies.set(strategy, {
      name: strategy, limits: {}, inputs: [], watches: [], intentCount: retiredCounts[strategy] ?? 0,
    });
  }
  if (portfolio.book(strategy).budget?.mint !== inputMint || inputMint === outputMint || amount === 'all') return;
  const asked = BigInt(amount);
  const free = portfolio.unowned(inputMint);
  portfolio.fund(strategy, asked < free ? asked : free);
}
