import { accessSync, constants, mkdirSync } from 'node:fs';
import { config as rx } from 'rxjs';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { durationFlag, wholeNumber } from '../../input/flags.ts';
import { openConfigured } from '../../input/service-request.ts';
import { channelSecrets } from '../../../config/notifications/channel-config.ts';
import { reportError } from '../../output/terminal.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../../../core/errors.ts';
import { alertSecrets } from '../../../config/operations/alerts-config.ts';
import { addressSecrets } from '../../../core/redaction.ts';
import type { ServiceManager } from '../../../core/process-supervisor.ts';
import { takeServiceManager } from '../../../core/process-supervisor.ts';
import { newRunId } from '../../../daemon/files/find-run.ts';
import type { StrategyHosts } from '../../../daemon/hosts/host-generations.ts';
import type { RunSummary } from '../../../daemon/reporting/counters.ts';
import type { RunEvent } from '../../../daemon/reporting/json-reporter.ts';
import { createEventReporter, createJsonReporter } from '../../../daemon/reporting/json-reporter.ts';
import type { Log } from '../../../daemon/reporting/log.ts';
import { createLog } from '../../../daemon/reporting/log.ts';
import type { Reporter } from '../../../daemon/reporting/reporter.ts';
import { reportToAll } from '../../../daemon/reporting/reporter.ts';
import { createTerminalReporter } from '../../../daemon/reporting/terminal-reporter.ts';
import type { Connections } from '../../../daemon/run/connections.ts';
import { controlTokensOf } from '../../../daemon/control/control-tokens.ts';
import { signalsTokenOf } from '../../../daemon/control/signals.ts';
import { runDaemon } from '../../../daemon/run/daemon.ts';
import { refuseNewerState } from '../../../daemon/state/state-files.ts';
import type { LoadAgain } from '../../../daemon/reload/reloader.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { ACCEPT_COUNTERS_FLAG } from '../../../signer/command-process.ts';
import { countersFolder } from '../../../signer/counters/spend-counters.ts';

/** The flag without which no command swaps real money. */
export const LIVE_FLAG =
  ['--live', 'allows real money to move; needed with mode: live on a real service and chain'] as const;

/** The flag with which an operator accepts the loss of the journal or the counters. */
export const ACCEPT_FLAG = ['--accept-new-journal', 'trades although earlier swaps are missing from the journal or the '
  + 'counters: after a loss, or with a wallet that has swapped before'] as const;

/** The flag with which an operator accepts the loss of the signer's counters; the signer reads it itself. */
export const ACCEPT_COUNTERS = [ACCEPT_COUNTERS_FLAG, 'signs although the signer’s counters are missing, altered or an '
  + 'older copy: their caps start again at nothing; give it once, and lower the caps first'] as const;

interface RunFlags {
  readonly live?: boolean;
  readonly acceptNewJournal?: boolean;
  readonly duration?: number;
  readonly maxIntents?: number;
}

export const runDaemonCommand: CommandModule = (program, run) => {
  program.command('run')
    .description('starts the daemon: recovers open swaps, then trades until it is stopped')
    .option('--duration <duration>', 'ends after this time, such as 10m', durationFlag)
    .option('--max-intents <count>', 'ends after this many completed swaps', wholeNumber(1, 999_999_999))
    .option(...LIVE_FLAG)
    .option(...ACCEPT_FLAG)
    .option(...ACCEPT_COUNTERS)
    .action(run((context, flags: RunFlags) => supervised(context, (manager) => runCommand(context, flags, manager))));
};

/** Faults of a start that may pass by themselves; each other one needs a person. */
const MAY_PASS: ReadonlySet<ErrorCode> = new Set([
  'CHAIN_UNREACHABLE', 'SERVICE_UNREACHABLE', 'SERVICE_TIMEOUT', 'STATE_LOCKED', 'STRATEGY_ENDED', 'STRATEGY_TIMEOUT',
]);

