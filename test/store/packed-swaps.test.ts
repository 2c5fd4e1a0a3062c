import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Lamports } from '../../src/core/amount.ts';

import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { openJournalReader, openJournalView, readProfitRecords } from '../../src/store/journal-reader.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import { openSwapPacker } from '../../src/store/packed-swaps.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf, SNAPSHOT, wallClock } from './sample-intents.ts';

const LATER = 9e15;

/** Approves, signs and lands swaps, and saves the state that includes them. */
function land(journal: JournalStore, numbers: readonly number[], options: Partial<Intent> = {}): void {
  for (const number of numbers) {
    const id = `dca-${number}`;
    journal.intentApproved(intentOf(number, options));
    journal.transition(outcomeOf(id, 'building'));
    journal.attemptSigned(attemptOf(id, { signature: `signature-${number}` }));
    for (const state of ['signed', 'submitted'] as const) journal.transition(outcomeOf(id, state));
    journal.transition(number % 5 === 0
      ? outcomeOf(id, 'failed', { feeLamports: 9n as Lamports, signature: `landed-${number}` })
      : outcomeOf(id, 'confirmed', { fill: FILL, signature: `landed-${number}` }));
    journal.fillValued(id, {
      isManual: false, currency: USDC_MINT, feeValue: BigInt(number), input: { microUsd: 5n, source: 'usdc' },
      output: undefined, feeUsd: 3n,
    });
    journal.saveSnapshot(SNAPSHOT, [id]);
  }
}

function upTo(count: number, first = 1): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Packs everything that may be packed. Returns how many. */
function packAll(path: string, keptWhole = 0): number {
  const packer = openSwapPacker(path, { keptWhole })!;
  let packed = 0;
  for (let done = 1; done > 0; packed += done) done = packer.step(LATER);
  packer.close();
  return packed;
}

/** Reads all settled swaps in parts of a size. */
function inParts(journal: JournalStore, limit: number): unknown[] {
  const found: unknown[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const part = journal.settledSwaps({ after, limit });
    found.push(...part.swaps);
    after = part.next;
  }
  return found;
}

