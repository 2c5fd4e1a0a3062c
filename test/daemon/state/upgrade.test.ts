import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/core/code-files.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import { takeOverState } from '../../../src/daemon/state/take-over.ts';
import { restoreBackup } from '../../../src/daemon/state/restore.ts';
import type { StatePlaces } from '../../../src/daemon/state/state-files.ts';
import { formatOf, refuseNewerState, STATE_DATABASES, stateInfo } from '../../../src/daemon/state/state-files.ts';
import { openCounters } from '../../../src/signer/counters/spend-counters.ts';
import { openExecutedOrders } from '../../../src/store/executed-orders.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { JOURNAL_FORMAT } from '../../../src/store/journal-schema.ts';
import { openHistory } from '../../../src/store/history.ts';
import { openTrialLog } from '../../../src/store/trial-log.ts';
import { PROJECT } from '../../e2e/gannet.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { intentOf, wallClock } from '../../store/sample-intents.ts';

const EARLIER = join(PROJECT, 'test', 'fixtures', 'earlier-state', 'state');
const quiet = { clock: wallClock, log: () => undefined };

function earlierState(): StatePlaces {
  const stateDir = join(temporaryFolder(), 'state');
  cpSync(EARLIER, stateDir, { recursive: true });
  return { stateDir, countersDir: join(stateDir, 'signer') };
}

/** A state with every kind of file. */
function fullState(): StatePlaces {
  const stateDir = temporaryFolder();
  const countersDir = join(stateDir, 'signer');
  for (const file of ['journal.sqlite', 'journal-paper.sqlite'])
    openJournal({ path: join(stateDir, file), clock: wallClock }).close();
  openExecutedOrders({ path: join(stateDir, 'executed-orders.sqlite'), clock: wallClock }).close();
  for (const file of ['history.sqlite', 'history-paper.sqlite']) {
    const history = openHistory({ path: join(stateDir, file), onFault: (message) => { throw new Error(message); } });
    history.add({ at: 1, equity: [], prices: [], funding: [] });
    history.close();
  }
  openTrialLog(join(stateDir, 'trials.sqlite')).close();
  openCounters(countersDir).close();
  return { stateDir, countersDir };
}

describe('a state directory of an earlier version', () => {
  it('is backed up before its journal is migrated, and goes back with the swaps made since noticed', async () => {
    const places = earlierState();
    const path = join(places.stateDir, 'journal.sqlite');
    const { format } = formatOf(path);
    expect(format).toBeLessThan(JOURNAL_FORMAT.version);
    const [notice] = await takeOverState({ ...places, ...quiet });
    const backups = join(places.stateDir, 'backups');
    const [folder] = readdirSync(backups).map((name) => join(backups, name));
    expect(notice).toContain(`gannet state restore ${folder}`);
    const journal = openJournal({ path, clock: wallClock });
    const before = journal.standing().position.rows;
    journal.intentApproved(intentOf(100));
    journal.close();
    expect(formatOf(path).format).toBe(JOURNAL_FORMAT.version);

    await restoreBackup(places, folder!, quiet);
    // As the earlier code finds it: its own format, and a head that says that the journal went on.
    expect(formatOf(path).format).toBe(format);
    const back = openJournal({ path, clock: wallClock });
    expect(back.standing()).toMatchObject({ writtenTo: { rows: before + 1 }, position: { rows: before } });
    back.close();
  });

  it('keeps three backups of upgrades, and makes none without a migration', async () => {
    const places = earlierState();
    const backups = (): readonly string[] => readdirSync(join(places.stateDir, 'backups'));
    for (let time = 0; time < 5; time++) {
      expect(await takeOverState({ ...places, ...quiet })).toHaveLength(1);
    }
    expect(backups()).toHaveLength(3);
    openJournal({ path: join(places.stateDir, 'journal.sqlite'), clock: wallClock }).close();
    expect(await takeOverState({ ...places, ...quiet })).toEqual([]);
    expect(backups()).toHaveLength(3);
  });
});

describe('a state directory', () => {
  it('names the version that wrote it, and shows the format of each file', async () => {
    const places = fullState();
    await takeOverState({ ...places, ...quiet });
    expect(JSON.parse(readFileSync(join(places.stateDir, 'version.json'), 'utf8')))
      .toEqual({ format_version: 1, gannet_version: VERSION, readable_since: '0.2.0' });
    expect(stateInfo(places).map(({ file, format, readable, fault }) => [file, format, fault, readable === format]))
      .toEqual(STATE_DATABASES.map(({ file, format }) => [file, format, null, true]));
    expect(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))).toMatchObject({ version: VERSION });
  });

  it.each(STATE_DATABASES.map(({ file, role }) => [file, role] as const))(
    'of a newer version is refused by its %s, and nothing is written', async (file, role) => {
      const places = fullState();
      const path = join(role === 'counters' ? places.countersDir : places.stateDir, file);
      const database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
      database.close();
      const contents = (): readonly (readonly [string, Buffer])[] => readdirSync(places.stateDir)
        .filter((name) => /\.(?:sqlite|json)$/.test(name))
        .map((name) => [name, readFileSync(join(places.stateDir, name))]);
      const before = contents();
      await expect(takeOverState({ ...places, ...quiet })).rejects.toMatchObject({
        code: 'STATE_NEWER', message: expect.stringMatching(/format 99.*nothing was written; install.*state restore/),
      });
      expect(contents()).toEqual(before);
      expect(formatOf(path).format).toBe(99);
    },
  );

  it.each([
    ['a newer release that older ones cannot follow', { format_version: 1, readable_since: '0.10.0' }, true],
    ['a newer form of the file itself', { format_version: 2, readable_since: '0.1.0' }, true],
    ['a newer release that this one can follow', { format_version: 1, readable_since: '0.2.0' }, false],
  ])('of %s is told by version.json', (_what, said, isRefused) => {
    const places = fullState();
    writeFileSync(join(places.stateDir, 'version.json'), stringifyJson({ ...said, gannet_version: '0.11.0' }));
    const check = (): void => { refuseNewerState(places); };
    if (isRefused) expect(check).toThrow(/was written by Gannet 0\.11\.0: nothing was written; install Gannet 0\.1/);
    else expect(check).not.toThrow();
  });
});
