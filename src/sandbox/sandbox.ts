import { setTimeout as sleep } from 'node:timers/promises';
import { GannetError, messageOf } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { loadDialect } from '../service/wire/dialect.ts';
import type { HostProfile } from '../service/wire/host-profile.ts';
import { createChainSetup, createIds, type ChainSetup } from './chain-setup.ts';
import type { SandboxChain } from './chain/chain.ts';
import { MAKER_MINTS } from './genesis.ts';
import { createEpisodes } from './market/episodes.ts';
import { createLaunches } from './market/launches.ts';
import { createLending } from './market/lending.ts';
import type { PriceMotion } from './market/price-process.ts';
import { createTokenContents } from './market/token-content.ts';
import { createTimeline } from './prediction/catalogue.ts';
import { createPredictionExchange } from './prediction/exchange.ts';
import { SLOWEST_REQUEST_MS } from './rpc/http.ts';
import type { NodeLimits } from './rpc/node-limits.ts';
import { startRpc } from './rpc/server.ts';
import { createScenario, type ScenarioStep } from './scenario.ts';
import { createService } from './service/app.ts';
import { createBlockhashHistory } from './service/blockhash-history.ts';
import { foreignPrograms } from './service/build/foreign-programs.ts';
import { PROFILES, type Profile, type ServiceContext } from './service/context.ts';
import { createFaults } from './service/faults/faults.ts';
import type { RateLimit } from './service/http/rate-limit.ts';
import { createRateLimits, requireRateLimit } from './service/http/rate-limit.ts';
import { createOrders } from './service/order/kept-orders.ts';
import { createMaker } from './service/order/maker.ts';
import { traitsOf, type HostTraits } from './service/host-traits.ts';
import { createRouters } from './service/routing/routing.ts';
import { createStrangers } from './service/strangers.ts';
import { createQuotes } from './service/v1/quoted-route.ts';

export { PROFILES, type Profile } from './service/context.ts';
export type { RateLimit } from './service/http/rate-limit.ts';
export type { ScenarioStep } from './scenario.ts';

export interface SandboxOptions {
  /** The service's port; 0 or absent takes a free one. */
  readonly port?: number;
  readonly rpcPort?: number;
  readonly seed?: number;
  /** Market steps per slot; 0 freezes the market while slots go on. */
  readonly speed?: number;
  readonly scenario?: readonly ScenarioStep[];
  readonly slotMs?: number;
  /** Whether answers follow the description or the live service where they differ; the description by default. */
  readonly profile?: Profile;
  /** A host's profile: answers as that host was found to, and like the profile `live` where the file says nothing. */
  readonly host?: HostProfile;
  /** The accepted API keys; absent accepts any that is not empty. */
  readonly apiKeys?: readonly string[];
  /** The dialect of the service, a name from config/dialects; neutral names by default. */
  readonly dialect?: string;
  /**
   * The rate limit of each key, in real time, not the sandbox's; absent means none. Without a key the profile `live`
   * has the limits that the live service was seen to have.
   */
  readonly rateLimit?: RateLimit;
  /** A request that has not arrived whole by then is refused; 15 s by default. */
  readonly slowestRequestMs?: number;
  /** Where given, time begins at this instant and passes by `advance` alone, so that answers depend on the seed. */
  readonly virtualStartMs?: number;
  /** How prices move; around a level by default. */
  readonly motion?: PriceMotion;
  /**
   * Whether the market has what is rare on a quiet one: rushes into tokens, launches in demand, and books that are
   * stale or lean to a side. The owners trade on the prediction markets. None by default.
   */
  readonly episodes?: { readonly owners: readonly string[] } | undefined;
}

/** The addresses, wallet and tokens of a sandbox: the first line of `gannet sandbox --json`. */
export interface SandboxAddresses {
  readonly base_url: string;
  readonly rpc_url: string;
  readonly ws_url: string;
  readonly wallet: { readonly address: string; readonly private_key: string };
  readonly tokens: readonly {
    readonly mint: string; readonly symbol: string; readonly name: string; readonly decimals: number;
    readonly token_program: string;
  }[];
}

export interface Sandbox {
  readonly addresses: SandboxAddresses;
  readonly chain: SandboxChain;
  /** Lets slots pass, the market with them. */
  advance(slots: number): void;
  /** Returns the market's price of one whole token in US dollars. */
  usdPrice(mint: string): number;
  /** Answers a request as the service's port does, without a connection. */
  answer(request: DirectRequest): Promise<DirectAnswer>;
  close(): Promise<void>;
}

