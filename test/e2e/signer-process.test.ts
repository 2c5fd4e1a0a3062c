import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground, Running } from './gannet.ts';
import {
  childrenOf, COMPILE_CACHE, configText, createPlayground, daemonOf, document, filesIn, isRunning, jsonLines, PROJECT,
} from './gannet.ts';
import { foundInMemory } from './memory.ts';

// A canary: any other process that has it in any form has seen the key.
interface Canary {
  readonly base58: string;
  readonly array: string;
  readonly address: string;
  readonly forms: Readonly<Record<string, Buffer>>;
}

function canaryOf({ secretKey, publicKey }: Keypair): Canary {
  const base58 = bs58.encode(secretKey);
  const array = JSON.stringify([...secretKey]);
  const seed = Buffer.from(secretKey.subarray(0, 32));
  return {
    base58, array, address: publicKey.toBase58(),
    forms: {
      base58: Buffer.from(base58), 'base58 in two bytes': Buffer.from(base58, 'utf16le'),
      array: Buffer.from(array.slice(1, -1)),
      hex: Buffer.from(seed.toString('hex')), bytes: Buffer.from(secretKey), seed,
    },
  };
}

const OWN = canaryOf(Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => (index * 37 + 11) % 251)));

let playground: Playground;
/**
 * What stands for the real one: a service and a chain in a process of their own, of which a daemon knows the addresses.
 * It finds keys in its environment.
 */
let service: Running;
beforeAll(async () => {
  playground = createPlayground();
  service = playground.start(['sandbox', '--json', '--seed', '22', '--speed', '0'], {
    environment: { GANNET_WALLET_KEY: OWN.base58, AS_ARRAY: OWN.array },
  });
  await service.until((stdout) => stdout.includes('\n'));
});
afterAll(() => playground.close());

let made = 0;
/** Writes the default configuration with a wallet of its own, and returns what starts it in a state of its own. */
function ownWallet(wallet: string, mode: 'live' | 'paper' = 'live'): string[] {
  made += 1;
  const config = playground.write(
    `own-${made}.yaml`, configText('gannet.yaml', [['mode: live', `mode: ${mode}\nwallet: ${wallet}`]]),
  );
  return ['run', '--json', '--config', config, '--state-dir', playground.path(`state-${made}`)];
}

const hasStarted = (stdout: string): boolean => stdout.includes('"type":"started"');
const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'latin1');
const nodeVariables = (pid: number): string[] =>
  read(pid, 'environ').split('\0').filter((line) => /^NODE_(?:OPTIONS|DEBUG)=/.test(line));
const hasKey = (text: string, { forms } = OWN): boolean =>
  Object.values(forms).some((form) => text.includes(form.toString('latin1')));

