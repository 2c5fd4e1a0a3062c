import { chmodSync, readFileSync, readlinkSync, openSync, readSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import type { SandboxAddresses } from '../../../src/sandbox/sandbox.ts';
import type { Playground, Running } from '../../e2e/gannet.ts';
import { childrenOf, createPlayground, filesIn, startSandbox } from '../../e2e/gannet.ts';
import type { Canaries } from './secrets.ts';

/** Something that a process wrote, answered or kept. */
export interface Trace {
  readonly where: string;
  readonly bytes: Buffer;
  /** Large, and the service's key has to be there. */
  readonly isMemory?: boolean;
}

const RUN_MS = 6_000;
const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** Runs the real commands with secrets on a sandbox that says them back, and yields whatever leaves a trace. */
export async function* traceProcesses(canaries: Canaries): AsyncGenerator<Trace> {
  const playground = createPlayground();
  try {
    const addresses = await startSandbox(playground, 26);
    await lever(addresses, 'fund', { owner: canaries.wallet.address, mint: SOL, amount: '5000000000' });
    await lever(addresses, 'fund', { owner: canaries.wallet.address, mint: USDC, amount: '500000000' });
    yield* wrongKeys(playground, canaries, addresses);
    yield* wrongAnswers(playground, canaries, addresses);
    yield* liveRun(playground, canaries, addresses);
    for (const file of filesIn(playground.dir)) {
      // What a person has put there holds the secrets by intention.
      if (file.startsWith('input-')) continue;
      const bytes = readFileSync(playground.path(file));
      yield { where: file, bytes };
      if (file.endsWith('.zst')) yield { where: `${file}, unpacked`, bytes: zstdDecompressSync(bytes) };
    }
  } finally {
    await playground.close();
  }
}

async function lever({ base_url: url }: SandboxAddresses, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/sandbox/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`POST /sandbox/${path}: ${await response.text()}`);
}

function config(
  { wallet, rpcKey }: Canaries, { base_url: baseUrl, rpc_url: rpcUrl }: SandboxAddresses, keyFrom: string,
): string {
  return `mode: live
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${rpcUrl}/?api-key=${rpcKey}" }
wallet: { key_from: "${keyFrom}", address: ${wallet.address}, sol_reserve: "0.05 SOL" }
signer: { caps: { USDC: { per_trade: "100", per_hour: "1000", per_day: "1000" }, SOL: { per_trade: "1",
    per_hour: "10", per_day: "10" } } }
risk: { max_trade: "100 USDC", max_price_impact_bps: 400, max_fee_bps: 100, max_swaps: { per_minute: 60,
    per_hour: 600, per_day: 600 }, protections: [{ kind: max_drawdown, limit_pct: 99 }] }
control: { port: 0 }
strategies:
  - { use: dca, name: dca-order, budget: "200 USDC", params: { buy: SOL, spend: "1 USDC", every: 1s, watch: 1s } }
  - { use: dca, name: dca-build, budget: "200 USDC", params: { buy: SOL, spend: "2 USDC", every: 2s, watch: 1s,
      route: build } }
`;
}

function environmentOf({ apiKey, wallet }: Canaries): Record<string, string> {
  return { GANNET_API_KEY: apiKey, GANNET_WALLET_KEY: wallet.base58 };
}

