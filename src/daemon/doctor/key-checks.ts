import type { Stats } from 'node:fs';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { RunConfig } from '../../config/run-config.ts';
import { CODE_DIR } from '../../core/code-files.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { SIGNER_SOCKET } from '../../signer/command-process.ts';
import { holdsKeyRun } from '../../signer/key-shape.ts';
import type { Check, DoctorScope } from './check.ts';
import { checksOf, within } from './check.ts';

const { ok, warning, fault } = checksOf('key');
const ANSWER_WITHIN_MS = 5_000;

/** What is to be said about the wallet's key, and its address where that is known. */
interface ExaminedKey {
  readonly checks: readonly Check[];
  readonly address: string | undefined;
}

/**
 * Examines the wallet's key. This process sees the facts of its file, never its content. The
 * signer reads it and answers with its address.
 */
export async function examineKey(scope: DoctorScope, config: RunConfig): Promise<ExaminedKey> {
  const { keyFrom, address } = config.wallet;
  if (keyFrom === undefined) return { address, checks: [ok('key', config.mode === 'paper' ? 'paper trading needs none'
    : 'the embedded chain brings a wallet of its own')] };
  const socket = scope.environment[SIGNER_SOCKET] ?? '';
  if (socket !== '') return { address, checks: [socketCheck(resolve(scope.workingDir, socket))] };
  const found = keyFrom.kind === 'env' ? [variableCheck(scope, keyFrom.name)]
    : fileChecks(scope, resolve(scope.workingDir, keyFrom.path), config);
  if (found.some(({ name, ok: isOk }) => name !== 'key-place' && !isOk)) return { address, checks: found };
  const read = await readAddress(scope);
  return { address: address ?? read.address, checks: [...found, ...read.checks] };
}

/** One daemon at a time talks to a signer, so the doctor does not connect to it. */
function socketCheck(path: string): Check {
  const isThere = lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  return isThere ? ok('key', `the signer of another unit has it, at ${path}`)
    : fault('key', `no signer serves ${path}, which ${SIGNER_SOCKET} names`,
      'run "systemctl start gannet-signer", and see "journalctl -u gannet-signer"');
}

function variableCheck({ withheld, environment }: DoctorScope, name: string): Check {
  const shown = holdsKeyRun(name) ? 'named by wallet.key_from' : name;
  return withheld.includes(name) || (environment[name] ?? '') !== ''
    ? ok('key', `the variable ${shown} is set, and the signer alone has it`)
    : fault('key', `the variable ${shown} is not set`,
      `write the key into a file of mode 0600 and name it as wallet.key_from: "file:PATH", or set ${shown}`);
}

function fileChecks(scope: DoctorScope, path: string, config: RunConfig): Check[] {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) {
    return [fault('key', `there is no key file ${path}`,
      `copy the key there, then "chmod 600 ${path}"; or correct wallet.key_from`)];
  }
  const place = realpathSync(path);
  const found = [...fileFaults(scope, path, facts), ...placeFaults(scope, place, config)];
  return found.length > 0 ? found : [ok('key-file', `only its owner can read ${path}`)];
}

function fileFaults({ machine: { user } }: DoctorScope, path: string, { mode, uid }: Stats): Check[] {
  const found: Check[] = [];
  if ((mode & 0o077) !== 0 || (mode & 0o7000) !== 0) {
    found.push(fault('key-file', `the key file ${path} has mode ${(mode & 0o7777).toString(8).padStart(4, '0')}, and `
      + 'other users could read it', `run "chmod 600 ${path}"`));
  }
  if (user !== undefined && uid !== user) {
    found.push(fault('key-file', `the key file ${path} belongs to another user (user id ${uid})`,
      `run "chown ${user} ${path}" as root, or start Gannet as its owner`));
  }
  return found;
}

/** A key is copied with the folder in which it lies. */
function placeFaults({ stateDir, workingDir }: DoctorScope, path: string, { strategies }: RunConfig): Check[] {
  const folder = dirname(path);
  const move = `move it: "mkdir -m 700 ~/keys && mv ${path} ~/keys/", and correct wallet.key_from`;
  const found: Check[] = [];
  const repository = repositoryOf(folder);
  const add = (where: string): void => { found.push(fault('key-place', `the key file ${path} lies ${where}`, move)); };
  if (repository !== undefined) add(`in the repository ${repository}: a commit publishes it`);
  if (isWithin(resolve(workingDir, stateDir), path)) add('in the state directory, which backups copy');
  const boxed = [CODE_DIR, ...strategies.flatMap(({ file, origin }) =>
    (file === undefined || origin === 'project' ? [] : [dirname(file)]))];
  if (boxed.some((readable) => isWithin(readable, path))) add('beside the code of strategies, which may read it');
  const { mode } = statSync(folder);
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
    found.push(fault('key-place', `other users may write in ${folder}, and so replace the key file`,
      `run "chmod go-w ${folder}"`));
  } else if ((mode & 0o005) !== 0) {
    found.push(warning('key-place', `every user can list ${folder}, where the key file lies`,
      `run "chmod 700 ${folder}"`));
  }
  return found;
}

function repositoryOf(folder: string): string | undefined {
  for (let place = folder; ; place = dirname(place)) {
    if (existsSync(join(place, '.git'))) return place;
    if (dirname(place) === place) return undefined;
  }
}

function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !inside.startsWith(sep);
}

async function readAddress({ connectSigner }: DoctorScope): Promise<ExaminedKey> {
  const client = connectSigner?.();
  if (client === undefined)
    return { address: undefined, checks: [ok('key-address', 'not read: no signer runs beside this command')] };
  try {
    const address = await within(client.address(), ANSWER_WITHIN_MS, () => {
      throw new Error('the signer did not answer in time');
    });
    return { address, checks: [ok('key-address', `the key belongs to the wallet ${address}`)] };
  } catch (error) {
    return { address: undefined, checks: [fault('key-address', messageOf(error),
      isGannetError(error) && /wallet\.address/.test(error.message)
        ? 'correct wallet.address, or point wallet.key_from at the key of that wallet'
        : 'correct wallet.key_from, or the file that it names; "gannet wallet" shows the wallet then')] };
  } finally {
    client.close();
  }
}
