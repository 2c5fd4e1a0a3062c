import type { OperatorWord as ResolveWord } from '../execution/resolve.ts';
import type { IntentListing, IntentStory } from '../store/listing.ts';
import type { IntentState, Outcome } from '../trading/intent.ts';
import type { DecisionRecord } from './decision-record.ts';
import type { OperatorRequest, Refusal } from './operator.ts';
import type { PortfolioState } from './portfolio-state.ts';
import type { FeedState, SessionState, StrategyState } from './session-state.ts';
import type { TradingView } from './trading-board.ts';

/** Where a run is looked at and told what to do: all that the control API knows of it. */
export interface Desk {
  state(): SessionState;
  feeds(): readonly FeedState[];
  strategies(): readonly StrategyState[];
  portfolio(): PortfolioState;
  /** Newest first, at most `limit`. */
  decisions(limit: number): readonly DecisionRecord[];
  /** Newest first, at most `limit`; from the journal, so those of earlier runs too. */
  intents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  intent(intentId: string): IntentStory | undefined;
  /** Returns what it still waits for before it may be called ready: nothing where it is. */
  waitsFor(): readonly string[];
  /** Follows a request and returns what may be traded then. */
  request(request: OperatorRequest): TradingView | Refusal;
  /**
   * Closes a swap of which nobody knows what became, on the operator's word, and returns its last outcome. Throws
   * RESOLVE_REFUSED where there is none or the chain says otherwise, and the chain's own faults.
   */
  resolve(intentId: string, word: ResolveWord): Promise<Outcome>;
  /** Notes that an operator spoke; only a dead man's switch needs it. */
  present(): void;
}

/** What the control API serves. */
export interface Controlled {
  readonly runId: string;
  /** Undefined until there is a run to look at. */
  readonly desk: () => Desk | undefined;
  /** Asks the run to end: it drains as at an interrupt. */
  readonly end: () => void;
}
