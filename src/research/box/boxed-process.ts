import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { boxedPackages, CODE_DIR, DIALECTS_DIR, PROJECT_DIR, STRATEGIES_DIR } from '../../core/code-files.ts';
import { INTERRUPTIBLE, setprivPath } from '../../core/watched-process.ts';

/** What a boxed process may read and write, as absolute paths of files, and of folders with all that is in them. */
export interface BoxGrants {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

interface BoxedStart extends BoxGrants {
  /** The file to run. */
  readonly entry: string;
  /** The variables besides those that Node needs. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The number of pipes beside that of `superviseBox`; they are descriptors 4, 5 and so on in the boxed process. */
  readonly pipes: number;
}

/** The project's own files that code in a box may read: neither `.env` nor the default state directory. */
const PROJECT_FILES: readonly string[] = [
  CODE_DIR, STRATEGIES_DIR, join(PROJECT_DIR, 'package.json'), DIALECTS_DIR, ...boxedPackages(),
];
/** Standard output, standard error, and what the process says about its strategies. */
const OWN_PIPES = 3;
/** Options for the memory of a process. No other option of NODE_OPTIONS reaches a box: some of them open it. */
const MEMORY_OPTION = /^--(?:max-old-space-size|max-semi-space-size|stack-size)=\d+$/;

/**
 * The program that starts a process which the kernel ends together with this one, and which gains no privileges. Where
 * the system lacks it, a strategy in an endless loop outlives a killed command.
 */
function launcher(): string[] {
  const found = setprivPath();
  return found === undefined ? [] : [found, '--pdeathsig', 'KILL', '--no-new-privs', '--'];
}

/**
 * Starts a process under Node's permission model. It can read the project's code and what is granted, and write what
 * is granted. It has no network, no processes, no threads, no native add-ons, no SQLite and no environment. It is no
 * part of the terminal's session: SIGINT makes Node say where its code is, and Ctrl-C does not reach it by itself.
 */
export function startBoxedProcess({ entry, readable, writable, variables = {}, pipes }: BoxedStart): ChildProcess {
  const cache = compileCache();
  const options = [
    '--disable-warning=ExperimentalWarning', '--disable-warning=SecurityWarning', '--disable-sigusr1', ...INTERRUPTIBLE,
    '--no-experimental-sqlite', '--permission',
    ...[...PROJECT_FILES, ...readable, ...cache].map((path) => `--allow-fs-read=${path}`),
    ...[...writable, ...cache].map((path) => `--allow-fs-write=${path}`),
    ...memoryOptions(),
  ];
  const [program, ...before] = [...launcher(), process.execPath];
  return spawn(program, [...before, ...options, entry], {
    env: { ...variables, ...(cache[0] === undefined ? {} : { NODE_COMPILE_CACHE: cache[0] }) },
    detached: true,
    stdio: ['ignore', ...Array.from({ length: OWN_PIPES + pipes }, () => 'pipe' as const)],
  });
}

/**
 * The folder of compiled code, which a boxed process may write until it has loaded the project's code. Node uses it
 * only where it may be written.
 */
function compileCache(): string[] {
  const dir = process.env['NODE_COMPILE_CACHE'] ?? join(PROJECT_DIR, 'node_modules', '.cache', 'gannet');
  try {
    if (!existsSync(dir)) mkdirSync(dir, { recursive: true });
    return [dir.endsWith(sep) ? dir : `${dir}${sep}`];
  } catch {
    // A checkout that cannot be written has no such folder: the start takes longer.
    return [];
  }
}

function memoryOptions(): string[] {
  const given = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)];
  return given.filter((option) => MEMORY_OPTION.test(option));
}
