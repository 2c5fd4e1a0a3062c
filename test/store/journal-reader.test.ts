import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openJournalReader } from '../../src/store/journal-reader.ts';
import { openJournal } from '../../src/store/journal.ts';
import { temporaryFolder } from './fixtures.ts';
import { FILL, attemptOf, intentOf, outcomeOf, wallClock } from './sample-journey.ts';

describe('a journal that is only looked at', () => {
  it('is read while its daemon writes it, each time as it stands then', () => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    const journal = openJournal({ path, clock: wallClock });
    journal.intentApproved(intentOf(1));
    const reader = openJournalReader(path)!;
    expect(reader.list({ limit: 9 })).toMatchObject([{ intent_id: 'dca-1', state: 'approved' }]);
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.attemptSigned(attemptOf('dca-1'));
    journal.transition(outcomeOf('dca-1', 'signed', { router: 'iris', quotedOut: 18_446_744_073_709_551_614n as never }));
    journal.transition(outcomeOf('dca-1', 'confirmed', { fill: FILL, signature: 'landed' }));
    expect(reader.list({ limit: 9, state: 'approved' })).toEqual([]);
    expect(reader.show('dca-1')).toMatchObject({
      state: 'confirmed', reason: 'it is time', router: 'iris', quoted_out: '18446744073709551614', amount_out: '18446744073709551613', fee_lamports: '5000', rent_lamports: '2039280',
      transitions: [{ state: 'building' }, { state: 'signed', router: 'iris' }, { state: 'confirmed', signature: 'landed', code: null }],
    });
    reader.close();
    journal.close();
    // Closed for good, its side files are gone: it can be looked at all the same.
    expect(openJournalReader(path)!.show('dca-2')).toBeUndefined();
  });

  it('is never made nor changed', () => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    expect(openJournalReader(path)).toBeUndefined();
    openJournal({ path, clock: wallClock }).close();
    const before = readFileSync(path);
    const reader = openJournalReader(path)!;
    reader.list({ limit: 1 });
    reader.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each([
    ['text', (path: string) => { writeFileSync(path, 'no journal'.repeat(100)); }, 'expected a Gannet journal'],
    ['another database', (path: string) => { const other = new DatabaseSync(path); other.exec('CREATE TABLE t (x)'); other.close(); }, 'another SQLite database'],
    ['a newer journal', (path: string) => {
      openJournal({ path, clock: wallClock }).close();
      const newer = new DatabaseSync(path);
      newer.exec('PRAGMA user_version = 99');
      newer.close();
    }, 'has format 99'],
  ])('is refused with the reason where it is %s', (_name, make, words) => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    make(path);
    expect(() => openJournalReader(path)).toThrow(expect.objectContaining({ code: 'JOURNAL_INVALID', message: expect.stringContaining(words) }));
  });
});
