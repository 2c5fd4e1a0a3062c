import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';

/** Time stands still in tests: slots pass when a test says so. */
const STILL_SLOT_MS = 3_000_000;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // Assertions check what came over the wire, as a user of the service would read it.
  // oxlint-disable-next-line no-explicit-any
  readonly body: any;
}

/** A wallet that can sign orders. */
export interface TestWallet {
  readonly address: string;
  sign(transaction: string): string;
}

export interface TestSandbox extends Sandbox {
  readonly wallet: TestWallet;
  mint(name: string): string;
  get(path: string, query?: Record<string, string | number>, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  remove(path: string): Promise<Answer>;
  order(query: Record<string, string | number>): Promise<Answer>;
  execute(order: Answer, wallet?: TestWallet): Promise<Answer>;
  newWallet(funds?: Record<string, string>): Promise<TestWallet>;
  rpc(method: string, params: unknown[]): Promise<Answer['body']>;
  passSlots(count: number): Promise<void>;
}

export const SOL = 'So11111111111111111111111111111111111111112';
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const KEY = { 'x-api-key': 'test' };

/** Returns a sandbox of its own, listening on loopback, whose time stands still. */
export async function startTestSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const sandbox = await startSandbox({ seed: 7, slotMs: STILL_SLOT_MS, ...options });
  const { addresses } = sandbox;
  const pool = new Pool(addresses.base_url, { connections: 4 });
  const wallet = walletOfKey(addresses.wallet.private_key);

  const send = async (
    request: { method: 'GET' | 'POST' | 'DELETE'; path: string; headers: Record<string, string>; body?: string },
  ): Promise<Answer> => {
    const { body, ...line } = request;
    const response = await pool.request({ ...line, ...(body === undefined ? {} : { body }) });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, body: parsed(text) };
  };
  const get: TestSandbox['get'] = (path, query = {}, headers = KEY) => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    return send({ method: 'GET', path: search === '' ? path : `${path}?${search}`, headers });
  };
  const post: TestSandbox['post'] = (path, body, headers = KEY) =>
    send({
      method: 'POST', path, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
    });
  const order: TestSandbox['order'] = (query) => get('/swap/v2/order', query);

  return {
    ...sandbox,
    wallet,
    mint: (symbol) => addresses.tokens.find((token) => token.symbol === symbol)!.mint,
    get,
    post,
    remove: (path) => send({ method: 'DELETE', path, headers: KEY }),
    order,
    execute: (answer, signer = wallet) =>
      post('/swap/v2/execute', {
        signedTransaction: signer.sign(answer.body.transaction), requestId: answer.body.requestId,
      }),
    async newWallet(funds = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const address = bs58.encode(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
      for (const [mint, amount] of Object.entries(funds)) {
        const funded = await post('/sandbox/fund', { owner: address, mint, amount });
        if (funded.status !== 200) throw new Error(funded.text);
      }
      return walletOf(privateKey, address);
    },
    async rpc(method, params) {
      const response = await fetchJson(addresses.rpc_url, { jsonrpc: '2.0', id: 1, method, params });
      return response;
    },
    async passSlots(count) {
      await post('/sandbox/time', { advance_slots: count });
    },
    async close() {
      await pool.close();
      await sandbox.close();
    },
  };
}

/** Returns the wallet of a private key in base58. */
export function walletOfKey(privateKey: string): TestWallet {
  const bytes = bs58.decode(privateKey);
  return walletOf(createKey(bytes.subarray(0, 32)), bs58.encode(bytes.subarray(32)));
}

/** Returns a wallet that is the same for the same name. */
export function createWallet(name: string): TestWallet {
  const key = createKey(hash('sha256', name, 'buffer'));
  return walletOf(key, bs58.encode(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)));
}

async function fetchJson(url: string, body: unknown): Promise<Answer['body']> {
  const pool = new Pool(new URL(url).origin);
  try {
    const response = await pool.request({
      method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    });
    return await response.body.json();
  } finally {
    await pool.close();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function createKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]), format: 'der', type: 'pkcs8',
  });
}

const SIGNATURE_BYTES = 64;
const VERSION_FLAG = 0x80;

function walletOf(key: KeyObject, address: string): TestWallet {
  const publicKey = Buffer.from(bs58.decode(address));
  return {
    address,
    sign(transaction) {
      const raw = Buffer.from(transaction, 'base64');
      const signers = raw[0]!;
      const message = raw.subarray(1 + SIGNATURE_BYTES * signers);
      // Three bytes of header and a length, after the version where there is one.
      const keysStart = (message[0]! & VERSION_FLAG) === 0 ? 4 : 5;
      const place = Array.from({ length: signers }, (_, i) =>
        message.subarray(keysStart + 32 * i, keysStart + 32 * (i + 1)))
        .findIndex((candidate) => candidate.equals(publicKey));
      if (place < 0) throw new Error(`${address} is no signer`);
      sign(null, message, key).copy(raw, 1 + SIGNATURE_BYTES * place);
      return raw.toString('base64');
    },
  };
}
