import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/store/journal.ts';
import { temporaryFolder } from './fixtures.ts';
import { attemptOf, intentOf, wallClock } from './sample-intents.ts';

const invalid = expect.objectContaining({ code: 'JOURNAL_INVALID' });

function open(path: string): void {
  openJournal({ path, clock: wallClock }).close();
}

function filledJournal(): string {
  const path = join(temporaryFolder(), 'journal.sqlite');
  const journal = openJournal({ path, clock: wallClock });
  for (let number = 1; number <= 50; number++) {
    journal.intentApproved(intentOf(number));
    journal.attemptSigned(attemptOf(`dca-${number}`));
  }
  journal.close();
  return path;
}

describe('a file that is not a journal of this format', () => {
  it('is refused when it is newer, naming the release that reads it', () => {
    const path = filledJournal();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 9; UPDATE format SET readable_since = '4.2.0'");
    database.close();
    expect(() => { open(path); }).toThrow(expect.objectContaining({
      code: 'JOURNAL_INVALID', message: `${path} has format 9, which Gannet 4.2.0 reads; this one reads up to format 8`,
    }));
  });

  it('is refused and left unchanged when it is another database', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE theirs (a)');
    database.close();
    const before = readFileSync(path);
    expect(() => { open(path); }).toThrow(invalid);
    expect(readFileSync(path)).toStrictEqual(before);
  });

  it('is refused when it is no database', () => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    writeFileSync(path, 'these are notes, not a database, and quite long ones at that\n'.repeat(100));
    expect(() => { open(path); }).toThrow(invalid);
  });

  it.each([0.3, 0.6, 0.9])('is refused when it is truncated (%d of it left)', (part) => {
    const path = filledJournal();
    truncateSync(path, Math.floor(readFileSync(path).length * part));
    expect(() => { open(path); }).toThrow(invalid);
  });

  it('is refused when it is overwritten in the middle', () => {
    const path = filledJournal();
    const bytes = readFileSync(path);
    bytes.fill(0xee, 8_192, 40_000);
    writeFileSync(path, bytes);
    expect(() => { open(path); }).toThrow(invalid);
  });

  it('cannot be opened when a folder is in its place', () => {
    expect(() => { open(temporaryFolder()); }).toThrow(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
  });
});
