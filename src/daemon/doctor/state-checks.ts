import { existsSync, lstatSync, readdirSync, statSync, accessSync, constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { movesRealMoney } from '../../config/live-gate.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { messageOf } from '../../core/errors.ts';
import { pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import { COUNTERS_FILE, countedSwaps, countersFault, countersFolder } from '../../signer/counters/spend-counters.ts';
import type { JournalView } from '../../store/journal-reader.ts';
import { openJournalView, openToRead } from '../../store/journal-reader.ts';
import { pragma } from '../../store/database.ts';
import { chosenRun, journalPath } from '../files/find-run.ts';
import { findLostHistory } from '../files/lost-history.ts';
import { waitingOf } from '../notify/outbox.ts';
import { outboxPath, readOutbox } from '../notify/outbox-store.ts';
import { CRASH_LIMIT, crashesInARow } from '../run/safe-mode.ts';
import { stopFileOf } from '../watch/stop-file.ts';
import type { Check, DoctorScope } from './check.ts';
import { checksOf } from './check.ts';

const { ok, warning, fault } = checksOf('state');
const RESTORE = 'put the file back, or restore a copy of "gannet state backup" (docs/operations/state.md)';

/** What the state directory is judged with. */
interface StateScope extends DoctorScope {
  /** Undefined for a configuration with faults. */
  readonly runConfig: RunConfig | undefined;
  /** Of the wallet; undefined while unknown. */
  readonly address: string | undefined;
  readonly isDaemonRunning: boolean;
}

/** Returns what is to be said about the state directory. Everything is opened for reading alone. */
export async function stateChecks(scope: StateScope): Promise<Check[]> {
  const stateDir = resolve(scope.workingDir, scope.stateDir);
  const recordingDir = scope.runConfig?.recording.enabled === true
    ? [writableCheck('recording', resolve(scope.workingDir, scope.runConfig.recording.dir))] : [];
  const stop = stopFileOf(stateDir);
  const reason = stop.read();
  return [
    writableCheck('state', stateDir),
    ...ownershipChecks(scope, stateDir),
    ...recordingDir,
    ...(reason === undefined ? [] : [warning('stop-file', `the file ${stop.path} halts all trading`
      + (reason === '' ? '' : `: ${reason}`), `run "rm ${stop.path}", then "gannet resume"`)]),
    ...versionChecks(stateDir),
    ...await journalChecks(scope, stateDir),
    ...backupChecks(scope, stateDir),
    ...outboxChecks(scope, stateDir),
  ];
}

function writableCheck(name: string, folder: string): Check {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  try {
    if (!statSync(place).isDirectory()) throw new Error('it is no folder');
    accessSync(place, constants.W_OK | constants.X_OK);
    return ok(name, place === folder ? `${folder} can be written` : `${folder} does not exist yet, and can be created`);
  } catch (error) {
    return fault(name, `${folder} cannot be written: ${messageOf(error)}`,
      `run "chown -R $(id -un) ${place}" as root, or name another folder with --state-dir or recording.dir`);
  }
}

/** A channel that takes nothing cannot call a person. */
function outboxChecks({ runConfig }: StateScope, stateDir: string): Check[] {
  try {
    const content = readOutbox(outboxPath(stateDir));
    return (runConfig?.notifications ?? []).flatMap(({ name }) => {
      const { waiting, refused } = waitingOf(content?.messages ?? [], name);
      const record = content?.channels.get(name);
      const why = record?.lastFault?.text ?? 'no attempt yet';
      const what = refused > 0 ? `refuses ${pluralize(refused, 'message')}`
        : waiting > 0 && record !== undefined && record.failures > 0 ? `takes none of ${pluralize(waiting, 'message')}`
          : undefined;
      return what === undefined ? [] : [warning('notifications', `the channel ${name} ${what}: ${why}`,
        `run "gannet notify list" and "gannet notify test --channel ${name}"`)];
    });
  } catch (error) {
    return [warning('notifications', messageOf(error), 'start the daemon: it sets a broken file aside')];
  }
}

/** Enough to find what a copy or another user has changed, and quick for years of recordings. */
const ENTRIES_MAX = 5_000;
const SHOWN = 3;

function ownershipChecks({ machine: { user } }: DoctorScope, stateDir: string): Check[] {
  if (!existsSync(stateDir)) return [];
  const [open, foreign]: [string[], string[]] = [[], []];
  let seen = 0;
  const visit = (path: string): void => {
    seen += 1;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined || seen > ENTRIES_MAX) return;
    if (user !== undefined && facts.uid !== user) foreign.push(path);
    // The mode of a link says nothing.
    if (facts.isSymbolicLink()) return;
    // What lies in a folder of the owner alone cannot be reached by others.
    if ((facts.mode & 0o077) !== 0 && (path === stateDir || (facts.mode & 0o022) !== 0)) open.push(path);
    if (facts.isDirectory()) for (const name of namesIn(path)) visit(join(path, name));
  };
  visit(stateDir);
  return [
    ...(open.length === 0 ? [] : [fault('state', `other users can read or write ${shownPaths(open)}`,
      `run "chmod -R go-rwx ${stateDir}"`)]),
    ...(foreign.length === 0 ? [] : [fault('state', `${shownPaths(foreign)} belongs to another user`,
      `run "chown -R ${user} ${stateDir}" as root, or start Gannet as its owner`)]),
  ];
}

function shownPaths(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  return `${paths.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${pluralize(more, 'other file')}` : ''}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Files of a newer version are refused by each command that needs them. */
function versionChecks(stateDir: string): Check[] {
  if (!existsSync(join(stateDir, 'runs'))) return [];
  try {
    const { manifest } = chosenRun(stateDir, undefined);
    return [ok('versions', `this version reads the last run, ${manifest.run_id}`)];
  } catch (error) {
    const isEmpty = messageOf(error).includes('holds no run');
    return isEmpty ? [] : [fault('versions', messageOf(error),
      'start the version of Gannet that wrote it, or move the folder of that run away')];
  }
}

/** The journal is opened as a start opens it, but for reading. */
async function journalChecks(scope: StateScope, stateDir: string): Promise<Check[]> {
  const modes = scope.runConfig === undefined ? ['live', 'paper'] as const : [scope.runConfig.mode];
  const results = await Promise.all(modes.map(async (mode) => {
    const path = journalPath(stateDir, mode);
    const sound = existsSync(path) ? wholeCheck('journal', path) : ok('journal', `${path} does not exist yet`);
    if (!sound.ok) return [sound];
    try {
      const view = openJournalView(path);
      if (view === undefined)
        return [ok('journal', `${path} has an older format, which the next start migrates`)];
      try {
        return [...await contentChecks({ ...scope, stateDir }, { view, path, mode, sound })];
      } finally {
        view.close();
      }
    } catch (error) {
      return [fault('journal', messageOf(error), /format/.test(messageOf(error))
        ? 'start the version of Gannet that wrote it' : RESTORE)];
    }
  }));
  return results.flat();
}

function wholeCheck(name: string, path: string, header?: (header: Header) => string | undefined): Check {
  try {
    const database = openToRead(path);
    try {
      const problem = header?.({
        applicationId: pragma(database, 'application_id'), version: pragma(database, 'user_version'),
      });
      if (problem !== undefined) return fault(name, `${path}: ${problem}`, 'start the version of Gannet that wrote it');
      const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
      return found === 'ok' ? ok(name, `${path} is whole`)
        : fault(name, `${path} is damaged: ${found}`, RESTORE);
    } finally {
      database.close();
    }
  } catch (error) {
    return fault(name, `${path} cannot be read: ${messageOf(error)}`, RESTORE);
  }
}

interface Header { readonly applicationId: number; readonly version: number }

const DAY_MS: Millis = 86_400_000;
const SHOWN_RUNS = 10;

async function contentChecks(scope: StateScope, { view, path, mode, sound }: {
  readonly view: JournalView; readonly path: string; readonly mode: 'live' | 'paper'; readonly sound: Check;
}): Promise<Check[]> {
  const { clock, stateDir, isDaemonRunning } = scope;
  const counted = mode === 'live' ? countersView(scope) : { checks: [], signed: undefined };
  const lost = mode === 'paper' ? undefined : await findLostHistory({
    journal: view, journalPath: path, stateDir, clock, chain: undefined, mints: [], countedAt: clock.now(),
    signer: { address: scope.address ?? '', signed: counted.signed, countersDir: counted.folder },
  });
  const unknown = view.openIntents().filter(({ state }) => state === 'unknown');
  const snapshot = view.loadSnapshot();
  const ended = view.listRuns({ limit: SHOWN_RUNS }).slice(isDaemonRunning ? 1 : 0);
  const crashes = crashesInARow(ended, clock.now());
  return [
    lost === undefined ? sound : fault(lost.code === 'COUNTERS_LOST' ? 'counters' : 'journal', lost.message, RESTORE),
    ...counted.checks,
    ...unknown.map(({ intent }) => warning('open-swaps', `the outcome of ${intent.id} is unknown, and its input locked`,
      `run "gannet journal show ${intent.id}"; a start resolves it where it can, and "gannet resolve" closes it`)),
    ...(crashes < CRASH_LIMIT.crashes ? [] : [warning('safe-mode', `the last ${crashes} runs crashed, so the next `
      + 'start does not trade',
      'find the cause with "gannet logs --level error", then "gannet run" and "gannet resume"')]),
    ...(snapshot === undefined || snapshot.trading === 'active' ? []
      : [warning('trading', `trading is ${snapshot.trading}, ordered by ${snapshot.tradingBy ?? 'an operator'}`,
        'see "gannet status", and let it trade again with "gannet resume"')]),
  ];
}

/** Returns the counters as they are on the disk. Their tags are checked by the signer, which alone has their key. */
function countersView({ address, ...scope }: StateScope): {
  readonly checks: readonly Check[]; readonly folder?: string | undefined;
  readonly signed: { readonly inDay: number; readonly inMonth: number } | undefined;
} {
  const folder = countersFolder(resolve(scope.workingDir, scope.stateDir), scope.environment, scope.workingDir);
  const path = join(folder, COUNTERS_FILE);
  if (!existsSync(path)) return { checks: [], folder, signed: { inDay: 0, inMonth: 0 } };
  const sound = wholeCheck('counters', path, countersFault);
  if (!sound.ok || address === undefined) return { checks: [sound], folder, signed: undefined };
  const database = openToRead(path);
  try {
    return { checks: [sound], folder, signed: countedSwaps(database, address, scope.clock.now() - DAY_MS) };
  } finally {
    database.close();
  }
}

const BACKUP_AGE_MS = 7 * DAY_MS;

function backupChecks({ runConfig, clock }: StateScope, stateDir: string): Check[] {
  if (runConfig === undefined || !movesRealMoney(runConfig) || !existsSync(journalPath(stateDir, 'live'))) return [];
  const folder = join(stateDir, 'backups');
  const times = namesIn(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const ageMs = clock.now() - Math.max(0, ...times);
  const fix = 'run "gannet state backup", and copy the folder to another machine';
  if (times.length === 0) return [warning('backup', `there is no backup in ${folder}`, fix)];
  const text = `the last backup in ${folder} is ${shortDuration(Math.max(0, ageMs))} old`;
  return [ageMs > BACKUP_AGE_MS ? warning('backup', text, fix) : ok('backup', text)];
}
