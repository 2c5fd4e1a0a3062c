import { cpSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { asyncScheduler } from 'rxjs';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { SmallDisk } from '../store/small-disk.ts';
import { mountSmallDisk, NO_SMALL_DISK } from '../store/small-disk.ts';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { configText, createPlayground, daemonOf, document, jsonLines, startSandbox } from './gannet.ts';

let playground: Playground;
let service: SandboxAddresses;
let wallet: Keypair;
let node: Awaited<ReturnType<typeof startFrontNode>>;

// What stands for the real one: a service and a chain in a process of their own, the chain behind a node that can fall
// silent.
beforeAll(async () => {
  playground = createPlayground();
  service = await startSandbox(playground, 21, '--speed', '0');
  wallet = Keypair.fromSecretKey(bs58.decode(service.wallet.private_key));
  node = await startFrontNode(service.rpc_url);
});
afterAll(async () => {
  await playground.close();
  node.close();
});

/** Passes everything on, but for what it is told to refuse; "" stands for every method. */
async function startFrontNode(rpcUrl: string): Promise<{
  readonly url: string; readonly refuse: (method: string | undefined) => void; readonly close: () => void;
}> {
  let refused: string | undefined;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    if (refused === '' || (refused !== undefined && body.includes(`"${refused}"`))) {
      outgoing.writeHead(503).end();
      return;
    }
    const answer = await request(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(await answer.body.text());
  };
  const server = createServer((incoming, outgoing) => { void pass(incoming, outgoing); });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refuse: (method) => { refused = method; },
    close: () => { server.close(); },
  };
}

async function rpc(method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await request(service.rpc_url, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await answer.body.json() as { result: unknown }).result;
}

async function lever(path: string, body: object): Promise<void> {
  const { statusCode } = await request(`${service.base_url}/sandbox/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  expect(statusCode).toBeLessThan(300);
}

/** Sends SOL elsewhere, as the wallet's owner may with another program. */
async function payOut(lamports: number): Promise<void> {
  const { value } = await rpc('getLatestBlockhash', [{ commitment: 'confirmed' }]) as { value: { blockhash: string } };
  const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: value.blockhash });
  transaction.add(SystemProgram.transfer(
    { fromPubkey: wallet.publicKey, toPubkey: new PublicKey(Keypair.generate().publicKey), lamports },
  ));
  transaction.sign(wallet);
  await rpc(
    'sendTransaction', [transaction.serialize().toString('base64'), { encoding: 'base64', skipPreflight: true }],
  );
  await lever('time', { advance_slots: 4 });
}

let states = 0;
/** All with one wallet: where a state directory is new, the chain knows earlier swaps of it. */
function newRun(chain = `{ rpc_url: "${node.url}" }`): { readonly state: string; readonly args: readonly string[] } {
  states += 1;
  const config = playground.write(`live-${states}.yaml`, `
mode: live
service: { base_url: "${service.base_url}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: ${chain}
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${wallet.publicKey.toBase58()} }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: ${USDC} }
risk:
  max_trade: "50 USDC"
  max_swaps: { per_minute: 60, per_hour: 600, per_day: 600 }
  protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }]
signer:
  caps: { USDC: { per_trade: "50", per_hour: "1000", per_day: "1000" }, SOL: { per_trade: "1", per_hour: "9",
      per_day: "9" } }
control: { port: 0 }
strategies:
  - { use: dca, budget: "500 USDC", params: { buy: SOL, spend: "5 USDC", every: 1s, watch: 1s } }
