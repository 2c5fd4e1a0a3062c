import { CommanderError, Option } from 'commander';
import { addCommands } from './command-list.ts';
import type { CommandContext, GlobalOptions, RunCommand } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { GannetCommand } from './gannet-command.ts';
import { refuseImpossibleFolder } from './input/files.ts';
import type { Output } from './output/process-output.ts';
import { interruptions, reported, watchOutput } from './output/process-output.ts';
import type { Redact } from './output/terminal.ts';
import { linesWrapped, outputColumns, processTerminal, redactKeysOf, reportError } from './output/terminal.ts';
import { VERSION } from '../core/code-files.ts';
import { stringifyJson } from '../core/json.ts';
import { CONTROL_TOKENS, SIGNALS_TOKEN } from '../core/secret-strength.ts';
import { LOG_LEVELS } from '../daemon/reporting/log-levels.ts';
import type { HandedOn } from '../signer/command-process.ts';
import { dotenvFolders, merged, readDotenv, withoutKeys } from '../signer/environment.ts';

const COMMON_OPTIONS = 'Every command also takes --json, --config, --state-dir, --base-url, --rpc-url, --api-key-env '
  + 'and --log-level; see "gannet help".';
const EXIT_CODES = 'Exit codes: 0 done; 1 failed; 2 usage or configuration error, nothing was started; 3 the run ended '
  + 'while trading was halted (by risk, an operator or the file STOP); 130 interrupted.';
/** The width of help when the output has none, such as a pipe. */
const USUAL_COLUMNS = 80;
/** The least width of a description beside its name in the help. */
const HELP_LEAST = 16;

/** What the first process and the start of this one prepared; nothing where there was no first process. */
interface Prepared extends Partial<Pick<CommandContext, 'connectSigner'>> {
  readonly handedOn?: HandedOn | undefined;
  /** Runs the commands with strategy code: in a boxed process, unless given. */
  readonly box?: CommandContext['runBoxed'] | undefined;
}

/** Runs the command line and returns its exit code. */
export async function main(
  argv: readonly string[], { handedOn, connectSigner, box = boxedWith(argv.slice(2)) }: Prepared = {},
): Promise<ExitCode> {
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
  await addCommands(program, { argv, run: runner(program, { code, handedOn, connectSigner, output, redact, box }) });
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

/** Loaded only for the commands with strategy code. */
function boxedWith(args: readonly string[]): CommandContext['runBoxed'] {
  return async (context, call) => (await import('./boxed/run-boxed.ts')).runBoxed(context, call, args);
}

function paragraph(text: string): string {
  return `\n${linesWrapped(text, outputColumns() ?? USUAL_COLUMNS)}`;
}

/** Commander reports a missing command as `(outputHelp)`, and starts its messages with "error: ". */
function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'expected a command; "gannet help" lists them' : message.replace(/^error: /, '');
}

function runner(program: GannetCommand, { code, handedOn, connectSigner, output, redact, box }: {
  readonly code: { value: ExitCode }; readonly handedOn: HandedOn | undefined; readonly output: Output;
  readonly redact: Redact; readonly box: CommandContext['runBoxed'];
  readonly connectSigner: CommandContext['connectSigner'];
}): RunCommand {
  return (action) => async (...args) => {
    const options = globalOptions(program);
    const terminal = processTerminal(options.json, redact);
    const interrupt = interruptions(output, (exitCode) => process.exit(exitCode));
    code.value = await reported({ terminal, output }, async () => {
      refuseImpossibleFolder(options.stateDir, '--state-dir');
      const context: CommandContext = {
        terminal, options, interrupt, runBoxed: box,
        ...await environmentOf(handedOn, options.config),
        connectSigner,
      };
      // The context has these; child processes must not.
      for (const name of [...Object.values(CONTROL_TOKENS), SIGNALS_TOKEN]) delete process.env[name];
      // Commander appends the command object to the arguments; the action ignores it.
      return (action as (context: CommandContext, ...args: readonly unknown[]) => Promise<ExitCode>)(context, ...args);
    });
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