/** A request to the embedded service. */
interface DirectRequest {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface DirectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

const HOST = '127.0.0.1';
const DEFAULT_SLOT_MS = 400;
const DEFAULT_SEED = 7;
/** Blocks before the start, so that blockhashes of every age exist from the first request on. */
const SLOTS_BEFORE_START = 160;
/** The most slots that the chain catches up with after a pause of the machine. */
const MOST_SLOTS_AT_ONCE = 25;

/** The live service's observed limit without a key: five requests within ten seconds of the first. */
const KEYLESS: RateLimit = { kind: 'fixed', requests: 5, windowMs: 10_000, executeRequests: 200, headers: true };

const LARGEST_SPEED = 10_000;
const LARGEST_SLOT_MS = 3_600_000;

/**
 * Starts the embedded service and chain in this process. Only this module reads the wall clock for the sandbox. Throws
 * CONFIG_INVALID on invalid options or an invalid scenario, SANDBOX_FAILED when a port is taken.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  requireOptions(options);
  const { seed = DEFAULT_SEED, speed = 1, slotMs = DEFAULT_SLOT_MS, host, rateLimit } = options;
  const profile = host === undefined ? (options.profile ?? 'reference') : 'live';
  const traits = traitsOf(profile, host);
  const { slowestRequestMs = SLOWEST_REQUEST_MS } = options;
  const dialect = options.dialect === undefined || options.dialect === 'neutral' ? undefined
    : loadDialect(options.dialect);
  const { virtualStartMs, motion } = options;
  const startedAtMs = virtualStartMs ?? Date.now();
  const startedOnMs = performance.now();
  const episodes = options.episodes === undefined ? undefined : createEpisodes(seed);
  const foreign = traits.hasForeignPrograms ? foreignPrograms(options.dialect ?? 'neutral') : undefined;
  const setup = createChainSetup({
    seed, slotMs, motion, genesisUnixSeconds: Math.floor(startedAtMs / 1_000), episodes, foreign,
  });
  const { chain, market } = setup;
  const strangers =
    traits.hasStrangers ? createStrangers({ seed, chain, wallet: setup.wallet.address }) : undefined;
  const blockhashes = createBlockhashHistory();
  const faults = createFaults({ random: seededRandom(`${seed}:faults`) });
  // Slots that only confirm a swap do not count here: time, the market and scenarios run by the clock's slots.
  let slotsPassed = 0;
  let marketSteps = 0;
  const nowMs = (): number => startedAtMs + slotsPassed * slotMs;
  const nextId = createIds({ seed, nowMs });
  const scenario = createScenario({
    steps: options.scenario ?? [],
    slotMs,
    perform: (action) => (action.kind === 'fault' ? faults.add(action.rule) : market.setPrice(action)),
  });

  const produceBlock = (): void => {
    chain.advanceSlots(1);
    blockhashes.add(chain.latestBlockhash());
  };
  const advanceSlots = (count: number): void => {
    // Only the newest blockhashes matter to the history: a long leap creates the rest at once. In virtual time no
    // transaction is made between two leaps, so that one blockhash is enough.
    const oneByOne = Math.min(count, virtualStartMs === undefined ? SLOTS_BEFORE_START : 1);
    if (count > oneByOne) chain.advanceSlots(count - oneByOne);
    for (let i = 0; i < oneByOne; i++) produceBlock();
    const before = slotsPassed;
    slotsPassed += count;
    const stepsDue = Math.floor(slotsPassed * speed) - marketSteps;
    if (stepsDue > 0) market.step(stepsDue);
    marketSteps += stepsDue;
    scenario.run({ from: before, to: slotsPassed });
    prediction.keepUp();
    strangers?.run({ from: before, to: slotsPassed });
  };

  for (let i = 0; i < SLOTS_BEFORE_START; i++) produceBlock();
  const timeline = createTimeline({ now: () => slotsPassed, startedAtMs, slotMs, speed, firstChainSlot: chain.slot });
  const prediction = createPredictionExchange({
    seed, wallet: setup.wallet.address, timeline, contracts: profile === 'live' ? 'hundredth' : 'whole',
    episodes, owners: options.episodes?.owners,
  });
  const context = createContext(setup, {
    prediction, profile, traits, foreign, seed, speed, faults, blockhashes, nextId, nowMs, advanceSlots, startedAtMs,
    confirm: produceBlock, apiKeys: options.apiKeys === undefined ? undefined : new Set(options.apiKeys),
    stopwatchMs: virtualStartMs === undefined ? () => performance.now() : () => 0, hasDemand: episodes !== undefined,
  });
  const rates = createRateLimits({
    keyed: rateLimit ?? traits.limit, keyless: traits.limit ?? (profile === 'live' ? KEYLESS : undefined),
    nowMs: () => startedAtMs + performance.now() - startedOnMs,
  });
  const service = createService(context, { dialect, limits: rates, slowestRequestMs });
  const baseUrl = await opened('service', service.listen({ host: HOST, port: options.port ?? 0 }));
  const startedRpc = startRpc({
    chain, host: HOST, port: options.rpcPort ?? 0, slowestRequestMs,
    ...(host === undefined ? {} : { limits: nodeLimits(traits) }),
  });
  const rpc = await opened('RPC', startedRpc)
    .catch(async (error: unknown) => {
      await service.close();
      throw error;
    });

  const stopClock = virtualStartMs === undefined ? startClock(slotMs, advanceSlots) : (): void => undefined;
  return {
    addresses: {
      base_url: baseUrl,
      rpc_url: rpc.url,
      ws_url: rpc.wsUrl,
      wallet: { address: setup.wallet.address, private_key: setup.wallet.privateKey },
      tokens: setup.tokens.map(({ mint, symbol, name, decimals, tokenProgram }) =>
        ({ mint, symbol, name, decimals, token_program: tokenProgram })),
    },
    chain,
    advance: advanceSlots,
    usdPrice: (mint) => market.usdPrice(mint),
    async answer({ method, url, headers, body }) {
      const { statusCode: status, headers: own, rawPayload } = await service.inject({
        method, url, headers, ...(body === undefined ? {} : { payload: body }),
      });
      return { status, headers: plainHeaders(own), body: rawPayload };
    },
    async close() {
      stopClock();
      await Promise.all([service.close(), rpc.close()]);
    },
  };
}

type ContextParts = Pick<
  ServiceContext,
  'prediction' | 'profile' | 'traits' | 'foreign' | 'seed' | 'speed' | 'faults' | 'blockhashes' | 'nextId' | 'nowMs'
  | 'advanceSlots' | 'confirm' | 'apiKeys' | 'stopwatchMs'
> & { readonly startedAtMs: number; readonly hasDemand: boolean };

function createContext(setup: ChainSetup, { startedAtMs, hasDemand, ...parts }: ContextParts): ServiceContext {
  const { chain, market, pools, table, feeOwner, tipAccounts, gas, tokens } = setup;
  const { seed, nextId, nowMs, prediction: { timeline, identifiers } } = parts;
  const addressOf = (purpose: string): string => identifiers.address(purpose);
  let transactionsMade = 0;
  return {
    ...parts, chain, market, pools, table, feeOwner, tipAccounts, tipAccount: tipAccounts[0]!, gas,
    lending: createLending({ tokens, wallet: setup.wallet.address, startedAtMs, addressOf }),
    launches: createLaunches({
      seed, chain, slot: () => timeline.now(), unixSeconds: (slot) => timeline.unixSeconds(slot), addressOf, hasDemand,
    }),
    contents: createTokenContents({ seed, slot: () => timeline.now() }),
    tokens: new Map(tokens.map((token) => [token.mint, token])),
    routers: createRouters({ pools, readPool: chain.readPool }),
    maker: createMaker({
      key: setup.maker, chain, market, mints: MAKER_MINTS, nextId, unixSeconds: () => Math.floor(nowMs() / 1_000),
    }),
    orders: createOrders({ nowMs }),
    quotes: createQuotes({ nowMs }),
    delay: (ms) => sleep(ms, undefined, { ref: false }),
    nextNumber: () => ++transactionsMade,
  };
}

function nodeLimits({ node, latencyMs }: HostTraits): NodeLimits {
  const ms = latencyMs.node;
  return { ...node, ...(ms === 0 ? {} : { delay: () => sleep(ms, undefined, { ref: false }) }) };
}

/** Throws CONFIG_INVALID on invalid options. */
function requireOptions({ speed = 1, slotMs = DEFAULT_SLOT_MS, ...options }: SandboxOptions): void {
  requireNumber('speed', speed, { min: 0, max: LARGEST_SPEED });
  requireNumber('slotMs', slotMs, { min: 1, max: LARGEST_SLOT_MS });
  const { profile = 'reference', rateLimit, slowestRequestMs = SLOWEST_REQUEST_MS } = options;
  if (!PROFILES.includes(profile)) throw new GannetError(
    'CONFIG_INVALID', `profile: expected one of ${PROFILES.join(', ')}, got ${JSON.stringify(profile)}`,
  );
  if (rateLimit !== undefined) requireRateLimit(rateLimit);
  requireNumber('slowestRequestMs', slowestRequestMs, { min: 1, max: 600_000 });
}

/** Advances the slots with the wall clock; returns a function that stops it. */
function startClock(slotMs: number, advanceSlots: (count: number) => void): () => void {
  const startMs = performance.now();
  let slotsDue = 0;
  const clock = setInterval(() => {
    const elapsed = Math.floor((performance.now() - startMs) / slotMs);
    const count = Math.min(elapsed - slotsDue, MOST_SLOTS_AT_ONCE);
    slotsDue = elapsed;
    if (count > 0) advanceSlots(count);
  }, slotMs);
  return () => clearInterval(clock);
}

function plainHeaders(
  headers: Readonly<Record<string, number | string | string[] | undefined>>,
): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) =>
    (value === undefined ? [] : [[name, typeof value === 'number' ? String(value) : value]])));
}

/** Returns the address of a server that listens. Throws SANDBOX_FAILED when it could not. */
async function opened<Address>(name: string, listening: Promise<Address>): Promise<Address> {
  try {
    return await listening;
  } catch (cause) {
    throw new GannetError(
      'SANDBOX_FAILED', `the sandbox's ${name} cannot listen on ${HOST}: ${messageOf(cause)}`, { cause },
    );
  }
}

function requireNumber(name: string, value: number, { min, max }: { min: number; max: number }): void {
  if (value >= min && value <= max) return;
  throw new GannetError(
    'CONFIG_INVALID', `${name}: expected a number of ${min} to ${max}, got ${value}`, { details: { found: value } },
  );
}
