/** What the first process has to know of a command line; all else is for the command itself to judge. */
export interface Invocation {
  /** The first argument that is neither an option nor an option's value. */
  readonly command: string | undefined;
  readonly config: string | undefined;
}

/** The options before a command that take a value of their own. */
const WITH_VALUE: ReadonlySet<string> = new Set(['--config', '--state-dir', '--base-url', '--rpc-url', '--api-key-env', '--log-level']);

/** Commands that may sign; every other one runs without a signer beside it. */
const SIGNING: ReadonlySet<string> = new Set(['run', 'swap', 'bench']);

/** Returns what a command line says of its command and its configuration. */
export function readInvocation(args: readonly string[]): Invocation {
  return { command: operandsOf(args)[0], config: valueOf(args, '--config') };
}

/** Returns whether a command may have to sign. */
export function maySign({ command }: Invocation): boolean {
  return command !== undefined && SIGNING.has(command);
}

/** Returns the value of an option, wherever it stands; of several the last one, as the command reads them. */
export function valueOf(args: readonly string[], option: string): string | undefined {
  let found: string | undefined;
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break;
    if (arg === option) found = args[index + 1] ?? found;
    else if (arg.startsWith(`${option}=`)) found = arg.slice(option.length + 1);
  }
  return found;
}

function operandsOf(args: readonly string[]): string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !WITH_VALUE.has(args[index - 1] ?? ''));
}
