import { flushCompileCache } from 'node:module';
import { extname, join } from 'node:path';
import { isGannetError } from '../core/errors.ts';
import { dotenvFolders, merged, readDotenv, withoutKeys } from './environment.ts';
import { frugalStart, handOn, maySign, readInvocation } from './command-process.ts';

// The first process of every command, and the only one that ever sees a wallet's key. A command that does not sign
// replaces it; a command that signs runs as its child. Every command waits for this file, so it loads little.

const args = process.argv.slice(2);
const workingDir = process.cwd();
const invocation = readInvocation(args);
const { config } = invocation;
const dotenv = await readDotenv(dotenvFolders({ workingDir, config })).catch((error: unknown): undefined => {
  // The command reads them again and reports the fault in the requested form.
  if (!isGannetError(error)) throw error;
  return undefined;
});
const environment = { variables: process.env, dotenv: dotenv ?? {} };
const clean = await withoutKeys(environment, { workingDir, config });
const signer = maySign(invocation);
const start = frugalStart(invocation, {
  options: process.execArgv,
  variables: handOn({ ...clean, dotenv: dotenv === undefined ? undefined : clean.dotenv }, { signer }),
});
const command = {
  // A path, not an import: nothing of it is loaded here.
  args: [...start.options, join(import.meta.dirname, '..', 'cli', `main${extname(import.meta.filename)}`), ...args],
  variables: start.variables,
};
if (signer) {
  const { launchBesideSigner } = await import('./launch.ts');
  launchBesideSigner({ command, args, environment: merged(environment), workingDir });
} else {
  flushCompileCache();
  process.execve!(process.execPath, [process.execPath, ...command.args], command.variables);
}