describe('a run on a foreign service, with the key in the environment, in .env and under other names', () => {
  let run: Running;
  let daemon: number;
  let started: JsonLine;
  let key: Canary;

  beforeAll(async () => {
    const [{ base_url: baseUrl, rpc_url: rpcUrl, wallet }] = service.lines() as unknown as readonly [{
      readonly base_url: string; readonly rpc_url: string; readonly wallet: { readonly private_key: string };
    }];
    key = canaryOf(Keypair.fromSecretKey(bs58.decode(wallet.private_key)));
    mkdirSync(playground.path('real'));
    writeFileSync(
      playground.path('real', '.env'), `DOTENV_KEY=${key.base58}\nGANNET_API_KEY=a-key-of-my-own\nNODE_DEBUG=http\n`,
    );
    const config = playground.write('real.yaml', `
mode: live
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", plan: developer }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: env:MY_KEY, address: ${key.address} }
control: { port: 0 }
risk:
  max_trade: "20 USDC"
  max_swaps: { per_minute: 30, per_hour: 600, per_day: 3000 }
  protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }]
signer: { caps: { USDC: { per_trade: "20", per_day: "200" }, SOL: { per_trade: "1", per_day: "4" } } }
strategies:
  - { use: dca, budget: "50 USDC", max_age: 15s, params: { buy: SOL, spend: "1 USDC", every: 2s, watch: 1s } }
`);
    run = playground.start([
      'run', '--live', '--json', '--config', config, '--state-dir', playground.path('real', 'state'),
    ], {
      cwd: playground.path('real'),
      environment: {
        MY_KEY: key.base58, GANNET_WALLET_KEY: key.base58, AS_ARRAY: key.array,
        AS_HEX: Buffer.from(bs58.decode(key.base58)).toString('hex'),
        NODE_OPTIONS: '--max-old-space-size=500',
      },
    });
    // By then the signer has read the key, and signed with it.
    await run.until((stdout) => stdout.includes('"state":"confirmed"'));
    started = run.lines()[0]!;
    daemon = await daemonOf(run);
  });

  it('names the process with the key, the wallet and the rules at its start', () => {
    expect(started['signer']).toMatchObject({
      pid: run.pid, address: key.address, programs: expect.any(Number),
      caps: ['USDC: 20 a swap, 200 a day', 'SOL: 1 a swap, 4 a day'], destinations: [], rpc: true,
    });
  });

  it('issue 15: has the key in no environment and on no command line of any process, the signer’s included', () => {
    const pids = [run.pid, daemon, ...childrenOf(run.pid), ...childrenOf(daemon)];
    const shown = pids.flatMap((pid) => ['environ', 'cmdline'].map((file) => hasKey(read(pid, file), key)));
    expect(shown).toStrictEqual(shown.map(() => false));
    // The shell that hid the keys left no file with them.
    const files = filesIn(playground.dir);
    expect(files.filter((file) => hasKey(readFileSync(join(playground.dir, file), 'latin1'), key)))
      .toStrictEqual(['real/.env']);
  });

  it('has the key in no form in the daemon’s memory', () => {
    // The scan finds what is there: the signer has it.
    expect(foundInMemory(run.pid, key.forms)).toContain('base58');
    expect(foundInMemory(daemon, key.forms)).toStrictEqual([]);
  });

  it('writes no core, and ignores Node options of the environment in the signer and of .env in the daemon', () => {
    for (const pid of [run.pid, daemon]) expect(read(pid, 'limits')).toMatch(/^Max core file size +0 +0 /m);
    expect([nodeVariables(run.pid), nodeVariables(daemon)])
      .toStrictEqual([[], ['NODE_OPTIONS=--max-old-space-size=500']]);
  });

  it('ends in order at an interrupt with exit code 0, without the key in its output and files', async () => {
    run.signal('SIGINT');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({ type: 'summary' });
    expect(hasKey(ended.stdout + ended.stderr, key)).toBe(false);
    const state = playground.path('real', 'state');
    const files = filesIn(state);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => hasKey(readFileSync(join(state, file), 'latin1'), key))).toStrictEqual([]);
    expect([run.pid, daemon].filter(isRunning)).toStrictEqual([]);
  });
});

describe('after one of the two processes is killed', () => {
  it('the daemon ends in order without its signer, with the reason', async () => {
    const run = playground.start([
      'run', '--json', '--config', playground.write('killed.yaml', configText('gannet.yaml')), '--state-dir',
      playground.path('killed'),
    ]);
    await run.until(hasStarted);
    const daemon = await daemonOf(run);
    const [sandbox] = childrenOf(daemon) as [number];
    const channel = readlinkSync(`/proc/${daemon}/fd/3`);
    expect(channel).toMatch(/^socket:/);
    // The channel is the daemon's alone: what it starts does not have it.
    expect(readdirSync(`/proc/${sandbox}/fd`).map((fd) => readlinkSync(`/proc/${sandbox}/fd/${fd}`)))
      .not.toContain(channel);
    run.signal('SIGKILL');
    const { stdout } = await run.ended;
    const lines = jsonLines(stdout);
    expect(lines.at(-1)).toMatchObject({
      error: { code: 'SIGNER_LOST', message: expect.stringContaining('signer process is gone') as string },
    });
    expect(lines.at(-2)).toMatchObject({ type: 'summary' });
    expect(lines.filter(({ type }) => type === 'alert')).toMatchObject([
      { level: 'critical', message: expect.stringContaining('trading has stopped: the signer process') as string },
    ]);
    await expect.poll(() => [daemon, sandbox].filter(isRunning)).toStrictEqual([]);
  });

  it('the signer ends with its daemon', async () => {
    const run = playground.start([
      'run', '--json', '--config', playground.write('orphan.yaml', configText('gannet.yaml')), '--state-dir',
      playground.path('orphan'),
    ]);
    await run.until(hasStarted);
    process.kill(await daemonOf(run), 'SIGKILL');
    const { code, stderr } = await run.ended;
    expect(code).toBeNull();
    // The daemon cannot report it any more. Its log is JSON on the same stream: a start may have logged a warning.
    expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toStrictEqual([
      expect.stringMatching(/^gannet was ended by SIGKILL from outside .* start it again$/),
    ]);
    expect(isRunning(run.pid)).toBe(false);
  });

  it('the daemon’s exit code is 1 in every mode', async () => {
    const [, ...args] = ownWallet('{}', 'paper');
    const daemon = spawn(process.execPath, [join(PROJECT, 'src/cli/main.ts'), 'run', ...args], {
      cwd: playground.dir, stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE,
        GANNET_HANDED_ON: JSON.stringify({ dotenv: {}, withheld: [], signer: true }),
      },
    });
    // A signer that sends what is not authentic is as lost as one that ends.
    (daemon.stdio[3] as Duplex).write(Buffer.alloc(32, 1));
    let stdout = '';
    await new Promise<void>((resolve) => {
      daemon.stdout!.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
        if (hasStarted(stdout)) resolve();
      });
    });
    (daemon.stdio[3] as Duplex).write(Buffer.from(`${'\0'.repeat(36)}{}`).fill(2, 3, 4));
    const [code] = await once(daemon, 'close') as [number];
    expect([code, jsonLines(stdout).at(-1)]).toMatchObject([1, { error: {
      code: 'SIGNER_LOST', message: expect.stringContaining('forged, repeated, or out of order') as string,
    } }]);
  });
});

