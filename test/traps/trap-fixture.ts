import { setTimeout as sleep } from 'node:timers/promises';
import { asyncScheduler } from 'rxjs';
import { Pool } from 'undici';
import { expect } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { createChain } from '../../src/chain/chain.ts';
import { amount } from '../../src/core/amount.ts';
import type { Amount } from '../../src/core/amount.ts';
import type { Clock } from '../../src/core/time.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Profile, Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Service } from '../../src/service/service.ts';
import { createService } from '../../src/service/service.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import type { Ended, Playground } from '../e2e/gannet.ts';
import { createPlayground } from '../e2e/gannet.ts';
import { impatientClock } from '../execution/impatient-clock.ts';
import type { Wire } from './wire.ts';
import { openWire } from './wire.ts';

export const SOL = SOL_MINT;
export const USDC = USDC_MINT;
export const API_KEY = 'traps-0f3b9c1e-key';
export const ORDER = '/swap/v2/order';
export const BUILD = '/swap/v2/build';
export const EXECUTE = '/swap/v2/execute';
/** The blocks of a transaction's validity and those by which "finalized" lags. */
export const PAST_EXPIRY_BLOCKS = 260;
export const SLOT_MS = 10;
const DEFAULT_STRATEGY =
  'strategies: [{ use: dca, budget: "10 USDC", params: { buy: SOL, spend: "1 USDC", every: 1m } }]\n';
/** Shortens the executor's waits of 400 ms between requests. */
const CLOCK_FACTOR = 200;
/** Late timers are harmless, and fewer requests are made until an expiry is proven. */
const CLOCK_LATE = 4;
const SETTLING_MS = 5;

/** An answer as it came over HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined where it is no JSON. */
  // Tests read the wire's answers with assertions, as a user of the service would.
  // oxlint-disable-next-line no-explicit-any
  readonly body: any;
}

export type Query = Readonly<Record<string, string | number | boolean>>;

/** A fault of the sandbox for requests. */
export interface FaultRule {
  readonly path: string;
  readonly fault: Readonly<Record<string, unknown>>;
  readonly times?: number;
}

