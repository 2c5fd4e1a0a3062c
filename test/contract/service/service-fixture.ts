import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { asyncScheduler } from 'rxjs';
import { Pool } from 'undici';
import { expect } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { Profile } from '../../../src/sandbox/service/context.ts';
import type { Service } from '../../../src/service/service.ts';
import { createService } from '../../../src/service/service.ts';
import type { Dialect } from '../../../src/service/wire/dialect.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import { parseSecretKey } from '../../../src/signer/key.ts';
import { createSigner } from '../../../src/signer/sign.ts';

export const SOL = SOL_MINT;
export const USDC = USDC_MINT;
export const API_KEY = 'contract-key';
/** Slots pass when a case says so: a minute each, so that one outlives a maker's quote and three every order. */
const STILL_SLOT_MS = 60_000;

export type Query = Readonly<Record<string, string | number | boolean>>;

/** An answer as it came over HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** In the words of the dialect. */
  // What came over the wire is read with assertions, as a user of the service sees it.
  // oxlint-disable-next-line no-explicit-any
  readonly wire: any;
  /** In neutral words. */
  // Read with assertions too, for the same reason.
  // oxlint-disable-next-line no-explicit-any
  readonly body: any;
}

/** A wallet that signs what names it. */
export interface Wallet {
  readonly address: string;
  /** Returns the transaction with this wallet's signature in its place, both in base64. */
  sign(transaction: string): Promise<string>;
}

/** One sandbox in one dialect and profile, and everything a case may touch it with. */
export interface ServiceFixture {
  readonly dialect: Dialect;
  readonly profile: Profile;
  readonly sandbox: Sandbox;
  /** Our client; its key is let in. */
  readonly service: Service;
  /** The sandbox's own funded wallet. */
  readonly wallet: Wallet;
  mint(symbol: string): string;
  decimals(mint: string): number;
  /** Sends neutral words in the dialect's; `headers` replaces the key. */
  get(path: string, query?: Query, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a line just as it is given. */
  raw(
    method: 'GET' | 'POST' | 'DELETE', path: string, headers?: Readonly<Record<string, string>>, body?: string,
  ): Promise<Answer>;
  /** Works the sandbox's own levers, which know no dialect; returns what they say. */
  control(path: string, body?: object): Promise<Answer['wire']>;
  fault(rule: object): Promise<void>;
  passSlots(count: number): Promise<void>;
  /** A new wallet that owns nothing but what it is given, by mint. */
  newWallet(funds?: Readonly<Record<string, string | bigint>>): Promise<Wallet>;
  /** What an owner has of a mint: tokens, or lamports for SOL. */
  held(owner: string, mint: string): bigint;
  rpc(method: string, params: readonly unknown[]): Promise<Answer['wire']>;
  /** Another client of the same service. */
  connect(apiKey: string | undefined): Service;
  close(): Promise<void>;
}

/** Returns a service and a chain of its own on loopback, whose time and market stand still. */
export async function openFixture(
  options: { readonly dialect: string; readonly profile: Profile; readonly sandbox?: SandboxOptions },
): Promise<ServiceFixture> {
  const dialect = loadDialect(options.dialect);
  const { profile } = options;
  const sandbox = await startSandbox({
    seed: 7, speed: 0, slotMs: STILL_SLOT_MS, profile, dialect: options.dialect, apiKeys: [API_KEY], ...options.sandbox,
  });
  const { addresses } = sandbox;
  const pool = new Pool(addresses.base_url, { connections: 4 });
  const rpcPool = new Pool(addresses.rpc_url, { connections: 1 });
  const wallet = walletOf(addresses.wallet.private_key);
  const clients: Service[] = [];

  const connect = (apiKey: string | undefined): Service => {
    const client = createService({
      baseUrl: addresses.base_url, apiKey, clock: asyncScheduler, plan: { requestsPerSecond: 1_000_000 }, dialect,
    });
    clients.push(client);
    return client;
  };

  const raw: ServiceFixture['raw'] = async (method, path, headers = {}, body) => {
    const response = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    const wire = parsed(text);
    return { status: response.statusCode, headers: response.headers, text, wire, body: wire === undefined ? undefined
      : dialect.fromWire.json(wire) };
  };
  const post: ServiceFixture['post'] = (path, body, headers = { 'x-api-key': API_KEY }) =>
    raw('POST', dialect.toWire.path(path), { 'content-type': 'application/json', ...headers }, JSON.stringify(
      dialect.toWire.json(body as Json),
    ));
  const control: ServiceFixture['control'] = async (path, body) => {
    const answer = await raw(
      body === undefined ? 'GET' : 'POST', path, { 'content-type': 'application/json' },
      body === undefined ? undefined : JSON.stringify(body),
    );
    expect(answer.status, answer.text).toBe(200);
    return answer.wire;
  };

  return {
    dialect, profile, sandbox, wallet, raw, post, control, connect,
    service: connect(API_KEY),
    mint: (symbol) => addresses.tokens.find((token) => token.symbol === symbol)!.mint,
    decimals: (mint) => addresses.tokens.find((token) => token.mint === mint)!.decimals,
    get(path, query = {}, headers = { 'x-api-key': API_KEY }) {
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) =>
        [dialect.toWire.queryName(name), dialect.toWire.queryValue(name, String(value))]));
      return raw('GET', `${dialect.toWire.path(path)}${search.size === 0 ? '' : `?${search.toString()}`}`, headers);
    },
    async fault(rule) {
      await control('/sandbox/faults', rule);
    },
    async passSlots(count) {
      await control('/sandbox/time', { advance_slots: count });
    },
    async newWallet(funds = {}) {
      const fresh = walletOf(bs58.encode(Keypair.generate().secretKey));
      for (const [mint, amount] of Object.entries(funds))
        await control('/sandbox/fund', { owner: fresh.address, mint, amount: amount.toString() });
      return fresh;
    },
    held: (owner, mint) => (mint === SOL ? sandbox.chain.balance(owner) : sandbox.chain.tokenBalance({ owner, mint })),
    async rpc(method, params) {
      const response = await rpcPool.request({
        method: 'POST', path: '/', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return await response.body.json();
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all([pool.close(), rpcPool.close()]);
      await sandbox.close();
    },
  };
}

/** Returns the wallet of a base58 secret key. */
function walletOf(secretKey: string): Wallet {
  const signer = createSigner(parseSecretKey(secretKey));
  return {
    address: signer.address,
    async sign(transaction) {
      const signed = await signer.sign(Buffer.from(transaction, 'base64'));
      return Buffer.from(signed.transaction).toString('base64');
    },
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not everything that answers answers in JSON; the text is at hand.
    return undefined;
  }
}
