import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { doctorText } from '../../../src/cli/output/doctor-text.ts';
import { linesWrapped } from '../../../src/cli/output/terminal.ts';
import type { Check } from '../../../src/daemon/doctor/check.ts';
import type { Delivery } from '../../../src/daemon/notify/notification.ts';
import { OutboxStore, outboxPath } from '../../../src/daemon/notify/outbox-store.ts';
import { SOL_MINT } from '../../../src/market/token.ts';
import { headPath } from '../../../src/store/journal-head.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { lockState, lockWallet } from '../../../src/store/locks.ts';
import { attemptOf, intentOf, outcomeOf, SNAPSHOT, wallClock } from '../../store/sample-intents.ts';
import { NOON, alert, channelConfig, outboxOf } from '../notify/notify-fixture.ts';
import type { LyingHost, Scene } from './doctor-fixture.ts';
import { API_KEY, GOOD_MACHINE, soundScene, startLyingHost } from './doctor-fixture.ts';

let host: LyingHost;
beforeAll(async () => { host = await startLyingHost(); });
afterAll(() => host.close());
afterEach(() => {
  host.lies.clockMs = 0;
  host.lies.rpc.clear();
});

function scene(): Scene {
  const made = soundScene(host);
  onTestFinished(() => { rmSync(made.folder, { recursive: true, force: true }); });
  return made;
}

/** The words of nodes. */
const refusal = (version: number): { code: number; message: string } =>
  ({ code: -32_015, message: `Transaction version (${version}) is not supported by the requesting client.` });
/** A stranger's transaction in the history of the wallet. */
const HISTORY = { result: [{ signature: '5'.repeat(87), slot: 7, err: null, blockTime: null }] };
const MIB = 1024 * 1024;
const RUN = '20261121T101112-0a1b2c';

/** A fault, how it comes about, and what the doctor says: the check, how bad it is, what is wrong and what to do. */
interface Planted {
  readonly what: string;
  readonly plant: (scene: Scene) => void | Promise<void>;
  readonly check: string;
  readonly level: Check['level'];
  readonly says: RegExp;
  readonly fix: RegExp;
}

function machine(changes: Partial<Scene['machine']>) {
  return (at: Scene): void => { at.machine = { ...GOOD_MACHINE, ...changes }; };
}

/** Leaves a journal behind that `write` has filled. */
function journal(write: (store: ReturnType<typeof openJournal>) => void = () => undefined) {
  return ({ stateDir }: Scene): void => {
    const store = openJournal({ path: join(stateDir, 'journal.sqlite'), clock: wallClock });
    write(store);
    store.close();
  };
}

/** A journal whose file was changed behind its back. */
function changedJournal(sql: string) {
  return (at: Scene): void => {
    journal()(at);
    const database = new DatabaseSync(join(at.stateDir, 'journal.sqlite'));
    database.exec(sql);
    database.close();
  };
}

/** Leaves an alert behind that its channel did not take. */
function undelivered(at: Scene, delivery: Delivery): void {
  const outbox = outboxOf([channelConfig()]);
  outbox.add(alert('signer gone', { level: 'critical' }), NOON);
  outbox.settle(outbox.messages[0]!.id, delivery, NOON, 0);
  const store = new OutboxStore(outboxPath(at.stateDir), (fault) => { throw new Error(fault); });
  store.save(outbox, NOON);
  store.close();
  chmodSync(outboxPath(at.stateDir), 0o600);
  at.config += 'notifications: [{ kind: webhook, name: ops, url: "http://127.0.0.1:1/hook" }]\n';
}

async function busyPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  onTestFinished(() => { server.close(); });
  return (server.address() as AddressInfo).port;
}

function controlFile({ stateDir }: Scene, mode = 0o600): void {
  const content =
    { url: 'http://127.0.0.1:9', token: 'aSecretToken0123456789', role: 'operator', pid: 4_242, run_id: RUN };
  writeFileSync(join(stateDir, 'control.json'), JSON.stringify(content));
  chmodSync(join(stateDir, 'control.json'), mode);
}