function* outputOf(
  name: string, { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Generator<Trace> {
  yield { where: `${name}, standard output`, bytes: Buffer.from(stdout) };
  yield { where: `${name}, standard error`, bytes: Buffer.from(stderr) };
}

/** Keys that are of no use: each has to be refused, and none shown. */
async function* wrongKeys(
  playground: Playground, canaries: Canaries, addresses: SandboxAddresses,
): AsyncGenerator<Trace> {
  const { wallet } = canaries;
  const cases: readonly (readonly [name: string, keyFrom: string, content: string, mode: number])[] = [
    ['a mode that others can read', 'file', wallet.json, 0o644], ['cut', 'file', wallet.base58.slice(0, -3), 0o600],
    ['a number too few', 'file', JSON.stringify((JSON.parse(wallet.json) as number[]).slice(1)), 0o600],
    ['not base58', 'file', `0${wallet.base58}`, 0o600], ['hex', 'file', wallet.hex, 0o600],
    ['base64', 'file', wallet.base64, 0o600],
    ['public half changed', 'file', JSON.stringify((JSON.parse(wallet.json) as number[]).with(63, 0)), 0o600],
    ['cut, in the environment', 'env:GANNET_WALLET_KEY', wallet.base58.slice(2), 0],
    ['in quotes, in the environment', 'env:GANNET_WALLET_KEY', `'${wallet.base58}'`, 0],
    ['pasted as the place', wallet.base58, '', 0], ['pasted as the name', `env:${wallet.base58}`, '', 0],
    ['pasted as the path', `file:${wallet.base58}`, '', 0],
  ];
  for (const [number, [name, keyFrom, content, mode]] of cases.entries()) {
    if (keyFrom === 'file') chmodSync(playground.write(`input-key-${number}`, content), mode);
    const file = playground.write(`input-${number}.yaml`, config(canaries, addresses, keyFrom === 'file'
      ? `file:${playground.path(`input-key-${number}`)}` : keyFrom));
    for (const json of [[], ['--json']]) {
      const ended = await playground.run([
        'run', '--live', '--duration', '1s', ...json, '--config', file, '--state-dir',
        playground.path(`state-key-${number}`),
      ], {
        environment: {
          ...environmentOf(canaries), ...(keyFrom.startsWith('env:GANNET') ? { GANNET_WALLET_KEY: content } : {}),
        },
      });
      // Refused for anything else it would show nothing.
      if (ended.code !== 2 || (json.length > 0 && !/"(?:KEY_INVALID|CONFIG_INVALID)"/.test(ended.stdout)))
        throw new Error(`a key ${name}: ended with ${ended.code}: ${ended.stdout}`);
      yield* outputOf(name, ended);
    }
  }
}

/** Reading commands on a service that repeats the key in whatever it answers. */
async function* wrongAnswers(
  playground: Playground, canaries: Canaries, addresses: SandboxAddresses,
): AsyncGenerator<Trace> {
  const file = playground.write('input-read.yaml', config(canaries, addresses, 'env:GANNET_WALLET_KEY'));
  const { apiKey, rpcKey } = canaries;
  const faults: readonly object[] = [
    { kind: 'status', status: 400, body: { error: `no such key: ${apiKey}` } },
    { kind: 'status', status: 401, body: `key ${apiKey} refused`, content_type: 'text/plain' },
    { kind: 'status', status: 503, body: `<html>${apiKey}</html>`, content_type: 'text/html' },
    { kind: 'malformed', body: `{"key": "${apiKey}"` },
    { kind: 'headers', headers: { 'x-echo': apiKey, 'x-request-id': apiKey } },
  ];
  const commands = [['quote', 'SOL', 'USDC', '1'], ['order', 'SOL', 'USDC', '1'], ['tokens', 'SOL']];
  for (const [number, fault] of faults.entries()) {
    await lever(addresses, 'faults', { match: { path: '/*' }, fault });
    for (const json of [[], ['--json']]) {
      const command = commands[(number + json.length) % commands.length]!;
      yield* outputOf(`${command.join(' ')} with ${JSON.stringify(fault).slice(0, 40)}`, await playground.run(
        [...command, ...json, '--log-level', 'debug', '--config', file, '--state-dir', playground.path('state-read')],
        { environment: environmentOf(canaries) },
      ));
    }
    await fetch(`${addresses.base_url}/sandbox/faults`, { method: 'DELETE' });
  }
  for (const url of [`http://127.0.0.1:1/v2/${rpcKey}`, `https://user:${rpcKey}@localhost/`, `ftp://x/${rpcKey}`]) {
    yield* outputOf(`rpc ${url.slice(0, 20)}`, await playground.run(
      ['quote', 'SOL', 'USDC', '1', '--rpc-url', url, '--config', file], { environment: environmentOf(canaries) },
    ));
  }
}

/** A daemon that signs and lands while the service says the key back, and what is found in its processes. */
async function* liveRun(
  playground: Playground, canaries: Canaries, addresses: SandboxAddresses,
): AsyncGenerator<Trace> {
  const file = playground.write('input-live.yaml', config(canaries, addresses, 'env:GANNET_WALLET_KEY'));
  const state = playground.path('state-live');
  const daemon = playground.start(
    ['run', '--live', '--json', '--log-level', 'debug', '--config', file, '--state-dir', state],
    { environment: environmentOf(canaries) },
  );
  await daemon.until((stdout) => stdout.includes('"state":"confirmed"'));
  const { apiKey } = canaries;
  for (const fault of [
    { kind: 'status', status: 500, body: { error: apiKey, signature: apiKey } },
    { kind: 'patch', set: { '/error': apiKey, '/code': -2_005, '/status': 'Failed' } },
    { kind: 'patch', set: { '/router': apiKey } }, { kind: 'malformed', body: apiKey }, { kind: 'drop_after' },
  ]) {
    await lever(addresses, 'faults', { match: { path: '/swap/v2/*' }, fault, times: 3 });
  }
  await sleep(RUN_MS);
  yield* answersOf(daemon);
  for (const pid of [daemon.pid, ...childrenOf(daemon.pid)]) yield* insidesOf(pid, daemon.pid);
  daemon.signal('SIGTERM');
  yield* outputOf('the daemon', await daemon.ended);
}

async function* answersOf(daemon: Running): AsyncGenerator<Trace> {
  const url = daemon.lines()[0]?.['control_url'];
  if (typeof url !== 'string') throw new Error(`no control API: ${daemon.stdout().slice(0, 500)}`);
  for (const path of [
    '/healthz', '/readyz', '/metrics', '/api/state', '/api/feeds', '/api/intents', '/api/decisions', '/api/portfolio',
    '/api/profit',
    '/nowhere',
  ]) {
    const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { headers: { authorization: 'Bearer wrong' } });
    yield {
      where: `control API ${path}`, bytes: Buffer.from(JSON.stringify([...response.headers]) + await response.text()),
    };
  }
}

/** Environment and memory of a process that is no signer's; nothing where the system does not allow it. */
function* insidesOf(pid: number, first: number): Generator<Trace> {
  const isSigner = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('src/signer/main.ts');
  if (isSigner && pid === first) return;
  yield {
    where: `the environment of ${readlinkSync(`/proc/${pid}/exe`)} ${pid}`, bytes: readFileSync(`/proc/${pid}/environ`),
    isMemory: true,
  };
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined || to === undefined) continue;
      yield* stretchesOf(memory, {
        from: Number.parseInt(from, 16), to: Number.parseInt(to, 16), where: `the memory of ${pid} at ${from}`,
      });
    }
  } finally {
    closeSync(memory);
  }
}

const STRETCH = 16 * 1_024 * 1_024;
const OVERLAP = 512;

function* stretchesOf(
  memory: number, { from, to, where }: { readonly from: number; readonly to: number; readonly where: string },
): Generator<Trace> {
  for (let at = from; at < to; at += STRETCH - OVERLAP) {
    const bytes = Buffer.alloc(Math.min(STRETCH, to - at));
    try {
      const read = readSync(memory, bytes, 0, bytes.length, at);
      yield { where, bytes: bytes.subarray(0, read), isMemory: true };
    } catch {
      // Reserved, but nothing behind it.
      return;
    }
  }
}
