import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Amount, Bps } from '../../core/amount.ts';
import { systemClock } from '../../daemon/system-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import type { JournalStore } from '../../store/journal.ts';
import { openJournal } from '../../store/journal.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile, stopwatch } from './measurement.ts';

const RUNS = 5;
const INTENTS_PER_RUN = 200;

/** What an approved intent costs before anything is asked of the service: two rows in a real file, each on disk when its call returns. */
export const JOURNAL_ROWS: readonly BenchRow[] = [{ name: 'journal-intent', measure: journalIntent }];

async function journalIntent(): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  const journal = openJournal({ path: join(folder, 'journal.sqlite'), clock: systemClock });
  try {
    const medians: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const times = Array.from({ length: INTENTS_PER_RUN }, (_, index) => journalOnce(journal, `bench-${run * INTENTS_PER_RUN + index + 1}`));
      medians.push(percentile(times.sort((a, b) => a - b), 0.5));
    }
    return measured('journal-intent', 'ms', medians);
  } finally {
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function journalOnce(journal: JournalStore, id: string): number {
  const startedAt = stopwatch();
  journal.intentApproved({
    id, strategy: 'bench', createdAt: systemClock.now(), purpose: 'entry', inputMint: USDC_MINT, outputMint: SOL_MINT, amountIn: 20_000_000n as Amount,
    maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps, minimumOut: 1_000_000n as Amount, route: 'order', reason: 'a benchmark',
  });
  journal.transition({ kind: 'outcome', intentId: id, attempt: 1, state: 'building' });
  return stopwatch() - startedAt;
}
