import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../../chain/chain.ts';
import { createChain } from '../../chain/chain.ts';
import { wsUrlOf } from '../../chain/node-socket.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { SpawnedSandbox } from '../../sandbox/spawn.ts';
import { dropPreparedSandbox, spawnSandbox } from '../../sandbox/spawn.ts';
import type { RateMemory } from '../../service/rate/rate-memory.ts';
import { createFileRateMemory } from '../../service/rate/rate-memory.ts';
import type { RatePlan } from '../../service/rate/rate-plan.ts';
import type { Service } from '../../service/service.ts';
import { createService } from '../../service/service.ts';
import type { HostAnswer } from '../../service/transport.ts';
import { loadDialect } from '../../service/wire/dialect.ts';
import type { StartTimeout, TokenRecordStore } from './service-start.ts';
import { askWithinTimeout, isServiceTrouble, openTokenRecordStore } from './service-start.ts';

/** The addresses of the service and the chain. `embedded` starts a sandbox that ends with this process. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly rpcUrl: string | undefined;
  /** More nodes of the same chain; none for an embedded one. */
  readonly furtherRpcUrls?: readonly string[] | undefined;
  /** Where the nodes take subscriptions: "off", or one address; by default derived from those of the nodes. */
  readonly wsUrl?: string | undefined;
  readonly apiKey: string | undefined;
  readonly dialect: string;
  readonly plan: RatePlan;
  /** Stores the request rate of a real service, so that a restart stays within it. Absent for no store. */
  readonly rateMemory?: { readonly stateDir: string; readonly onFault: (message: string) => void } | undefined;
  /** Stores token records of a real service, for starts while it has trouble. Absent for no store. */
  readonly tokenRecords?: { readonly stateDir: string; readonly onFault: (message: string) => void } | undefined;
  /** Takes the name of each optional member of the service's answers that could not be read, once. */
  readonly onUnread?: ((member: string) => void) | undefined;
  /** How long a start waits for a service that has trouble. Absent for one attempt. */
  readonly startTimeout?: StartTimeout | undefined;
  readonly seed: number;
  readonly clock: Clock;
  /** Called with each successful answer of the service. */
  readonly onAnswer?: ((answer: HostAnswer) => void) | undefined;
}


