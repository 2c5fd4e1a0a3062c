import { flushCompileCache } from 'node:module';
import { entryFile } from '../core/code-files.ts';
import { isGannetError } from '../core/errors.ts';
import { dotenvFolders, merged, readDotenv, withoutKeys } from './environment.ts';
import {
  frugalStart, handOn, isSignerService, KEYS_MARK, maySign, readInvocation, SIGNER_SOCKET,
} from './command-process.ts';

// The first process of every command, and the only one that ever sees a wallet's key. A command that does not sign
// replaces it; a command that signs runs as its child. Every command waits for this file, so it loads little. The
// command "signer" is this process alone, for daemons that start apart from it.

const args = process.argv.slice(2);
const workingDir = process.cwd();
const invocation = readInvocation(args);
const { config } = invocation;
const dotenv = await readDotenv(dotenvFolders({ workingDir, config })).catch((error: unknown): undefined => {
  // The command reads them again and reports the fault in the requested form.
  if (!isGannetError(error)) throw error;
  return undefined;
});
const taken = process.env[KEYS_MARK] === undefined ? undefined
  : (await import('./hidden-keys.ts')).takeHiddenKeys(process.env);
const environment = { variables: { ...process.env, ...taken?.keys }, dotenv: dotenv ?? {} };
const clean = await withoutKeys(environment, { workingDir, config });
const isService = isSignerService(invocation, args);
const socket = process.env[SIGNER_SOCKET] ?? '';
const signs = isService || maySign(invocation);
// With a signer in a unit of its own, this process needs no key.
const beside = signs && !isService && socket === '';
const shown = isService || beside ? clean.withheld.filter((name) => process.env[name] !== undefined) : [];
// It returns only where the keys cannot be hidden.
const keyFault = taken?.fault
  ?? (shown.length === 0 ? undefined : (await import('./hidden-keys.ts')).hideKeys(shown, process.env));
const signer = beside || (signs && !isService && socket);
const start = frugalStart(invocation, {
  options: process.execArgv,
  variables: handOn({ ...clean, dotenv: dotenv === undefined ? undefined : clean.dotenv }, { signer }),
});
const command = {
  // A path, not an import: nothing of it is loaded here.
  args: [...start.options, entryFile('command'), ...args],
  variables: start.variables,
};
const place = { args, environment: merged(environment), keyFault, workingDir };
if (isService) {
  const { serveSocket } = await import('./channel/socket-service.ts');
  await serveSocket(place, socket);
} else if (beside) {
  const { launchBesideSigner } = await import('./launch.ts');
  launchBesideSigner({ command, ...place });
} else {
  flushCompileCache();
  process.execve!(process.execPath, [process.execPath, ...command.args], command.variables);
}
