import type { Subscription } from 'rxjs';
import { filter, take, timer } from 'rxjs';
import type { CommandContext } from '../command.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../output/terminal.ts';
import { configError, strategyFaults } from '../../config/config-issue.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { ConnectionSettings } from '../../config/resolve-config.ts';
import type { StrategyReader } from '../../config/strategies/strategy-reader.ts';
import { GUESSED_DECIMALS } from '../../config/resolve-tokens.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { StrategyHosts } from '../../daemon/hosts/host-generations.ts';
import type { LoadAgain } from '../../daemon/reload/reloader.ts';
import { openHosts } from '../../daemon/hosts/strategy-hosts.ts';
import type { ConnectionOptions, Connections } from '../../daemon/run/connections.ts';
import { openConnections } from '../../daemon/run/connections.ts';
import { systemClock } from '../../daemon/watch/system-clock.ts';
import type { Mint } from '../../market/token.ts';
import { interruption, untilInterrupted } from '../../recording/interrupt.ts';

/** A configuration, and the connections to the service and the chain that it names. */
interface Configured {
  readonly loaded: LoadedConfig;
  /** Closing them ends the processes of strategies as well. */
  readonly connections: Connections;
  /** The processes of the strategies, of a command that runs them. */
  readonly hosts: StrategyHosts | undefined;
  /** Loads the configuration again, its strategies by `reader`. Throws CONFIG_INVALID with every fault. */
  readonly loadAgain: LoadAgain;
}

/** The context of a command that reads from the configured service. */
export interface ServiceRequest extends CommandContext, Omit<Configured, 'hosts' | 'loadAgain'> {}

/** For commands that need none of the configured tokens, so that the service is not asked about them. */
export const NO_TOKENS = { tokens: false } as const;

/**
 * Returns the action of a command that reads from the configured service or chain. The connections are closed after it;
 * an interrupt ends it at once.
 */
export function serviceRequest<Args extends readonly unknown[]>(
  action: (request: ServiceRequest, ...args: Args) => Promise<ExitCode>, needs: { readonly tokens?: boolean } = {},
): (context: CommandContext, ...args: Args) => Promise<ExitCode> {
  return async (context, ...args) => {
    const configured = await openConfigured(context, 'read', needs);
    return untilInterrupted(context.interrupt, configured.connections, () =>
      action({ ...context, ...configured }, ...args));
  };
}

interface OpeningFlags {
  readonly live?: boolean | undefined;
  /** False for commands that need none of the configured tokens. */
  readonly tokens?: boolean | undefined;
  /** Whether a command that only reads needs to know what the strategies watch. */
  readonly strategies?: boolean | undefined;
}

/** How long a run waits at its start for a service that does not answer. */
const START_TIMEOUT_MS: Millis = 5 * 60_000;

/**
 * Loads the configuration and connects to the service and the chain that it names. Reading needs fewer settings than
 * running; swapping real money needs `live` from the command line. Closes the connections on failure.
 * Throws CONFIG_INVALID or LIVE_REFUSED with every fault, INTERRUPTED, and what the connection throws.
 */
export async function openConfigured(
  context: CommandContext, purpose: 'run' | 'read',
  { live: liveConsent, tokens = true, strategies = purpose === 'run' }: OpeningFlags = {},
): Promise<Configured> {
  const { options, environment, withheld, interrupt } = context;
  const opening: {
    connections?: Promise<Connections>; notice?: Subscription | undefined; closing?: Promise<void> | undefined;
  } = {};
  const onWaiting = (message: string): void => { context.terminal.err(`${printable(message, 500)}\n`); };
  const startTimeout = purpose === 'run' ? { withinMs: START_TIMEOUT_MS, onWaiting } : undefined;
  const open = (settings: ConnectionSettings): Promise<Connections> => {
    opening.connections ??= openConnections({ ...connectionOptions(settings, context), startTimeout })
      .then((opened) => {
        opening.notice = noticeWaiting(opened, context.terminal);
        return { ...opened, close: () => { opening.notice?.unsubscribe(); return opened.close(); } };
      });
    return opening.connections;
  };
  const hosts = strategies ? openHosts({ clock: systemClock }) : undefined;
  const close = async (): Promise<void> => {
    opening.closing ??= opening.connections?.then((opened) => opened.close(), () => undefined);
    await Promise.all([opening.closing, hosts?.close()]);
  };
  const onInterrupt = (): void => { void close(); };
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  try {
    const load = (
      strategyReader: StrategyReader | undefined, leftOut?: ReadonlySet<number>,
    ): ReturnType<typeof loadConfig> => loadConfig({
      file: options.config,
      purpose,
      liveConsent,
      workingDir: process.cwd(),
      environment,
      withheld,
      stateDir: options.stateDir,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      strategyReader,
      leftOut,
      decimalsOf: async (mints: readonly Mint[], settings) => (
        tokens ? (await open(settings)).decimalsOf(mints) : guessedDecimals(mints)),
    });
    const loaded = await load(hosts);
    if (!loaded.ok) throw configError(loaded);
    const loadAgain: LoadAgain = async (reader, leftOut) => {
      const again = await load(reader, leftOut);
      if (again.ok) return again;
      const faults = strategyFaults(again.issues);
      if (faults === undefined) throw configError(again);
      return { faults };
    };
    const connections = await open(loaded.config);
    if (purpose === 'run') await connections.ensureReachable();
    else await hosts?.close();
    if (interrupt.aborted) throw interruption();
    return { loaded, connections: { ...connections, close }, hosts, loadAgain };
  } catch (error) {
    await close();
    throw interrupt.aborted ? interruption(error) : error;
  } finally {
    interrupt.removeEventListener('abort', onInterrupt);
    // A run may wait for other reasons, and reports them itself.
    if (purpose === 'run') opening.notice?.unsubscribe();
  }
}

/** Returns decimals that no amount is computed with. */
function guessedDecimals(mints: readonly Mint[]): ReadonlyMap<Mint, number> {
  return new Map(mints.map((mint) => [mint, GUESSED_DECIMALS]));
}

/**
 * Returns the options that connect to a configuration's service and chain. All commands share one memory of the request
 * rate.
 */
export function connectionOptions(
  { service, chain, seed }: ConnectionSettings, { options, terminal }: Pick<CommandContext, 'options' | 'terminal'>,
): ConnectionOptions {
  const onFault = (message: string): void => { terminal.err(`${printable(message, 500)}\n`); };
  return {
    baseUrl: service.baseUrl, rpcUrl: chain.rpcUrl, furtherRpcUrls: chain.furtherRpcUrls, wsUrl: chain.wsUrl,
    apiKey: service.apiKey, dialect: service.dialect, plan: service.plan,
    rateMemory: { stateDir: options.stateDir, onFault },
    tokenRecords: { stateDir: options.stateDir, onFault },
    onUnread: (member) => { onFault(`left out of an answer of the service, as it cannot be read: ${member}`); },
    seed, clock: systemClock,
  };
}

const NOTICE_AFTER_MS: Millis = 1_500;
const CHECK_EVERY_MS: Millis = 500;

/** Prints once, and only on a terminal, that the request rate of the plan delays the command. */
function noticeWaiting(
  { service }: Pick<Connections, 'service'>, terminal: Pick<Terminal, 'err'>,
): Subscription | undefined {
  if (!process.stderr.isTTY) return undefined;
  return timer(NOTICE_AFTER_MS, CHECK_EVERY_MS, systemClock)
    .pipe(filter(() => service.stats().main.queued > 0), take(1))
    .subscribe(() => { terminal.err('waiting: the request rate of the plan is used up for now …\n'); });
}
