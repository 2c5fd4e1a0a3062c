import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { GannetError, messageOf } from '../core/errors.ts';

/** Names and values as a process has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The variables of a process and of the `.env` files, apart. The process wins. */
interface Environment {
  readonly variables: Variables;
  readonly dotenv: Variables;
}

/** An environment without wallet keys. */
export interface CleanEnvironment extends Environment {
  /** The names of the removed variables. */
  readonly withheld: readonly string[];
}

const USUAL_NAME = 'GANNET_WALLET_KEY';
const DEFAULT_CONFIG_FILE = 'config/gannet.yaml';
const MAX_CONFIG_BYTES = 1_048_576;
/** It is handed on as one variable; the system accepts 128 KiB. */
const MAX_DOTENV_BYTES = 65_536;

/** Returns one record of an environment, the process's own variables over those of the files. */
export function merged({ variables, dotenv }: Environment): Variables {
  const set = Object.entries(variables).filter(([, value]) => value !== undefined);
  return { ...dotenv, ...Object.fromEntries(set) };
}

/**
 * Returns the folders whose `.env` counts, the first with priority: the working directory, then the folder of the
 * configuration.
 */
export function dotenvFolders(
  { workingDir, config }: { readonly workingDir: string; readonly config: string | undefined },
): string[] {
  return [...new Set([workingDir, config === undefined ? workingDir : dirname(resolve(workingDir, config))])];
}

/**
 * Returns the variables of the `.env` files of folders, the first folder with priority. Throws CONFIG_INVALID where one
 * exists but cannot be read.
 */
export async function readDotenv(folders: readonly string[]): Promise<Variables> {
  const files = await Promise.all(folders.map((folder) => readOne(join(folder, '.env'))));
  return Object.assign({}, ...files.reverse()) as Variables;
}

async function readOne(file: string): Promise<Variables> {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MAX_DOTENV_BYTES) throw new GannetError(
      'CONFIG_INVALID', `${file}: expected at most ${MAX_DOTENV_BYTES} bytes, got ${text.length}`,
    );
    // Loaded only for an existing file: every command runs this code.
    const { parse } = await import('dotenv');
    return parse(text);
  } catch (cause) {
    if (cause instanceof GannetError) throw cause;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new GannetError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Returns an environment without wallet keys: without the usual variable, those that the configuration points at, and
 * those whose value has the form of a key.
 */
export async function withoutKeys(environment: Environment, { workingDir, config }: {
  readonly workingDir: string; readonly config: string | undefined;
}): Promise<CleanEnvironment> {
  const text = await readConfigText(resolve(workingDir, config ?? DEFAULT_CONFIG_FILE));
  const values = [...Object.entries(environment.variables), ...Object.entries(environment.dotenv)];
  const named = new Set([USUAL_NAME, ...pointedAt(text), ...values.flatMap(([, value]) => pointedAt(value ?? ''))]);
  if (!isPlain(text)) {
    const { keySourceOf } = await import('./yaml-reading.ts');
    named.add(keySourceOf(text, merged(environment))?.replace(/^env:/, '') ?? USUAL_NAME);
  }
  const { isWalletKey } = values.some(([, value]) => mayBeKey(value)) ? await import('./key-shape.ts')
    : { isWalletKey: () => false };
  const withheld = new Set(values.filter(([name, value]) =>
    value !== undefined && (named.has(name) || (mayBeKey(value) && isWalletKey(value)))).map(([name]) => name));
  const keep = (record: Variables): Variables =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !withheld.has(name)));
  return { variables: keep(environment.variables), dotenv: keep(environment.dotenv), withheld: [...withheld].sort() };
}

/** No form of a key is shorter. */
function mayBeKey(value: string | undefined): boolean {
  return value !== undefined && value.length >= 63;
}

/**
 * The variables that a text mentions as `env:NAME` outside of comments. Parsing the configuration takes longer than
 * most commands, so it is parsed only where that is necessary.
 */
function pointedAt(text: string): string[] {
  if (!text.includes('env:')) return [];
  return [...withoutComments(text).matchAll(/env:([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name!);
}

/** Whether the place of the key is visible without parsing YAML: no escapes, and no variable or alias for it. */
function isPlain(text: string): boolean {
  if (text.includes('\\')) return false;
  return [...text.matchAll(/key_from/g)].every(({ index }) => {
    const line = text.slice(text.lastIndexOf('\n', index) + 1, index);
    // A "#" in the middle of a line may be part of a quoted text.
    if (line.includes('#')) return line.trimStart().startsWith('#');
    return /^["']?\s*:\s*["']?(?:env:[A-Za-z_]\w*|file:[^\s"'${},]+)["']?(?=[\s,}]|$)/.test(text.slice(index
      + 'key_from'.length));
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(/(^|\s)#.*$/gm, '');
}

/** Empty where it cannot be read: the command reports that. */
async function readConfigText(file: string): Promise<string> {
  try {
    // A pipe can be read only once, by the command.
    const facts = await stat(file);
    return facts.isFile() && facts.size <= MAX_CONFIG_BYTES ? await readFile(file, 'utf8') : '';
  } catch {
    return '';
  }
}
