import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { printable } from '../core/text.ts';
import type { Variables } from './environment.ts';

/** What is to be run beside the signer. */
export interface Beside {
  readonly command: { readonly args: readonly string[]; readonly variables: Record<string, string> };
  /** The command line as it was given: what the signer reads of it, it reads itself. */
  readonly args: readonly string[];
  /** With the keys. */
  readonly environment: Variables;
  readonly workingDir: string;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** By these a process dies without leaving its memory behind as a file. */
const WITHOUT_CORE: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGPIPE']);

/** Starts a command as this process's child, signs for it what its rules allow, and ends as it ends. */
export function launchBesideSigner({ command, args, environment, workingDir }: Beside): void {
  const child = spawn(process.execPath, command.args, { env: command.variables, stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
  child.on('error', (error) => {
    process.stderr.write(`the command cannot be started beside the signer: ${printable(error.message)}\n`);
    process.exit(1);
  });
  // A terminal sends an interrupt to both, a supervisor to this one alone: the command takes two at once for one.
  for (const signal of FORWARDED) process.on(signal, () => { child.kill(signal); });
  const serving: { close?: () => void } = {};
  child.on('exit', (code, signal) => {
    serving.close?.();
    if (code !== null) process.exit(code);
    // Whoever asked for it by a signal of these knows.
    if (!FORWARDED.some((forwarded) => forwarded === signal)) {
      process.stderr.write(`gannet was ended by ${signal!} from outside (by hand, or for want of memory); what was under way is in the journal: start it again\n`);
    }
    endBy(signal!);
  });
  const channel = child.stdio[3] as Duplex;
  // What is asked before the rules are loaded waits in the channel.
  void import('./serve.ts').then(({ serve }) => { serving.close = serve({ channel, args, environment, workingDir }); }).catch((error: unknown) => {
    process.stderr.write(`the signer cannot be started: ${printable(error instanceof Error ? error.message : String(error))}\n`);
    channel.destroy();
  });
}

function endBy(signal: NodeJS.Signals): void {
  for (const forwarded of FORWARDED) process.removeAllListeners(forwarded);
  if (WITHOUT_CORE.has(signal)) process.kill(process.pid, signal);
  // Where the signal did not come through, or would leave a core with the key in it.
  else process.exit(128 + constants.signals[signal]);
}
