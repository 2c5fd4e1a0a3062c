import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { VERSION } from '../../core/code-files.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import { COUNTERS_FILE, COUNTERS_KIND } from '../../signer/counters/spend-counters.ts';
import { BUSY_TIMEOUT_MS, pragma } from '../../store/database.ts';
import type { DatabaseKind } from '../../store/database.ts';
import { EXECUTED_ORDERS, EXECUTED_ORDERS_FILE } from '../../store/executed-orders.ts';
import { HISTORY } from '../../store/history.ts';
import { JOURNAL } from '../../store/journal-schema.ts';
import { TRIAL_LOG } from '../../store/trial-log.ts';
import { historyPath, journalPath } from '../files/find-run.ts';

/** The folders of a state: the signer may keep its counters elsewhere. */
export interface StatePlaces {
  readonly stateDir: string;
  readonly countersDir: string;
}

/** A SQLite file of the state. */
export interface StateDatabase {
  readonly file: string;
  readonly applicationId: number;
  /** The newest format that this version reads. */
  readonly format: number;
  /** A journal has a head beside it; the counters belong to the signer. */
  readonly role: 'journal' | 'counters' | 'other';
}

/** The SQLite files of a state in the order in which a backup copies them. */
export const STATE_DATABASES: readonly StateDatabase[] = [
  ...(['live', 'paper'] as const).map((mode) => databaseOf(basename(journalPath('', mode)), JOURNAL, 'journal')),
  databaseOf(EXECUTED_ORDERS_FILE, EXECUTED_ORDERS),
  ...(['live', 'paper'] as const).map((mode) => databaseOf(basename(historyPath('', mode)), HISTORY)),
  databaseOf('trials.sqlite', TRIAL_LOG),
  // Last: the counters of a backup may hold more swaps than its journal, but never fewer.
  { file: COUNTERS_FILE, ...COUNTERS_KIND, role: 'counters' },
];

function databaseOf(
  file: string, { applicationId, migrations }: DatabaseKind, role: StateDatabase['role'] = 'other',
): StateDatabase {
  return { file, applicationId, format: migrations.length, role };
}

/** Returns where a file of the state is: counters of an earlier version are in the state directory itself. */
export function placeOfDatabase({ file, role }: StateDatabase, { stateDir, countersDir }: StatePlaces): string {
  const own = join(role === 'counters' ? countersDir : stateDir, file);
  const earlier = join(stateDir, file);
  return role === 'counters' && !existsSync(own) && existsSync(earlier) ? earlier : own;
}

/** What the header of a SQLite file says, and what its content needs. */
interface FormatFound {
  readonly applicationId: number;
  readonly format: number;
  /** The release that reads the file, where the file names one. */
  readonly readableSince: string | undefined;
}

/** Reads the format of a SQLite file and writes nothing. Throws the fault of the file. */
export function formatOf(path: string): FormatFound {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const names = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'format'").get() !== undefined;
    const since = names ? database.prepare('SELECT readable_since FROM format WHERE id = 1').get() : undefined;
    return {
      applicationId: pragma(database, 'application_id'),
      format: pragma(database, 'user_version'),
      readableSince: since === undefined ? undefined : printable(String(since['readable_since']), 20),
    };
  } finally {
    database.close();
  }
}

/** Names the version that wrote a state directory last, and the oldest one that can go on with it. */
const VERSION_FILE = 'version.json';
const VERSION_FORM = z.object({
  format_version: z.int(), gannet_version: z.string(), readable_since: z.string(),
});
const VERSION_FORMAT = 1;
/** The oldest version that reads all files of this one. */
const READABLE_SINCE = '0.2.0';

/** A file of the state directory beside its databases that a backup holds. */
export const VERSION_FILE_NAME: string = VERSION_FILE;

