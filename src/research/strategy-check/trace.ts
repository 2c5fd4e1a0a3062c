import { backtestInChunks, samplingOf } from '../../backtest/backtest.ts';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { backtestCursor } from '../../backtest/recorded-checks.ts';
import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import { freshState } from '../../backtest/setup.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { placeOf } from '../../core/throw-place.ts';
import type { Realm } from '../../engine/host/realm.ts';
import { createRealm } from '../../engine/host/realm.ts';
import type { PortfolioView, StrategyCall, StrategyEffect } from '../../engine/host/strategy-call.ts';
import type { InputSource } from '../../recording/reader.ts';
import { goesOn } from '../box/phases.ts';
import { stopMessages } from '../trials/run-trial.ts';

/** What a strategy read of its portfolio in one call, by question. */
export type PortfolioAnswers = ReadonlyMap<string, unknown>;

/** One call of a strategy, with what it read and did. */
export interface TracedCall {
  readonly call: StrategyCall;
  readonly effects: readonly StrategyEffect[];
  readonly answers: PortfolioAnswers;
}

/** A backtest of one strategy, call by call. */
export interface Trace {
  readonly calls: readonly TracedCall[];
  readonly decisions: number;
  readonly decisionHash: string;
  /** The alerts by which the engine stopped it. */
  readonly stops: readonly string[];
  /** The strategy at the end of the recording, still subscribed. */
  readonly realm: Realm;
}

/** The recording that a strategy is checked on, and how it is simulated. */
export interface CheckedMarket {
  readonly setup: BacktestSetup;
  readonly recording: Pick<InputSource, 'cursor'>;
  readonly checks: RecordedChecks;
}

/** A realm of an instance, in this process. */
export function realmOf({ name, strategy, params }: BacktestStrategy, seed: number): Realm {
  return createRealm({ name, strategy, params, seed, locate: placeOf });
}

/** Runs a backtest of one strategy and keeps its calls. Throws STRATEGY_ASYNC as `backtestInChunks` does. */
export function* traceInChunks(instance: BacktestStrategy, market: CheckedMarket): ChunkedWork<Trace> {
  const { setup, recording, checks } = market;
  const calls: TracedCall[] = [];
  const stops: string[] = [];
  const realm = realmOf(instance, setup.seed);
  const traced: BacktestStrategy = {
    ...instance,
    apart: {
      call: (call, portfolio) => {
        const answers = new Map<string, unknown>();
        const effects = realm.handle(call, noting(portfolio, answers));
        calls.push({ call, effects, answers });
        return { effects };
      },
    },
  };
  const { decisions, decisionHash } = yield* backtestInChunks({
    state: freshState(setup, [instance]), strategies: [traced], startAt: setup.firstAt,
    cursor: backtestCursor(recording, checks), checks, goesOn, seed: setup.seed, model: setup.model,
    sampling: samplingOf([instance], setup.intervals), stopwatch: () => 0,
    onDecision: (decision) => { stops.push(...stopMessages(decision)); },
  });
  return { calls, decisions, decisionHash, stops, realm };
}

/** Returns a portfolio that notes its answers. */
function noting(portfolio: PortfolioView, answers: Map<string, unknown>): PortfolioView {
  const note = <T>(question: string, answer: T): T => {
    answers.set(question, answer);
    return answer;
  };
  return {
    available: (mint) => note(`available ${mint}`, portfolio.available(mint)),
    holding: (mint) => note(`holding ${mint}`, portfolio.holding(mint)),
    openIntents: () => note('intents', portfolio.openIntents()),
    equity: () => note('equity', portfolio.equity()),
    budget: () => note('budget', portfolio.budget()),
  };
}
