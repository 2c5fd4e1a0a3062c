import { dirname, resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { readEnvironment } from '../config/environment.ts';
import { LOG_LEVELS } from '../daemon/log.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { backtestCommand } from './backtest.ts';
import { benchCommand } from './bench.ts';
import { buildCommand } from './build.ts';
import type { CommandContext, CommandModule, GlobalOptions, RunCommand } from './command.ts';
import { configCommand } from './config.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { discoverCommand } from './discover.ts';
import { eventsCommand } from './events.ts';
import { historyCommand } from './history.ts';
import { inspectTransactionCommand } from './inspect-transaction.ts';
import { lendCommand } from './lend.ts';
import { marketsCommand } from './markets.ts';
import { orderBookCommand } from './order-book.ts';
import { orderCommand } from './order.ts';
import { positionsCommand } from './positions.ts';
import { quoteCommand } from './quote.ts';
import { replayCommand } from './replay.ts';
import { runDaemonCommand } from './run.ts';
import { sandboxCommand } from './sandbox.ts';
import { statusCommand } from './status.ts';
import { swapCommand } from './swap.ts';
import { tokensCommand } from './tokens.ts';
import { processTerminal, reportError } from './terminal.ts';
import { v1Command } from './v1.ts';

export const VERSION = '0.1.0';

/** The commands in the order of the help. */
const COMMANDS: readonly (readonly [heading: string, modules: readonly CommandModule[]])[] = [
  ['Trading:', [runDaemonCommand, statusCommand, swapCommand]],
  ['Trying out:', [sandboxCommand, configCommand, backtestCommand, replayCommand]],
  ['Looking at swaps:', [quoteCommand, orderCommand, buildCommand, inspectTransactionCommand]],
  ['Looking at tokens:', [tokensCommand, discoverCommand]],
  ['Looking at prediction markets:', [eventsCommand, marketsCommand, orderBookCommand, positionsCommand, historyCommand]],
  ['Superseded and side endpoints:', [v1Command, lendCommand]],
  ['About Gannet itself:', [benchCommand]],
];

const COMMON_OPTIONS = '\nEvery command also takes --json, --config, --state-dir, --base-url, --rpc-url, --api-key-env and --log-level: see "gannet help".';
const EXIT_CODES = '\nExit codes: 0 done, 1 what was asked did not come true, 2 usage or configuration (nothing was started), 3 halted,\n130 interrupted.';

/** Runs the command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const wantsJson = argv.includes('--json');
  const code: { value: ExitCode } = { value: EXIT.done };
  const program = new Command('gannet')
    .description('watches Solana markets and swaps when a strategy says so')
    .version(VERSION)
    .option('--json', 'one JSON document on standard output, everything else on standard error', false)
    .option('--config <file>', 'the configuration (default: config/gannet.yaml, else the built-in one)')
    .option('--state-dir <dir>', 'where runs, recordings and the journal are kept', './state')
    .option('--base-url <url>', 'the service, instead of the configured one')
    .option('--rpc-url <url>', 'the chain’s RPC, instead of the configured one')
    .option('--api-key-env <name>', 'the environment variable that holds the API key')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('warn'))
    .showSuggestionAfterError()
    .showHelpAfterError('Add --help to see what the command takes.')
    .addHelpText('after', EXIT_CODES)
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : COMMON_OPTIONS))
    .exitOverride()
    .configureOutput({ writeErr: (text) => { if (!wantsJson) process.stderr.write(text); } });
  for (const [heading, modules] of COMMANDS) {
    program.commandsGroup(heading);
    for (const add of modules) add(program, runner(program, code));
  }
  program.helpCommand(true);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(processTerminal(wantsJson), error);
    if (error.exitCode === 0) return EXIT.done;
    if (wantsJson) process.stdout.write(`${stringifyJson({ error: { code: 'USAGE', message: usageMessage(error), details: {} } })}\n`);
    return EXIT.usage;
  }
  return code.value;
}

/** Commander says `(outputHelp)` where a command is missing, and begins its messages for people. */
function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'expected a command; "gannet help" lists them' : message.replace(/^error: /, '');
}

function runner(program: Command, code: { value: ExitCode }): RunCommand {
  return (action) => async (...args) => {
    const options = globalOptions(program);
    const terminal = processTerminal(options.json);
    const { signal: interrupt, outputFault } = interruptions();
    try {
      const environment = await readEnvironment({ variables: process.env, folders: dotenvFolders(options.config) });
      const context: CommandContext = { terminal, options, environment, interrupt };
      // commander appends the command itself to what the action asked for; it takes what it names.
      code.value = await (action as (context: CommandContext, ...args: readonly unknown[]) => Promise<ExitCode>)(context, ...args);
    } catch (error) {
      if (outputFault() === undefined) code.value = reportError(terminal, error);
    }
    // What the last words ran into is told a turn later.
    await new Promise((resolve) => { setImmediate(resolve); });
    const fault = outputFault();
    if (fault === undefined) return;
    terminal.err(`the output cannot be written: ${printable(fault.message)}\n`);
    code.value = EXIT.failed;
  };
}

function globalOptions(program: Command): GlobalOptions {
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

/**
 * The first interrupt asks for an orderly end; a second one means it. Nobody reading any more is an interrupt too, and so
 * is a place for the output that takes no more of it: that is a fault besides.
 */
function interruptions(): { readonly signal: AbortSignal; readonly outputFault: () => Error | undefined } {
  const controller = new AbortController();
  let firstAt = 0;
  let outputFault: Error | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
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
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') outputFault ??= error;
      controller.abort();
    });
  }
  return { signal: controller.signal, outputFault: () => outputFault };
}

/** A `.env` beside the configuration belongs to it; the one of the working directory wins. */
function dotenvFolders(config: string | undefined): string[] {
  return [...new Set([process.cwd(), config === undefined ? process.cwd() : dirname(resolve(config))])];
}