/** Returns what the state directory says about its version; undefined for one from before 0.2.0, and a new one. */
export function writtenBy(stateDir: string): z.infer<typeof VERSION_FORM> | undefined {
  const path = join(stateDir, VERSION_FILE);
  if (!existsSync(path)) return undefined;
  try {
    return VERSION_FORM.parse(parseJson(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new GannetError('JOURNAL_INVALID',
      `${path} cannot be read: restore it from a backup, or delete it: the journal has its own format`, { cause });
  }
}

/** Notes that this version writes the state directory from now on. */
export function noteVersion(stateDir: string): void {
  const said = writtenBy(stateDir);
  if (said?.gannet_version === VERSION && said.readable_since === READABLE_SINCE) return;
  replaceFile(stateDir, VERSION_FILE, `${stringifyJson({
    format_version: VERSION_FORMAT, gannet_version: VERSION, readable_since: READABLE_SINCE,
  })}\n`);
}

/**
 * Refuses a state directory that a newer version wrote, and writes nothing. Throws STATE_NEWER, with the version that
 * reads it. A broken file is for the part that opens it.
 */
export function refuseNewerState(places: StatePlaces): void {
  const said = writtenBy(places.stateDir);
  if (said !== undefined && (said.format_version > VERSION_FORMAT || isNewer(said.readable_since, VERSION))) {
    const what = `was written by Gannet ${printable(said.gannet_version, 20)}`;
    throw newerState(places.stateDir, what, said.readable_since);
  }
  for (const database of STATE_DATABASES) {
    const path = placeOfDatabase(database, places);
    const found = formatIfReadable(path);
    if (found !== undefined && found.applicationId === database.applicationId && found.format > database.format) {
      throw newerState(
        path, `has format ${found.format}, and Gannet ${VERSION} reads up to ${database.format}`, found.readableSince,
      );
    }
  }
}

/** Returns the error about files of a newer version. */
export function newerState(path: string, what: string, since: string | undefined): GannetError {
  return new GannetError('STATE_NEWER', `${path} ${what}: nothing was written; install Gannet `
    + `${since === undefined ? 'of the version that wrote it' : `${printable(since, 20)} or later`}, or go back with `
    + '"gannet state restore" and the backup that was made at the upgrade, in "backups" of the state directory',
  { details: { path, readable_since: since } });
}

/** Returns the databases that this version would migrate. */
export function databasesToMigrate(places: StatePlaces): readonly StateDatabase[] {
  return STATE_DATABASES.filter((database) => {
    const found = formatIfReadable(placeOfDatabase(database, places));
    return found?.applicationId === database.applicationId && found.format < database.format;
  });
}

function formatIfReadable(path: string): FormatFound | undefined {
  if (!isFile(path)) return undefined;
  try {
    return formatOf(path);
  } catch (error) {
    if (error instanceof Error && 'errcode' in error) return undefined;
    throw error;
  }
}

/** False as well where the folder of a signer of another user cannot be entered. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A file of the state as "gannet state info" shows it. */
interface StateFileInfo {
  readonly file: string;
  readonly path: string;
  readonly bytes: number;
  /** Null where it cannot be read. */
  readonly format: number | null;
  /** The newest format that this version reads. */
  readonly readable: number;
  readonly fault: string | null;
}

/** Returns the databases that are there. */
export function stateInfo(places: StatePlaces): readonly StateFileInfo[] {
  return STATE_DATABASES.flatMap((database) => {
    const path = placeOfDatabase(database, places);
    if (!isFile(path)) return [];
    const { file, format: readable } = database;
    const common = { file, path, bytes: statSync(path).size, readable };
    try {
      const { applicationId, format } = formatOf(path);
      const isForeign = applicationId !== database.applicationId;
      return [{ ...common, format: isForeign ? null : format, fault: isForeign ? 'another SQLite file' : null }];
    } catch (error) {
      if (isGannetError(error)) throw error;
      return [{ ...common, format: null, fault: messageOf(error) }];
    }
  });
}

/** Returns whether one version is later than another: `0.10.0` is later than `0.9.9`. */
function isNewer(one: string, other: string): boolean {
  const parts = (text: string): number[] => text.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [a, b] = [parts(one), parts(other)];
  const differing = [0, 1, 2].find((index) => (a[index] ?? 0) !== (b[index] ?? 0));
  return differing !== undefined && (a[differing] ?? 0) > (b[differing] ?? 0);
}
