import { accessSync, constants, mkdirSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { config as rx } from 'rxjs';
import type { RunConfig } from '../config/run-config.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { addressSecrets } from '../core/secret-text.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { newRunId } from '../daemon/run-id.ts';
import { createHumanReporter } from '../daemon/human-reporter.ts';
import type { RunEvent } from '../daemon/json-reporter.ts';
import { createEventReporter, createJsonReporter } from '../daemon/json-reporter.ts';
import type { Log } from '../daemon/log.ts';
import { createLog } from '../daemon/log.ts';
import type { Reporter, RunSummary } from '../daemon/reporter.ts';
import { tellAll } from '../daemon/reporter.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { World } from '../daemon/world.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { durationFlag } from './research/flags.ts';

/** Adds the word without which nothing is swapped on a real service and chain. */
export const LIVE_FLAG = ['--live', 'says that this may move real money; needed with mode: live on a real service and chain'] as const;

/** Adds an operator's word on a state directory that lost what was written in it. */
export const ACCEPT_FLAG = ['--accept-new-journal', 'trades though the journal or the signer’s counters lack earlier swaps: after a loss, or at the first start with a wallet that swapped before'] as const;

interface RunFlags {
  readonly live?: boolean;
  readonly acceptNewJournal?: boolean;
  readonly duration?: number;
  readonly maxIntents?: number;
}

export const runDaemonCommand: CommandModule = (program, run) => {
  program.command('run')
    .description('the daemon: recovers what was open, then trades until it is stopped')
    .option('--duration <duration>', 'ends after this time, "10m"', durationFlag)
    .option('--max-intents <count>', 'ends after this many finished swaps', count)
    .option(...LIVE_FLAG)
    .option(...ACCEPT_FLAG)
    .action(run((context, flags: RunFlags) => runCommand(context, flags)));
};

async function runCommand(context: CommandContext, flags: RunFlags): Promise<ExitCode> {
  const { terminal } = context;
  if (!terminal.json) terminal.out('  gannet is starting …\n');
  const { loaded: { config }, world } = await openConfigured(context, 'run', flags);
  try {
    noteIdleLive(context, flags, config);
    const write = (text: string): void => { terminal.out(text); };
    const reporter = terminal.json ? createJsonReporter(write) : createHumanReporter({ write, colour: terminal.colour, tokens: config.tokens });
    const { trading } = await runIn(context, flags, { config, world, reporter, runId: newRunId(systemClock) });
    return trading === 'halted' ? EXIT.halted : EXIT.done;
  } finally {
    await world.close();
  }
}

/** What a command runs, and who tells of it. */
interface RunScope {
  readonly config: RunConfig;
  readonly world: World;
  readonly runId: string;
  readonly reporter: Reporter;
}

/** Runs the daemon in this process with the command's state directory, log and environment. Throws where it cannot start. */
export async function runIn({ options, environment, connectSigner, interrupt }: CommandContext, flags: RunFlags, { config, world, runId, reporter }: RunScope): Promise<RunSummary> {
  makeStateDir(options.stateDir);
  const { log, keep, close } = createLog({
    level: options.logLevel,
    secrets: secretsOf(environment, config.service.apiKey, ...addressSecrets(config.chain.rpcUrl), world.sandbox?.addresses.wallet.private_key),
    terminal: process.stderr.isTTY,
    file: { stateDir: options.stateDir, name: runId },
  });
  // A strategy that subscribes by itself and throws there: its neighbours go on, and the log has it.
  rx.onUnhandledError = (error: unknown) => { log('error', 'a strategy threw where nobody could catch it; it must return its stream, not subscribe to it', { error }); };
  const signer = connectSigner?.();
  try {
    return await runDaemon({
      config, world, environment, stateDir: options.stateDir, clock: systemClock, log, runId, interrupt,
      reporter: tellAll([reporter, createEventReporter((event) => { keepEvent(keep, event); })]),
      durationMs: flags.duration, maxIntents: flags.maxIntents, signer, acceptNewJournal: flags.acceptNewJournal,
    });
  } catch (error) {
    // What was refused with a reason is told by who called; a bug belongs into the log.
    if (!isGannetError(error)) log('error', 'the run ended in an error', { error });
    throw error;
  } finally {
    rx.onUnhandledError = null;
    signer?.close();
    await close();
  }
}

/** Keeps what happened in the log file: the level of what needs attention stands out. */
function keepEvent(keep: Log, { type, ...event }: RunEvent & { readonly level?: unknown }): void {
  const { level } = event;
  keep(level === 'critical' ? 'error' : level === 'warning' ? 'warn' : 'info', type, { ...event, level: undefined, ...(level === undefined ? {} : { alert_level: level }) });
}

/** Says so where --live was given and there is no real money to move. */
export function noteIdleLive({ terminal }: CommandContext, { live }: Pick<RunFlags, 'live'>, { mode, service }: RunConfig): void {
  if (live !== true) return;
  if (mode === 'paper') terminal.err('--live changes nothing here: the configuration says mode: paper, so nothing is signed and no money moves\n');
  else if (service.baseUrl === 'embedded') terminal.err('--live changes nothing here: the embedded service and its chain move no real money\n');
}

/** Makes the state directory. Throws USAGE where it cannot be made or written to. */
function makeStateDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw new GannetError('USAGE', `the state directory ${dir} cannot be written to: ${messageOf(cause)}; name another with --state-dir`, { cause });
  }
}

/** What must never appear in a log, by its very text. */
function secretsOf(environment: CommandContext['environment'], ...others: readonly (string | undefined)[]): string[] {
  const named = Object.entries(environment).filter(([name]) => /KEY|TOKEN|SECRET|WEBHOOK/.test(name)).map(([, value]) => value);
  return [...named, ...others].filter((secret) => secret !== undefined && secret !== '') as string[];
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1 to 999999999.');
  return Number(text);
}
