import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { journalled } from '../../src/execution/journalled.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { createPatientJournal } from '../../src/store/patient-journal.ts';
import type { SmallDisk } from '../store/small-disk.ts';
import { NO_SMALL_DISK, smallDisk } from '../store/small-disk.ts';
import type { ExecutionWorld } from './execution-world.ts';
import { collect, executionWorlds, outcomesOf } from './execution-world.ts';

const startExecutionWorld = executionWorlds();

let world: ExecutionWorld;
beforeAll(async () => { world = await startExecutionWorld(); });
afterAll(async () => { await world.close(); });

function journalOn(disk: SmallDisk): JournalStore {
  const journal = createPatientJournal(openJournal({ path: join(disk.dir, 'journal.sqlite'), clock: world.clock }), {
    clock: world.clock, onFault: () => false, onWritten: () => undefined,
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
  it('is given up: nothing is quoted, signed or sent', async () => {
    const disk = smallDisk();
    const executor = createLiveExecutor({ ...world, journal: journalOn(disk) });
    disk.fill();
    const landed = world.landed.length;
    expect(await outcomesOf(executor, world.intent()))
      .toMatchObject([{ state: 'abandoned', code: 'JOURNAL_FAILED', attempt: 1 }]);
    expect(world.landed).toHaveLength(landed);
  });

  it('is given up after signing where the signed bytes cannot be written down: they never leave', async () => {
    const disk = smallDisk();
    const journal = journalOn(disk);
    const executor = createLiveExecutor({ ...world, journal });
    const landed = world.landed.length;
    const intent = world.intent();
    const outcomes = await outcomesOf(executor, intent, ({ state }) => { if (state === 'building') disk.fill(); });
    expect(outcomes).toMatchObject([{ state: 'building' }, { state: 'abandoned', code: 'JOURNAL_FAILED' }]);
    await world.passSlots(4);
    expect(world.landed).toHaveLength(landed);
    disk.clear();
    expect(journal.openIntents()).toEqual([]);
    expect(journal.showIntent(intent.id)).toMatchObject({ state: 'abandoned', attempts: [] });
  });

  it('is seen through where the disk fills up after its bytes are written down, and booked once there is room', async () => {
    const disk = smallDisk();
    const journal = journalOn(disk);
    const executor = createLiveExecutor({ ...world, journal });
    const intent = world.intent();
    const outcomes = await outcomesOf(executor, intent, ({ state }) => { if (state === 'signed') disk.fill(); });
    expect(outcomes.at(-1)).toMatchObject({ state: 'confirmed' });
    disk.clear();
    expect(journal.unsettledOutcomes()).toMatchObject([{ intent: { id: intent.id }, outcome: { state: 'confirmed' } }]);
  });

  it('is given up on paper too', async () => {
    const disk = smallDisk();
    const executor = journalled({
      execute: () => { throw new Error('nothing is carried out'); },
      reconcile: () => { throw new Error('nothing is open'); },
    }, journalOn(disk));
    disk.fill();
    expect(await collect(executor.execute(world.intent())))
      .toMatchObject([{ state: 'abandoned', code: 'JOURNAL_FAILED' }]);
  });
});
