import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../src/core/json.ts';
import { insertStatement, writeAttempt, writeIntent } from '../../src/store/journal-rows.ts';
import { JOURNAL, JOURNAL_APPLICATION_ID, JOURNAL_FORMAT } from '../../src/store/journal-schema.ts';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';
import { attemptOf, FILL, intentOf, outcomeOf } from './sample-intents.ts';

/** Columns that came with later formats. */
const LATER: Readonly<Record<number, readonly string[]>> = {
  1: ['maker', 'receiver', 'input_balance', 'input_slot_from', 'input_slot_to', 'tag'],
  2: ['receiver', 'input_slot_from', 'input_slot_to', 'tag'],
  3: ['receiver', 'tag'],
  4: ['receiver', 'tag'],
  5: ['receiver', 'tag'],
  6: [],
  7: [],
};
const ATTEMPT = attemptOf('dca-1', { maker: 'maker', inputBalance: 9n as never, inputSlots: { from: 5n, to: 6n } });

/** Writes a journal as an earlier format has it: a swap that is on its way, and one that ended since. */
function journalOfFormat(version: number): string {
  const path = join(temporaryFolder(), 'journal.sqlite');
  const database = new DatabaseSync(path);
  for (const migration of JOURNAL.migrations.slice(0, version)) database.exec(migration);
  database.exec(`
    PRAGMA application_id = ${JOURNAL_APPLICATION_ID}; PRAGMA user_version = ${version};
    INSERT INTO format VALUES (1, '0.1.0')`);
  const insert = (table: string, row: Readonly<Record<string, string | number | null | Uint8Array>>): void => {
    database.prepare(insertStatement(table, Object.keys(row))).run(row);
  };
  const known = <T,>(row: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !LATER[version]!.includes(column)));
  insert('intents', known({ ...writeIntent(intentOf(1)), state: 'submitted' }));
  insert('intents', known({ ...writeIntent(intentOf(2)), state: 'confirmed' }));
  insert('attempts', known(writeAttempt(ATTEMPT, 1)));
  const outcomes = [
    outcomeOf('dca-1', 'building'), outcomeOf('dca-1', 'signed'), outcomeOf('dca-1', 'submitted'),
    outcomeOf('dca-2', 'confirmed', { fill: FILL }),
  ];
  for (const outcome of outcomes) insert('transitions', {
    intent_id: outcome.intentId, attempt: 1, at: 1, state: outcome.state, outcome: stringifyJson(outcome),
  });
  database.close();
  return path;
}

describe('a journal of an earlier format', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('%i is migrated to the present one without loss', (version) => {
    const path = journalOfFormat(version);
    const journal = temporaryJournal(path);
    const { inputSlots: _slots, maker, inputBalance, ...rest } = ATTEMPT;
    const known = version === 1 ? rest : version === 2 ? { ...rest, maker, inputBalance } : ATTEMPT;
    expect(journal.openIntents())
      .toStrictEqual([{ intent: intentOf(1), state: 'submitted', attempts: [known], attempt: 1, spentLamports: 0n }]);
    expect(journal.movesSince(known, FILL.inputMint)).toEqual([{ spent: 5n, received: 0n }]);
    const database = new DatabaseSync(path, { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: JOURNAL_FORMAT.version });
    database.close();
  });

  it('is tested for every format', () => {
    expect(Object.keys(LATER).map(Number)).toEqual(JOURNAL.migrations.slice(1).map((_migration, index) => index + 1));
  });
});