/** One sandbox in one profile, with a daemon's clients and the sandbox's controls. */
export interface TrapFixture {
  readonly profile: Profile;
  readonly sandbox: Sandbox;
  readonly baseUrl: string;
  readonly rpcUrl: string;
  readonly clock: Clock;
  /** Everything that `service` sent. */
  readonly wire: Wire;
  readonly service: Service;
  readonly chain: Chain;
  mint(symbol: string): Mint;
  /** Returns another client of the same service, open until the end of the case. */
  connect(options?: Partial<Parameters<typeof createService>[0]>): Service;
  /** Sends a request with the key, or with other headers where given. */
  get(path: string, query?: Query, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Calls a control endpoint of the sandbox and returns its answer. */
  lever(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer['body']>;
  fault(rule: FaultRule): Promise<void>;
  clearFaults(): Promise<void>;
  passSlots(count: number): Promise<void>;
  fund(owner: string, mint: Mint, units: bigint): Promise<void>;
  /** Multiplies a token's price, in all its pools and at once, until the end of the case. */
  scalePrice(mint: Mint, factor: number): Promise<void>;
  /** Sets a prediction market's book until the end of the case: pairs of cents and contracts, or null for no book. */
  book(
    marketId: string, yes: readonly (readonly [number, number])[] | null,
    no: readonly (readonly [number, number])[] | null,
  ): Promise<void>;
  usdPrice(mint: Mint): Promise<number>;
  /** Returns what an owner has of a mint, read without the code under test; lamports for SOL. */
  held(owner: string, mint: Mint): Amount;
  /** Runs the command line against this sandbox; `config` is added to the configuration. */
  gannet(args: readonly string[], config?: string): Promise<Ended>;
  /** Registers a stop function for the end of the case, before anything is undone. */
  atEnd(stop: () => void): void;
  /** Undoes the changes of a case. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a fixture. Its market does not move unless a case moves it; its slots are short. */
export async function openTrapFixture(profile: Profile): Promise<TrapFixture> {
  const sandbox = await startSandbox({ seed: 11, speed: 0, slotMs: SLOT_MS, profile, apiKeys: [API_KEY] });
  const { base_url: baseUrl, rpc_url: rpcUrl, wallet, tokens } = sandbox.addresses;
  const clock = impatientClock(CLOCK_FACTOR, CLOCK_LATE);
  const pool = new Pool(baseUrl, { connections: 8 });
  const wire = openWire();
  const connections: Service[] = [];
  const stops: (() => void)[] = [];
  const moved = new Map<Mint, number>();
  let playground: Playground | undefined;
  let commands = 0;

  const open = (options: Partial<Parameters<typeof createService>[0]>): Service => createService({
    baseUrl, apiKey: API_KEY, clock: asyncScheduler, plan: { requestsPerSecond: 100_000 },
    dialect: loadDialect('neutral'),
    ...options,
  });
  const service = open({ dispatcher: wire.dispatcher });
  const chain = createChain({ rpcUrl, clock: asyncScheduler });

  const ask = async (
    method: 'GET' | 'POST' | 'DELETE', path: string, headers: Readonly<Record<string, string>>, body?: string,
  ): Promise<Answer> => {
    const response = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, body: parsed(text) };
  };
  const lever: TrapFixture['lever'] = async (method, path, body) => {
    const answer = await ask(
      method, `/sandbox/${path}`, body === undefined ? {} : { 'content-type': 'application/json' },
      body === undefined ? undefined : JSON.stringify(body),
    );
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const usdPrice = async (mint: Mint): Promise<number> => {
    const { prices } = await lever('GET', 'state') as { prices: { mint: string; usd: number }[] };
    return prices.find((price) => price.mint === mint)!.usd;
  };

  return {
    profile, sandbox, baseUrl, rpcUrl, clock, wire, service, chain, lever, usdPrice,
    mint: (symbol) => tokens.find((token) => token.symbol === symbol)!.mint as Mint,
    connect(options = {}) {
      const client = open(options);
      connections.push(client);
      return client;
    },
    get(path, query = {}, headers = { 'x-api-key': API_KEY }) {
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      return ask('GET', `${path}${search.size === 0 ? '' : `?${search.toString()}`}`, headers);
    },
    async fault({ path, fault, times }) {
      await lever('POST', 'faults', { match: { path }, fault, ...(times === undefined ? {} : { times }) });
    },
    async clearFaults() {
      await lever('DELETE', 'faults');
    },
    async passSlots(count) {
      await lever('POST', 'time', { advance_slots: count });
    },
    async fund(owner, mint, units) {
      await lever('POST', 'fund', { owner, mint, amount: units.toString() });
    },
    async scalePrice(mint, factor) {
      const usd = await usdPrice(mint);
      if (!moved.has(mint)) moved.set(mint, usd);
      await lever('POST', 'price', { mint, usd: usd * factor });
    },
    async book(marketId, yes, no) {
      await lever('POST', 'book', { market_id: marketId, yes, no });
    },
    held: (owner, mint) =>
      amount(mint === SOL ? sandbox.chain.balance(owner) : sandbox.chain.tokenBalance({ owner, mint })),
    async gannet(args, config = '') {
      playground ??= createPlayground();
      commands += 1;
      const file = playground.write(`${commands}.yaml`, `mode: paper
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", requests_per_second: 1000 }
chain: { rpc_url: "${rpcUrl}" }
wallet: { address: ${wallet.address} }
control: { port: 0 }
backtest: { balances: { USDC: "10000", SOL: "1" } }
${config.includes('strategies:') ? '' : DEFAULT_STRATEGY}${config}`);
      return playground.ask([...args, '--config', file, '--state-dir', playground.path(`state-${commands}`)], {
        environment: { GANNET_API_KEY: API_KEY },
      });
    },
    atEnd: (stop) => { stops.push(stop); },
    async tidy() {
      for (const stop of stops.splice(0)) stop();
      await Promise.all(connections.splice(0).map((client) => client.close()));
      // What is on its way still must arrive now: later it would meet the faults of the next play.
      await sleep(SETTLING_MS);
      await lever('DELETE', 'faults');
      await lever('DELETE', 'book');
      for (const [mint, usd] of moved) await lever('POST', 'price', { mint, usd });
      moved.clear();
    },
    async close() {
      await Promise.all([service.close(), chain.close(), pool.destroy(), playground?.close()]);
      await wire.close();
      await sandbox.close();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not everything that answers answers in JSON; the text is at hand.
    return undefined;
  }
}