const PLANTED: readonly Planted[] = [
  { what: 'an old Node', plant: machine({ node: '20.9.0' }), check: 'node', level: 'fault',
    says: /Node 20\.9\.0.*needs/,
    fix: /bin\/gannet/ },
  { what: 'another Node than the tested one', plant: machine({ node: '27.1.0' }), check: 'node', level: 'warning',
    says: /27\.1\.0; 26\.10\.0 is the tested/, fix: /npm ci/ },
  { what: 'outdated packages', plant: machine({ packagesFault: 'the package zod is not installed' }), check: 'packages',
    level: 'fault', says: /zod is not installed/, fix: /npm ci/ },
  { what: 'few open files', plant: machine({ openFiles: 64 }), check: 'file-limit', level: 'fault', says: /64 files/,
    fix: /ulimit -n/ },
  { what: 'little memory', plant: machine({ freeMemoryBytes: 100 * MIB }), check: 'memory', level: 'warning',
    says: /100 MiB/, fix: /ps aux/ },
  { what: 'a full disk', plant: machine({ room: () => ({ device: 1, bytes: 20 * MIB, inodes: 1_000_000 }) }),
    check: 'disk', level: 'fault', says: /20 MiB.*nothing is bought/, fix: /free some space/ },
  { what: 'no inodes', plant: machine({ room: () => ({ device: 1, bytes: 9_000 * MIB, inodes: 12 }) }), check: 'disk',
    level: 'fault', says: /12 inodes/, fix: /find .* -type f/ },
  { what: 'a time zone that is none', plant: machine({ timeZone: 'Sea/Bass_Rock' }), check: 'time-zone',
    level: 'warning',
    says: /names no time zone/, fix: /TZ=UTC/ },
  { what: 'a changed unit', check: 'unit', level: 'warning', says: /gannet\.service differs/,
    fix: /diff .*gannet\.service/,
    plant: (at) => {
      writeFileSync(join(at.folder, 'gannet.service'), '[Service]\nExecStart=/bin/true\n');
      machine({ unitsDir: at.folder })(at);
    } },

  { what: 'an unknown key', plant: (at) => { at.replace('control:', 'controll:'); }, check: 'config', level: 'fault',
    says: /live\.yaml:\d+:\d+ controll.*control/, fix: /gannet config check/ },
  { what: 'no loss that stops live trading', plant: (at) => { at.replace(/ {2}protections.*\n/, ''); }, check: 'config',
    level: 'fault', says: /risk\.protections.*needs a loss/, fix: /gannet config check/ },
  { what: 'a strategy without its file', plant: (at) => { at.replace('use: mean-reversion', 'use: ./gone.ts'); },
    check: 'strategies', level: 'fault', says: /gone\.ts/, fix: /config check/ },
  { what: 'a token that the service does not know', check: 'tokens', level: 'fault', says: /tokens\.EEL.*no such token/,
    fix: /config check/,
    plant: (at) => { at.replace('tokens: {', 'tokens: { EEL: 7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs,'); } },
  { what: 'a token whose issuer can mint more', check: 'tokens', level: 'warning', says: /FISH is not bought: .*TOKEN_/,
    fix: /token_safety\.trusted/, plant: (at) => {
      const mint = host.sandbox.addresses.tokens.find(({ symbol }) => symbol === 'PEARL')!.mint;
      at.replace('tokens: {', `tokens: { FISH: ${mint},`);
      at.replace('caps: {', 'caps: { FISH: { per_trade: "1", per_day: "5" },');
      host.lies.rpc.set('getAccountInfo', { result: { context: { slot: 1 }, value: null } });
    } },
  { what: 'more feeds than the plan allows', check: 'request-rate', level: 'warning', says: /more rarely than wanted/,
    fix: /every/, plant: (at) => { 
      at.replace('plan: developer', 'plan: keyless');
      at.replace('every: 5s', 'every: 1s');
    } },
  { what: 'a readable .env', check: 'env-file', level: 'fault', says: /mode 0644/, fix: /chmod 600/,
    plant: ({ folder }) => {
    writeFileSync(join(folder, '.env'), `GANNET_API_KEY=${API_KEY}\n`);
    chmodSync(join(folder, '.env'), 0o644);
  } },
  { what: 'a budget that the caps do not let it spend', check: 'caps', level: 'warning',
    says: /budget of dip.*500 USDC a day/,
    fix: /per_day/, plant: (at) => { at.replace('budget: "100 USDC"', 'budget: "900 USDC"'); } },
  { what: 'no channel for alerts', check: 'notifications', level: 'warning', says: /alerts reach no person/,
    fix: /gannet notify test/, plant: () => undefined },
  { what: 'a cap below the largest swap', check: 'caps', level: 'warning', says: /at most 5 USDC in one swap/,
    fix: /per_trade/,
    plant: (at) => { at.replace('USDC: { per_trade: "50"', 'USDC: { per_trade: "5"'); } },

  { what: 'no key file', check: 'key', level: 'fault', says: /no key file/, fix: /chmod 600/,
    plant: ({ keyFile }) => { rmSync(keyFile); } },
  { what: 'a key file that cannot be reached', check: 'key', level: 'fault', says: /cannot be examined: ENAMETOOLONG/,
    fix: /as its owner/, plant: (at) => { at.replace(/file:[^"]*/, `file:${at.folder}/${'k'.repeat(300)}`); } },
  { what: 'a variable without a key', check: 'key', level: 'fault', says: /GANNET_WALLET_KEY is not set/,
    fix: /file:PATH/,
    plant: (at) => { at.replace(/key_from: "[^"]*"/, 'key_from: "env:GANNET_WALLET_KEY"'); } },
  { what: 'a readable key file', check: 'key-file', level: 'fault', says: /mode 0644/, fix: /chmod 600/,
    plant: ({ keyFile }) => { chmodSync(keyFile, 0o644); } },
  { what: 'a key file of another user', check: 'key-file', level: 'fault', says: /another user/, fix: /chown/,
    plant: machine({ user: 4_711 }) },
  { what: 'a key in a repository', check: 'key-place', level: 'fault', says: /commit/, fix: /mv /,
    plant: ({ folder }) => { mkdirSync(join(folder, '.git')); } },
  { what: 'a key in the state directory', check: 'key-place', level: 'fault', says: /state directory/, fix: /mv /,
    plant: (at) => {
      const inside = join(at.stateDir, 'wallet.key');
      writeFileSync(inside, host.sandbox.addresses.wallet.private_key, { mode: 0o600 });
      at.replace(/file:[^"]*/, `file:${inside}`);
    } },
  { what: 'a key in a folder that all can write', check: 'key-place', level: 'fault', says: /may write in/,
    fix: /chmod go-w/,
    plant: ({ folder }) => { chmodSync(join(folder, 'keys'), 0o777); } },
  { what: 'the key of another wallet', check: 'key-address', level: 'fault', says: /the key belongs to/,
    fix: /wallet\.address/,
    plant: (at) => { at.replace(/address: \w+/, 'address: 7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'); } },
  { what: 'a signer that does not run', check: 'key', level: 'fault', says: /no signer serves/, fix: /systemctl start/,
    plant: (at) => { at.environment['GANNET_SIGNER_SOCKET'] = join(at.folder, 'signer.sock'); } },

  { what: 'a readable state directory', check: 'state', level: 'fault', says: /other users can read/,
    fix: /chmod -R go-rwx/,
    plant: ({ stateDir }) => { chmodSync(stateDir, 0o755); } },
  { what: 'a state directory of another user', check: 'state', level: 'fault', says: /another user/,
    fix: /chown -R 4711/,
    plant: machine({ user: 4_711 }) },
  { what: 'a recording folder that is a file', check: 'recording', level: 'fault', says: /cannot be written/,
    fix: /recording\.dir/,
    plant: (at) => {
      writeFileSync(join(at.folder, 'plain'), '');
      at.config += `recording: { enabled: true, dir: "${join(at.folder, 'plain', 'recordings')}" }\n`;
    } },
  { what: 'a damaged journal', check: 'journal', level: 'fault', says: /cannot be read|damaged/, fix: /restore/,
    plant: ({ stateDir }) => {
      writeFileSync(join(stateDir, 'journal.sqlite'), 'not a database'.repeat(500), { mode: 0o600 });
    } },
  { what: 'a journal of a newer version', check: 'journal', level: 'fault', says: /format 99/, fix: /version of Gannet/,
    plant: changedJournal('PRAGMA user_version = 99') },
  { what: 'a journal that lacks rows', check: 'journal', level: 'fault', says: /lacks its last entries/, fix: /restore/,
    plant: (at) => {
      journal()(at);
      const head = { format_version: 1, rows: 40, saved_at: 1, accepted_at: 0, diverged: false };
      writeFileSync(headPath(join(at.stateDir, 'journal.sqlite')), JSON.stringify(head), { mode: 0o600 });
    } },
  { what: 'counters that lack swaps', check: 'counters', level: 'fault', says: /lack swaps/, fix: /restore/,
    plant: (at) => { journal((store) => {
      store.intentApproved(intentOf(1));
      store.transition(outcomeOf('dca-1', 'building'));
      store.attemptSigned(attemptOf('dca-1', { feePayer: host.sandbox.addresses.wallet.address }));
    })(at); } },
  { what: 'damaged counters', check: 'counters', level: 'fault', says: /signer\.sqlite/, fix: /restore/,
    plant: (at) => {
      journal()(at);
      mkdirSync(join(at.stateDir, 'signer'), { mode: 0o700 });
      writeFileSync(join(at.stateDir, 'signer', 'signer.sqlite'), 'no database', { mode: 0o600 });
    } },
  { what: 'a run of a newer version', check: 'versions', level: 'fault', says: /format/, fix: /version of Gannet/,
    plant: ({ stateDir }) => {
      mkdirSync(join(stateDir, 'runs', RUN), { recursive: true, mode: 0o700 });
      const manifest = '{"format_version": 99, "mode": "live"}';
      writeFileSync(join(stateDir, 'runs', RUN, 'manifest.json'), manifest, { mode: 0o600 });
    } },
  { what: 'a STOP file', check: 'stop-file', level: 'warning', says: /halts all trading: the market is closed/,
    fix: /rm .*STOP/,
    plant: ({ stateDir }) => { writeFileSync(join(stateDir, 'STOP'), 'the market is closed\n', { mode: 0o600 }); } },
  { what: 'repeated crashes', check: 'safe-mode', level: 'warning', says: /last 3 runs crashed/, fix: /gannet logs/,
    plant: journal((store) => { for (const run of ['a', 'b', 'c']) store.runStarted(run); }) },
  { what: 'a swap of unknown outcome', check: 'open-swaps', level: 'warning', says: /dca-1 is unknown/,
    fix: /gannet journal show dca-1/, plant: journal((store) => {
      store.intentApproved(intentOf(1));
      for (const state of ['building', 'signed', 'submitted', 'unknown'] as const)
        store.transition(outcomeOf('dca-1', state));
    }) },
  { what: 'halted trading', check: 'trading', level: 'warning', says: /trading is reduce-only/, fix: /gannet resume/,
    plant: journal((store) => { store.saveSnapshot(SNAPSHOT); }) },
  { what: 'no backup', check: 'backup', level: 'warning', says: /no backup/, fix: /gannet state backup/,
    plant: journal() },
  { what: 'an old backup', check: 'backup', level: 'warning', says: /30d old/, fix: /gannet state backup/,
    plant: (at) => {
    journal()(at);
    const folder = join(at.stateDir, 'backups', RUN);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    utimesSync(folder, Date.now() / 1_000 - 30 * 86_400, Date.now() / 1_000 - 30 * 86_400);
  } },

  { what: 'a daemon that was killed', check: 'locks', level: 'warning', says: /process 4242\) was killed/,
    fix: /gannet run/,
    plant: (at) => { controlFile(at); } },
  { what: 'a control file that others can write', check: 'control-file', level: 'fault', says: /others may write/,
    fix: /rm /,
    plant: (at) => { controlFile(at, 0o666); } },
  { what: 'a control file that is a link', check: 'control-file', level: 'fault', says: /it is a link/, fix: /rm /,
    plant: ({ stateDir }) => { symlinkSync('/etc/hostname', join(stateDir, 'control.json')); } },
  { what: 'a daemon that does not answer', check: 'locks', level: 'fault', says: /does not answer/, fix: /kill/,
    plant: (at) => {
      const lock = lockState(at.stateDir, wallClock);
      onTestFinished(() => { lock.release(); });
      controlFile(at);
    } },
  { what: 'another daemon with this wallet', check: 'wallet-lock', level: 'fault', says: /another daemon trades/,
    fix: /--state-dir/,
    plant: async () => {
      const lock = await lockWallet({ address: host.sandbox.addresses.wallet.address, clock: wallClock });
      onTestFinished(() => { lock.release(); });
    } },
  { what: 'a control port in use', check: 'control-port', level: 'fault', says: /another program uses the port/,
    fix: /ss -ltnp/,
    plant: async (at) => { at.replace('control: { port: 0 }', `control: { port: ${await busyPort()} }`); } },

  { what: 'no API key', check: 'api-key', level: 'fault', says: /GANNET_API_KEY is not set/, fix: /config check/,
    plant: (at) => { delete at.environment['GANNET_API_KEY']; } },
  { what: 'a refused API key', check: 'api-key', level: 'fault', says: /refuses the API key/, fix: /\.env/,
    plant: (at) => { at.environment['GANNET_API_KEY'] = 'the-key-of-a-stranger'; } },
  { what: 'a service that is not there', check: 'service', level: 'fault', says: /does not answer/, fix: /curl/,
    plant: (at) => { at.replace(/base_url: "[^"]*"/, 'base_url: "http://127.0.0.1:9"'); } },
  { what: 'a wrong clock', check: 'clock', level: 'fault', says: /2h30m behind the service/, fix: /timedatectl/,
    plant: () => { host.lies.clockMs = 9_000_000; } },
  { what: 'a clock that is a minute off', check: 'clock', level: 'warning', says: /1m\d+s ahead of the service/,
    fix: /timedatectl/, plant: () => { host.lies.clockMs = -90_000; } },
  { what: 'a node that is not there', check: 'rpc', level: 'fault', says: /no answer/, fix: /chain\.rpc_url/,
    plant: (at) => { at.replace(/rpc_url: "[^"]*"/, 'rpc_url: "http://127.0.0.1:9"'); } },
  { what: 'a node of the wrong cluster', check: 'rpc-cluster', level: 'fault', says: /on devnet/, fix: /mainnet-beta/,
    plant: () => { host.lies.rpc.set('getGenesisHash', { result: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }); } },
  { what: 'a node that is behind', check: 'rpc-health', level: 'fault', says: /behind the cluster/, fix: /another node/,
    plant: () => {
      host.lies.rpc.set('getHealth', { error: { code: -32_005, message: 'Node is behind by 42 slots' } });
    } },
  { what: 'a node that lags', check: 'rpc-lag', level: 'warning', says: /10m\S* old/, fix: /timedatectl/,
    plant: () => { host.lies.rpc.set('getBlockTime', { result: Math.floor(Date.now() / 1_000) - 600 }); } },
  { what: 'a node without a method', check: 'rpc-methods', level: 'fault',
    says: /does not serve getSignaturesForAddress/,
    fix: /chain\.rpc_url/, plant: () => {
      host.lies.rpc.set('getSignaturesForAddress', { error: { code: -32_601, message: 'Method not found' } });
    } },
  { what: 'a node that accepts no version 1', check: 'rpc-versions', level: 'fault',
    says: /does not give transactions of version 1: a swap in one would stay unknown/, fix: /further_rpc_urls/,
    plant: () => {
      host.lies.rpc.set('getTransaction', ({ params: [, stated] }) =>
        ((stated as { maxSupportedTransactionVersion: number }).maxSupportedTransactionVersion > 0
          ? { error: { code: -32_602, message: 'Invalid params' } } : { result: null }));
    } },
  { what: 'a node whose newest block has a version 1 that it does not give', check: 'rpc-versions', level: 'fault',
    says: /does not give transactions of version 1/, fix: /use another node/,
    plant: () => { host.lies.rpc.set('getBlock', { error: refusal(1) }); } },
  { what: 'a node whose wallet has a transaction that it does not give', check: 'rpc-versions', level: 'fault',
    says: /for example 5+ of the wallet/, fix: /use another node/,
    plant: () => {
      host.lies.rpc.set('getSignaturesForAddress', HISTORY);
      host.lies.rpc.set('getTransaction', { error: refusal(1) });
    } },
  { what: 'a network with a later version, by its newest block', check: 'rpc-versions', level: 'warning',
    says: /a later version than 1, which this Gannet does not read: what/, fix: /newest Gannet/,
    plant: () => { host.lies.rpc.set('getBlock', { error: refusal(2) }); } },
  { what: 'a network with a later version, by a block that is given all the same', check: 'rpc-versions',
    level: 'warning', says: /a later version than 1/, fix: /newest Gannet/,
    plant: () => { host.lies.rpc.set('getBlock', { result: { transactions: [{ version: 0 }, { version: 7 }] } }); } },
  { what: 'a wallet with a transaction of a later version', check: 'rpc-versions', level: 'warning',
    says: /1 of them of the wallet \(5+\)/, fix: /newest Gannet/,
    plant: () => {
      host.lies.rpc.set('getSignaturesForAddress', HISTORY);
      host.lies.rpc.set('getTransaction', { error: refusal(2) });
    } },
  { what: 'a wallet without SOL', check: 'balance', level: 'fault', says: /leaves nothing for fees/,
    fix: /send .*SOL or more to/,
    plant: (at) => { at.replace('sol_reserve: "0.05 SOL"', 'sol_reserve: "500000 SOL"'); } },
  { what: 'budgets that the wallet does not cover', check: 'budgets', level: 'warning',
    says: /the wallet has \S+ USDC less/,
    fix: /lower the budgets/, plant: (at) => { at.replace('budget: "100 USDC"', 'budget: "90000000 USDC"'); } },
  { what: 'a position that takes days to sell', check: 'exits', level: 'warning',
    says: /dip holds 120 SOL.*24 sales over 3 days/,
    fix: /signer\.caps\.SOL/, plant: journal((store) => {
      const book = { balances: { [SOL_MINT]: '120000000000' }, feesLamports: '0', swaps: 1 };
      store.saveSnapshot({ ...SNAPSHOT, trading: 'active', books: { dip: book } });
    }) },
  { what: 'a message that its channel refuses', check: 'notifications', level: 'warning',
    says: /the channel ops refuses 1 message: status 400/, fix: /gannet notify test --channel ops/,
    plant: (at) => { undelivered(at, { kind: 'refused', of: 'message', fault: 'status 400', remedy: 'r' }); } },
  { what: 'a channel that cannot be reached', check: 'notifications', level: 'warning',
    says: /the channel ops takes none of 1 message: no connection/, fix: /gannet notify list/,
    plant: (at) => { undelivered(at, { kind: 'failed', fault: 'no connection', mayHaveArrived: false }); } },
  { what: 'an outbox that is broken', check: 'notifications', level: 'warning', says: /notifications\.sqlite/,
    fix: /start the daemon/,
    plant: ({ stateDir }) => { writeFileSync(join(stateDir, 'notifications.sqlite'), 'no database'.repeat(100)); } },
];

describe('gannet doctor', () => {
  it('finds nothing wrong where nothing is wrong, and changes nothing', async () => {
    const at = scene();
    journal()(at);
    const before = listing(at.stateDir);
    const checks = await at.examine();
    // This scene has neither.
    const expected = ['backup', 'notifications'];
    expect(checks.filter(({ level, name }) => level !== 'ok' && !expected.includes(name))).toEqual([]);
    expect(new Set(checks.map(({ group }) => group)).size).toBe(8);
    expect(listing(at.stateDir)).toEqual(before);
  });

  it.each(PLANTED)('finds $what', async ({ plant, check, level, says, fix }) => {
    const at = scene();
    await plant(at);
    const checks = await at.examine();
    const found = checks.filter(({ name, message }) => name === check && says.test(message));
    expect(found.map((one) => ({ level: one.level, ok: one.ok })), checks.map(({ message }) => message).join('\n'))
      .toContainEqual({ level, ok: level !== 'fault' });
    expect(found[0]!.fix).toMatch(fix);
    expect(JSON.stringify(checks)).not.toContain(host.sandbox.addresses.wallet.private_key);
    for (const secret of [API_KEY, 'aSecretToken0123456789']) expect(JSON.stringify(checks)).not.toContain(secret);
  });

  it('examines every node, and shows the key of none', async () => {
    const key = 'theKeyOfTheSecondNode';
    const at = scene();
    at.replace('/rpc" }', `/rpc", further_rpc_urls: ["http://127.0.0.1:9/${key}"] }`);
    host.lies.rpc.set('getHealth', { error: { code: -32_005, message: `behind ${key}` } });
    const checks = await at.examine();
    expect(checks.filter(({ group, ok }) => group === 'chain' && !ok)).toMatchObject([
      { name: 'rpc-health', message: expect.stringContaining('behind [hidden]') },
      { name: 'rpc', message: expect.stringMatching(/^127\.0\.0\.1:9: .*no answer/),
        fix: expect.stringContaining('check chain.further_rpc_urls') },
    ]);
    expect(JSON.stringify(checks)).not.toContain(key);
    at.replace(/rpc_url: "[^"]*"/, 'rpc_url: "http://127.0.0.1:10"');
    at.replace(`http://127.0.0.1:9/${key}`, `${host.url}/rpc`);
    // The first that answers is asked for the wallet.
    expect((await at.examine()).filter(({ ok }) => !ok)).toMatchObject([{ name: 'rpc' }, { name: 'rpc-health' }]);
    expect((await at.examine()).map(({ name }) => name)).toContain('balance');
  });

  it('asks nothing over the network with --offline', async () => {
    const at = scene();
    at.replace(/base_url: "[^"]*"/, 'base_url: "http://127.0.0.1:9"');
    at.replace(/rpc_url: "[^"]*"/, 'rpc_url: "http://127.0.0.1:9"');
    at.offline = true;
    expect((await at.examine()).filter(({ ok }) => !ok)).toEqual([]);
  });

  it('gives up on a service and a node that never answer', async () => {
    const port = await busyPort();
    const at = scene();
    at.replace(/base_url: "[^"]*"/, `base_url: "http://127.0.0.1:${port}"`);
    at.replace(/rpc_url: "[^"]*"/, `rpc_url: "http://127.0.0.1:${port}"`);
    const startedAt = performance.now();
    const faults = (await at.examine()).filter(({ ok }) => !ok).map(({ name }) => name);
    expect(faults).toEqual(['service', 'rpc']);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('prints faults first with their fixes, hides hostile bytes, and fits 80 columns', async () => {
    const at = scene();
    writeFileSync(join(at.stateDir, 'STOP'), '\u001b[31mred\u0007', { mode: 0o600 });
    chmodSync(at.keyFile, 0o644);
    const checks = await at.examine();
    const text = linesWrapped(doctorText(checks, { colour: false }), 80);
    expect(text.split('\n').every((line) => line.length <= 80 || !line.trim().includes(' '))).toBe(true);
    expect(text.indexOf('FAULT')).toBeLessThan(text.indexOf('warning  '));
    expect(text.indexOf('warning  ')).toBeLessThan(text.indexOf('\n  machine\n'));
    expect(text).toMatch(/FAULT +key-file:[\s\S]*? fix {2}run "chmod 600/);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    const last = new RegExp(`^  ${checks.length} checks, 1 fault, [12] warnings?$`);
    expect(text.trimEnd().split('\n').at(-1)).toMatch(last);
  });
});

/** What a write would change. */
function listing(folder: string): readonly (readonly [string, number, number])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(folder, name));
    return [name, size, mtimeMs] as const;
  });
}
