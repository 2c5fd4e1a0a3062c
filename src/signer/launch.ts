import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { printable } from '../core/text.ts';
import type { Variables } from './environment.ts';

/** The command that runs beside the signer. */
export interface Beside {
  readonly command: { readonly args: readonly string[]; readonly variables: Record<string, string> };
  /** The original command line, which the signer reads itself. */
  readonly args: readonly string[];
  /** With the keys. */
  readonly environment: Variables;
  readonly workingDir: string;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Signals that end a process without a core file of its memory. */
const WITHOUT_CORE: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGPIPE']);

/**
 * Starts a command as this process's child, signs for it within the rules, and ends with the same exit code or signal.
 */
export function launchBesideSigner({ command, args, environment, workingDir }: Beside): void {
  const child =
    spawn(process.execPath, command.args, { env: command.variables, stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
  child.on('error', (error) => {
    process.stderr.write(`the command cannot be started beside the signer: ${printable(error.message)}\n`);
    process.exit(1);
  });
  // A terminal sends an interrupt to both processes, a supervisor to this one alone: the command treats two at once as
  // one.
  for (const signal of FORWARDED) process.on(signal, () => { child.kill(signal); });
  const serving: { close?: () => void } = {};
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
  const channel = child.stdio[3] as Duplex;
  // Requests wait in the channel until the rules are loaded.
  void import('./server.ts').then(({ serve }) => { serving.close = serve({ channel, args, environment, workingDir }); })
    .catch((error: unknown) => {
      process.stderr.write(
        `the signer cannot be started: ${printable(error instanceof Error ? error.message : String(error))}\n`,
      );
      channel.destroy();
    });
}

function endBy(signal: NodeJS.Signals): void {
  for (const forwarded of FORWARDED) process.removeAllListeners(forwarded);
  if (WITHOUT_CORE.has(signal)) process.kill(process.pid, signal);
  // The signal would leave a core file with the key in it.
  else process.exit(128 + constants.signals[signal]);
}
