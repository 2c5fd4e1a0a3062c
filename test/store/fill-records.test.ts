import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Lamports } from '../../src/core/amount.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { FillValues } from '../../src/store/fill-records.ts';
import { readProfitRecords } from '../../src/store/journal-reader.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf, SNAPSHOT, wallClock } from './sample-intents.ts';

const VALUES: FillValues = {
  isManual: false, currency: USDC_MINT, feeValue: 750n, input: { microUsd: 5n, source: 'usdc' },
  output: { microUsd: 2n ** 64n, source: 'quote' }, feeUsd: undefined,
};

/** Writes a swap that landed, one that failed with a fee, and one that moved nothing. */
function swaps(journal: JournalStore): void {
  for (const number of [1, 2, 3]) {
    const id = `dca-${number}`;
    journal.intentApproved(intentOf(number));
    journal.transition(outcomeOf(id, 'building'));
    if (number === 3) break;
    journal.attemptSigned(attemptOf(id, { signature: `signature-${number}` }));
    for (const state of ['signed', 'submitted'] as const) journal.transition(outcomeOf(id, state));
  }
  const fill = { ...FILL, tipLamports: 7n as Lamports };
  journal.transition(outcomeOf('dca-1', 'confirmed', { fill, signature: 's' }));
  journal.transition(outcomeOf('dca-2', 'failed', { feeLamports: 9n as Lamports }));
  journal.transition(outcomeOf('dca-3', 'abandoned', { code: 'QUOTE_STALE' }));
}

describe('what profit is computed from', () => {
  it('is every swap that moved or cost something, with its values, exact and in parts', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    swaps(journal);
    journal.fillValued('dca-1', VALUES);
    const all = journal.settledSwaps({ after: 0, limit: 10 });
    expect(all.next).toBeUndefined();
    expect(all.swaps).toMatchObject([
      { intentId: 'dca-1', fill: { ...FILL, tipLamports: 7n }, feeLamports: 5_000n, signature: 's', values: VALUES },
      { intentId: 'dca-2', fill: undefined, feeLamports: 9n, values: undefined },
    ]);
    const first = journal.settledSwaps({ after: 0, limit: 1 });
    expect([first.swaps.length, first.next]).toEqual([1, all.swaps[0]!.number]);
    expect(journal.settledSwaps({ after: first.next!, limit: 1 }).swaps[0]!.intentId).toBe('dca-2');
    journal.walletAdjusted({ mint: SOL_MINT, change: '-3', cause: 'withdrawal', reason: 'sent' }, {
      ...SNAPSHOT, books: { dca: { ...SNAPSHOT.books['dca']!, budget: { mint: USDC_MINT, amount: '500' } } },
    });
    journal.ledgerBegun();
    expect(readProfitRecords(path)).toMatchObject({
      swaps: all.swaps, ledgerStarts: journal.ledgerStarts(), adjustments: [{ mint: SOL_MINT, change: '-3' }],
      budgets: { dca: { mint: USDC_MINT, amount: 500n } },
    });
    expect(journal.ledgerStarts()[0]!.afterNumber).toBeGreaterThan(all.swaps[1]!.number);
  });

  it('is read from a journal of an earlier format as it is, without values', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = openJournal({ path, clock: wallClock });
    swaps(journal);
    journal.close();
    const database = new DatabaseSync(path);
    database.exec('DROP TABLE fill_values; DROP TABLE ledger_starts; PRAGMA user_version = 6');
    database.close();
    expect(readProfitRecords(path)).toMatchObject({
      swaps: [{ intentId: 'dca-1', values: undefined }, { intentId: 'dca-2' }], ledgerStarts: [], budgets: {},
    });
  });

  it('is nothing without a journal', () => {
    expect(readProfitRecords(join(temporaryFolder(), 'journal.sqlite'))).toBeUndefined();
  });
});