`);
  const state = playground.path(`state-${states}`);
  return { state, args: ['run', '--live', '--json', '--accept-new-journal', '--accept-new-counters', '--config', config,
    '--state-dir', state] };
}

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const start = (args: readonly string[]): Running => playground.start(args, {
  environment: { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: service.wallet.private_key },
});
const trades = (stdout: string): boolean => stdout.includes('"state":"confirmed"');
const alertsOf = (lines: readonly JsonLine[]): string[] =>
  lines.filter(({ type }) => type === 'alert').map(({ level, message }) => `${String(level)}: ${String(message)}`);

async function stop(running: Running): Promise<Ended> {
  running.signal('SIGTERM');
  return running.ended;
}

describe('a wallet changed by others while no daemon ran', () => {
  let state: string;
  let args: readonly string[];
  beforeAll(() => { ({ state, args } = newRun()); });

  it('is booked before strategies run, reported and replayed; a second daemon is refused', async () => {
    const first = start(args);
    await first.until(trades);
    expect((await stop(first)).code).toBe(0);
    await lever('fund', { owner: wallet.publicKey.toBase58(), mint: USDC, amount: '7000000' });
    await payOut(1_500_000_000);
    const second = start(args);
    await second.until(trades);
    const third = await playground.start(newRun().args, {
      environment: {
        GANNET_API_KEY: 'k'.repeat(20), GANNET_WALLET_KEY: service.wallet.private_key, TMPDIR: playground.dir,
        HOME: playground.dir,
      },
    }).ended;
    expect(third.code).toBe(2);
    expect(document(third)['error']).toMatchObject({ code: 'STATE_LOCKED', message: expect.stringContaining(
      `wallet ${wallet.publicKey.toBase58()} is in use by process ${await daemonOf(second)}`,
    ) });
    const ended = await stop(second);
    expect(ended.code, ended.stderr).toBe(0);
    const lines = jsonLines(ended.stdout);
    expect(alertsOf(lines.slice(0, lines.findIndex(({ type }) => type === 'decision'))))
      .toEqual(expect.arrayContaining([
        expect.stringMatching(/^info: 7 USDC came into the wallet/),
        expect.stringMatching(/^warning: 1\.500005 SOL left the wallet/),
      ]));
    const journal = new DatabaseSync(join(state, 'journal.sqlite'), { readOnly: true });
    expect(journal.prepare('SELECT mint, change, cause FROM adjustments ORDER BY change').all()).toEqual([
      { mint: 'So11111111111111111111111111111111111111112', change: '-1500005000', cause: 'withdrawal' },
      { mint: USDC, change: '7000000', cause: 'deposit' },
    ]);
    journal.close();
    expect(document(await playground.ask(['replay', String(lines[0]!['run_id']), '--json', '--state-dir', state])))
      .toMatchObject({ match: true });
  });

  it('delays strategies while its node does not answer: the status names it, and the operator can end it', async () => {
    node.refuse('getBalance');
    try {
      const waiting = start(args);
      await waiting.until((stdout) => stdout.includes('"state":"recovering"'));
      const status = document(await playground.ask(['status', '--json', '--state-dir', state]));
      expect(status).toMatchObject({
        phase: 'recovering', waits_for: [expect.stringContaining('the ledger to agree with the chain: getBalance')],
      });
      expect((await playground.ask(['status', '--state-dir', state])).stdout).toMatch(/waits for .*getBalance/);
      const ended = await stop(waiting);
      expect(ended.code, ended.stderr).toBe(0);
      expect(jsonLines(ended.stdout).filter(({ type }) => type === 'decision' || type === 'denial')).toEqual([]);
    } finally {
      node.refuse(undefined);
    }
  });
});

/** Returns how many transactions of the wallet have landed. */
async function landings(): Promise<number> {
  const signatures = await rpc('getSignaturesForAddress', [wallet.publicKey.toBase58(), { commitment: 'confirmed' }]);
  return (signatures as unknown[]).length;
}

const confirmedIn = (stdout: string): number => stdout.split('"state":"confirmed"').length;

describe('a daemon with two nodes', () => {
  it('trades on while one is dead and when it is back, and makes each swap once', async () => {
    const second = await startFrontNode(service.rpc_url);
    onTestFinished(() => { second.close(); });
    const before = await landings();
    const { state, args } = newRun(`{ rpc_url: "${node.url}", further_rpc_urls: ["${second.url}"] }`);
    const running = start(args);
    const tradesOn = async (): Promise<void> => {
      const known = confirmedIn(running.stdout());
      await running.until((stdout) => confirmedIn(stdout) >= known + 2);
    };
    await tradesOn();
    second.refuse('');
    await running.until((stdout) => stdout.includes('"code":"NODE_LOST"'));
    await tradesOn();
    second.refuse(undefined);
    await running.until((stdout) => stdout.includes('"code":"NODE_BACK"'));
    const status = (await playground.ask(['status', '--state-dir', state])).stdout;
    for (const { url } of [node, second]) expect(status).toContain(`${new URL(url).host} healthy`);
    const ended = await stop(running);
    expect(ended.code, ended.stderr).toBe(0);
    const listed = document(await playground.ask(['journal', 'list', '--json', '--state-dir', state]));
    const landed = (listed as unknown as JsonLine[]).filter(({ state: end }) => end === 'confirmed').length;
    expect(await landings() - before).toBe(landed);
  }, 60_000);
});

describe('a daemon that crashed three times in a row', () => {
  it('starts in safe mode: it alerts, does not trade, and trades again when the operator resumes', async () => {
    const { state, args } = newRun();
    const crashed = start(args);
    await crashed.until((stdout) => stdout.includes('"type":"started"'));
    process.kill(await daemonOf(crashed), 'SIGKILL');
    await crashed.ended;
    // Two more of the same, as they stand in the journal.
    const journal = openJournal({ path: join(state, 'journal.sqlite'), clock: asyncScheduler });
    for (const runId of ['second', 'third']) journal.runStarted(runId);
    journal.close();
    const safe = start(args);
    await safe.until((stdout) => stdout.includes('"type":"denial"'));
    const told = safe.lines();
    expect(told.find((line) => line['state'] === 'safe-mode')).toMatchObject({
      type: 'state',
      message: expect.stringMatching(/^the last 3 runs, all started within 10m, crashed.*until "gannet resume"/),
    });
    expect(told.find(({ type }) => type === 'denial')).toMatchObject({ code: 'TRADING_HALTED' });
    expect(alertsOf(told)).toContainEqual(expect.stringMatching(/^critical: safe mode: /));
    const status = document(await playground.ask(['status', '--json', '--state-dir', state]));
    expect(status).toMatchObject({ trading: 'halted', trading_word: { by: 'safe-mode' } });
    expect(trades(safe.stdout())).toBe(false);
    expect((await playground.ask(['resume', '--state-dir', state])).code).toBe(0);
    await safe.until(trades);
    expect((await stop(safe)).code).toBe(0);
    const ends = openJournal({ path: join(state, 'journal.sqlite'), clock: asyncScheduler });
    expect(ends.listRuns({ limit: 9 }).map(({ endedAt }) => endedAt !== undefined))
      .toEqual([true, false, false, false]);
    ends.close();
  });
});

describe.skipIf(
  NO_SMALL_DISK !== undefined,
)(`a daemon on a disk that is full${NO_SMALL_DISK === undefined ? '' : ` (left out: ${NO_SMALL_DISK})`}`, () => {
  let disk: SmallDisk;
  beforeAll(() => { disk = mountSmallDisk(12); });
  afterAll(() => { disk.remove(); });

  it('issue 13.38: follows the open swaps of a killed run, although nothing can be written', async () => {
    const { state: before, args: argsBefore } = newRun();
    const first = start(argsBefore);
    await first.until((stdout) => stdout.includes('"type":"started"'));
    const state = join(disk.dir, 'killed');
    const args = [...argsBefore.slice(0, -1), state];
    // It lands, but the node does not return it.
    node.refuse('getTransaction');
    try {
      await first.until((stdout) => stdout.includes('"state":"submitted"'));
      process.kill(await daemonOf(first), 'SIGKILL');
      await first.ended;
      // Where the disk is so small, nothing would have been entered.
      cpSync(before, state, { recursive: true });
      disk.fill();
    } finally {
      node.refuse(undefined);
    }
    const again = start(args);
    await again.until((stdout) => trades(stdout) && stdout.includes('"by":"disk-guard"'));
    const told = again.lines();
    expect(told.find(({ state: word }) => word === 'recovering'))
      .toMatchObject({ message: expect.stringMatching(/^1 swap was open/) });
    expect(alertsOf(told))
      .toContainEqual(expect.stringMatching(/^critical: .*no more entries until there is room again/));
    expect(told.filter(({ state: word }) => word === 'signed')).toEqual([]);
    disk.clear();
    // What waited in memory is written once there is room.
    const ended = await stop(again);
    expect(ended.code, ended.stderr).toBe(0);
    const [listed] =
      JSON.parse((await playground.ask(['journal', 'list', '--json', '--state-dir', state])).stdout) as JsonLine[];
    expect(listed).toMatchObject({ state: 'confirmed' });
  }, 45_000);

  it('stops the recording and entries, goes on, and ends in order', async () => {
    const config = playground.write(
      'full.yaml', configText('gannet.yaml', [['every: 10s, route: order', 'every: 1s, route: order']]),
    );
    const state = join(disk.dir, 'state');
    const running = playground.start(['run', '--json', '--config', config, '--state-dir', state]);
    await running.until((stdout) => stdout.includes('"by":"disk-guard"'));
    expect(alertsOf(running.lines())).toEqual(expect.arrayContaining([
      expect.stringMatching(/^warning: .* MiB left: the recording of this run has stopped/),
      expect.stringMatching(/^critical: .*no more entries until there is room again/),
    ]));
    // Until the ledger has been held against the chain no strategy runs, and on a full disk it is not.
    await running.until((stdout) => stdout.includes('TRADING_REDUCE_ONLY'));
    disk.fill();
    await running.until((stdout) => stdout.split('TRADING_REDUCE_ONLY').length > 6);
    disk.clear();
    const ended = await stop(running);
    expect(ended.code, ended.stderr).toBe(0);
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({ type: 'summary', trading: 'reduce-only', open: [] });
    const [{ run_id: runId }] = jsonLines(ended.stdout) as unknown as readonly [{ readonly run_id: string }];
    const replayed = document(await playground.ask(['replay', runId, '--json', '--state-dir', state]));
    // What was recorded before the disk was full may be nothing: then nothing can be compared.
    expect(replayed).toMatchObject({
      match: replayed['decisions'] === 0 ? null : true, truncated_at: expect.any(Number), first_divergence: null,
    });
  });
});
