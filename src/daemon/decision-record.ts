import { formatDecimal } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { MarketEvent } from '../market/event.ts';
import { bookTop } from '../market/order-book.ts';
import type { TokenTable } from '../market/token.ts';
import type { TradingState } from '../trading/command.ts';
import type { EngineState } from '../trading/state.ts';
import type { Ruling } from '../trading/step.ts';
import { holdings } from './market-text.ts';
import { describeFeedKey, showAmount } from '../market/market-text.ts';

/** A decision with what it was made of: read from the state at the very moment, in the run or in its replay. */
export interface DecisionRecord extends LoggedDecision {
  /** What the rule found and what it allows; null for an approved proposal. */
  readonly reason: string | null;
  /** The swap it became; null without one. */
  readonly intent_id: string | null;
  /** The last reading of each thing the strategy looks at, at that moment. */
  readonly saw: readonly Sighting[];
  /** What the strategy had, for people. */
  readonly held: readonly string[];
  readonly trading: TradingState;
  readonly strategy_trading: TradingState;
  readonly flattening: boolean;
}

/** One thing that a strategy looked at. Age and reading are null where nothing had come in yet. */
export interface Sighting {
  readonly watches: string;
  readonly age_ms: Millis | null;
  /** For people. */
  readonly reading: string | null;
}

/** Returns the record of a ruling; call it before anything else changes the state. */
export function recordDecision(state: EngineState, ruling: Ruling, logged: LoggedDecision): DecisionRecord {
  const { strategy, at } = logged;
  return {
    ...logged,
    reason: ruling.denial?.reason ?? null,
    intent_id: ruling.effect?.kind === 'execute' ? ruling.effect.intent.id : null,
    saw: sightings(state, strategy, at),
    held: holdings(state.tokens, state.portfolio.books.get(strategy)?.balances ?? new Map()),
    trading: state.trading,
    strategy_trading: state.strategyTrading.get(strategy) ?? 'active',
    flattening: state.flattening.has(strategy),
  };
}

function sightings(state: EngineState, strategy: string, at: Millis): Sighting[] {
  const slots = state.strategies.get(strategy)?.inputs ?? [];
  return [...new Set(slots)].map((slot) => {
    const event = state.market.latest(slot);
    if (event === undefined) return { watches: 'something of which nothing had come in yet', age_ms: null, reading: null };
    return { watches: describeFeedKey(state.tokens, event.feed), age_ms: at - event.receivedAt, reading: readingOf(state.tokens, event) };
  });
}

/** Returns what an event says, for people. */
export function readingOf(tokens: TokenTable, event: MarketEvent): string {
  switch (event.kind) {
    case 'quote':
      return `${showAmount(tokens, event.inputMint, event.inAmount)} would bring ${showAmount(tokens, event.outputMint, event.outAmount)}`;
    case 'order-book': {
      const { bestBid, bestAsk } = bookTop(event, 'yes');
      return `YES is bid at ${dollars(bestBid)}, asked at ${dollars(bestAsk)}`;
    }
    case 'token-stats':
      return event.values.usdPrice === undefined ? 'no price' : `$${event.values.usdPrice}`;
    case 'feed-health':
      return event.status;
  }
}

function dollars(microUsd: number | undefined): string {
  return microUsd === undefined ? 'nothing' : `$${formatDecimal(BigInt(Math.round(microUsd)), 6)}`;
}
