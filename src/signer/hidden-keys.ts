import { closeSync, existsSync, fstatSync, readFileSync } from 'node:fs';
import { printable } from '../core/text.ts';
import { KEYS_MARK } from './command-process.ts';
import type { Variables } from './environment.ts';

/** A running process whose environment or command line shows a key to every process of its user. */
export interface RevealingProcess {
  readonly pid: number;
  /** The name of its program, for messages. */
  readonly program: string;
}

/** The keys that this process took over from its earlier self. */
export interface TakenKeys {
  readonly keys: Variables;
  /** The reason why the keys of the environment cannot be used; undefined where they can. */
  readonly fault: string | undefined;
}

const SHELL = '/bin/sh';
/** The pipe with the keys. Shells keep descriptors below 10 open. */
const KEYS_FD = 9;
const PACKED = 'GANNET_PACKED_KEYS';
/** What POSIX shells write into a pipe without a process of their own for it. */
const MAX_PACKED_CHARACTERS = 3_900;
/** Moves the keys from the environment into a pipe, then becomes Node again with the same arguments. */
const SCRIPT = `exec ${KEYS_FD}<<END\n$${PACKED}\nEND\nunset ${PACKED}\nexec "$@"\n`;
/** More generations than a supervised process has. */
const MAX_ANCESTORS = 64;
const INSTEAD = 'name a key file with wallet.key_from: file:PATH, or put the variable into .env';

/**
 * Replaces this process by itself without the named variables in its kernel environment, which Node alone cannot
 * change. Their values reach the new process by a pipe. Returns the reason where that is not possible.
 */
export function hideKeys(names: readonly string[], variables: Variables): string {
  const keys = Object.fromEntries(names.map((name) => [name, variables[name]]));
  const packed = Buffer.from(JSON.stringify(keys)).toString('base64url');
  if (packed.length > MAX_PACKED_CHARACTERS)
    return `${names.join(', ')} are too long to be hidden from other processes; ${INSTEAD}`;
  if (!existsSync(SHELL)) return `a key in the environment is hidden by ${SHELL}, which is missing; ${INSTEAD}`;
  const rest = Object.entries(variables).filter(([name, value]) => value !== undefined && !names.includes(name));
  process.execve!(SHELL, [
    'sh', '-c', SCRIPT, 'gannet', process.execPath, ...process.execArgv, process.argv[1]!, ...process.argv.slice(2),
  ], { ...Object.fromEntries(rest) as Record<string, string>, [KEYS_MARK]: String(KEYS_FD), [PACKED]: packed });
  return 'this process could not be replaced';
}

/** Returns the keys in the pipe of `hideKeys`, once: the pipe is closed, and its mark removed from the variables. */
export function takeHiddenKeys(variables: NodeJS.ProcessEnv): TakenKeys {
  delete variables[KEYS_MARK];
  try {
    const isPipe = fstatSync(KEYS_FD).isFIFO();
    const text = readFileSync(KEYS_FD, 'utf8');
    closeSync(KEYS_FD);
    const keys = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Variables;
    const isLeft = variables[PACKED] !== undefined || Object.keys(keys).some((name) => variables[name] !== undefined);
    if (isPipe && !isLeft) return { keys, fault: undefined };
    const what = isPipe ? 'left the key in the environment' : 'passed the key on in a file instead of a pipe';
    return { keys: {}, fault: `${SHELL} ${what}, where other processes could read it; ${INSTEAD}` };
  } catch {
    // The message of a parser would quote its input.
    return { keys: {}, fault: `the key in the environment was lost in ${SHELL}; ${INSTEAD}` };
  }
}

/**
 * Returns this process and those above it that show a text in their environment or command line. Processes of other
 * users and of systems without /proc cannot be checked.
 */
export function processesShowing(secret: string): readonly RevealingProcess[] {
  const revealing: RevealingProcess[] = [];
  let pid = process.pid;
  for (let generation = 0; generation < MAX_ANCESTORS && pid > 0; generation++) {
    if (['environ', 'cmdline'].some((file) => readProcess(pid, file).includes(secret)))
      revealing.push({ pid, program: printable(readProcess(pid, 'comm').trim(), 60) });
    // The name of a program may contain spaces and brackets; the fields after its last bracket are fixed.
    pid = Number(readProcess(pid, 'stat').split(') ').at(-1)?.split(' ')[1] ?? 0);
  }
  return revealing;
}

/** Returns the statement that processes show a key, with instructions. */
export function revealedBy(processes: readonly RevealingProcess[]): string {
  const named = processes.map(({ pid, program }) => `process ${pid} (${program})`).join(' and ');
  return `the key stands in the environment or command line of ${named}, where every process of this user can read `
    + `it; ${INSTEAD}, and start without it`;
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // Another user's, or ended by now.
    return '';
  }
}
