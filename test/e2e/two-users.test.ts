import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, PROJECT, startSandbox } from './gannet.ts';

// Processes of two users, which only root can start. The users have no entry in /etc/passwd.
const SIGNER = { uid: 70_001, gid: 70_000 };
const DAEMON = { uid: 70_002, gid: 70_000 };
const isRoot = process.getuid?.() === 0;
/** In a folder that is closed to other users, they cannot start the program. */
const startsForOthers = isRoot && spawnSync(join(PROJECT, 'bin', 'gannet'), ['help'], { ...DAEMON }).status === 0;

let playground: Playground;
let config: string;
let keyFile: string;

/** A folder of a user alone. */
function folderOf(name: string, { uid, gid }: typeof SIGNER, mode = 0o700): string {
  const folder = playground.path(name);
  mkdirSync(folder);
  chownSync(folder, uid, gid);
  chmodSync(folder, mode);
  return folder;
}

beforeAll(async () => {
  playground = createPlayground();
  chmodSync(playground.dir, 0o755);
  chmodSync(playground.path('tmp'), 0o1777);
  const addresses = await startSandbox(playground, 41, '--speed', '0');
  keyFile = join(folderOf('signer-own', SIGNER), 'wallet.key');
  writeFileSync(keyFile, addresses.wallet.private_key, { mode: 0o600 });
  chownSync(keyFile, SIGNER.uid, SIGNER.gid);
  config = playground.write('live.yaml', `
mode: live
service: { base_url: "${addresses.base_url}", api_key: a-key-of-my-own, plan: pro }
chain: { rpc_url: "${addresses.rpc_url}" }
wallet: { key_from: "file:${keyFile}", address: ${addresses.wallet.address} }
risk: { max_trade: "50 USDC", max_swaps: { per_day: 600 },
    protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }] }
signer: { caps: { USDC: { per_trade: "50", per_day: "1000" }, SOL: { per_trade: "1", per_day: "9" } } }
control: { port: 0 }
strategies: [{ use: dca, budget: "500 USDC", params: { buy: SOL, spend: "5 USDC", every: 1s, watch: 1s } }]
`);
});
afterAll(() => playground.close());

const trades = (stdout: string): boolean => stdout.includes('"state":"confirmed"');

