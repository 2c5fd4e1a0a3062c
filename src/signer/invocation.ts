/** What the first process has to know of a command line; all else is for the command itself to judge. */
export interface Invocation {
  /** The first argument that is neither an option nor an option's value. */
  readonly command: string | undefined;
  readonly config: string | undefined;
}

/** The options before a command that take a value of their own. */
const WITH_VALUE: ReadonlySet<string> = new Set(['--config', '--state-dir', '--base-url', '--rpc-url', '--api-key-env', '--log-level']);

/** Commands that may sign; every other one runs without a signer beside it. */
const SIGNING: ReadonlySet<string> = new Set(['run', 'swap', 'wallet', 'bench']);

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
  return wordsOf(args).options.findLast(([name]) => name === option)?.[1];
}

function operandsOf(args: readonly string[]): readonly string[] {
  return wordsOf(args).operands;
}

/** What stands after an option that takes a value is its value, whatever it looks like: "--", or another option. */
function wordsOf(args: readonly string[]): { readonly options: readonly (readonly [name: string, value: string])[]; readonly operands: readonly string[] } {
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
