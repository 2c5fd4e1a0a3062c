import type { Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import { effectiveTrading } from '../trading/protections/effective-trading.ts';
import type { EngineState } from '../trading/state.ts';
import type { Chronicle } from './chronicle.ts';
import { holdings } from './market-text.ts';
import type { RunSummary } from './reporter.ts';
import type { RunFiles } from './run-files.ts';

/** Returns what a run came to, once nothing moves any more. */
export function summaryOf({ runId, files, state, strategies, startAt, recording, engine, chronicle: { tally, events }, running }: {
  readonly runId: string;
  readonly files: Pick<RunFiles, 'dir'>;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly startAt: Millis;
  readonly recording: string | undefined;
  readonly engine: Engine;
  readonly chronicle: Chronicle;
  /** The strategies that ran until they were stopped. */
  readonly running: ReadonlySet<string>;
}): RunSummary {
  return {
    runId,
    runDir: files.dir,
    durationMs: engine.clock.now() - startAt,
    events,
    decisions: engine.decisions,
    decisionHash: engine.decisionHash,
    denials: tally.denials,
    intents: tally.byState,
    open: tally.open.map(({ intent }) => intent.id),
    alerts: tally.alerts,
    feesLamports: tally.feesLamports,
    rentLamports: tally.rentLamports,
    strategies: strategies.map(({ name }) => {
      const book = state.portfolio.book(name);
      return { name, swaps: book.swaps, holds: holdings(state.tokens, book.balances), running: running.has(name) };
    }),
    recording,
    trading: effectiveTrading(state),
  };
}
