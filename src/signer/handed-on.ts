import type { CleanEnvironment, Variables } from './environment.ts';

/** The one variable that the first process adds, and that whoever comes next takes out again. */
const NAME = 'GANNET_HANDED_ON';
/** Node's own options of the command: the process with the key runs without any. */
const NODE_OPTIONS = 'GANNET_NODE_OPTIONS';

/** These make Node print or write down what passes through it, requests with their keys among it; `bin/gannet` names them too. */
const TELLING: ReadonlySet<string> = new Set([
  'NODE_DEBUG', 'NODE_DEBUG_NATIVE', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS', 'NODE_REPL_HISTORY', 'NODE_REPL_EXTERNAL_MODULE',
]);

/** Where the signer listens in a process that was started beside one. */
export const SIGNER_FD = 3;

/** What the first process hands on beside the variables of the process. */
export interface HandedOn {
  /** Of the `.env` files, which need not be read again; undefined where they could not be. */
  readonly dotenv: Variables | undefined;
  /** The names of the variables that only the signer has. */
  readonly withheld: readonly string[];
  /** Whether there is a signer at the other end of `SIGNER_FD`. */
  readonly signer: boolean;
}

/** Returns the variables of the next process. Those of the files go within one: nothing there may steer Node or the system. */
export function handOn({ variables, dotenv, withheld }: Pick<CleanEnvironment, 'variables' | 'withheld'> & Pick<HandedOn, 'dotenv'>, { signer }: { readonly signer: boolean }): Record<string, string> {
  const next: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && name !== NAME && name !== NODE_OPTIONS && !TELLING.has(name)) next[name] = value;
  }
  const nodeOptions = variables[NODE_OPTIONS];
  if (nodeOptions !== undefined) next['NODE_OPTIONS'] = nodeOptions;
  next[NAME] = JSON.stringify({ dotenv, withheld, signer } satisfies HandedOn);
  return next;
}

/** Takes out of a process's variables what was handed on, so that nobody after it finds it there. Undefined where nothing was. */
export function takeHandedOn(variables: Record<string, string | undefined>): HandedOn | undefined {
  const text = variables[NAME];
  delete variables[NAME];
  if (text === undefined) return undefined;
  const { dotenv, withheld, signer } = JSON.parse(text) as Partial<HandedOn>;
  return { dotenv, withheld: withheld ?? [], signer: signer === true };
}
