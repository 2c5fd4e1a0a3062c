import type { LoadedConfig } from '../config/load.ts';
import { loadConfig } from '../config/load.ts';
import { configError } from '../config/issue.ts';
import type { Connections } from '../config/resolve.ts';
import type { Mint } from '../market/token.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { World } from '../daemon/world.ts';
import { openWorld } from '../daemon/world.ts';
import type { CommandContext } from './command.ts';

/** A configuration together with the world that it names. */
export interface Configured {
  readonly loaded: LoadedConfig;
  readonly world: World;
}

/**
 * Loads the configuration and connects to what it names, once; to look needs less than to run. Closes the connection where it cannot be used.
 * Throws CONFIG_INVALID with every fault, and what the connection throws.
 */
export async function openConfigured({ options, environment }: CommandContext, purpose: 'run' | 'look'): Promise<Configured> {
  const opening: { world?: Promise<World> } = {};
  const open = (connections: Connections): Promise<World> => {
    opening.world ??= openWorld(worldOptions(connections));
    return opening.world;
  };
  try {
    const loaded = await loadConfig({
      file: options.config,
      purpose,
      workingDir: process.cwd(),
      environment,
      stateDir: options.stateDir,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      decimalsOf: async (mints: readonly Mint[], connections) => (await open(connections)).decimalsOf(mints),
    });
    if (!loaded.ok) throw configError(loaded);
    const world = await open(loaded.config);
    if (purpose === 'run') await world.ensureReachable();
    return { loaded, world };
  } catch (error) {
    await opening.world?.then((world) => world.close(), () => undefined);
    throw error;
  }
}

function worldOptions({ service, chain, seed }: Connections): Parameters<typeof openWorld>[0] {
  return {
    baseUrl: service.baseUrl, rpcUrl: chain.rpcUrl, apiKey: service.apiKey, dialect: service.dialect, plan: service.plan,
    seed, clock: systemClock,
  };
}
