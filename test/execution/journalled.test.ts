import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { journalled } from '../../src/execution/journalled.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { createWriteBehindJournal } from '../../src/store/write-behind-journal.ts';
import type { SmallDisk } from '../store/small-disk.ts';
import { NO_SMALL_DISK, smallDisk } from '../store/small-disk.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { collect, executionFixtures, outcomesOf } from './execution-fixture.ts';

const startExecutionFixture = executionFixtures();

let fixture: ExecutionFixture;
beforeAll(async () => { fixture = await startExecutionFixture(); });
afterAll(async () => { await fixture.close(); });

function journalOn(disk: SmallDisk): JournalStore {
  const journal =
    createWriteBehindJournal(openJournal({ path: join(disk.dir, 'journal.sqlite'), clock: fixture.clock }), {
      clock: fixture.clock, onFault: () => false, onWritten: () => undefined,
    });
  onTestFinished(() => {
    disk.clear();
    journal.close();
  });
  return journal;
}

describe.skipIf(
  NO_SMALL_DISK !== undefined,
)(`a swap that the journal does not take${NO_SMALL_DISK === undefined ? '' : ` (left out: ${NO_SMALL_DISK})`}`, () => {
  it('is abandoned: nothing is quoted, signed or sent', async () => {
    const disk = smallDisk();
    const executor = createLiveExecutor({ ...fixture, journal: journalOn(disk) });
    disk.fill();
    const landed = fixture.landed.length;
    expect(await outcomesOf(executor, fixture.intent()))
      .toMatchObject([{ state: 'abandoned', code: 'JOURNAL_FAILED', attempt: 1 }]);
    expect(fixture.landed).toHaveLength(landed);
  });

  it('is abandoned where the signed bytes cannot be journalled: they are never sent', async () => {
    const disk = smallDisk();
    const journal = journalOn(disk);
    const executor = createLiveExecutor({ ...fixture, journal });
    const landed = fixture.landed.length;
    const intent = fixture.intent();
    const outcomes = await outcomesOf(executor, intent, ({ state }) => { if (state === 'building') disk.fill(); });
    expect(outcomes).toMatchObject([{ state: 'building' }, { state: 'abandoned', code: 'JOURNAL_FAILED' }]);
    await fixture.passSlots(4);
    expect(fixture.landed).toHaveLength(landed);
    disk.clear();
    expect(journal.openIntents()).toEqual([]);
    expect(journal.showIntent(intent.id)).toMatchObject({ state: 'abandoned', attempts: [] });
  });

  it('is completed where the disk fills up after its bytes are journalled, and booked once there is room', async () => {
    const disk = smallDisk();
    const journal = journalOn(disk);
    const executor = createLiveExecutor({ ...fixture, journal });
    const intent = fixture.intent();
    const outcomes = await outcomesOf(executor, intent, ({ state }) => { if (state === 'signed') disk.fill(); });
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed' });
    disk.clear();
    expect(journal.unsettledOutcomes()).toMatchObject([{ intent: { id: intent.id }, outcome: { state: 'confirmed' } }]);
  });

  it('is abandoned in paper mode too', async () => {
    const disk = smallDisk();
    const executor = journalled({
      execute: () => { throw new Error('nothing is carried out'); },
      reconcile: () => { throw new Error('nothing is open'); },
    }, journalOn(disk));
    disk.fill();
    expect(await collect(executor.execute(fixture.intent())))
      .toMatchObject([{ state: 'abandoned', code: 'JOURNAL_FAILED' }]);
  });
});
