import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { newSessionKey } from './channel/channel-frames.ts';
import { onlyReads, readInvocation } from './command-process.ts';
import { signerFolders } from './counters/spend-counters.ts';
import type { ProcessUsers } from './system-users.ts';
import { becomeUser, handOverFolders, processUsers } from './system-users.ts';
import type { SignerPlace } from './channel/server.ts';

/** The command that runs beside the signer. */
interface Beside extends SignerPlace {
  readonly command: { readonly args: readonly string[]; readonly variables: Record<string, string> };
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Signals that end a process without a core file of its memory. */
const WITHOUT_CORE: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGPIPE']);

/**
 * Starts a command as this process's child, signs for it within the rules, and ends with the same exit code or signal.
 */
export function launchBesideSigner({ command, ...place }: Beside): void {
  const users = separateUsers(place);
  const child = spawn(process.execPath, command.args, {
    env: command.variables, stdio: ['inherit', 'inherit', 'inherit', 'pipe'], ...users?.daemon,
  });
  const channel = child.stdio[3] as Duplex;
  const sessionKey = newSessionKey();
  // The child reads it before anything else.
  channel.write(sessionKey);
  child.on('error', (error) => {
    process.stderr.write(`the command cannot be started beside the signer: ${printable(error.message)}\n`);
    process.exit(1);
  });
  if (users !== undefined) becomeUser(users.signer);
  const serving: { close?: () => void; forward?: (signal: NodeJS.Signals) => void } = {};
  // A terminal sends an interrupt to both processes, a supervisor to this one alone: the command treats two at once as
  // one. A process of another user takes no signal of this one, so it is told.
  for (const signal of FORWARDED) process.on(signal, () => {
    if (users === undefined) child.kill(signal);
    else serving.forward?.(signal);
  });
  child.on('exit', (code, signal) => {
    serving.close?.();
    if (code !== null) process.exit(code);
    // A forwarded signal needs no message: its sender knows.
    if (!FORWARDED.some((forwarded) => forwarded === signal)) {
      process.stderr.write(`gannet was ended by ${signal!} from outside (manually, or for lack of memory); open `
        + `intents are in the journal: start it again\n`);
    }
    endBy(signal!);
  });
  // Requests wait in the channel until the rules are loaded.
  void import('./channel/server.ts')
    .then(({ serve }) => { Object.assign(serving, serve({ channel, sessionKey, ...place })); })
    .catch((error: unknown) => {
      process.stderr.write(
        `the signer cannot be started: ${printable(error instanceof Error ? error.message : String(error))}\n`,
      );
      channel.destroy();
    });
}

/** Returns the users of both processes where root starts them as others, and hands their folders over. */
function separateUsers({ args, environment, workingDir }: SignerPlace): ProcessUsers | undefined {
  try {
    const users = processUsers(environment);
    if (users !== undefined && !onlyReads(readInvocation(args)))
      handOverFolders(users, signerFolders({ args, environment, workingDir }));
    return users;
  } catch (error) {
    refuseStart(isGannetError(error) ? error : new GannetError(
      'CONFIG_INVALID', `the folders of the two users cannot be prepared: ${messageOf(error)}`,
    ), args);
  }
}

/** Ends this process with an error in the form that the command line asks for. */
export function refuseStart({ code, message }: GannetError, args: readonly string[]): never {
  if (args.includes('--json'))
    process.stdout.write(`${JSON.stringify({ error: { code, message: printable(message, 2_000), details: {} } })}\n`);
  else process.stderr.write(`${code}: ${printable(message, 2_000)}\n`);
  process.exit(2);
}

function endBy(signal: NodeJS.Signals): void {
  for (const forwarded of FORWARDED) process.removeAllListeners(forwarded);
  if (WITHOUT_CORE.has(signal)) process.kill(process.pid, signal);
  // The signal would leave a core file with the key in it.
  else process.exit(128 + constants.signals[signal]);
}
