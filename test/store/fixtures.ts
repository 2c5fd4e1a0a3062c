import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { wallClock } from './sample-intents.ts';

/** Returns a folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-test-'));
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true }); });
  return folder;
}

/** Returns a journal that is closed when the test is over. */
export function temporaryJournal(
  path = join(temporaryFolder(), 'journal.sqlite'), clock: Clock = wallClock,
): JournalStore {
  const journal = openJournal({ path, clock });
  onTestFinished(() => { journal.close(); });
  return journal;
}
