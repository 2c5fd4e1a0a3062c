import { createHash } from 'node:crypto';
import {
  chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { makeBackup, pruneBackups, verifyBackup } from '../../../src/daemon/state/backup.ts';
import { moves, refuseUnfinishedRestore, stage } from '../../../src/daemon/state/restore-plan.ts';
import { restoreBackup } from '../../../src/daemon/state/restore.ts';
import type { StatePlaces } from '../../../src/daemon/state/state-files.ts';
import { openExecutedOrders } from '../../../src/store/executed-orders.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { flipByte } from '../../e2e/gannet.ts';
import { temporaryFolder, temporaryJournal } from '../../store/fixtures.ts';
import { intentOf, wallClock } from '../../store/sample-intents.ts';

const scope = { clock: wallClock };

/** A state with a journal of `count` swaps, a record of executed orders and a file of orders. */
function stateOf(count: number): StatePlaces {
  const stateDir = temporaryFolder();
  addSwaps(stateDir, 1, count);
  openExecutedOrders({ path: join(stateDir, 'executed-orders.sqlite'), clock: wallClock }).close();
  writeFileSync(join(stateDir, 'orders.ndjson'), '{"action":"halt"}\n');
  return { stateDir, countersDir: join(stateDir, 'signer') };
}

function addSwaps(stateDir: string, from: number, to: number): void {
  const journal = openJournal({ path: join(stateDir, 'journal.sqlite'), clock: wallClock });
  for (let number = from; number <= to; number++) journal.intentApproved(intentOf(number));
  journal.close();
}

function swapsIn(stateDir: string): number {
  const journal = temporaryJournal(join(stateDir, 'journal.sqlite'));
  return journal.listIntents({ limit: 1_000 }).length;
}

type ManifestFiles = Awaited<ReturnType<typeof verifyBackup>>['files'];

function editManifest(folder: string, edit: (files: ManifestFiles) => ManifestFiles): void {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { readonly files: ManifestFiles };
  writeFileSync(path, JSON.stringify({ ...manifest, files: edit(manifest.files) }));
}

describe('a backup', () => {
  it('leaves out a file that the daemon has created at this moment, and is whole without it', async () => {
    const places = stateOf(3);
    const folder = join(temporaryFolder(), 'backup');
    const database = new DatabaseSync(join(places.stateDir, 'history.sqlite'));
    database.exec('PRAGMA journal_mode = WAL');
    await makeBackup(places, folder, wallClock);
    database.close();
    expect((await verifyBackup(folder)).files.map(({ file }) => file)).not.toContain('history.sqlite');
    expect(existsSync(join(folder, 'history.sqlite'))).toBe(false);
  });

  it('is restored: the state goes aside, the journal knows that it went on, and orders are kept', async () => {
    const places = stateOf(3);
    const { stateDir } = places;
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    addSwaps(stateDir, 4, 5);
    writeFileSync(join(stateDir, 'orders.ndjson'), '{"action":"halt"}\n{"action":"resume"}\n');
    writeFileSync(join(stateDir, 'history.sqlite'), 'made after the backup');
    const { aside, restored } = await restoreBackup(places, folder, scope);
    expect(restored).toEqual(
      ['journal.sqlite', 'journal.sqlite.head', 'executed-orders.sqlite'].map((file) => join(stateDir, file)),
    );
    const journal = openJournal({ path: join(stateDir, 'journal.sqlite'), clock: wallClock });
    expect(journal.standing()).toMatchObject({ writtenTo: { rows: 4 }, position: { rows: 3 } });
    journal.close();
    expect(aside).toHaveLength(1);
    expect(swapsIn(aside[0]!)).toBe(5);
    expect(readFileSync(join(aside[0]!, 'history.sqlite'), 'utf8')).toBe('made after the backup');
    expect(existsSync(join(stateDir, 'history.sqlite'))).toBe(false);
    expect(readFileSync(join(stateDir, 'orders.ndjson'), 'utf8')).toContain('resume');
    for (const path of restored) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is restored into an empty place with its file of orders', async () => {
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(stateOf(2), folder, wallClock);
    const stateDir = join(temporaryFolder(), 'new', 'state');
    mkdirSync(join(stateDir, '..'));
    const { aside } = await restoreBackup({ stateDir, countersDir: join(stateDir, 'signer') }, folder, scope);
    expect(aside).toEqual([]);
    expect(readFileSync(join(stateDir, 'orders.ndjson'), 'utf8')).toBe('{"action":"halt"}\n');
    expect(swapsIn(stateDir)).toBe(2);
  });

  it('that fails leaves no part of it behind', async () => {
    const places = stateOf(1);
    writeFileSync(join(places.stateDir, 'executed-orders.sqlite'), 'damaged');
    const parent = join(temporaryFolder(), 'backups');
    await expect(makeBackup(places, join(parent, 'one'), wallClock)).rejects.toThrow();
    expect(existsSync(join(parent, 'one'))).toBe(false);
  });

  it('names the file where the plan of an interrupted restore is damaged, and what to do', async () => {
    const places = stateOf(1);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    for (const plan of ['', '{"format_version":1}']) {
      writeFileSync(join(places.stateDir, 'restore.json'), plan);
      const error = { code: 'RESTORE_UNFINISHED', message: expect.stringMatching(/restore\.json.*move it elsewhere/) };
      await expect(restoreBackup(places, folder, scope)).rejects.toMatchObject(error);
      expect(() => { refuseUnfinishedRestore(places.stateDir); }).toThrow(expect.objectContaining(error));
    }
    rmSync(join(places.stateDir, 'restore.json'));
    expect((await restoreBackup(places, folder, scope)).restored).toHaveLength(3);
  });

  it('is not finished by a plan that moves files of others', async () => {
    const places = stateOf(1);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    const other = join(temporaryFolder(), 'of-another-user');
    writeFileSync(other, 'stays');
    writeFileSync(join(places.stateDir, 'restore.json'), JSON.stringify({
      format_version: 1, source: folder, aside: 'replaced-x', targets: [{ path: other, isStaged: false }],
    }));
    await expect(restoreBackup(places, folder, scope)).rejects.toMatchObject({
      code: 'RESTORE_UNFINISHED', message: expect.stringMatching(/of-another-user, which is no file of this state/),
    });
    expect(readFileSync(other, 'utf8')).toBe('stays');
  });

  it('is finished after an interruption at any move, and the start is refused until then', async () => {
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(stateOf(3), folder, wallClock);
    let finished = false;
    for (let after = 0; !finished; after++) {
      const places = stateOf(7);
      const { stateDir } = places;
      const plan = await stage(places, folder, wallClock);
      const steps = moves(stateDir, plan);
      finished = Array.from({ length: after }, () => steps.next()).some(({ done }) => done === true);
      if (!finished) expect(() => { refuseUnfinishedRestore(stateDir); }).toThrow(/gannet state restore/);
      const { aside } = finished ? { aside: [join(stateDir, plan.aside)] } : await restoreBackup(places, folder, scope);
      refuseUnfinishedRestore(stateDir);
      expect([after, swapsIn(stateDir), swapsIn(aside[0]!)]).toEqual([after, 3, 7]);
      expect(readdirSync(stateDir).filter((name) => name.includes('restor'))).toEqual([]);
    }
  });

  it('that was interrupted before the first move has changed nothing', async () => {
    const places = stateOf(7);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(stateOf(3), folder, wallClock);
    // A copy of an earlier try that ended in the middle.
    writeFileSync(join(places.stateDir, 'journal.sqlite.restoring'), 'half');
    refuseUnfinishedRestore(places.stateDir);
    expect(swapsIn(places.stateDir)).toBe(7);
    await restoreBackup(places, folder, scope);
    expect(swapsIn(places.stateDir)).toBe(3);
  });

  it.each([
    ['a changed byte', (folder: string) => { flipByte(join(folder, 'journal.sqlite')); },
      /journal\.sqlite: its content/],
    ['a missing file', (folder: string) => { rmSync(join(folder, 'executed-orders.sqlite')); },
      /orders\.sqlite: missing/],
    ['a short file', (folder: string) => { truncateSync(join(folder, 'journal.sqlite'), 100); },
      /expected \d+ bytes, found 100/],
    ['no manifest', (folder: string) => { rmSync(join(folder, 'manifest.json')); }, /has no manifest\.json/],
    ['a link in the place of a file', (folder: string) => {
      renameSync(join(folder, 'journal.sqlite'), join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), join(folder, 'journal.sqlite'));
    }, /journal\.sqlite: no regular file/],
    ['a manifest that is no file', (folder: string) => {
      rmSync(join(folder, 'manifest.json'));
      mkdirSync(join(folder, 'manifest.json'));
    }, /manifest\.json is no regular file/],
    ['a database that is none, and a manifest that fits', (folder: string) => {
      const content = Buffer.alloc(8_192, 'no database ');
      writeFileSync(join(folder, 'journal.sqlite'), content);
      editManifest(folder, (files) => files.map((file) => (file.file !== 'journal.sqlite' ? file
        : { ...file, bytes: 8_192, sha256: createHash('sha256').update(content).digest('hex') })));
    }, /journal\.sqlite: cannot be read as a database/],
    ['a manifest without a file', (folder: string) => { editManifest(folder, () => []); },
      /names neither journal nor counters/],
    ['a manifest without the head', (folder: string) => {
      editManifest(folder, (files) => files.filter(({ file }) => file !== 'journal.sqlite.head'));
    }, /names journal\.sqlite without journal\.sqlite\.head/],
    ['a manifest that names a file twice', (folder: string) => {
      editManifest(folder, (files) => [...files, files[0]!]);
    }, /names a file twice/],
    ['a manifest with a foreign file', (folder: string) => {
      editManifest(folder, (files) => [...files, { ...files[0]!, file: '..' }]);
    }, /names files that no state has: \.\./],
    ['a manifest with a path', (folder: string) => {
      editManifest(folder, (files) => [...files, { ...files[0]!, file: '../orders.ndjson' }]);
    }, /cannot be read/],
    ['a version that a terminal would carry out', (folder: string) => {
      const path = join(folder, 'manifest.json');
      writeFileSync(path, readFileSync(path, 'utf8').replace(/"gannet_version":"/, '$&\\u001b[2J'));
    }, /cannot be read/],
    ['a torn manifest', (folder: string) => { truncateSync(join(folder, 'manifest.json'), 30); }, /cannot be read/],
  ])('with %s is refused before anything moves', async (_what, spoil, problem) => {
    const places = stateOf(3);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    expect((await verifyBackup(folder)).files).toHaveLength(4);
    spoil(folder);
    const before = readdirSync(places.stateDir);
    const refusal = { code: 'BACKUP_INVALID', message: expect.stringMatching(problem) };
    await expect(verifyBackup(folder)).rejects.toMatchObject(refusal);
    await expect(restoreBackup(places, folder, scope)).rejects.toMatchObject(refusal);
    expect(readdirSync(places.stateDir)).toEqual(before);
  });

  it('of a newer version is refused with the version that reads it', async () => {
    const places = stateOf(1);
    const folder = join(temporaryFolder(), 'backup');
    const database = new DatabaseSync(join(places.stateDir, 'journal.sqlite'));
    database.exec("PRAGMA user_version = 99; UPDATE format SET readable_since = '9.1.0'");
    database.close();
    await makeBackup(places, folder, wallClock);
    await expect(verifyBackup(folder)).rejects.toMatchObject({
      code: 'STATE_NEWER', message: expect.stringMatching(/format 99.*install Gannet 9\.1\.0 or later/),
    });
  });

  it('takes a folder only once, and lets the newest backups stay', async () => {
    const places = stateOf(1);
    const parent = temporaryFolder();
    const names = ['20261101T000000-000001', '20261102T000000-000001', '20261103T000000-000001'];
    for (const name of names) await makeBackup(places, join(parent, name), wallClock);
    mkdirSync(join(parent, '20261031T000000-000009'));
    writeFileSync(join(parent, '20261031T000000-000009', 'of-a-person'), 'kept');
    mkdirSync(join(parent, 'mine'));
    await expect(makeBackup(places, join(parent, names[0]!), wallClock)).rejects.toMatchObject({ code: 'USAGE' });
    expect(pruneBackups(parent, 2)).toEqual([join(parent, names[0]!)]);
    expect(readdirSync(parent)).toEqual(['20261031T000000-000009', ...names.slice(1), 'mine']);
  });

  it('that cannot be copied into the state directory leaves no part of it there', async () => {
    const places = stateOf(2);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    // The second database cannot be copied; on a full disk the first one would stay.
    mkdirSync(join(places.stateDir, 'executed-orders.sqlite.restoring'));
    await expect(restoreBackup(places, folder, scope)).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    expect(readdirSync(places.stateDir).filter((name) => name.startsWith('journal.sqlite.') && name.endsWith('ing')))
      .toEqual([]);
    expect(swapsIn(places.stateDir)).toBe(2);
  });

  it('in a place that takes no files changes nothing and says so', async () => {
    const places = stateOf(2);
    const folder = join(temporaryFolder(), 'backup');
    await makeBackup(places, folder, wallClock);
    const blocked = { ...places, stateDir: join(places.stateDir, 'orders.ndjson', 'state') };
    await expect(restoreBackup(blocked, folder, scope)).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    chmodSync(folder, 0o700);
    expect(swapsIn(places.stateDir)).toBe(2);
  });
});
