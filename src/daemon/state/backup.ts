import { createHash } from 'node:crypto';
import {
  chmodSync, copyFileSync, createReadStream, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { VERSION } from '../../core/code-files.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import { headPath, isBehindHead, openJournalHead, positionOf } from '../../store/journal-head.ts';
import { copyDatabase, copyJournal } from '../../store/state-copy.ts';
import { runStartOf } from '../files/find-run.ts';
import { ORDER_FILES } from '../control/order-audit.ts';
import type { StateDatabase, StatePlaces } from './state-files.ts';
import {
  formatOf, isFile, newerState, placeOfDatabase, STATE_DATABASES, VERSION_FILE_NAME,
} from './state-files.ts';

const MANIFEST = 'manifest.json';
const MANIFEST_FORMAT = 1;
/** The last millisecond that a date can show. */
const LATEST_INSTANT = 8.64e15;
const MANIFEST_FORM = z.object({
  format_version: z.literal(MANIFEST_FORMAT),
  gannet_version: z.string().regex(/^[\w.+-]{1,40}$/),
  made_at: z.int().min(0).max(LATEST_INSTANT),
  files: z.array(z.object({
    file: z.string().regex(/^[\w.-]+$/), bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** Null for a file that is no database. */
    format: z.int().nullable(),
  })),
});

/** What a backup holds: written last, so that a folder with it is complete. */
export type BackupManifest = z.infer<typeof MANIFEST_FORM>;
/** A file of a backup. */
type BackedUpFile = BackupManifest['files'][number];

/** The files that a backup can have beside its manifest. */
export const BACKED_UP_FILES: readonly { readonly file: string; readonly isCounters: boolean }[] = [
  ...STATE_DATABASES.flatMap(({ file, role }) => (role === 'journal' ? [file, headPath(file)] : [file])
    .map((name) => ({ file: name, isCounters: role === 'counters' }))),
  ...[VERSION_FILE_NAME, ...ORDER_FILES].map((file) => ({ file, isCounters: false })),
];

/** Returns the folder in which backups are made unless another is named. */
export function backupsFolder(stateDir: string): string {
  return join(stateDir, 'backups');
}

/**
 * Copies the state into a new or empty folder, while a daemon runs or not, and checks the copy. Keys and tokens are not
 * part of it. Rejects with RUN_NOT_FOUND where there is no state, with USAGE for a folder that cannot take it.
 */
export async function makeBackup(
  places: StatePlaces, folder: string, clock: Pick<Clock, 'now'>,
): Promise<BackupManifest> {
  if (!STATE_DATABASES.some((database) => isFile(placeOfDatabase(database, places)))) throw new GannetError(
    'RUN_NOT_FOUND',
    `${places.stateDir} holds neither a journal nor counters: nothing was traded with this state directory`,
  );
  const isNew = makeFolder(folder);
  try {
    return await copyState(places, folder, clock);
  } catch (error) {
    // Each start of a service repeats the attempt, and the parts would fill the disk.
    if (isNew) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function copyState(places: StatePlaces, folder: string, clock: Pick<Clock, 'now'>): Promise<BackupManifest> {
  const madeAt: Millis = clock.now();
  const files: BackedUpFile[] = [];
  for (const database of STATE_DATABASES) {
    const path = placeOfDatabase(database, places);
    if (!isFile(path)) continue;
    const copied = database.role === 'journal' ? await copyJournal(path, join(folder, database.file))
      : [await copyDatabase(path, join(folder, database.file))];
    for (const copy of copied)
      if (copy !== undefined) files.push(await describeFile(folder, copy.file));
  }
  for (const file of [...ORDER_FILES, VERSION_FILE_NAME]) {
    if (!isFile(join(places.stateDir, file))) continue;
    copyFileSync(join(places.stateDir, file), join(folder, file));
    chmodSync(join(folder, file), 0o600);
    files.push(await describeFile(folder, file));
  }
  const manifest = { format_version: MANIFEST_FORMAT, gannet_version: VERSION, made_at: madeAt, files } as const;
  replaceFile(folder, MANIFEST, `${stringifyJson(manifest)}\n`);
  return manifest;
}

async function describeFile(folder: string, file: string): Promise<BackedUpFile> {
  const path = join(folder, file);
  const isDatabase = STATE_DATABASES.some((database) => database.file === file);
  return {
    file, bytes: statSync(path).size, sha256: await sha256Of(path), format: isDatabase ? formatOf(path).format : null,
  };
}

/** Returns the SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Only the owner may read the folder: it holds amounts and signed transactions. Returns whether it is new. */
function makeFolder(folder: string): boolean {
  try {
    const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
    if (isNew) chmodSync(folder, 0o700);
    if (existsSync(join(folder, MANIFEST)))
      throw new GannetError('USAGE', `${folder} holds a backup already: name an empty folder`);
    return isNew;
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError(
      'USAGE', `the folder ${folder} cannot be created: ${messageOf(cause)}; name another with --out`, { cause },
    );
  }
}

/**
 * Checks a backup: every file of its manifest with size and hash, each database whole, of its kind and of a format that
 * this version reads, each journal shorter than its head says. The tags of the counters are the signer's to check, with
 * the wallet's key. Rejects with BACKUP_INVALID, naming every fault, and with STATE_NEWER.
 */
export async function verifyBackup(folder: string): Promise<BackupManifest> {
  const manifest = readManifestOf(folder);
  const faults = [...manifestFaults(manifest)];
  for (const described of manifest.files) {
    const fault = await faultOf(folder, described);
    if (fault !== undefined) faults.push(`${described.file}: ${fault}`);
  }
  if (faults.length > 0) throw invalid(folder, faults.join('; '));
  return manifest;
}

/** A manifest that a person has shortened would move files of the state aside and put nothing in their place. */
function* manifestFaults({ files }: BackupManifest): Generator<string, void> {
  const names = new Set(files.map(({ file }) => file));
  if (names.size < files.length) yield `its ${MANIFEST} names a file twice`;
  const foreign = [...names].filter((name) => !BACKED_UP_FILES.some(({ file }) => file === name));
  if (foreign.length > 0) yield `its ${MANIFEST} names files that no state has: ${foreign.join(', ')}`;
  if (!STATE_DATABASES.some(({ file }) => names.has(file))) yield `its ${MANIFEST} names neither journal nor counters`;
  for (const { file, role } of STATE_DATABASES) {
    if (role === 'journal' && names.has(file) && !names.has(headPath(file)))
      yield `its ${MANIFEST} names ${file} without ${headPath(file)}`;
  }
}

function readManifestOf(folder: string): BackupManifest {
  const path = join(folder, MANIFEST);
  let text: string;
  try {
    if (!lstatSync(path).isFile()) throw invalid(folder, `its ${MANIFEST} is no regular file`);
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') throw invalid(folder,
      `it has no ${MANIFEST}: it is no backup, was interrupted, or is of a version before 0.2.0, whose files are `
      + 'copied manually (docs/operations/state.md)');
    throw isGannetError(cause) ? cause : invalid(folder, messageOf(cause));
  }
  const read = MANIFEST_FORM.safeParse(parsed(text));
  if (read.success) return read.data;
  const said = z.object({ format_version: z.int(), gannet_version: z.string() }).safeParse(parsed(text)).data;
  if (said !== undefined && said.format_version > MANIFEST_FORMAT)
    throw newerState(folder, `was made by Gannet ${printable(said.gannet_version, 20)}`, said.gannet_version);
  throw invalid(folder, `its ${MANIFEST} cannot be read`);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function invalid(folder: string, problem: string): GannetError {
  return new GannetError('BACKUP_INVALID', `the backup ${folder} cannot be used: ${problem}`, { details: { folder } });
}

async function faultOf(folder: string, { file, bytes, sha256 }: BackedUpFile): Promise<string | undefined> {
  const path = join(folder, file);
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return 'missing';
  if (!entry.isFile()) return 'no regular file';
  const { size } = entry;
  if (size !== bytes) return `expected ${bytes} bytes, found ${size}`;
  if (await sha256Of(path) !== sha256) return 'its content has changed since the backup';
  const database = STATE_DATABASES.find((each) => each.file === file);
  if (database === undefined) return undefined;
  try {
    return databaseFault(path, database);
  } catch (error) {
    if (isGannetError(error)) throw error;
    return `cannot be read as a database (${printable(messageOf(error), 100)})`;
  }
}

function databaseFault(path: string, { applicationId, format, role }: StateDatabase): string | undefined {
  const found = formatOf(path);
  if (found.applicationId !== applicationId) return 'another kind of SQLite file';
  if (found.format > format) throw newerState(path, `has format ${found.format}`, found.readableSince);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const check = database.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'];
    if (check !== 'ok') return `not whole (${printable(String(check), 100)})`;
    if (database.prepare('PRAGMA foreign_key_check').get() !== undefined) return 'its rows do not belong together';
    if (role !== 'journal') return undefined;
    const head = openJournalHead(path);
    return head.before !== undefined && isBehindHead(positionOf((sql) => database.prepare(sql)), head.before)
      ? undefined : 'its head does not say that the journal went on';
  } finally {
    database.close();
  }
}

/** Returns the complete backups in a folder, oldest first: those that Gannet named itself. */
function backupsIn(parent: string, prefix: string): readonly string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent).toSorted()
    .filter((name) => name.startsWith(prefix) && runStartOf(name.slice(prefix.length)) !== undefined)
    .map((name) => join(parent, name))
    .filter((folder) => existsSync(join(folder, MANIFEST)));
}

/** Deletes all but the newest backups of a folder, and returns those that are gone. */
export function pruneBackups(parent: string, keep: number, prefix = ''): readonly string[] {
  const surplus = backupsIn(parent, prefix).slice(0, -keep);
  for (const folder of surplus) rmSync(folder, { recursive: true });
  return surplus;
}
