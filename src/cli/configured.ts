import type { Subscription } from 'rxjs';
import type { LoadedConfig } from '../config/load.ts';
import { loadConfig } from '../config/load.ts';
import { configError } from '../config/issue.ts';
import type { Connections } from '../config/resolve.ts';
import { GUESSED_DECIMALS } from '../config/resolve-tokens.ts';
import { printable } from '../core/text.ts';
import type { Mint } from '../market/token.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { World, WorldOptions } from '../daemon/world.ts';
import { openWorld } from '../daemon/world.ts';
import type { CommandContext } from './command.ts';
import { interruption } from './interrupt.ts';
import { noticeWaiting } from './waiting-notice.ts';

/** A configuration together with the world that it names. */
export interface Configured {
  readonly loaded: LoadedConfig;
  readonly world: World;
}

interface OpeningFlags {
  readonly live?: boolean | undefined;
  /** False where a command needs none of the configured tokens, so that nothing is asked about them. */
  readonly tokens?: boolean | undefined;
}

/** How long a run waits at its start for a service that has trouble. */
const START_PATIENCE_MS = 5 * 60_000;

/**
 * Loads the configuration and connects to what it names, once; to look needs less than to run, and to swap real money needs
 * the command line's `live`. Closes the connection where it cannot be used.
 * Throws CONFIG_INVALID or LIVE_REFUSED with every fault, INTERRUPTED, and what the connection throws.
 */
export async function openConfigured(
  context: CommandContext, purpose: 'run' | 'look', { live: liveConsent, tokens = true }: OpeningFlags = {},
): Promise<Configured> {
  const { options, environment, withheld, interrupt } = context;
  const opening: { world?: Promise<World>; notice?: Subscription | undefined; closing?: Promise<void> | undefined } = {};
  const onWaiting = (message: string): void => { context.terminal.err(`${printable(message, 500)}\n`); };
  const patience = purpose === 'run' ? { withinMs: START_PATIENCE_MS, onWaiting } : undefined;
  const open = (connections: Connections): Promise<World> => {
    opening.world ??= openWorld({ ...worldOptions(connections, context), patience }).then((world) => {
      opening.notice = noticeWaiting(world, context.terminal);
      return { ...world, close: () => { opening.notice?.unsubscribe(); return world.close(); } };
    });
    return opening.world;
  };
  const close = async (): Promise<void> => {
    opening.closing ??= opening.world?.then((world) => world.close(), () => undefined);
    await opening.closing;
  };
  const cut = (): void => { void close(); };
  interrupt.addEventListener('abort', cut, { once: true });
  try {
    const loaded = await loadConfig({
      file: options.config,
      purpose,
      liveConsent,
      workingDir: process.cwd(),
      environment,
      withheld,
      stateDir: options.stateDir,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      decimalsOf: async (mints: readonly Mint[], connections) => (tokens ? (await open(connections)).decimalsOf(mints) : unasked(mints)),
    });
    if (!loaded.ok) throw configError(loaded);
    const world = await open(loaded.config);
    if (purpose === 'run') await world.ensureReachable();
    if (interrupt.aborted) throw interruption();
    return { loaded, world };
  } catch (error) {
    await close();
    throw interrupt.aborted ? interruption(error) : error;
  } finally {
    interrupt.removeEventListener('abort', cut);
    // A run has reasons of its own to wait.
    if (purpose === 'run') opening.notice?.unsubscribe();
  }
}

/** Decimals that nothing is computed with. */
function unasked(mints: readonly Mint[]): ReadonlyMap<Mint, number> {
  return new Map(mints.map((mint) => [mint, GUESSED_DECIMALS]));
}

/** Returns how to reach what a configuration names; every command remembers in one place how much was asked of the service. */
export function worldOptions({ service, chain, seed }: Connections, { options, terminal }: Pick<CommandContext, 'options' | 'terminal'>): WorldOptions {
  const onFault = (message: string): void => { terminal.err(`${printable(message, 500)}\n`); };
  return {
    baseUrl: service.baseUrl, rpcUrl: chain.rpcUrl, apiKey: service.apiKey, dialect: service.dialect, plan: service.plan,
    rateMemory: { stateDir: options.stateDir, onFault },
    tokenRecords: { stateDir: options.stateDir, onFault },
    seed, clock: systemClock,
  };
}