/** Under a service manager the exit code also says whether it should try again. */
async function supervised(
  { terminal }: CommandContext, action: (manager: ServiceManager | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  const manager = takeServiceManager(process.env, (message) => { terminal.err(`${message}\n`); });
  manager?.tell({ status: 'starting' });
  try {
    return await action(manager);
  } catch (error) {
    if (manager === undefined || !isGannetError(error) || !MAY_PASS.has(error.code)) throw error;
    manager.tell({ status: `tries again: ${error.message}` });
    reportError(terminal, error);
    return EXIT.tryAgain;
  } finally {
    manager?.close();
  }
}

async function runCommand(
  context: CommandContext, flags: RunFlags, serviceManager: ServiceManager | undefined,
): Promise<ExitCode> {
  const { terminal } = context;
  if (!terminal.json) terminal.out('  gannet is starting …\n');
  const { loaded: { config }, connections, hosts, loadAgain: loadConfig } = await openConfigured(context, 'run', flags);
  try {
    noteIdleLive(context, flags, config);
    const write = (text: string): void => { terminal.out(text); };
    const reporter = terminal.json ? createJsonReporter(write)
      : createTerminalReporter({
        write, colour: terminal.colour, tokens: config.tokens, isTerminal: process.stdout.isTTY,
      });
    const runId = newRunId(systemClock);
    const scope = { config, connections, hosts, loadConfig, reporter, runId, serviceManager };
    const { trading } = await runIn(context, flags, scope);
    return trading === 'halted' ? EXIT.halted : EXIT.done;
  } finally {
    await connections.close();
  }
}

/** The configuration, connections and reporter of a run. */
interface RunScope {
  readonly config: RunConfig;
  readonly connections: Connections;
  /** The processes of the strategies; undefined for a manual swap, whose code is the project's own. */
  readonly hosts?: StrategyHosts | undefined;
  /** Loads the configuration again; undefined for a manual swap. */
  readonly loadConfig?: LoadAgain | undefined;
  readonly runId: string;
  readonly reporter: Reporter;
  /** Undefined for a manual swap, and where nothing supervises the process. */
  readonly serviceManager?: ServiceManager | undefined;
}

/**
 * Runs the daemon in this process with the command's state directory, log and environment. Throws when it cannot
 * start.
 */
export async function runIn({ options, environment, connectSigner, interrupt }: CommandContext, flags: RunFlags, {
  config, connections, hosts, loadConfig, runId, reporter, serviceManager,
}: RunScope): Promise<RunSummary> {
  // Without a control API the variables are not used, so they may hold anything.
  const controlTokens = controlTokensOf(config.control.enabled ? environment : {});
  const countersDir = countersFolder(options.stateDir, environment, process.cwd());
  refuseNewerState({ stateDir: options.stateDir, countersDir });
  makeStateDir(options.stateDir);
  const { signals } = config;
  const signalsToken = signals === undefined ? undefined
    : signalsTokenOf({ signals, environment, stateDir: options.stateDir });
  const { log, keep, close } = createLog({
    level: options.logLevel,
    secrets: secretsOf(
      environment, config.service.apiKey,
      ...[config.chain.rpcUrl, ...config.chain.furtherRpcUrls, config.chain.wsUrl ?? ''].flatMap(addressSecrets),
      ...alertSecrets(config.alerts),
      connections.sandbox?.addresses.wallet.private_key, ...Object.values(controlTokens), signalsToken,
      ...channelSecrets(config.notifications ?? []),
    ),
    terminal: process.stderr.isTTY,
    file: { stateDir: options.stateDir, name: runId },
  });
  // A strategy may throw in a subscription of its own: it is logged, and the other strategies go on.
  rx.onUnhandledError = (error: unknown) => { log(
    'error',
    'a strategy threw an error that no caller could catch; it must return its stream instead of subscribing to it',
    { error },
  ); };
  const signer = connectSigner?.();
  try {
    return await runDaemon({
      config, connections, hosts, loadConfig, controlTokens, signalsToken, countersDir, stateDir: options.stateDir,
      clock: systemClock, log, runId, interrupt,
      reporter: reportToAll([reporter, createEventReporter((event) => { keepEvent(keep, event); })]),
      durationMs: flags.duration, maxIntents: flags.maxIntents, signer, acceptNewJournal: flags.acceptNewJournal,
      serviceManager,
    });
  } catch (error) {
    // The caller prints a refusal; a bug also belongs into the log.
    if (!isGannetError(error)) log('error', 'the run ended in an error', { error });
    throw error;
  } finally {
    rx.onUnhandledError = null;
    signer?.close();
    await close();
  }
}

/** Writes an event to the log file, at a level that shows whether it needs attention. */
function keepEvent(keep: Log, { type, ...event }: RunEvent & { readonly level?: unknown }): void {
  const { level } = event;
  keep(level === 'critical' ? 'error' : level === 'warning' ? 'warn' : 'info', type, {
    ...event, level: undefined, ...(level === undefined ? {} : { alert_level: level }),
  });
}

/** Prints a note when --live has no effect, because there is no real money to move. */
export function noteIdleLive(
  { terminal }: CommandContext, { live }: Pick<RunFlags, 'live'>, { mode, service }: RunConfig,
): void {
  if (live !== true) return;
  if (mode === 'paper') terminal.err(
    '--live has no effect: the configuration says mode: paper, so nothing is signed and no money moves\n',
  );
  else if (service.baseUrl === 'embedded')
    terminal.err('--live has no effect: the embedded service and its chain move no real money\n');
}

/** Creates the state directory. Throws USAGE when it cannot be created or written. */
function makeStateDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK);
  } catch (cause) {
    throw new GannetError(
      'USAGE', `the state directory ${dir} cannot be written to: ${messageOf(cause)}; name another with --state-dir`,
      { cause },
    );
  }
}

/** Returns the texts that must never appear in a log. */
function secretsOf(environment: CommandContext['environment'], ...others: readonly (string | undefined)[]): string[] {
  const named = Object.entries(environment).filter(([name]) => /KEY|TOKEN|SECRET|WEBHOOK/.test(name))
    .map(([, value]) => value);
  return [...named, ...others].filter((secret) => secret !== undefined && secret !== '') as string[];
}
