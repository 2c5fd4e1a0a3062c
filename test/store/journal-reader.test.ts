import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openJournalReader, openJournalView } from '../../src/store/journal-reader.ts';
import { openJournal } from '../../src/store/journal.ts';
import { temporaryFolder } from './fixtures.ts';
import { FILL, attemptOf, intentOf, outcomeOf, wallClock } from './sample-intents.ts';

describe('a journal opened for reading', () => {
  it('is read in its present state while its daemon writes it', () => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    const journal = openJournal({ path, clock: wallClock });
    journal.intentApproved(intentOf(1));
    const reader = openJournalReader(path)!;
    expect(reader.list({ limit: 9 })).toMatchObject([{ intent_id: 'dca-1', state: 'approved' }]);
    journal.transition(outcomeOf('dca-1', 'building'));
    journal.attemptSigned(attemptOf('dca-1'));
    journal.transition(
      outcomeOf('dca-1', 'signed', { router: 'iris', quotedOut: 18_446_744_073_709_551_614n as never }),
    );
    journal.transition(outcomeOf('dca-1', 'confirmed', { fill: FILL, signature: 'landed' }));
    expect(reader.list({ limit: 9, state: 'approved' })).toEqual([]);
    expect(reader.show('dca-1')).toMatchObject({
      state: 'confirmed', reason: 'it is time', router: 'iris', quoted_out: '18446744073709551614',
      amount_out: '18446744073709551613', fee_lamports: '5000', rent_lamports: '2039280',
      transitions: [
        { state: 'building' }, { state: 'signed', router: 'iris' },
        { state: 'confirmed', signature: 'landed', code: null },
      ],
    });
    reader.close();
    journal.close();
    // After its last close the side files are gone; it can still be read.
    expect(openJournalReader(path)!.show('dca-2')).toBeUndefined();
  });

  it('is never created nor changed', () => {
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
    [
      'another database',
      (path: string) => { const other = new DatabaseSync(path); other.exec('CREATE TABLE t (x)'); other.close(); },
      'another SQLite database',
    ],
    ['a newer journal', (path: string) => {
      openJournal({ path, clock: wallClock }).close();
      const newer = new DatabaseSync(path);
      newer.exec('PRAGMA user_version = 99');
      newer.close();
    }, 'has format 99'],
  ])('is refused with the reason when it is %s', (_name, make, words) => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    make(path);
    expect(() => openJournalReader(path))
      .toThrow(expect.objectContaining({ code: 'JOURNAL_INVALID', message: expect.stringContaining(words) }));
  });
});

describe('issue 13.23: the state in which a run would start', () => {
  it('is read as the journal holds it, open or closed, and no file is made or changed', () => {
    const folder = temporaryFolder();
    const path = `${folder}/journal.sqlite`;
    const read = () => {
      const view = openJournalView(path)!;
      const told = {
        standing: view.standing(), open: view.openIntents(), attempts: view.attemptsSince('payer', 0),
        runs: view.listRuns({ limit: 2 }),
      };
      view.close();
      return told;
    };
    expect(read()).toMatchObject({ standing: { isNew: true, writtenTo: undefined }, open: [] });
    expect(readdirSync(folder)).toEqual([]);

    const journal = openJournal({ path, clock: wallClock });
    journal.runStarted('one');
    journal.intentApproved(intentOf(1));
    const whileOpen = {
      standing: { isNew: false, writtenTo: undefined }, open: [{ intent: { id: 'dca-1' }, state: 'approved' }],
      runs: [{ runId: 'one' }],
    };
    expect(read()).toMatchObject(whileOpen);
    journal.close();
    const files = readdirSync(folder);
    const bytes = readFileSync(path);
    expect(read()).toMatchObject(whileOpen);
    expect([readdirSync(folder), readFileSync(path).equals(bytes)]).toEqual([files, true]);

    renameSync(path, `${path}.away`);
    expect(read()).toMatchObject({ standing: { isNew: true, writtenTo: { rows: expect.any(Number) } } });
  });

  it('is not read from an older format, and a foreign file is refused', () => {
    const path = `${temporaryFolder()}/journal.sqlite`;
    openJournal({ path, clock: wallClock }).close();
    const older = new DatabaseSync(path);
    older.exec('PRAGMA user_version = 1');
    older.close();
    expect(openJournalView(path)).toBeUndefined();
    writeFileSync(path, 'no journal'.repeat(100));
    expect(() => openJournalView(path)).toThrow(expect.objectContaining({ code: 'JOURNAL_INVALID' }));
  });
});
