import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import {
  chownSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, statSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { CODE_DIR, IS_SOURCE, layerFolders, packageFolders, PROJECT_DIR } from '../../core/code-files.ts';
import { INTERRUPTIBLE, setprivPath } from '../../core/watched-process.ts';

/** What a box is started with. */
interface BoxOptions {
  /** The file to run, absolute. */
  readonly entry: string;
  readonly args?: readonly string[] | undefined;
  /** What it may read besides the project's own code: files, and folders with a separator at their end. */
  readonly readable: readonly string[];
  /** The bound of its JavaScript heap. */
  readonly heapMb: number;
}

/** A process in a box. Descriptor 3 is its channel. */
interface Box {
  readonly child: ChildProcess;
  /** The user that it runs as; undefined where that is the daemon's own. */
  readonly userId: number | undefined;
}

/** What the code of a strategy host imports, and no more: neither the folder with `.env` nor the state is among it. */
const OWN_CODE: readonly string[] = [
  ...layerFolders(['core', 'market', 'trading', 'strategy', 'engine', join('daemon', 'hosts')]),
  ...(IS_SOURCE ? ['check-value.ts', join('strategies', 'ask-strategy.ts'), join('strategies', 'describe-params.ts')]
    : []).map((name) => join(CODE_DIR, 'config', name)),
  ...(IS_SOURCE ? ['rxjs', 'trading-signals', 'zod'] : ['trading-signals'])
    .flatMap(packageFolders),
  join(PROJECT_DIR, 'package.json'),
];
/** The user and group that own nothing. */
const UNPRIVILEGED_ID = 65_534;
/** No core file, few descriptors, small files. `setpriv` ends the process with the daemon, even in a loop. */
const LIMITS = 'unset PWD; ulimit -c 0; ulimit -n 64; ulimit -f 8192; exec "$@"';

/**
 * Starts a process under Node's permission model, with nothing but the reading of its code: no network, no writing, no
 * processes, no threads, no native add-ons, no SQLite, no environment. Until it loads a strategy, it may write the
 * cache of compiled code, which makes it start twice as fast. It has three descriptors besides its channel: two for
 * /dev/null, and a pipe for the last words of Node.
 */
export function startBox({ entry, args = [], readable, heapMb }: BoxOptions): Box {
  const code = [...new Set([...OWN_CODE, ...readable].flatMap(bothPaths))];
  const asOther = otherUser([process.execPath, entry, ...code]);
  const userId = asOther === undefined ? undefined : UNPRIVILEGED_ID;
  const cache = compileCache(userId);
  const node = [
    process.execPath, '--permission', ...code.map((path) => `--allow-fs-read=${path}`),
    ...cache.flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-write=${path}`]),
    '--no-experimental-sqlite', '--disable-sigusr1', '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning', ...INTERRUPTIBLE,
    `--max-old-space-size=${heapMb}`, '--max-semi-space-size=1', '--initial-old-space-size=8',
    '--heap-growing-percent=20', '--single-threaded-gc', '--v8-pool-size=0',
    entry, ...args,
  ];
  const setpriv = setprivPath();
  const guard = setpriv === undefined ? []
    : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', ...asOther?.guard ?? []];
  const closed = inherited();
  const child = spawn('/bin/sh', ['-c', LIMITS, 'sh', ...guard, ...node], {
    env: cache[0] === undefined ? {} : { NODE_COMPILE_CACHE: cache[0] },
    cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...closed],
    ...asOther?.start,
  });
  return { child, userId };
}

const OTHER = { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } as const;
/** Of the superuser's capabilities, only that of reading: enough for a checkout that is closed to other users. */
const READS_ALL = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_read_search`);
const READS_ALL_BIT = 1 << 2;

/**
 * Returns how a process of the superuser starts another as the user that owns nothing; undefined where this process has
 * a user of its own, or where that user could not read the code. `guard` are options of `setpriv`.
 */
function otherUser(code: readonly string[]): {
  readonly start: Partial<typeof OTHER>; readonly guard: readonly string[];
} | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (code.every(isPublic)) return { start: OTHER, guard: [] };
  if (setprivPath() === undefined || !mayReadAll()) return undefined;
  return { start: {}, guard: [
    `--reuid=${UNPRIVILEGED_ID}`, `--regid=${UNPRIVILEGED_ID}`, '--clear-groups', ...READS_ALL,
  ] };
}

/** Whether this process has the capability of reading every file, which containers often take away. */
function mayReadAll(): boolean {
  const [, effective] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return effective !== undefined && (Number.parseInt(effective.slice(-8), 16) & READS_ALL_BIT) !== 0;
}

/** The folder of the compiled code of boxes, which no other process of the project uses; empty without one. */
function compileCache(userId: number | undefined): string[] {
  const folder = process.env['NODE_COMPILE_CACHE'];
  if (folder === undefined || folder === '') return [];
  const own = join(folder, userId === undefined ? 'hosts' : `hosts-${userId}`);
  try {
    mkdirSync(own, { recursive: true });
    if (userId !== undefined) chownSync(own, userId, userId);
    return [realpathSync(own) + sep];
  } catch {
    // An installation that cannot be written has no such folder: the start takes longer.
    return [];
  }
}

const OWN_DESCRIPTORS = 4;
const O_CLOEXEC = 0o2_000_000;
let nothing: number | undefined;

/**
 * Returns what stands for the descriptors that the daemon itself was started with, and would pass on: each becomes
 * /dev/null in the box. Node passes on none of its own.
 */
function inherited(): (number | 'ignore')[] {
  let open: number[];
  try {
    open = readdirSync('/proc/self/fdinfo').map(Number).filter((fd) => fd >= OWN_DESCRIPTORS && isPassedOn(fd));
  } catch {
    // Without /proc it is not known.
    return [];
  }
  const instead: (number | 'ignore')[] = [];
  for (const fd of open) {
    nothing ??= openSync('/dev/null', 'r');
    while (instead.length < fd - OWN_DESCRIPTORS) instead.push('ignore');
    instead[fd - OWN_DESCRIPTORS] = nothing;
  }
  return instead;
}

function isPassedOn(fd: number): boolean {
  try {
    const [, flags] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The descriptor of the folder that was read.
    return false;
  }
}

/** Node checks the path by which it finds a file, and the real one, which differs where a folder is a link. */
function bothPaths(path: string): string[] {
  if (!existsSync(path)) return [path];
  return [...links(path), path, realpathSync(path) + (path.endsWith(sep) ? sep : '')];
}

/** Returns the folders of the project on the way to a path that are links: Node reads each of them. */
function links(path: string): string[] {
  const found: string[] = [];
  for (let at = path; at.startsWith(PROJECT_DIR) && at.length > PROJECT_DIR.length; at = dirname(at))
    if (lstatSync(at).isSymbolicLink()) found.push(at);
  return found;
}

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

/** Whether every user can read a file, or enter a folder. */
function isPublic(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = statSync(at);
    if ((mode & (at === path ? OTHERS_READ : OTHERS_ENTER)) === 0) return false;
    if (dirname(at) === at) return true;
  }
}
