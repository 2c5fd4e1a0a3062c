import { existsSync, readFileSync, statSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PROJECT_DIR } from '../../core/code-files.ts';
import { setprivPath } from '../../core/watched-process.ts';

/** The facts about this machine and this process that checks judge. Undefined means that the system does not say. */
export interface Machine {
  /** The running version of Node. */
  readonly node: string;
  /** The version that the checkout or the package brings. */
  readonly nodeWanted: string | undefined;
  /** What is wrong with the installed packages. */
  readonly packagesFault: string | undefined;
  readonly user: number | undefined;
  /** The most files that a process may open. */
  readonly openFiles: number | undefined;
  readonly freeMemoryBytes: number | undefined;
  readonly timeZone: string | undefined;
  /** The folder of the units that an operator installed. */
  readonly unitsDir: string;
  /** Whether the kernel ends a strategy's process with the daemon, and keeps it from gaining privileges. */
  readonly guardsBoxes: boolean;
  /** Returns the room at a place; a missing folder counts as its nearest existing parent. */
  room(place: string): { readonly device: number; readonly bytes: number; readonly inodes: number | undefined };
}

/** Returns the facts about this machine. */
export function thisMachine(packagesFault: string | undefined): Machine {
  return {
    node: process.versions.node,
    nodeWanted: nodeWanted(),
    packagesFault,
    user: process.getuid?.(),
    openFiles: fileLimit(textOf('/proc/self/limits')),
    freeMemoryBytes: memory(textOf('/proc/meminfo')),
    timeZone: process.env['TZ'],
    unitsDir: '/etc/systemd/system',
    guardsBoxes: setprivPath() !== undefined,
    room(place) {
      let folder = resolve(place);
      while (!existsSync(folder)) folder = dirname(folder);
      const { bavail, bsize, ffree, files } = statfsSync(folder);
      // Some file systems have no fixed number of inodes.
      return { device: statSync(folder).dev, bytes: bavail * bsize, inodes: files === 0 ? undefined : ffree };
    },
  };
}

function nodeWanted(): string | undefined {
  const text = textOf(resolve(PROJECT_DIR, 'package.json'));
  if (text === undefined) return undefined;
  const { optionalDependencies = {} } = JSON.parse(text) as { optionalDependencies?: Record<string, string> };
  return Object.entries(optionalDependencies).find(([name]) => name.startsWith('node-'))?.[1];
}

function fileLimit(limits: string | undefined): number | undefined {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits ?? '')?.[1];
  return hard === undefined ? undefined : hard === 'unlimited' ? Infinity : Number(hard);
}

function memory(facts: string | undefined): number | undefined {
  const kib = /^MemAvailable:\s+(\d+) kB/m.exec(facts ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

/** Undefined where there is no such file: other systems have other files. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
