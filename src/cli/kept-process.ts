import { Console } from 'node:console';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IS_SOURCE, PROJECT_DIR } from '../core/code-files.ts';
import { GannetError } from '../core/errors.ts';
import { EXIT } from './exit-codes.ts';
import { processTerminal, reportError } from './output/terminal.ts';

/**
 * Keeps a strategy that runs in this process from printing or ending in place of the command. What it prints goes to
 * standard error; when it ends the process, the command has failed (exit code 1). Where the installed packages are not
 * those of the checkout, they are named as the likely cause (exit code 2). Returns the call to make once the command is
 * done.
 */
export function keepProcess(json: boolean): () => void {
  globalThis.console = new Console(process.stderr);
  let isDone = false;
  process.on('exit', (code) => {
    if (isDone || code === EXIT.interrupted) return;
    const fault = packagesFault(resolve(PROJECT_DIR));
    process.exitCode = reportError(processTerminal(json), fault === undefined ? new GannetError('PROCESS_ENDED',
      'something ended the process before the command was done, such as a bug, or a strategy that calls '
      + 'process.exit(): '
      + 'there is no result, and the next run recovers a swap that was in progress')
      : new GannetError('PACKAGES_OUTDATED', fault));
  });
  return () => { isDone = true; };
}

/**
 * Ends the process with exit code 2 where its code cannot be loaded because of the installed packages. Throws other
 * errors on.
 */
export function refuseOutdated(error: unknown, json: boolean, done: () => void): never {
  const fault = packagesFault(resolve(PROJECT_DIR));
  if (fault === undefined) throw error;
  done();
  process.exit(reportError(processTerminal(json), new GannetError('PACKAGES_OUTDATED', fault)));
}

/** What `package.json` says, as far as it is needed here. */
interface PackageFile {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns what is wrong with the installed packages of a checkout, and what to do; undefined where each has the version
 * that `package.json` pins. Packages are found as Node finds them: in `node_modules` of the folder, or of one above.
 */
export function packagesFault(checkout: string): string | undefined {
  const { dependencies = {} } = readPackage(join(checkout, 'package.json')) ?? {};
  for (const [name, wanted] of Object.entries(dependencies)) {
    const found = installedVersion(checkout, name);
    const isPinned = /^\d/.test(wanted);
    if (found !== undefined && (!isPinned || found === wanted)) continue;
    return `the package ${name} is ${found === undefined ? 'not installed' : `installed as ${found}`}`
      + `${isPinned ? `, and ${wanted} is needed` : ''}: `
      + (IS_SOURCE ? `run "npm ci" in ${checkout}` : 'install gannet again with npm');
  }
  return undefined;
}

function installedVersion(from: string, name: string): string | undefined {
  const path = join(from, 'node_modules', name, 'package.json');
  if (existsSync(path)) return readPackage(path)?.version;
  const above = dirname(from);
  return above === from ? undefined : installedVersion(above, name);
}

function readPackage(path: string): PackageFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageFile;
  } catch {
    // A file that cannot be read is as good as none: its package counts as not installed.
    return undefined;
  }
}
