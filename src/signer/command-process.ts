import type { CleanEnvironment, Variables } from './environment.ts';

/** The parts of a command line that the first process needs; the command itself judges the rest. */
interface Invocation {
  /** The first argument that is neither an option nor an option's value. */
  readonly command: string | undefined;
  readonly config: string | undefined;
}

/** The data that the first process hands to the command besides the variables. */
export interface HandedOn {
  /** From the `.env` files; undefined where they could not be read. */
  readonly dotenv: Variables | undefined;
  /** The names of the variables that only the signer has. */
  readonly withheld: readonly string[];
  /** Whether a signer serves `SIGNER_FD`, or the path of the socket that one serves. */
  readonly signer: boolean | string;
}

/** Options and variables of a new process. */
interface ProcessStart {
  readonly options: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** The options before a command that take a value of their own. */
const WITH_VALUE: ReadonlySet<string> =
  new Set(['--config', '--state-dir', '--base-url', '--rpc-url', '--api-key-env', '--log-level']);
/** Commands that may sign; every other one runs without a signer beside it. */
const SIGNING: ReadonlySet<string> = new Set(['run', 'swap', 'wallet', 'bench', 'doctor', 'rehearse']);
/** The one variable that the first process adds, and the next process removes. */
const NAME = 'GANNET_HANDED_ON';
/** Set where this process has replaced itself to hide keys: `hidden-keys.ts` reads and removes it. */
export const KEYS_MARK = 'GANNET_HIDDEN_KEYS';
/** Node's options for the command; the process with the key runs without any. */
const NODE_OPTIONS = 'GANNET_NODE_OPTIONS';
/** These make Node print or store data, including requests with their keys; `bin/gannet` lists them too. */
const REVEALING: ReadonlySet<string> = new Set([
  'NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS', 'NODE_REPL_HISTORY',
  'NODE_REPL_EXTERNAL_MODULE',
]);

/** Accepts missing or altered counters of the signer; it is on the command line, where only an operator writes. */
export const ACCEPT_COUNTERS_FLAG = '--accept-new-counters';
/** The path of the socket that a signer of another unit serves. */
export const SIGNER_SOCKET = 'GANNET_SIGNER_SOCKET';
/** The file descriptor of the channel to the signer in the command's process. */
export const SIGNER_FD = 3;
/** V8 options that `bin/gannet` sets for the heap of the first process. */
const HEAP_OPTION =
  /^--(?:no-)?(?:max-semi-space-size|initial-old-space-size|heap-growing-percent|allocation-site-pretenuring)(?:=|$)/;
/** Commands that run for months with little work at a time. */
const LASTING: ReadonlySet<string> = new Set(['run', 'record']);
/**
 * V8's defaults suit heavy computation and would double the memory here. The young generation would take 64 MB. Since
 * all objects survive while a daemon starts, V8 would allocate whole kinds of objects in the old generation from then
 * on, where each keeps its request until the next full collection. These options set a small young generation, allocate
 * everything in it, and collect the old one whenever it has grown by a fifth.
 */
const LASTING_OPTIONS: readonly string[] = [
  '--max-semi-space-size=2', '--no-allocation-site-pretenuring', '--initial-old-space-size=40',
  '--heap-growing-percent=20',
];
/** For glibc: by default each thread fills an arena of its own and returns none of it. */
const LASTING_ARENAS = '2';

/** Returns the command and the configuration file of a command line. */
export function readInvocation(args: readonly string[]): Invocation {
  return { command: operandsOf(args)[0], config: valueOf(args, '--config') };
}

/** Returns whether a command may have to sign. */
export function maySign({ command }: Invocation): boolean {
  return command !== undefined && SIGNING.has(command);
}

/** Returns whether a command only reads: the signer shows it an address, or judges, and changes no folder. */
export function onlyReads({ command }: Invocation): boolean {
  return command === 'doctor' || command === 'rehearse';
}

/** Returns whether a command line starts the signer alone; its help comes from the command. */
export function isSignerService({ command }: Invocation, args: readonly string[]): boolean {
  return command === 'signer' && !args.includes('--help') && !args.includes('-h');
}

/** Returns the value of an option at any position; the last of several, as the command reads them. */
export function valueOf(args: readonly string[], option: string): string | undefined {
  return wordsOf(args).options.findLast(([name]) => name === option)?.[1];
}

function operandsOf(args: readonly string[]): readonly string[] {
  return wordsOf(args).operands;
}

/** The word after an option that takes a value is its value, even "--" or another option. */
function wordsOf(
  args: readonly string[],
): { readonly options: readonly (readonly [name: string, value: string])[]; readonly operands: readonly string[] } {
  const options: (readonly [string, string])[] = [];
  const operands: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    if (arg === '--') return { options, operands: [...operands, ...args.slice(index + 1)] };
    if (name !== undefined && WITH_VALUE.has(name)) options.push([name, value!]);
    else if (!arg.startsWith('-')) operands.push(arg);
    else if (WITH_VALUE.has(arg) && index + 1 < args.length) {
      index += 1;
      options.push([arg, args[index]!]);
    }
  }
  return { options, operands };
}

/**
 * Returns the variables of the next process. Those of the files are packed into one, so that none can control Node or
 * the system.
 */
export function handOn(
  { variables, dotenv, withheld }: Pick<CleanEnvironment, 'variables' | 'withheld'> & Pick<HandedOn, 'dotenv'>,
  { signer }: Pick<HandedOn, 'signer'>,
): Record<string, string> {
  const next: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && name !== NAME && name !== NODE_OPTIONS && !REVEALING.has(name)) next[name] = value;
  }
  const nodeOptions = variables[NODE_OPTIONS];
  if (nodeOptions !== undefined) next['NODE_OPTIONS'] = nodeOptions;
  next[NAME] = JSON.stringify({ dotenv, withheld, signer } satisfies HandedOn);
  return next;
}

/**
 * Removes the handed-on data from a process's variables, so that child processes do not get it. Undefined where there
 * is none.
 */
export function takeHandedOn(variables: Record<string, string | undefined>): HandedOn | undefined {
  const text = variables[NAME];
  delete variables[NAME];
  if (text === undefined) return undefined;
  const { dotenv, withheld, signer } = JSON.parse(text) as Partial<HandedOn>;
  return { dotenv, withheld: withheld ?? [], signer: typeof signer === 'string' ? signer : signer === true };
}

/**
 * Returns the start of a command's process: without the heap options of the first process, and frugal for lasting
 * commands.
 */
export function frugalStart({ command }: Invocation, { options, variables }: ProcessStart): ProcessStart {
  const own = options.filter((option) => !HEAP_OPTION.test(option));
  if (command === undefined || !LASTING.has(command)) return { options: own, variables };
  return { options: [...own, ...LASTING_OPTIONS], variables: { MALLOC_ARENA_MAX: LASTING_ARENAS, ...variables } };
}
