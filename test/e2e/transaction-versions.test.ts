import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, startSandbox } from './gannet.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';

let playground: Playground;
let service: SandboxAddresses;
let node: Awaited<ReturnType<typeof startNetworkAhead>>;
let stranger: Stranger;

beforeAll(async () => {
  playground = createPlayground();
  service = await startSandbox(playground, 31, '--speed', '0');
  node = await startNetworkAhead(service.rpc_url);
  stranger = await newStranger();
});
afterAll(async () => {
  await playground.close();
  node.close();
});

interface Asked { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

/**
 * Passes everything on, and says of some transactions that they have version 1 or 2, as a node does: a caller that
 * states less gets an error.
 */
async function startNetworkAhead(rpcUrl: string): Promise<{
  readonly url: string; readonly versions: Map<string, 1 | 2>; readonly asked: () => number; readonly close: () => void;
}> {
  const versions = new Map<string, 1 | 2>();
  let asked = 0;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const { id, method, params } = JSON.parse(body) as Asked;
    const version = method === 'getTransaction' ? versions.get(String(params[0])) : undefined;
    const answer = await request(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const text = await answer.body.text();
    outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' });
    if (version === undefined) {
      outgoing.end(text);
      return;
    }
    asked += 1;
    const { maxSupportedTransactionVersion: stated = -1 } = params[1] as { maxSupportedTransactionVersion?: number };
    const told = JSON.parse(text) as { result: { version: number; transaction: { message: object } } };
    if (told.result !== null) {
      told.result.version = version;
      Object.assign(told.result.transaction.message, { transactionConfig: { priorityFeeLamports: 0 } });
    }
    outgoing.end(JSON.stringify(stated >= version ? told : { jsonrpc: '2.0', id, error: {
      code: -32_015, message: `Transaction version (${version}) is not supported by the requesting client. Please try `
        + `the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    } }));
  };
  const server = createServer((incoming, outgoing) => {
    // The sandbox ends first where a test fails.
    pass(incoming, outgoing).catch(() => { outgoing.destroy(); });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, versions, asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Stranger {
  /** Sends the wallet some lamports by a transaction that the node says to have this version. */
  pay(version: 1 | 2): Promise<void>;
}

async function newStranger(): Promise<Stranger> {
  const connection = new Connection(service.rpc_url, 'confirmed');
  const payer = Keypair.generate();
  const wallet = new PublicKey(service.wallet.address);
  let payments = 0;
  await connection.requestAirdrop(payer.publicKey, 10_000_000_000);
  while (await connection.getBalance(payer.publicKey) === 0) await new Promise((done) => { setTimeout(done, 20); });
  return {
    async pay(version) {
      payments += 1;
      const lamports = 1_000 + payments;
      const { blockhash } = await connection.getLatestBlockhash();
      const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
      transaction.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: wallet, lamports }));
      transaction.sign(payer);
      // Known before it lands: the node must not show it as version 0 for a moment.
      const bytes = transaction.serialize();
      const id = bs58.encode(transaction.signature!);
      node.versions.set(id, version);
      await connection.sendRawTransaction(bytes, { skipPreflight: true });
    },
  };
}

const trading = (): { readonly state: string; readonly args: readonly string[] } => {
  const config = playground.write('live.yaml', `
mode: live
service: { base_url: "${service.base_url}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${node.url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${service.wallet.address} }
tokens: { SOL: ${SOL}, USDC: ${USDC} }
risk:
  max_trade: "2000 USDC"
  max_swaps: { per_minute: 600, per_hour: 6000, per_day: 6000 }
  protections: [{ kind: daily_loss, limit: "2000 USDC", action: halt }]
signer:
  caps: { USDC: { per_trade: "2000", per_hour: "100000", per_day: "100000" }, SOL: { per_trade: "20",
      per_hour: "900", per_day: "900" } }
control: { port: 0 }
strategies:
  - { use: dca, name: maker, budget: "9000 USDC", params: { buy: SOL, spend: "900 USDC", every: 2s, watch: 1s } }
  - { use: dca, name: own, budget: "10 SOL", params: { buy: USDC, spend: "0.1 SOL", every: 1s, route: build } }
`);
  const state = playground.path('state');
  return { state, args: ['run', '--live', '--json', '--config', config, '--state-dir', state] };
};
const start = (args: readonly string[]): Running => playground.start(args, {
  environment: { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: service.wallet.private_key },
});
const confirmed = (running: Running, strategy: string): number =>
  running.lines().filter(({ state, strategy: of }) => state === 'confirmed' && of === strategy).length;

const tradesOn = async (running: Running, more: number): Promise<void> => {
  const wanted = { maker: confirmed(running, 'maker') + more, own: confirmed(running, 'own') + more };
  await running.until(() => confirmed(running, 'maker') >= wanted.maker && confirmed(running, 'own') >= wanted.own);
};

describe('issue 31: a wallet whose history fills with transactions of version 1 and 2', () => {
  it('starts, swaps by both routes, starts again after a crash, and ends with no swap unknown', async () => {
    for (const version of [1, 2, 1] as const) await stranger.pay(version);
    const { state, args } = trading();
    const first = start(args);
    await tradesOn(first, 1);
    for (const version of [2, 1] as const) {
      await stranger.pay(version);
      await tradesOn(first, 1);
    }
    await stranger.pay(1);
    await stranger.pay(2);
    process.kill(await daemonOf(first), 'SIGKILL');
    await first.ended;
    const second = start(args);
    await tradesOn(second, 1);
    await stranger.pay(2);
    await tradesOn(second, 1);
    const flattened = await playground.ask(['flatten', '--json', '--state-dir', state]);
    expect(flattened.code, flattened.stdout + flattened.stderr).toBe(0);
    second.signal('SIGTERM');
    const ended = await second.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const listed = document(
      await playground.ask(['journal', 'list', '--limit', '1000', '--json', '--state-dir', state]),
    ) as unknown as readonly JsonLine[];
    const states = Object.groupBy(listed, ({ state: end }) => String(end));
    expect(Object.keys(states).filter((end) => end !== 'confirmed' && end !== 'abandoned')).toEqual([]);
    expect(states['confirmed']!.length).toBeGreaterThanOrEqual(10);
    expect([...first.lines(), ...second.lines()].filter(({ state: seen }) => seen === 'unknown')).toEqual([]);
    expect(node.asked()).toBeGreaterThan(0);
  }, 120_000);
});
