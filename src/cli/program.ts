import { Socket } from 'node:net';
import { CommanderError, Option } from 'commander';
import { addCommands } from './command-list.ts';
import type { CommandContext, GlobalOptions, RunCommand } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { GannetCommand } from './gannet-command.ts';
import { refuseImpossibleFolder } from './input/files.ts';
import type { Redact, Terminal } from './output/terminal.ts';
import { linesWrapped, outputColumns, processTerminal, redactKeysOf, reportError } from './output/terminal.ts';
import { isGannetError } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { LOG_LEVELS } from '../daemon/reporting/log.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import { createSignerClient } from '../signer/client.ts';
import type { HandedOn } from '../signer/command-process.ts';
import { SIGNER_FD, takeHandedOn } from '../signer/command-process.ts';
import { dotenvFolders, merged, readDotenv, withoutKeys } from '../signer/environment.ts';

const VERSION = '0.1.0';

const COMMON_OPTIONS = 'Every command also takes --json, --config, --state-dir, --base-url, --rpc-url, --api-key-env '
  + 'and --log-level; see "gannet help".';
const EXIT_CODES = 'Exit codes: 0 done; 1 failed; 2 usage or configuration error, nothing was started; 3 the run ended '
  + 'while trading was halted (by risk, an operator or the file STOP); 130 interrupted.';
/** The width of help when the output has none, such as a pipe. */
const USUAL_COLUMNS = 80;
/** The least width of a description beside its name in the help. */
const HELP_LEAST = 16;

/** Runs the command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const handedOn = takeHandedOn(process.env);
  const wantsJson = argv.includes('--json');
  const redact = await redactKeysOf(argv.slice(2));
  const code: { value: ExitCode } = { value: EXIT.done };
  const output = watchOutput();
  const program = new GannetCommand('gannet')
    .description('watches Solana markets, and swaps when a strategy decides to')
    .version(VERSION)
    .option('--json', 'one JSON document on standard output, everything else on standard error', false)
    .option('--config <file>', 'the configuration file (default: config/gannet.yaml, else the built-in one)')
    .option('--state-dir <dir>', 'the folder of runs, recordings and the journal', './state')
    .option('--base-url <url>', 'the service to use instead of the configured one')
    .option('--rpc-url <url>', 'the RPC node to use instead of the configured one')
    .option('--api-key-env <name>', 'the environment variable that holds the API key')
    .addOption(new Option('--log-level <level>', 'the least severe messages to log').choices(LOG_LEVELS)
      .default('warn'))
    .showHelpAfterError('Add --help for the arguments and options of the command.')
    .addHelpText('after', () => paragraph(EXIT_CODES))
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : paragraph(COMMON_OPTIONS)))
    .exitOverride()
    .configureHelp({ minWidthToWrap: HELP_LEAST, subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeErr: (text) => { if (!wantsJson) processTerminal(false, redact).err(text); },
      getOutHelpWidth: () => outputColumns() ?? USUAL_COLUMNS,
      getErrHelpWidth: () => outputColumns() ?? USUAL_COLUMNS,
    });
  await addCommands(program, { argv, run: runner(program, { code, handedOn, output, redact }) });
  program.helpCommand(true);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(processTerminal(wantsJson, redact), error);
    if (error.exitCode === 0) return EXIT.done;
    if (wantsJson) process.stdout.write(
      `${redact(stringifyJson({ error: { code: 'USAGE', message: usageMessage(error), details: {} } }))}\n`,
    );
    return EXIT.usage;
  }
  return code.value;
}

function paragraph(text: string): string {
  return `\n${linesWrapped(text, outputColumns() ?? USUAL_COLUMNS)}`;
}

/** Commander reports a missing command as `(outputHelp)`, and starts its messages with "error: ". */
function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'expected a command; "gannet help" lists them' : message.replace(/^error: /, '');
}

function runner(program: GannetCommand, { code, handedOn, output, redact }: {
  readonly code: { value: ExitCode }; readonly handedOn: HandedOn | undefined; readonly output: Output;
  readonly redact: Redact;
}): RunCommand {
  return (action) => async (...args) => {
    const options = globalOptions(program);
    const terminal = processTerminal(options.json, redact);
    const interrupt = interruptions(output);
    try {
      refuseImpossibleFolder(options.stateDir, '--state-dir');
      const context: CommandContext = {
        terminal, options, interrupt,
        ...await environmentOf(handedOn, options.config),
        connectSigner: handedOn?.signer === true ? () => createSignerClient(new Socket({ fd: SIGNER_FD })) : undefined,
      };
      // Commander appends the command object to the arguments; the action ignores it.
      code.value =
        await (action as (context: CommandContext, ...args: readonly unknown[]) => Promise<ExitCode>)(context, ...args);
    } catch (error) {
      if (output.fault() === undefined)
        code.value = reportError(output.isClosed() && isInterruption(error) ? silent(terminal) : terminal, error);
    }
    // A failed last write is reported a turn later.
    await new Promise((resolve) => { setImmediate(resolve); });
    const fault = output.fault();
    if (fault === undefined) return;
    terminal.err(`standard output or standard error cannot be written: ${printable(fault.message)}\n`);
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

/**
 * Launchers repeat an interrupt that the terminal has already sent to every process: two within this time count as one.
 */
const ONE_INTERRUPT_MS = 1_000;

/** The state of standard output and standard error. */
interface Output {
  /**
   * Aborted when they can no longer be written. A full disk does not count: it may get room again, and a run must not
   * stop for its output.
   */
  readonly ended: AbortSignal;
  /** Returns whether the reader of a pipe closed it. */
  readonly isClosed: () => boolean;
  /** Returns the error of a write that failed for another reason. */
  readonly fault: () => Error | undefined;
}

/** Watches standard output and standard error. A pipe closed by its reader is no fault, also while help is printed. */
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

/**
 * Returns the signal that the first interrupt aborts, or the end of the output; a second interrupt ends the process. A
 * closed terminal is an interrupt too.
 */
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

/** Returns a terminal that prints nothing, for output that has no reader any more. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined, err: () => undefined };
}

/**
 * Returns the environment with `.env`, without wallet keys. The first process has read it already and passed it on;
 * without that process, this one reads it and drops the keys.
 */
async function environmentOf(
  handedOn: HandedOn | undefined, config: string | undefined,
): Promise<Pick<CommandContext, 'environment' | 'withheld'>> {
  const place = { workingDir: process.cwd(), config };
  if (handedOn?.dotenv !== undefined)
    return { environment: merged({ variables: process.env, dotenv: handedOn.dotenv }), withheld: handedOn.withheld };
  const clean = await withoutKeys({ variables: process.env, dotenv: await readDotenv(dotenvFolders(place)) }, place);
  // The first process took these out of the variables, although it could not read the files.
  return { environment: merged(clean), withheld: [...handedOn?.withheld ?? [], ...clean.withheld] };
}
