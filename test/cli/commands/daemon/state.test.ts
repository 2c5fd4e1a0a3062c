import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stateCommand } from '../../../../src/cli/commands/daemon/state.ts';
import { openSpendingCaps } from '../../../../src/signer/counters/caps.ts';
import { openJournal } from '../../../../src/store/journal.ts';
import { begun, COUNTERS_KEY } from '../../../signer/session.ts';
import { runCommand } from '../../in-process.ts';
import { temporaryFolder, temporaryJournal } from '../../../store/fixtures.ts';
import { intentOf, wallClock } from '../../../store/sample-intents.ts';

describe('issue 13.33: gannet state backup', () => {
  it('copies journal and counters during writes, and a copy knows that the journal has continued', async () => {
    const stateDir = temporaryFolder();
    const journal = temporaryJournal(join(stateDir, 'journal.sqlite'));
    const caps = begun(openSpendingCaps({
      folder: join(stateDir, 'signer'), key: COUNTERS_KEY, wallet: 'payer', clock: wallClock,
    }));
    onTestFinished(() => { caps.close(); });
    for (let number = 1; number <= 40; number++) journal.intentApproved(intentOf(number));
    const cap = { name: 'USDC', decimals: 6, perDay: 100n };
    expect(caps.count({ messageHash: 'a', mint: 'USDC', amount: 7n, costLamports: 0n }, {
      input: cap, solPerDay: undefined, costPerDay: undefined,
    })).toEqual({ ok: true });
    const out = join(temporaryFolder(), 'copy');
    const { code, document } = await runCommand(stateCommand, ['state', 'backup', '--out', out], { stateDir });
    // Goes on, as if nothing was.
    journal.intentApproved(intentOf(41));
    expect([code, document]).toMatchObject([
      0, { out, files: [{ file: 'journal.sqlite' }, { file: 'journal.sqlite.head' }, { file: 'signer.sqlite' }] },
    ]);
    expect(readdirSync(out).toSorted())
      .toEqual(['journal.sqlite', 'journal.sqlite.head', 'manifest.json', 'signer.sqlite']);
    for (const path of [out, join(out, 'journal.sqlite'), join(out, 'signer.sqlite')])
      expect(statSync(path).mode & 0o077).toBe(0);

    const restored = temporaryFolder();
    for (const file of readdirSync(out)) copyFileSync(join(out, file), join(restored, file));
    const copy = openJournal({ path: join(restored, 'journal.sqlite'), clock: wallClock });
    expect([copy.standing(), copy.openIntents().length])
      .toMatchObject([{ isNew: false, writtenTo: { rows: 41 }, position: { rows: 40 } }, 40]);
    copy.close();
    const counters = openSpendingCaps({ folder: restored, key: COUNTERS_KEY, wallet: 'payer', clock: wallClock });
    expect(counters.signedSince(0)).toBe(1);
    counters.close();
  });

  it('overwrites nothing, and fails when there is nothing to copy', async () => {
    const stateDir = temporaryFolder();
    await expect(runCommand(stateCommand, ['state', 'backup'], { stateDir }))
      .rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    temporaryJournal(join(stateDir, 'journal.sqlite'));
    const again = (): ReturnType<typeof runCommand> =>
      runCommand(stateCommand, ['state', 'backup', '--out', join(stateDir, 'copy')], { stateDir });
    expect((await again()).text).toContain('to restore: stop the daemon');
    await expect(again()).rejects
      .toMatchObject({ code: 'USAGE', message: expect.stringContaining('holds a backup already') });
  });
});
