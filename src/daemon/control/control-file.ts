import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { parseJson, stringifyJson } from '../../core/json.ts';
import { appendCompletely } from '../../recording/files/durable-write.ts';
import type { ControlRole, ControlTokens } from './control-tokens.ts';

/** How commands find the daemon of a state directory. Only the owner can read the file. */
export interface ControlFile {
  readonly url: string;
  readonly token: string;
  /** What the token allows. Absent in the file of an older version, whose only token is the operator's. */
  readonly role?: ControlRole | undefined;
  readonly pid: number;
  /** SHA-256 of the certificate that this url shows, where it has TLS. */
  readonly fingerprint?: string | undefined;
  /** Absent in a viewer's file, and in the file of an older version. */
  readonly run_id?: string | undefined;
}

/** The viewer's file is one of its own, so that it can be handed out. */
const FILES: Readonly<Record<ControlRole, string>> = { operator: 'control.json', viewer: 'control-viewer.json' };
const CONTROL = z.object({
  url: z.url(), token: z.string().min(1), role: z.enum(['operator', 'viewer']).optional(), pid: z.int(),
  run_id: z.string().optional(), fingerprint: z.string().optional(),
});
const OTHERS_MAY_WRITE = 0o022;

/** Names the run that a request is meant for: another daemon may have the port of an ended run by now. */
export const RUN_HEADER = 'gannet-run';

/** Returns the path of a state directory's control file. */
export function controlFilePath(stateDir: string, role: ControlRole = 'operator'): string {
  return join(stateDir, FILES[role]);
}

/** Returns the link with a login code. The part after "#" stays in the browser, which no server and no log sees. */
export function loginLink(url: string, code: string): string {
  return `${url}/#login=${code}`;
}

/**
 * Reads the control file of a state directory: the operator's, else the viewer's. Throws CONTROL_UNREACHABLE where no
 * daemon runs, and for a file that another user could have placed: it could send a token to another program.
 */
export function readControlFile(stateDir: string): ControlFile {
  const operator = readOne(controlFilePath(stateDir));
  const file = typeof operator === 'object' ? operator : readOne(controlFilePath(stateDir, 'viewer'));
  if (typeof file === 'object') return file;
  throw operator === 'unreadable' ? unusable(controlFilePath(stateDir), 'only the user of the daemon may read it')
    : new GannetError(
      'CONTROL_UNREACHABLE', `no daemon runs with the state directory ${stateDir}: start one with "gannet run"`,
    );
}

/** A file that is no control file is none that a daemon has left. */
function readOne(path: string): ControlFile | 'absent' | 'unreadable' {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK a named pipe would block the command.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    refuseForeign(path, fstatSync(file));
    return CONTROL.parse(parseJson(readFileSync(file, 'utf8')));
  } catch (cause) {
    if (isGannetError(cause) && cause.code === 'CONTROL_UNREACHABLE') throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ELOOP') throw unusable(path, 'it is a link, which could lead to another program');
    return code === 'EACCES' ? 'unreadable' : 'absent';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Root may use the file of any user, and any user that of root. */
function refuseForeign(path: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  if ((mode & OTHERS_MAY_WRITE) !== 0)
    throw unusable(path, `others may write it (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`);
  const own = process.geteuid?.() ?? uid;
  if (own !== 0 && uid !== 0 && uid !== own) throw unusable(path, `it belongs to another user (user id ${uid})`);
}

function unusable(path: string, why: string): GannetError {
  return new GannetError('CONTROL_UNREACHABLE', `${path} is not used: ${why}`);
}

/** Writes the control files of this process's daemon: one for the operator, one for viewers. */
export function writeControlFiles(
  stateDir: string, { tokens, run_id: runId, ...place }: Pick<ControlFile, 'url' | 'pid' | 'fingerprint'> & {
    readonly tokens: ControlTokens; readonly run_id: string;
  },
): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeOne(stateDir, { ...place, token: tokens.viewer, role: 'viewer' });
  // A copy of the viewer's file must work for later runs too, so that file names no run.
  writeOne(stateDir, { ...place, token: tokens.operator, role: 'operator', run_id: runId });
}

/**
 * Places a file whole and private: under a new name that was free before, then moved over the old one. A link of that
 * name is replaced, not followed.
 */
function writeOne(stateDir: string, content: ControlFile & { readonly role: ControlRole }): void {
  const path = controlFilePath(stateDir, content.role);
  const unplaced = `${path}.${randomBytes(6).toString('hex')}`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(unplaced, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    fchmodSync(file, 0o600);
    appendCompletely(file, stringifyJson(content));
    renameSync(unplaced, path);
  } catch (error) {
    rmSync(unplaced, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Removes the control files of this process's daemon. */
export function removeControlFiles(stateDir: string): void {
  for (const name of Object.values(FILES)) rmSync(join(stateDir, name), { force: true });
}