describe('an unusable key is refused before trading, with exit code 2 and the reason', () => {
  const other = Keypair.generate().publicKey.toBase58();

  it.each<readonly [string, { readonly text?: string; readonly mode?: number; readonly address?: string }, string]>([
    [
      'a file that others can read', { text: OWN.base58, mode: 0o644 },
      'a-file-that-others-can-read.key" has mode 0644, expected 0600 or 0400',
    ],
    [
      'a file with the key of another wallet', { text: OWN.array, address: other },
      `wallet.address is ${other}, but the key belongs to ${OWN.address}`,
    ],
  ])('%s', async (name, { text, mode = 0o600, address }, words) => {
    const file = `${name.replaceAll(' ', '-')}.key`;
    if (text !== undefined) chmodSync(playground.write(file, text), mode);
    const args = ownWallet(`{ key_from: "file:${file}"${address === undefined ? '' : `, address: ${address}`} }`);
    const ended = await playground.run(args);
    expect(ended.code, ended.stdout).toBe(2);
    expect(filesIn(args.at(-1)!).filter((path) => /^(?:runs|recordings)\//.test(path))).toStrictEqual([]);
    expect(document(ended)['error'])
      .toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining(words) as string });
    expect(hasKey(ended.stdout + ended.stderr)).toBe(false);
  });

  it('issue 15: a key that a shell passed on in a file, where others could read it', async () => {
    const passed = openSync(playground.write(
      'passed', Buffer.from(JSON.stringify({ MY_KEY: OWN.base58 })).toString('base64url'),
    ), 'r');
    const child = spawn(process.execPath, [
      join(PROJECT, 'src/signer/main.ts'), ...ownWallet('{ key_from: env:MY_KEY }'),
    ], {
      cwd: playground.dir,
      stdio: ['ignore', 'pipe', 'ignore', ...Array.from({ length: 6 }, () => 'ignore' as const), passed],
      env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, GANNET_HIDDEN_KEYS: '9' },
    });
    closeSync(passed);
    let stdout = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
    const [code] = await once(child, 'close') as [number];
    expect([code, jsonLines(stdout)[0]]).toMatchObject([2, { error: {
      code: 'KEY_INVALID', message: expect.stringMatching(/in a file instead of a pipe.*wallet\.key_from: file:PATH/),
    } }]);
  });

  it('a live run without the signer process', async () => {
    const child = spawn(process.execPath, [join(PROJECT, 'src/cli/main.ts'), ...ownWallet('{ key_from: env:MY_KEY }')],
      {
        cwd: playground.dir, stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, MY_KEY: OWN.base58 },
      });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
    const [code] = await once(child, 'close') as [number];
    expect([code, jsonLines(stdout)[0]])
      .toMatchObject([2, { error: { code: 'KEY_INVALID', message: expect.stringContaining('bin/gannet') as string } }]);
  });
});

describe('a command that never signs', () => {
  it('replaces the first process, and has no key in its environment or memory', async () => {
    expect(read(service.pid, 'cmdline')).toContain('src/cli/main.ts');
    expect(hasKey(read(service.pid, 'environ'))).toBe(false);
    expect(foundInMemory(service.pid, OWN.forms)).toStrictEqual([]);
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });

  it('runs without the launcher too', async () => {
    const child = spawn(process.execPath, [join(PROJECT, 'src/cli/main.ts'), '--version'], {
      stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
    expect([await once(child, 'close').then(([code]) => code as number), stdout]).toStrictEqual([0, '0.2.0\n']);
  });
});
