import type { MeasuredRun } from '../../backtest/measured-run.ts';
import type { SensitivityGrid } from '../../backtest/sensitivity-grid.ts';
import { gridCells, sensitivityGrid, typicalHalfSpreadBps } from '../../backtest/sensitivity-grid.ts';
import type { TrialResult } from '../../backtest/trial.ts';
import type { SharedRows } from '../../recording/shared/shared-rows.ts';
import type { CommandContext } from '../command.ts';
import { untilInterrupted } from '../interrupt.ts';
import { progressLine } from '../progress.ts';
import type { Subject } from './subject.ts';
import { createTrialPool } from './trial-pool.ts';

/** A longer recording takes more than some seconds to go through, and more than some hundred megabytes to hold. */
const CHEAP_EVENTS = 3_000_000;

/** Returns whether so many events are gone through quickly: then a report has the grid unasked, and they are read into memory once. */
export function isCheap(events: number): boolean {
  return events <= CHEAP_EVENTS;
}

/** Runs a configuration under other latencies and costs, in threads. Throws INTERRUPTED. */
export async function measureGrid({ setup, recording, rows }: Pick<Subject, 'setup' | 'recording'> & { readonly rows: SharedRows | undefined }, { record, assessment }: Pick<MeasuredRun, 'record' | 'assessment'>, { interrupt, terminal }: Pick<CommandContext, 'interrupt' | 'terminal'>): Promise<SensitivityGrid> {
  const spreadBps = typicalHalfSpreadBps(record);
  const cells = gridCells(setup.model, spreadBps);
  const pool = await createTrialPool(setup, { recording, rows, interrupt });
  return untilInterrupted(interrupt, pool, async () => {
    const results = new Map<string, TrialResult>();
    const progress = progressLine(terminal, 'other latencies and costs');
    try {
      for await (const result of pool.run(cells.map(({ trial }) => trial))) {
        results.set(result.id, result);
        progress.show(results.size, cells.length);
      }
    } finally {
      progress.end();
    }
    return sensitivityGrid(results, { cells, configured: assessment.metrics.total_return, spreadBps });
  });
}
