import { Socket } from 'node:net';
import { CommanderError, Option } from 'commander';
import { LOG_LEVELS } from '../daemon/log.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { isGannetError } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { createSignerClient } from '../signer/client.ts';
import { dotenvFolders, merged, readDotenv, withoutKeys } from '../signer/environment.ts';
import type { HandedOn } from '../signer/handed-on.ts';
import { SIGNER_FD, takeHandedOn } from '../signer/handed-on.ts';
import type { CommandContext, GlobalOptions, RunCommand } from './command.ts';
import { addCommands } from './commands.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { refuseUnmakable } from './file-places.ts';
import { GannetCommand } from './gannet-command.ts';
import type { Hide, Terminal } from './terminal.ts';
import { hideKeysOf, processTerminal, reportError } from './terminal.ts';

export const VERSION = '0.1.0';

const COMMON_OPTIONS = '\nEvery command also takes --json, --config, --state-dir, --base-url, --rpc-url, --api-key-env and --log-level: see "gannet help".';
const EXIT_CODES = '\nExit codes: 0 done, 1 what was asked did not come true, 2 usage or configuration (nothing was started), 3 a run\nthat ended while trading was halted (by risk, an operator or the file STOP), 130 interrupted.';

/** Runs the command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const handedOn = takeHandedOn(process.env);
  const wantsJson = argv.includes('--json');
  const hide = await hideKeysOf(argv.slice(2));
  const code: { value: ExitCode } = { value: EXIT.done };
  const output = watchOutput();
  const program = new GannetCommand('gannet')
    .description('watches Solana markets and swaps when a strategy says so')
    .version(VERSION)
    .option('--json', 'one JSON document on standard output, everything else on standard error', false)
    .option('--config <file>', 'the configuration (default: config/gannet.yaml, else the built-in one)')
    .option('--state-dir <dir>', 'where runs, recordings and the journal are kept', './state')
    .option('--base-url <url>', 'the service, instead of the configured one')
    .option('--rpc-url <url>', 'the chain’s RPC, instead of the configured one')
    .option('--api-key-env <name>', 'the environment variable that holds the API key')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('warn'))
    .showHelpAfterError('Add --help to see what the command takes.')
    .addHelpText('after', EXIT_CODES)
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : COMMON_OPTIONS))
    .exitOverride()
    .configureOutput({ writeErr: (text) => { if (!wantsJson) process.stderr.write(hide(text)); } });
  await addCommands(program, { argv, run: runner(program, { code, handedOn, output, hide }) });
  program.helpCommand(true);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(processTerminal(wantsJson, hide), error);
    if (error.exitCode === 0) return EXIT.done;
    if (wantsJson) process.stdout.write(`${hide(stringifyJson({ error: { code: 'USAGE', message: usageMessage(error), details: {} } }))}\n`);
    return EXIT.usage;
  }
  return code.value;
}

/** Commander says `(outputHelp)` where a command is missing, and begins its messages for people. */
function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'expected a command; "gannet help" lists them' : message.replace(/^error: /, '');
}

function runner(program: GannetCommand, { code, handedOn, output, hide }: {
  readonly code: { value: ExitCode }; readonly handedOn: HandedOn | undefined; readonly output: Output; readonly hide: Hide;
}): RunCommand {
  return (action) => async (...args) => {
    const options = globalOptions(program);
    const terminal = processTerminal(options.json, hide);
    const interrupt = interruptions(output);
    try {
      refuseUnmakable(options.stateDir, '--state-dir');
      const context: CommandContext = {
        terminal, options, interrupt,
        ...await environmentOf(handedOn, options.config),
        connectSigner: handedOn?.signer === true ? () => createSignerClient(new Socket({ fd: SIGNER_FD })) : undefined,
      };
      // commander appends the command itself to what the action asked for; it takes what it names.
      code.value = await (action as (context: CommandContext, ...args: readonly unknown[]) => Promise<ExitCode>)(context, ...args);
    } catch (error) {
      if (output.fault() === undefined) code.value = reportError(output.isClosed() && isInterruption(error) ? silent(terminal) : terminal, error);
    }
    // What the last words ran into is told a turn later.
    await new Promise((resolve) => { setImmediate(resolve); });
    const fault = output.fault();
    if (fault === undefined) return;
    terminal.err(`the output cannot be written: ${printable(fault.message)}\n`);
    code.value = EXIT.failed;
  };
}

function globalOptions(program: GannetCommand): GlobalOptions {
  const options = program.opts<Partial<GlobalOptions>>();
  return {
    json: options.json ?? false,
    config: options.config,
    stateDir: options.stateDir ?? './state',
    baseUrl: options.baseUrl,
    rpcUrl: options.rpcUrl,
    apiKeyEnv: options.apiKeyEnv,
    logLevel: options.logLevel ?? 'warn',
  };
}

/** Launchers pass an interrupt on that the terminal has sent to everybody already: within this time two are one. */
const ONE_INTERRUPT_MS = 1_000;

/** What became of standard output and standard error. */
interface Output {
  /** Aborted where they take no more, unless a disk is full: it may have room again, and a run must not stop selling for its output. */
  readonly ended: AbortSignal;
  /** Returns whether the reader of a pipe closed it. */
  readonly isClosed: () => boolean;
  /** Returns what else keeps the output from being written. */
  readonly fault: () => Error | undefined;
}

/** Hears what becomes of the output; a pipe that its reader closed is no fault, also while help is printed. */
function watchOutput(): Output {
  const ended = new AbortController();
  let fault: Error | undefined;
  let closed = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') closed = true;
      else fault ??= error;
      if (error.code !== 'ENOSPC') ended.abort();
    });
  }
  return { ended: ended.signal, isClosed: () => closed, fault: () => fault };
}

/** Returns what the first interrupt aborts, or the end of the output; a second interrupt ends the process. A terminal that is closed is an interrupt too. */
function interruptions({ ended }: Output): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = systemClock.now();
      if (!controller.signal.aborted) {
        firstAt = now;
        controller.abort();
      } else if (now - firstAt > ONE_INTERRUPT_MS) {
        process.exit(EXIT.interrupted);
      }
    });
  }
  ended.addEventListener('abort', () => { controller.abort(); }, { once: true });
  if (ended.aborted) controller.abort();
  return controller.signal;
}

function isInterruption(error: unknown): boolean {
  return isGannetError(error) && error.code === 'INTERRUPTED';
}

/** Of a terminal whose reader went away. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined, err: () => undefined };
}

/** Behind the first process everything has been read, and no key is in it. Started without it, this one reads, and drops what it finds. */
async function environmentOf(handedOn: HandedOn | undefined, config: string | undefined): Promise<Pick<CommandContext, 'environment' | 'withheld'>> {
  const place = { workingDir: process.cwd(), config };
  if (handedOn?.dotenv !== undefined) return { environment: merged({ variables: process.env, dotenv: handedOn.dotenv }), withheld: handedOn.withheld };
  const clean = await withoutKeys({ variables: process.env, dotenv: await readDotenv(dotenvFolders(place)) }, place);
  // What the first process took out of the variables is in none of the files that it could not read.
  return { environment: merged(clean), withheld: [...handedOn?.withheld ?? [], ...clean.withheld] };
}
