import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import type { Chain } from '../chain/chain.ts';
import { createChain } from '../chain/chain.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { SpawnedSandbox } from '../sandbox/spawn.ts';
import { spawnSandbox } from '../sandbox/spawn.ts';
import { loadDialect } from '../service/wire/dialect.ts';
import type { RateMemory } from '../service/rate-memory.ts';
import { createFileRateMemory } from '../service/rate-memory.ts';
import type { RatePlan } from '../service/rate-plan.ts';
import type { Service } from '../service/service.ts';
import { createService } from '../service/service.ts';

/** Where the service and the chain are. `embedded` starts a sandbox that ends with this process. */
export interface WorldOptions {
  readonly baseUrl: string;
  readonly rpcUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly dialect: string;
  readonly plan: RatePlan;
  /** Where it is remembered how much was asked of a real service, so that a restart stays within its rate; absent: nowhere. */
  readonly rateMemory?: { readonly stateDir: string; readonly onFault: (message: string) => void } | undefined;
  readonly seed: number;
  readonly clock: Clock;
}

/** The outside: a service, mostly a chain, and the sandbox where they are embedded. */
export interface World {
  readonly service: Service;
  readonly chain: Chain | undefined;
  readonly sandbox: SpawnedSandbox | undefined;
  /** For people. */
  readonly description: string;
  /** Returns the decimals of mints: the service's word, held against the mint account where there is a chain. Unknown mints are left out. */
  decimalsOf(mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>>;
  /** Asks service and chain for a sign of life. Throws SERVICE_UNREACHABLE, SERVICE_TIMEOUT, SERVICE_UNAUTHORIZED or CHAIN_UNREACHABLE. */
  ensureReachable(): Promise<void>;
  close(): Promise<void>;
}

/** The embedded service lets any key in. */
const EMBEDDED_KEY = 'embedded-service';
const RATE_MEMORY_FILE = 'service-rate.json';

/** Connects to the world, starting the embedded one where it is asked for. Asks nothing of a real service yet. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { clock, dialect, baseUrl, rpcUrl, seed } = options;
  const embedded = baseUrl === 'embedded';
  const sandbox = embedded || rpcUrl === 'embedded' ? await spawnSandbox({ seed, dialect: embedded ? dialect : 'neutral' }) : undefined;
  const serviceUrl = embedded ? sandbox!.addresses.base_url : baseUrl;
  const chainUrl = rpcUrl === 'embedded' ? sandbox!.addresses.rpc_url : rpcUrl;
  const service = createService({
    baseUrl: serviceUrl,
    apiKey: embedded ? EMBEDDED_KEY : options.apiKey,
    dialect: loadDialect(dialect),
    plan: options.plan,
    clock,
    // What an embedded service has counted ends with it.
    rateMemory: embedded || options.rateMemory === undefined ? undefined : openRateMemory(options.rateMemory),
  });
  const chain = chainUrl === undefined ? undefined : createChain({ rpcUrl: chainUrl, clock });
  return {
    service,
    chain,
    sandbox,
    description: embedded ? `the embedded service and chain (${serviceUrl})` : `${serviceUrl}${chainUrl === undefined ? '' : `, chain ${new URL(chainUrl).host}`}`,
    decimalsOf: (mints) => decimalsOf(service, chain, mints),
    ensureReachable: async () => {
      // The embedded ones have just said where they are.
      if (!embedded) await expectAnswer(service.tokens.search([SOL_MINT]), ['SERVICE_UNREACHABLE', 'SERVICE_TIMEOUT', 'SERVICE_UNAUTHORIZED']);
      if (chain !== undefined && rpcUrl !== 'embedded') await expectAnswer(chain.version(), ['CHAIN_UNREACHABLE']);
    },
    close: async () => {
      await Promise.all([service.close(), chain?.close()]);
      await sandbox?.stop();
    },
  };
}

/** Without a place for it the rate is still kept, except across restarts. */
function openRateMemory({ stateDir, onFault }: NonNullable<WorldOptions['rateMemory']>): RateMemory | undefined {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    onFault(`the state directory ${stateDir} cannot be made: ${messageOf(cause)}; the next process will not know how much was asked of the service`);
    return undefined;
  }
  return createFileRateMemory(join(stateDir, RATE_MEMORY_FILE), { onFault });
}

/** Any answer is one: a service that has trouble at the moment may be well again in a minute, and its feeds tell. */
async function expectAnswer(asked: Promise<unknown>, unanswered: readonly ErrorCode[]): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isGannetError(error) || unanswered.includes(error.code)) throw error;
  }
}

async function decimalsOf(service: Service, chain: Chain | undefined, mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> {
  const { records } = await service.tokens.search(mints);
  const known = new Map<Mint, number>();
  for (const mint of mints) {
    const record = records.find(({ id }) => id === mint);
    const onChain = chain === undefined ? undefined : await mintDecimals(chain, mint);
    if (record !== undefined && onChain !== undefined && record.decimals !== onChain) {
      throw new GannetError('TOKEN_UNKNOWN', `the service gives ${mint} ${record.decimals} decimals, its mint account ${onChain}: it is not used`);
    }
    const decimals = onChain ?? record?.decimals;
    if (decimals !== undefined) known.set(mint, decimals);
  }
  return known;
}

async function mintDecimals(chain: Chain, mint: Mint): Promise<number | undefined> {
  try {
    return await chain.mintDecimals(mint);
  } catch (error) {
    if (isGannetError(error) && error.code === 'MINT_INVALID') return undefined;
    throw error;
  }
}
