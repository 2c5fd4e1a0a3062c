import type { Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import { describeFeedKey, formatBalances, readingOf } from '../../market/market-text.ts';
import type { TradingState } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { Ruling } from '../../trading/step.ts';

/** A decision with its inputs, read from the state at that moment, in the run or in its replay. */
export interface DecisionRecord extends LoggedDecision {
  /** The reason of a denial; null for an approved proposal. */
  readonly reason: string | null;
  /** The intent of an approved swap; null without one. */
  readonly intent_id: string | null;
  /** The last event of each input of the strategy. */
  readonly saw: readonly InputSample[];
  /** The strategy's holdings, for people. */
  readonly held: readonly string[];
  readonly trading: TradingState;
  readonly strategy_trading: TradingState;
  readonly flattening: boolean;
}

/** One input of a strategy. Age and reading are null before the first event. */
interface InputSample {
  readonly watches: string;
  readonly age_ms: Millis | null;
  /** For people. */
  readonly reading: string | null;
}

/** Returns the record of a ruling; call it before the state changes again. */
export function recordDecision(state: EngineState, ruling: Ruling, logged: LoggedDecision): DecisionRecord {
  const { strategy, at } = logged;
  return {
    ...logged,
    reason: ruling.denial?.reason ?? null,
    intent_id: ruling.effect?.kind === 'execute' ? ruling.effect.intent.id : null,
    saw: inputSamples(state, strategy, at),
    held: formatBalances(state.tokens, state.portfolio.books.get(strategy)?.balances ?? new Map()),
    trading: state.trading,
    strategy_trading: state.strategyTrading.get(strategy) ?? 'active',
    flattening: state.flattening.has(strategy),
  };
}

function inputSamples(state: EngineState, strategy: string, at: Millis): InputSample[] {
  const { inputs = [], watches = [] } = state.strategies.get(strategy) ?? {};
  return [...new Set([...inputs, ...watches])].map((slot) => {
    const event = state.market.latest(slot);
    if (event === undefined)
      return { watches: 'an input without an event yet', age_ms: null, reading: null };
    return {
      watches: describeFeedKey(state.tokens, event.feed), age_ms: at - event.receivedAt,
      reading: readingOf(state.tokens, event),
    };
  });
}
