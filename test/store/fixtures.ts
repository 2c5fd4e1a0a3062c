import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import type { HistoryStore } from '../../src/store/history.ts';
import { openHistory } from '../../src/store/history.ts';
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

/** Returns a history that is closed when the test is over, and its messages about faults. */
export function temporaryHistory(
  path = join(temporaryFolder(), 'history.sqlite'),
): { readonly history: HistoryStore; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const history = openHistory({ path, onFault: (message) => { faults.push(message); } });
  onTestFinished(() => { history.close(); });
  return { history, faults };
}