describe('packed swaps', () => {
  it('stay in profit, statement and search, exact, in order and in parts of any size', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    land(journal, upTo(430));
    const before = readProfitRecords(path)!;
    const story = journal.showIntent('dca-7')!;
    // The newest one is the last landed swap, and has the last numbers of its tables.
    expect(packAll(path)).toBe(429);
    land(journal, upTo(3, 431));
    const swaps = readProfitRecords(path)!.swaps;
    expect(swaps.slice(0, 430)).toEqual(before.swaps);
    expect(swaps).toHaveLength(433);
    for (const size of [1, 199, 200, 201, 1_000]) expect(inParts(journal, size)).toEqual(swaps);
    expect(journal.settledSwaps({ after: swaps.at(-1)!.number, limit: 5 })).toEqual({ swaps: [], next: undefined });
    const { attempts, transitions, ...kept } = story;
    expect(attempts).toHaveLength(1);
    expect(journal.showIntent('dca-7')).toEqual({ ...kept, quoted_out: null, router: null, attempts: [],
      transitions: [transitions.at(-1)] });
    const reader = openJournalReader(path)!;
    expect(reader.show('dca-430')?.attempts).toHaveLength(1);
    expect([reader.show('dca-429')?.state, reader.show('dca-434'), reader.show('dca')])
      .toEqual(['confirmed', undefined, undefined]);
    reader.close();
  });

  it('are listed with the others, newest first', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    land(journal, upTo(120));
    // A person's order is never packed, and is older than what follows.
    land(journal, [121], { key: 'order.of-a-person' });
    land(journal, upTo(129, 122));
    const listed = (options: Parameters<JournalStore['listIntents']>[0]) => journal.listIntents(options)
      .map(({ intent_id: id, state, amount_out: out }) => [id, state, out]);
    const limits = [0, 1, 2, 20, 21, 99, 100, 101, 130, 249, 250, 251];
    const all = (): unknown[] => limits.flatMap((limit) => [undefined, 'failed' as const, 'expired' as const]
      .map((state) => listed({ state, limit })));
    const before = all();
    expect(packAll(path, 20)).toBe(229);
    expect(all()).toEqual(before);
    expect(journal.listIntents({ limit: 300 }).at(-1)).toMatchObject({ intent_id: 'dca-1', attempts: [] });
  });

  it('leave the extent of the journal and what a start needs as they were', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = openJournal({ path, clock: wallClock });
    land(journal, upTo(30));
    const view = openJournalView(path)!;
    const [position, snapshot] = [view.standing().position, view.loadSnapshot()];
    view.close();
    expect(packAll(path)).toBe(29);
    expect([journal.lastLanded(), journal.isOwnTransaction('landed-30')]).toEqual(['landed-30', true]);
    journal.close();
    const again = temporaryJournal(path);
    expect(again.standing()).toMatchObject({ isNew: false, writtenTo: undefined, position });
    expect(again.loadSnapshot()).toEqual(snapshot);
    land(again, [31]);
    expect(again.listIntents({ limit: 2 }).map(({ intent_id: id }) => id)).toEqual(['dca-31', 'dca-30']);
  });

  it('are never those that an open swap, a person’s order, a strategy or a person may still need', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    land(journal, [1], { key: 'order.mine' });
    land(journal, [2, 3]);
    journal.saveSnapshot(SNAPSHOT, [], [{ strategy: 'dca', text: '{}', seen: [] }]);
    land(journal, [4]);
    journal.intentApproved(intentOf(5));
    journal.transition(outcomeOf('dca-5', 'building'));
    journal.attemptSigned(attemptOf('dca-5', { signature: 'open' }));
    land(journal, [6, 7]);
    expect(packAll(path, 3)).toBe(2);
    // The strategy has not seen the end of number 4, and 6 and 7 explain the balance of number 5.
    expect(packAll(path)).toBe(0);
    expect(journal.intentsOfKey('order.mine')).toHaveLength(1);
    expect(journal.movesSince({ intentId: 'dca-5', number: 1 }, SOL_MINT)).toHaveLength(2);
    expect(journal.isSigned('signature-4')).toBe(true);
    expect(journal.loadStrategyStates().unseen.map(({ intentId }) => intentId)).toEqual(['dca-4', 'dca-6', 'dca-7']);
    journal.transition(outcomeOf('dca-5', 'signed'));
    journal.transition(outcomeOf('dca-5', 'expired'));
    journal.saveSnapshot(SNAPSHOT, ['dca-5'], [{ strategy: 'dca', text: '{}', seen: ['dca-4', 'dca-5', 'dca-6'] }]);
    expect(packAll(path)).toBe(2);
    expect(inParts(journal, 1)).toHaveLength(6);
  });

  it('are only those that ended before the instant, and none of a journal of another format', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const clock = new VirtualClock(1_790_000_000_000);
    const journal = temporaryJournal(path, clock);
    land(journal, upTo(3));
    clock.advanceTo(1_790_000_100_000);
    land(journal, upTo(3, 4));
    const packer = openSwapPacker(path, { keptWhole: 0 })!;
    expect([packer.count(1_790_000_050_000), packer.step(1_790_000_050_000)]).toEqual([3, 3]);
    expect([packer.count(1_790_000_050_000), packer.step(1_790_000_050_000)]).toEqual([0, 0]);
    packer.close();
    const other = join(temporaryFolder(), 'journal.sqlite');
    openJournal({ path: other, clock: wallClock }).close();
    const database = new DatabaseSync(other);
    database.exec('PRAGMA user_version = 7');
    database.close();
    expect(openSwapPacker(other)).toBeUndefined();
  });

  it('take a tenth of their room', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const journal = temporaryJournal(path);
    land(journal, upTo(401));
    packAll(path);
    const database = new DatabaseSync(path, { readOnly: true });
    const row = database.prepare('SELECT sum(length(records)) AS bytes, sum(swaps) AS swaps FROM packed_swaps').get();
    const pages = database.prepare('PRAGMA page_count').get();
    database.close();
    expect(row?.['swaps']).toBe(400);
    expect(Number(row?.['bytes']) / 400).toBeLessThan(100);
    expect(Number(pages?.['page_count'])).toBeLessThan(400);
  });
});
