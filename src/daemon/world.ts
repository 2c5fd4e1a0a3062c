import type { ErrorCode } from '../core/errors.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import type { Chain } from '../chain/chain.ts';
import { createChain } from '../chain/chain.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import type { SpawnedSandbox } from '../sandbox/spawn.ts';
import { spawnSandbox } from '../sandbox/spawn.ts';
import { loadDialect } from '../service/wire/dialect.ts';
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
/** Fast enough never to be felt; it still goes through the one choke point. */
const EMBEDDED_REQUESTS_PER_SECOND = 1_000;

/** Connects to the world, starting the embedded one where it is asked for. Asks nothing of a real service yet. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { clock, dialect, baseUrl, rpcUrl, seed } = options;
  const embedded = baseUrl === 'embedded';
  const sandbox = embedded || rpcUrl === 'embedded' ? await spawnSandbox({ seed }) : undefined;
  const serviceUrl = embedded ? sandbox!.addresses.base_url : baseUrl;
  const chainUrl = rpcUrl === 'embedded' ? sandbox!.addresses.rpc_url : rpcUrl;
  const service = createService({
    baseUrl: serviceUrl,
    apiKey: embedded ? EMBEDDED_KEY : options.apiKey,
    dialect: loadDialect(dialect),
    plan: embedded ? { requestsPerSecond: EMBEDDED_REQUESTS_PER_SECOND } : options.plan,
    clock,
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
