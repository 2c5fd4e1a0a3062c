import type { Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import { formatBalances } from '../../market/market-text.ts';
import type { TradingState } from '../../trading/engine-command.ts';
import type { Fill, Intent, IntentState, Outcome } from '../../trading/intent.ts';
import { isTerminal } from '../../trading/intent.ts';
import { effectiveTrading } from '../../trading/risk/trading-state-rules.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { RunFiles } from '../files/run-files.ts';

/** An intent with its current state and the details known so far. */
export interface IntentRecord {
  readonly intent: Intent;
  readonly state: IntentState;
  readonly router?: string | undefined;
  readonly quotedOut?: bigint | undefined;
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** The id that the service's host gave to the request with the signed transaction. */
  readonly gatewayRequestId?: string | undefined;
  readonly fill?: Fill | undefined;
  /** The network fees and tips of all attempts; undefined until it has ended. */
  readonly feeLamports?: Lamports | undefined;
}

/** How many finished intents stay in memory; the journal has all of them. */
const RECENT_MAX = 200;

/** Counts a run's intents, denials and costs, for the dashboard, the status command and the summary. */
export class Counters {
  readonly #open = new Map<string, IntentRecord>();
  readonly #recent: IntentRecord[] = [];
  readonly byState: Record<string, number> = {};
  readonly denials: Record<string, number> = {};
  decisions = 0;
  alerts = 0;
  feesLamports = 0n as Lamports;
  rentLamports = 0n as Lamports;

  opened(intent: Intent, state: IntentState = 'approved'): void {
    this.#open.set(intent.id, { intent, state });
  }

  /** Applies a transition and returns the intent afterwards; undefined for an intent that was never opened here. */
  outcome(outcome: Outcome): IntentRecord | undefined {
    const before = this.#open.get(outcome.intentId);
    if (before === undefined) return undefined;
    const record: IntentRecord = {
      intent: before.intent,
      state: outcome.state,
      router: outcome.router ?? before.router,
      quotedOut: outcome.quotedOut ?? before.quotedOut,
      signature: outcome.signature ?? before.signature,
      code: outcome.code,
      reason: outcome.reason,
      gatewayRequestId: outcome.gatewayRequestId,
      fill: outcome.fill,
      feeLamports: isTerminal(outcome.state) ? outcome.fill?.feeLamports ?? outcome.feeLamports : undefined,
    };
    if (isTerminal(outcome.state)) this.#close(record, outcome);
    else this.#open.set(outcome.intentId, record);
    return record;
  }

  denied(code: string): void {
    this.denials[code] = (this.denials[code] ?? 0) + 1;
  }

  /** Returns the open intents, oldest first. */
  get open(): IntentRecord[] {
    return [...this.#open.values()];
  }

  /** Returns the finished intents, newest first, up to a few hundred. */
  get recent(): IntentRecord[] {
    return [...this.#recent].reverse();
  }

  #close(record: IntentRecord, outcome: Outcome): void {
    this.#open.delete(outcome.intentId);
    this.#recent.push(record);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    this.byState[outcome.state] = (this.byState[outcome.state] ?? 0) + 1;
    this.feesLamports = (this.feesLamports + (record.feeLamports ?? 0n)) as Lamports;
    this.rentLamports = (this.rentLamports + (outcome.fill?.rentLamports ?? 0n)) as Lamports;
  }
}

/** The result of a run. */
export interface RunSummary {
  readonly runId: string;
  readonly runDir: string;
  readonly durationMs: Millis;
  readonly events: number;
  readonly decisions: number;
  readonly decisionHash: string;
  readonly denials: Readonly<Record<string, number>>;
  readonly intents: Readonly<Record<string, number>>;
  readonly open: readonly string[];
  readonly alerts: number;
  readonly feesLamports: bigint;
  readonly rentLamports: bigint;
  readonly strategies: readonly {
    readonly name: string; readonly swaps: number; readonly holds: readonly string[]; readonly running: boolean;
  }[];
  readonly recording: string | undefined;
  /** What may be traded at the end of the run. */
  readonly trading: TradingState;
}

/** Returns the result of a run; call it after the run has drained. */
export function summaryOf({ runId, files, state, strategies, startAt, recording, engine, counters, events, running }: {
  readonly runId: string;
  readonly files: Pick<RunFiles, 'dir'>;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly startAt: Millis;
  readonly recording: string | undefined;
  readonly engine: Engine;
  readonly counters: Counters;
  /** How many inputs the run had. */
  readonly events: number;
  /** The strategies that ran until the end. */
  readonly running: ReadonlySet<string>;
}): RunSummary {
  return {
    runId,
    runDir: files.dir,
    durationMs: engine.clock.now() - startAt,
    events,
    decisions: engine.decisions,
    decisionHash: engine.decisionHash,
    denials: counters.denials,
    intents: counters.byState,
    open: counters.open.map(({ intent }) => intent.id),
    alerts: counters.alerts,
    feesLamports: counters.feesLamports,
    rentLamports: counters.rentLamports,
    strategies: strategies.map(({ name }) => {
      const book = state.portfolio.book(name);
      return {
        name, swaps: book.swaps, holds: formatBalances(state.tokens, book.balances), running: running.has(name),
      };
    }),
    recording,
    trading: effectiveTrading(state),
  };
}
