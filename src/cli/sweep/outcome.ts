import type { ObjectiveName } from '../../backtest/objectives.ts';
import type { Grid } from '../../backtest/sweep/grid.ts';
import type { Neighbourhood } from '../../backtest/sweep/neighbourhood.ts';
import type { SweepRow } from '../../backtest/sweep/sweep-row.ts';
import type { TrialParams } from '../../backtest/trial.ts';
import type { Metrics } from '../../backtest/metrics/metrics.ts';
import type { Token } from '../../market/token.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { GridPoint } from '../../backtest/sweep/grid.ts';
import type { RefusedPoint } from '../research/plan-trials.ts';

/** A combination that a strategy brought down. */
export interface FailedPoint {
  readonly point: GridPoint;
  readonly params: TrialParams;
  readonly reason: string;
}

/** The best combination with what is to be known before it is believed. */
export interface BestRow extends SweepRow {
  /** With the Sharpe ratio deflated by all trials on these data. */
  readonly metrics: Metrics;
  readonly neighbourhood: Neighbourhood;
  /** Whether a thread that had run nothing else came to the same decisions; undefined where there is nothing else to be the best of. */
  readonly isRepeatable: boolean | undefined;
}

/** What a sweep came to. */
export interface SweepOutcome {
  readonly subject: string;
  readonly currency: Token;
  readonly grid: Grid;
  readonly objective: ObjectiveName;
  /** In the order of the grid. */
  readonly rows: readonly SweepRow[];
  readonly refused: readonly RefusedPoint[];
  readonly failed: readonly FailedPoint[];
  /** Undefined where none has the objective. */
  readonly best: BestRow | undefined;
  /** All that were ever tried on these data; undefined where nobody can count. */
  readonly counted: TrialCount | undefined;
  /** How it was run. */
  readonly effort: SweepEffort;
  readonly warnings: readonly string[];
  /** Whether the recording's market was made up. */
  readonly isMadeUp?: boolean | undefined;
}

/** What it took. */
export interface SweepEffort {
  /** Trials run this time; the others were known from before. */
  readonly ran: number;
  readonly resumed: number;
  readonly workers: number;
  /** Of the trials run this time, the reading of the recording included. */
  readonly seconds: number;
  /** Events that strategies were shown this time. */
  readonly events: number;
  /** Where finished trials are kept. */
  readonly file: string;
}
