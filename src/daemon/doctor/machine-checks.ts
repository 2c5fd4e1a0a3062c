import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIR } from '../../core/code-files.ts';
import { messageOf } from '../../core/errors.ts';
import { groupThousands } from '../../core/text.ts';
import { DISK_MARKS } from '../watch/disk-guard.ts';
import type { Check } from './check.ts';
import { checksOf } from './check.ts';
import type { Machine } from './machine.ts';

const MIB = 1024 * 1024;
/** Recordings, logs and runs of some weeks. */
const ROOM_WANTED = 1024 * MIB;
/** A daemon with its signer and its strategies takes about this much. */
const MEMORY_NEEDED = 300 * MIB;
/** The start refuses fewer; a daemon with many strategies needs more. */
const FILES_WANTED = 1_024;
const FILES_NEEDED = 128;
const INODES_WANTED = 10_000;
const NODE_LEAST = 26;

const { ok, warning, fault } = checksOf('machine');

/** Returns what is to be said about Node, the system and the disks of some folders. */
export function machineChecks(machine: Machine, folders: readonly string[]): Check[] {
  return [
    nodeCheck(machine), packagesCheck(machine), filesCheck(machine), memoryCheck(machine),
    isolationCheck(machine), ...diskChecks(machine, folders), timeZoneCheck(machine), ...unitChecks(machine),
  ];
}

function nodeCheck({ node, nodeWanted }: Machine): Check {
  if (Number(node.split('.')[0]) < NODE_LEAST) {
    return fault('node', `this is Node ${node}, and Gannet needs ${nodeWanted ?? NODE_LEAST}`,
      'start it by bin/gannet, and run "npm ci" in the checkout, which brings that version');
  }
  if (nodeWanted === undefined || node === nodeWanted) return ok('node', `Node ${node}`);
  return warning('node', `this is Node ${node}; ${nodeWanted} is the tested one, and replays may differ`,
    'run "npm ci" in the checkout, which brings that version');
}

function packagesCheck({ packagesFault }: Machine): Check {
  return packagesFault === undefined ? ok('packages', 'the installed packages are those of this version')
    : fault('packages', packagesFault, 'run "npm ci" in the checkout, and start again');
}

function filesCheck({ openFiles }: Machine): Check {
  const fix = 'run "ulimit -n 4096" before the start, or write LimitNOFILE=4096 into the unit';
  if (openFiles === undefined) return ok('file-limit', 'the system names no limit of open files');
  const count = openFiles === Infinity ? 'any number of' : groupThousands(String(openFiles));
  const text = `a process may open ${count} files`;
  if (openFiles < FILES_NEEDED) return fault('file-limit', `${text}, and Gannet needs ${FILES_NEEDED}`, fix);
  return openFiles < FILES_WANTED ? warning('file-limit', `${text}; many strategies need more`, fix)
    : ok('file-limit', text);
}

function isolationCheck({ guardsBoxes }: Machine): Check {
  return guardsBoxes ? ok('isolation', 'the kernel ends the processes of strategies with the daemon')
    : warning('isolation', 'this system has no setpriv of util-linux: a strategy in an endless loop outlives a killed '
      + 'daemon, and Node alone keeps its process in its box',
    'on Linux install util-linux (Alpine Linux: apk add setpriv); elsewhere run strategies that you have read');
}

function memoryCheck({ freeMemoryBytes: free }: Machine): Check {
  if (free === undefined) return ok('memory', 'the system does not say how much memory is free');
  const text = `${mebibytes(free)} of memory are free`;
  return free >= MEMORY_NEEDED ? ok('memory', text)
    : warning('memory', `${text}, and a daemon takes about ${mebibytes(MEMORY_NEEDED)}`,
      'end other programs (see "ps aux --sort -rss"), or use a larger machine');
}

function diskChecks(machine: Machine, folders: readonly string[]): Check[] {
  const seen = new Set<number>();
  return folders.flatMap((folder) => {
    try {
      const { device, bytes, inodes } = machine.room(folder);
      if (seen.has(device)) return [];
      seen.add(device);
      return [diskCheck(folder, bytes), ...inodeChecks(folder, inodes)];
    } catch (error) {
      return [fault('disk', `the free space at ${folder} is unknown: ${messageOf(error)}`,
        `check the folder and its disk with "df -h ${folder}"`)];
    }
  });
}

function diskCheck(folder: string, bytes: number): Check {
  const text = `${mebibytes(bytes)} are free at ${folder}`;
  const fix = `free some space there (see "du -sh ${folder}/*"), or use a larger disk with --state-dir`;
  if (bytes < DISK_MARKS.entriesBytes)
    return fault('disk', `${text}: below ${mebibytes(DISK_MARKS.entriesBytes)} nothing is bought`, fix);
  if (bytes < DISK_MARKS.recordingBytes)
    return fault('disk', `${text}: below ${mebibytes(DISK_MARKS.recordingBytes)} nothing is recorded`, fix);
  return bytes < ROOM_WANTED ? warning('disk', `${text}, which recordings fill in weeks`, fix) : ok('disk', text);
}

function inodeChecks(folder: string, inodes: number | undefined): Check[] {
  if (inodes === undefined || inodes >= INODES_WANTED) return [];
  return [fault('disk', `${groupThousands(String(inodes))} inodes are free at ${folder}, too few for new files`,
    `delete small files there (count them with "find ${folder} -type f | wc -l")`)];
}

function timeZoneCheck({ timeZone }: Machine): Check {
  try {
    Intl.DateTimeFormat('en', { timeZone: timeZone === undefined || timeZone === '' ? 'UTC' : timeZone });
    return ok('time-zone', 'days of limits begin at midnight UTC, whatever the zone of the machine');
  } catch {
    return warning('time-zone', 'the variable TZ names no time zone, so the times of other programs may be wrong',
      'set TZ=UTC, or unset it');
  }
}

const SHIPPED_UNITS = join(PROJECT_DIR, 'deploy', 'systemd');

function unitChecks({ unitsDir }: Machine): Check[] {
  if (!existsSync(SHIPPED_UNITS)) return [];
  const installed = readdirSync(SHIPPED_UNITS)
    .filter((name) => /\.(?:service|socket|timer)$/.test(name) && existsSync(join(unitsDir, name)));
  if (installed.length === 0) return [ok('unit', 'no unit of systemd is installed, so nothing starts it again')];
  return installed.map((name) => {
    const [own, shipped] = [join(unitsDir, name), join(SHIPPED_UNITS, name)];
    try {
      if (readFileSync(own, 'utf8') === readFileSync(shipped, 'utf8')) return ok('unit', `${own} is the shipped one`);
    } catch (error) {
      return warning('unit', `${own} cannot be read: ${messageOf(error)}`, `run "ls -l ${own}"`);
    }
    return warning('unit', `${own} differs from the shipped one`,
      `run "diff ${own} ${shipped}"; keep your own changes in "systemctl edit ${name}"`);
  });
}

/** Returns an amount of bytes for people. */
function mebibytes(bytes: number): string {
  return `${groupThousands(String(Math.floor(bytes / MIB)))} MiB`;
}