/** Returns what a user can read of these files, by the means of a shell. */
function readable(user: typeof SIGNER, files: readonly string[]): string[] {
  const script = 'for file in "$@"; do head -c 1 "$file" >/dev/null 2>&1 && echo "$file"; done; true';
  const { stdout } = spawnSync('/bin/sh', ['-c', script, 'sh', ...files], { ...user, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

/** The files of the kernel that show a process's memory, environment and descriptors. */
function processFiles(pid: number): string[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  return [...['environ', 'mem', 'maps', 'auxv', 'io'].map((name) => `/proc/${pid}/${name}`), ...open];
}

/** The real, effective, saved and file-system user of a process. */
function usersOf(pid: number): string {
  return /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
}

const ownFiles = (folder: string): string[] =>
  [keyFile, ...readdirSync(folder).filter((name) => name.startsWith('signer.')).map((name) => join(folder, name))];

/** Returns a unit's environment, command line and user, with its folders in the playground. */
function readUnit(name: string): { readonly environment: Record<string, string>; readonly args: string[] } {
  const text = readFileSync(join(PROJECT, 'deploy', 'systemd', name), 'utf8')
    .replaceAll('/run/gannet', playground.path('run'))
    .replaceAll('/var/lib/gannet-signer', playground.path('signer-own'))
    .replaceAll('/var/lib/gannet', playground.path('daemon-own')).replaceAll('/etc/gannet/live.yaml', config);
  const values = (key: string): string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!);
  const [program, ...args] = values('ExecStart')[0]!.split(' ');
  expect(program).toBe('/opt/gannet/bin/gannet');
  const environment = Object.fromEntries(values('Environment').map((line) => line.split('=') as [string, string]));
  return { environment, args };
}

describe.runIf(startsForOthers)('issue 15: a signer of another user than its daemon', () => {
  it('is started by root, trades, and is closed to the daemon’s user and to other processes of its own', async () => {
    const own = playground.path('signer-own');
    const start = (environment: Record<string, string>): Running => playground.start(
      ['run', '--live', '--json', '--config', config, '--state-dir', playground.path('state')], { environment },
    );
    const refused = await Promise.all([
      { GANNET_SIGNER_USER: '70001' }, { GANNET_SIGNER_USER: '70001', GANNET_DAEMON_USER: '70002' },
    ].map((environment) => start(environment).ended));
    expect(refused.map((ended) => [ended.code, document(ended)['error']])).toMatchObject([
      [2, { code: 'CONFIG_INVALID', message: expect.stringContaining('expected both') as string }],
      [2, { code: 'CONFIG_INVALID', message: expect.stringContaining('expected GANNET_SIGNER_DIR') as string }],
    ]);
    const run = start({
      GANNET_SIGNER_USER: '70001:70000', GANNET_DAEMON_USER: '70002:70000', GANNET_SIGNER_DIR: own,
    });
    await run.until(trades);
    const daemon = await daemonOf(run);
    expect([run.pid, daemon].map(usersOf)).toEqual(['70001\t70001\t70001\t70001', '70002\t70002\t70002\t70002']);
    expect(ownFiles(own).length).toBeGreaterThan(2);
    expect(readable(DAEMON, [...ownFiles(own), ...processFiles(run.pid)])).toEqual([]);
    // What the shell reads is there to be read.
    expect(readable(SIGNER, ownFiles(own))).toEqual(ownFiles(own));
    expect(readable(SIGNER, processFiles(run.pid))).toEqual([]);
    // A signal to the signer alone reaches a daemon that it may not signal.
    run.signal('SIGTERM');
    expect((await run.ended).code).toBe(0);
  });

  it('serves the units of deploy/systemd over a socket, one daemon after the other', async () => {
    for (const [name, user, mode] of [['run', SIGNER, 0o750], ['daemon-own', DAEMON, 0o700]] as const)
      folderOf(name, user, mode);
    const [signerUnit, daemonUnit] = [readUnit('gannet-signer.service'), readUnit('gannet.service')];
    const own = playground.path('signer-own');
    const socket = signerUnit.environment['GANNET_SIGNER_SOCKET']!;
    const signer = playground.start(signerUnit.args, { environment: signerUnit.environment, user: SIGNER });
    await expect.poll(() => readdirSync(playground.path('run')), { timeout: 10_000 })
      .toEqual(['signer.sock', 'signer.sock.secret']);
    const start = (state: string): Running => playground.start(
      [...daemonUnit.args, '--json', '--accept-new-journal', '--state-dir', state],
      { environment: daemonUnit.environment, user: DAEMON },
    );
    const first = start(playground.path('daemon-own'));
    await first.until(trades);
    expect(readable(DAEMON, [...ownFiles(own), ...processFiles(signer.pid)])).toEqual([]);

    // Without the secret, and while another daemon is served, nothing is answered.
    const said = await new Promise<number>((resolve) => {
      let bytes = 0;
      const stranger = connect(socket, () => { stranger.write(Buffer.alloc(64, 7)); });
      stranger.on('data', (data) => { bytes += data.length; }).on('close', () => { resolve(bytes); });
    });
    expect(said).toBe(32);
    const wallet = playground.start(['wallet', '--json', '--config', playground.write(
      'unnamed.yaml', readFileSync(config, 'utf8').replace(/, address: \w+/, ''),
    )], { environment: daemonUnit.environment, user: DAEMON });
    expect(document(await wallet.ended)['error']).toMatchObject({
      code: 'SIGNER_LOST', message: expect.stringContaining('serves another daemon') as string,
    });
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);

    const second = start(playground.path('daemon-own'));
    await second.until((stdout) => stdout.includes('"type":"started"'));
    signer.signal('SIGTERM');
    const [ended, signerEnded] = await Promise.all([second.ended, signer.ended]);
    expect([ended.code, ended.stdout]).toEqual([1, expect.stringContaining('SIGNER_LOST')]);
    expect([signerEnded.code, signerEnded.stderr.split('\n')]).toEqual([0, [
      expect.stringMatching(/^the signer serves .*\/signer\.sock for the wallet \w+, as the user 70001$/),
      'a daemon is connected',
      expect.stringMatching(/^a connection was refused: .*a greeting without the shared secret$/),
      expect.stringMatching(/^a connection was refused: .*a second daemon while one is served$/),
      'the daemon has ended its connection',
      'a daemon is connected; 2 connections were refused so far', '',
    ]]);
    expect(readdirSync(playground.path('run'))).toEqual([]);
  });
});