/** The connected service, the chain where there is one, and the sandbox where they are embedded. */
export interface Connections {
  readonly service: Service;
  readonly chain: Chain | undefined;
  readonly sandbox: SpawnedSandbox | undefined;
  /** For people. */
  readonly description: string;
  /**
   * Returns the decimals of mints from the service, checked against the mint accounts where there is a chain. Omits
   * unknown mints.
   */
  decimalsOf(mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>>;
  /**
   * Throws SERVICE_UNREACHABLE, SERVICE_TIMEOUT, SERVICE_UNAUTHORIZED, SERVICE_FORBIDDEN or CHAIN_UNREACHABLE without
   * an answer.
   */
  ensureReachable(): Promise<void>;
  close(): Promise<void>;
}

/** The embedded service accepts any key. */
const EMBEDDED_KEY = 'embedded-service';
const RATE_MEMORY_FILE = 'service-rate.json';

/** Opens the connections, and starts the sandbox for embedded ones. Sends no request to a real service yet. */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const { clock, dialect, baseUrl, rpcUrl, furtherRpcUrls = [], wsUrl, seed } = options;
  const embedded = baseUrl === 'embedded';
  const sandbox = embedded || rpcUrl === 'embedded'
    ? await spawnSandbox({ seed, dialect: embedded ? dialect : 'neutral' }) : undefined;
  if (sandbox === undefined) dropPreparedSandbox();
  const serviceUrl = embedded ? sandbox!.addresses.base_url : baseUrl;
  const chainUrl = rpcUrl === 'embedded' ? sandbox!.addresses.rpc_url : rpcUrl;
  const service = createService({
    baseUrl: serviceUrl,
    apiKey: embedded ? EMBEDDED_KEY : options.apiKey,
    dialect: loadDialect(dialect),
    plan: options.plan,
    clock,
    onAnswer: options.onAnswer,
    onUnread: options.onUnread,
    // The counts of an embedded service end with it.
    rateMemory: embedded || options.rateMemory === undefined ? undefined : openRateMemory(options.rateMemory),
  });
  const chain = chainUrl === undefined ? undefined : createChain({
    rpcUrl: chainUrl, furtherRpcUrls, clock,
    wsUrls: wsUrl === 'off' ? [] : rpcUrl === 'embedded' ? [sandbox!.addresses.ws_url]
      : wsUrl !== undefined ? [wsUrl] : [chainUrl, ...furtherRpcUrls].map(wsUrlOf),
  });
  const closed = new AbortController();
  const records = embedded || options.tokenRecords === undefined
    ? undefined
    : openTokenRecordStore({ ...options.tokenRecords, scope: `${serviceUrl} ${chainUrl ?? ''}` });
  const ask = <T>(send: () => Promise<T>): Promise<T> =>
    askWithinTimeout(send, { clock, timeout: options.startTimeout, signal: closed.signal });
  const searched = (mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> =>
    ask(() => searchDecimals({ service, records, onWaiting: options.startTimeout?.onWaiting }, mints));
  return {
    service,
    chain,
    sandbox,
    description: embedded ? `the embedded service and chain (${serviceUrl})`
      : `${serviceUrl}${chainUrl === undefined ? '' : `, chain ${hostsOf([chainUrl, ...furtherRpcUrls])}`}`,
    decimalsOf: (mints) => decimalsOf(searched, chain, mints),
    ensureReachable: async () => {
      // Embedded ones have just reported their addresses.
      if (!embedded) await expectAnswer(
        service.tokens.search([SOL_MINT]),
        ['SERVICE_UNREACHABLE', 'SERVICE_TIMEOUT', 'SERVICE_UNAUTHORIZED', 'SERVICE_FORBIDDEN'],
      );
      if (chain !== undefined && rpcUrl !== 'embedded') await expectAnswer(chain.version(), ['CHAIN_UNREACHABLE']);
    },
    close: async () => {
      closed.abort();
      await Promise.all([service.close(), chain?.close()]);
      await sandbox?.stop();
    },
  };
}

function hostsOf(urls: readonly string[]): string {
  return urls.map((url) => new URL(url).host).join(' and ');
}

/** Without a store the rate is still limited, but not across restarts. */
function openRateMemory({ stateDir, onFault }: NonNullable<ConnectionOptions['rateMemory']>): RateMemory | undefined {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    onFault(`the state directory ${stateDir} cannot be created: ${messageOf(cause)}; the next process will not know `
      + 'the request rate of this one');
    return undefined;
  }
  return createFileRateMemory(join(stateDir, RATE_MEMORY_FILE), { onFault });
}

/** Any answer is enough: a service with trouble may recover in a minute, and its feeds report that. */
async function expectAnswer(asked: Promise<unknown>, unanswered: readonly ErrorCode[]): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isGannetError(error) || unanswered.includes(error.code)) throw error;
  }
}

/** Returns decimals from the service. While it does not answer, stored records are used where they are complete. */
async function searchDecimals({ service, records: store, onWaiting }: {
  readonly service: Service;
  readonly records: TokenRecordStore | undefined;
  readonly onWaiting: ((message: string) => void) | undefined;
}, mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> {
  try {
    const { records } = await service.tokens.search(mints);
    const found = new Map(records.filter(({ id }) => mints.includes(id)).map(({ id, decimals }) => [id, decimals]));
    store?.save(found);
    return found;
  } catch (error) {
    const stored = store?.load();
    const isTrouble = isGannetError(error) && (isServiceTrouble(error) || error.code === 'SERVICE_UNREACHABLE');
    if (!isTrouble || stored === undefined || !mints.every((mint) => stored.has(mint))) throw error;
    onWaiting?.(`waiting for the service: ${error.message}; the token records of an earlier run are used until then`);
    return stored;
  }
}

async function decimalsOf(
  searched: (mints: readonly Mint[]) => Promise<ReadonlyMap<Mint, number>>, chain: Chain | undefined,
  mints: readonly Mint[],
): Promise<ReadonlyMap<Mint, number>> {
  const found = await searched(mints);
  const known = new Map<Mint, number>();
  for (const mint of mints) {
    const record = found.get(mint);
    const onChain = chain === undefined ? undefined : await mintDecimals(chain, mint);
    if (record !== undefined && onChain !== undefined && record !== onChain) {
      throw new GannetError(
        'TOKEN_UNKNOWN', `${mint} has ${record} decimals according to the service, but ${onChain} in its mint account: `
          + 'it cannot be used',
      );
    }
    const decimals = onChain ?? record;
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
