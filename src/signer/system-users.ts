import { chownSync, lchownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Variables } from './environment.ts';
import { moveEarlierCounters } from './counters/spend-counters.ts';

/** A user of the operating system. */
interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** The users of the two processes, where root starts them. */
export interface ProcessUsers {
  readonly signer: SystemUser;
  readonly daemon: SystemUser;
}

const SIGNER_USER = 'GANNET_SIGNER_USER';
const DAEMON_USER = 'GANNET_DAEMON_USER';
const MAX_ID = 0xffff_fffe;

/**
 * Returns the users that GANNET_SIGNER_USER and GANNET_DAEMON_USER name: a name, a number, or two numbers "uid:gid".
 * Undefined where neither is set. Throws CONFIG_INVALID where they cannot be used.
 */
export function processUsers(variables: Variables): ProcessUsers | undefined {
  const [signer, daemon] = [variables[SIGNER_USER] ?? '', variables[DAEMON_USER] ?? ''];
  if (signer === '' && daemon === '') return undefined;
  if (process.getuid?.() !== 0) throw unusable(`${SIGNER_USER} and ${DAEMON_USER} need a start as root, because only `
    + 'root can start processes of other users: unset both, or start "gannet signer" as a unit of its own');
  if (signer === '' || daemon === '')
    throw unusable(`expected both ${SIGNER_USER} and ${DAEMON_USER}: a daemon of root could read everything`);
  const users = { signer: userOf(SIGNER_USER, signer), daemon: userOf(DAEMON_USER, daemon) };
  if (users.signer.uid === users.daemon.uid || users.signer.uid === 0 || users.daemon.uid === 0)
    throw unusable(`expected two different users in ${SIGNER_USER} and ${DAEMON_USER}, neither of them root`);
  return users;
}

function userOf(variable: string, text: string): SystemUser {
  const [, uid, gid = uid] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(text) ?? [];
  if (uid !== undefined) return { uid: idOf(variable, uid), gid: idOf(variable, gid!) };
  const line = readFileSync('/etc/passwd', 'utf8').split('\n').find((entry) => entry.startsWith(`${text}:`));
  const [, , foundUid = '', foundGid = ''] = line?.split(':') ?? [];
  if (line === undefined) throw unusable(`${variable}: there is no user "${printable(text, 60)}" in /etc/passwd; `
    + 'create it, or give a number');
  return { uid: idOf(variable, foundUid), gid: idOf(variable, foundGid) };
}

function idOf(variable: string, text: string): number {
  const id = Number(text);
  if (text !== '' && Number.isInteger(id) && id <= MAX_ID) return id;
  throw unusable(`${variable}: expected a user's number of 0 to ${MAX_ID}, got "${printable(text, 20)}"`);
}

function unusable(message: string): GannetError {
  return new GannetError('CONFIG_INVALID', message);
}

/**
 * Gives both processes their folders, as root: a new state directory to the daemon, and the signer's folder to the
 * signer alone, with the counters that an earlier version left in the state directory. Throws CONFIG_INVALID where the
 * signer's folder is the daemon's: its user could replace it.
 */
export function handOverFolders(
  { signer, daemon }: ProcessUsers, { stateDir, countersDir }: {
    readonly stateDir: string; readonly countersDir: string;
  },
): void {
  if (countersDir.startsWith(join(stateDir, '/'))) throw unusable('expected GANNET_SIGNER_DIR, a folder of the '
    + `signer's own outside ${stateDir}: the daemon's user could replace a folder in there`);
  if (mkdirSync(stateDir, { recursive: true, mode: 0o700 }) !== undefined) chownSync(stateDir, daemon.uid, daemon.gid);
  mkdirSync(countersDir, { recursive: true, mode: 0o700 });
  moveEarlierCounters(stateDir, countersDir);
  // No link is followed: root would give away another file.
  for (const name of readdirSync(countersDir)) lchownSync(join(countersDir, name), signer.uid, signer.gid);
  lchownSync(countersDir, signer.uid, signer.gid);
}

/**
 * Makes this process one of a user for good. The kernel then gives the process's memory, environment and descriptors to
 * root alone, also against processes of the same user.
 */
export function becomeUser({ uid, gid }: SystemUser): void {
  process.setgroups!([]);
  process.setgid!(gid);
  process.setuid!(uid);
}
