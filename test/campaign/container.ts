import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { isOpen, readJournal } from '../crash/invariants.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { DEBIAN_MIRROR, makeDebian, removeControlGroup, runToEnd } from './debian.ts';
import { liveConfig } from './install.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

const FILES = join(PROJECT, 'deploy', 'container');

/** What this campaign reads of deploy/container/compose.yaml: all that the file sets. */
interface ComposeService {
  readonly image: string;
  readonly user: string;
  readonly read_only: boolean;
  readonly init: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly restart: string;
  readonly pids_limit: number;
  readonly mem_limit: string;
  readonly memswap_limit: string;
  readonly ulimits: Readonly<Record<string, number>>;
  readonly tmpfs: readonly string[];
  readonly logging: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
  readonly working_dir?: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly secrets?: readonly string[];
  readonly stop_grace_period: string;
  readonly healthcheck?: {
    readonly test: readonly string[]; readonly interval: string; readonly timeout: string;
    readonly start_period: string;
  };
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, { readonly driver_opts?: Readonly<Record<string, string>> }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** Returns deploy/container/compose.yaml. */
export function readCompose(): Compose {
  return parse(readFileSync(join(FILES, 'compose.yaml'), 'utf8'), { merge: true }) as Compose;
}

function each(option: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [option, value]);
}

function pairs(of: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(of).map(([key, value]) => `${key}=${String(value)}`);
}

/** Returns the arguments of `podman run` that say what the compose file in a folder says of a service. */
export function podmanArgs({ services, secrets }: Compose, { name, folder, apiKey }: {
  readonly name: string; readonly folder: string; readonly apiKey: string;
}): string[] {
  const service = services[name]!;
  const { healthcheck } = service;
  return [
    '--user', service.user, `--read-only=${service.read_only}`, '--read-only-tmpfs=false', `--init=${service.init}`,
    ...each('--cap-drop', service.cap_drop),
    ...each('--security-opt', service.security_opt.map((option) => option.replace(':true', ''))),
    '--restart', service.restart, '--pids-limit', String(service.pids_limit),
    '--memory', service.mem_limit, '--memory-swap', service.memswap_limit,
    ...each('--ulimit', pairs(service.ulimits)), ...each('--tmpfs', service.tmpfs),
    '--log-driver', service.logging.driver,
    ...each('--log-opt', pairs(service.logging.options).filter((option) => option.startsWith('max-size'))),
    ...(service.working_dir === undefined ? [] : ['--workdir', service.working_dir]),
    ...each('--env', pairs(service.environment).map((pair) => pair.replace(/\$\{GANNET_API_KEY[^}]*\}/, apiKey))),
    ...each('--volume', service.volumes.map((volume) => volume.replace(/^\.[^:]*/, (path) => resolve(folder, path)))),
    ...each('--volume', (service.secrets ?? []).map((secret) =>
      `${resolve(folder, secrets[secret]!.file)}:/run/secrets/${secret}:ro`)),
    '--stop-timeout', service.stop_grace_period.replace('s', ''),
    ...(healthcheck === undefined ? [] : [
      '--health-cmd', healthcheck.test.slice(1).join(' '), '--health-interval', healthcheck.interval,
      '--health-timeout', healthcheck.timeout, '--health-start-period', healthcheck.start_period,
    ]),
    service.image, ...service.command,
  ];
}

/** Makes the images that the Containerfile begins with out of Debian's packages, because no registry is asked. */
function makeBaseImages(podman: Podman, folder: string, mirror: string): void {
  const [node, debian] = [...readFileSync(join(FILES, 'Containerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)]
    .map(([, image]) => image!);
  const [nodeRoot, debianRoot] = [join(folder, 'node'), join(folder, 'debian')];
  makeDebian(debianRoot, { mirror, variant: 'minbase' });
  runToEnd('cp', ['--archive', debianRoot, nodeRoot]);
  runToEnd('chroot', [nodeRoot, '/usr/bin/env', '--ignore-environment', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'DEBIAN_FRONTEND=noninteractive', '/bin/sh', '-c',
    'apt-get update && apt-get install -y --no-install-recommends ca-certificates libatomic1']);
  const version = /^node:([\d.]+)-/.exec(node!)![1]!;
  runToEnd('npm', ['install', '--global', '--prefix', join(nodeRoot, 'usr', 'local'), '--loglevel=error',
    `node-linux-${process.arch}@${version}`, 'npm@10']);
  for (const [root, image, variables] of [
    [nodeRoot, node!, ['NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt']], [debianRoot, debian!, []],
  ] as const) {
    const archive = `${root}.tar`;
    runToEnd('tar', ['--directory', root, '--create', '--file', archive, '--exclude=./dev/*', '.']);
    podman('import', '--quiet', ...variables.flatMap((variable) => ['--change', `ENV ${variable}`]), archive,
      `localhost/${image}`);
    rmSync(archive);
    rmSync(root, { recursive: true });
  }
}

type Podman = (...args: readonly string[]) => string;

const GIVE_UP_MS = 120_000;
const POLL_MS = 200;
const SWAPS_EACH = 3;
const DRAIN_MAX_MS = 45_000;

async function until(what: string, condition: () => boolean): Promise<number> {
  const startedAt = performance.now();
  while (!condition()) {
    if (performance.now() - startedAt > GIVE_UP_MS) throw new Error(`not within ${GIVE_UP_MS} ms: ${what}`);
    await sleep(POLL_MS);
  }
  return Math.round(performance.now() - startedAt);
}

/** What `gannet sandbox --json` prints first, as far as it is needed. */
interface Sandbox {
  readonly base_url: string;
  readonly rpc_url: string;
  readonly wallet: { readonly private_key: string };
}

/** What one run of both containers came to. */
interface ContainerLife {
  readonly figures: Readonly<Record<string, unknown>>;
  readonly violations: readonly string[];
}

/** Runs the services of the compose file against a sandbox on this machine, disturbs them, and stops them. */
async function live(podman: Podman, place: string, group: string): Promise<ContainerLife> {
  const violations: string[] = [];
  const figures: Record<string, unknown> = {};
  const expectThat = (isRight: boolean, what: string): void => { if (!isRight) violations.push(what); };
  const compose = readCompose();
  for (const [name, { driver_opts: options = {} }] of Object.entries(compose.volumes))
    podman('volume', 'create', ...each('--opt', pairs(options)), name);
  const start = (name: string): void => {
    podman('run', '--detach', '--pull=never', '--name', name, '--network=host', `--cgroup-parent=${group}`,
      // podman sets a limit of its own, which this machine may not allow; pids_limit is the lower one.
      '--ulimit=nproc=4096',
      ...podmanArgs(compose, { name, folder: place, apiKey: 'a-key-of-my-own' }));
  };
  const inspect = (name: string, format: string): string => podman('inspect', '--format', format, name).trim();
  const isHealthy = (name: string): boolean => succeeds(podman, 'healthcheck', 'run', name);
  const state = podman('volume', 'inspect', '--format', '{{.Mountpoint}}', 'state').trim();
  const confirmed = (): number =>
    readJournal(state)?.intents.filter((intent) => intent.state === 'confirmed').length ?? 0;
  const moreSwaps = async (): Promise<number> => {
    const before = confirmed();
    return await until('more swaps are confirmed', () => confirmed() >= before + SWAPS_EACH);
  };
  // The process of Gannet: the child of the container's init.
  const pidOf = (name: string): number => {
    const init = inspect(name, '{{.State.Pid}}');
    const path = `/proc/${init}/task/${init}/children`;
    return existsSync(path) ? Number(readFileSync(path, 'utf8').trim().split(' ')[0]) : 0;
  };
  const restartsOf = (name: string): number => Number(inspect(name, '{{.RestartCount}}'));

  start('signer');
  figures['signerHealthyMs'] = await until('the signer is healthy', () => isHealthy('signer'));
  start('daemon');
  figures['daemonHealthyMs'] = await until('the daemon is healthy', () => isHealthy('daemon'));
  await moreSwaps();
  for (const [name, user] of [['signer', 10002], ['daemon', 10001]] as const) {
    const status = readFileSync(`/proc/${pidOf(name)}/status`, 'utf8');
    for (const line of [
      `Uid:\t${user}\t${user}\t${user}\t${user}`, 'Gid:\t10000\t10000\t10000\t10000', 'CapBnd:\t0000000000000000',
      'CapEff:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2',
    ]) expectThat(status.includes(`\n${line}\n`), `${name}: its process lacks ${line}`);
    for (const path of ['/x', '/etc/x', '/opt/gannet/x', '/usr/local/bin/x', '/var/x', '/run/x'])
      expectThat(!succeeds(podman, 'exec', name, 'touch', path), `${name}: ${path} can be written`);
    expectThat(inspect(name, '{{.HostConfig.ReadonlyRootfs}}') === 'true', `${name}: its image is not read-only`);
    const health = inspect(name, '{{.State.Health.Status}}');
    figures[`health:${name}`] = health;
    expectThat(health === 'healthy', `${name} is ${health}`);
  }
  for (const path of ['/run/secrets/wallet_key', '/var/lib/gannet-signer/counters.sqlite'])
    expectThat(!succeeds(podman, 'exec', 'daemon', 'cat', path), `the daemon reads ${path}`);
  expectThat(succeeds(podman, 'exec', 'daemon', 'gannet', 'status', '--state-dir', '/var/lib/gannet'),
    'gannet status fails in the daemon');

  for (const victim of ['daemon', 'signer']) {
    const [before, pid] = [['daemon', victim].map(restartsOf), pidOf('daemon')];
    process.kill(pidOf(victim), 'SIGKILL');
    figures[`${victim}KilledMs`] = await until(`both run again after a kill of the ${victim}`, () =>
      ['daemon', victim].every((name, index) => restartsOf(name) > before[index]!)
      && pidOf('daemon') !== pid && isHealthy('daemon')) + await moreSwaps();
  }
  figures['restarts'] = { daemon: restartsOf('daemon'), signer: restartsOf('signer') };

  for (const [name, maxMs] of [['daemon', DRAIN_MAX_MS], ['signer', 10_000]] as const) {
    const startedAt = performance.now();
    podman('stop', name);
    const ms = Math.round(performance.now() - startedAt);
    const [running, code] = inspect(name, '{{.State.Running}} {{.State.ExitCode}}').split(' ');
    figures[`${name}StopMs`] = ms;
    expectThat(ms <= maxMs, `${name}: its stop took ${ms} ms`);
    expectThat(running === 'false' && code === '0', `${name}: after its stop, running ${running}, exit code ${code}`);
  }
  figures['confirmed'] = confirmed();
  const journal = readJournal(state);
  expectThat(journal?.integrity === 'ok', `the journal is damaged: ${journal?.integrity}`);
  expectThat(journal?.intents.every((intent) => !isOpen(intent.state)) === true, 'a swap is still open');
  return { figures, violations };
}

function succeeds(podman: Podman, ...args: readonly string[]): boolean {
  try {
    podman(...args);
    return true;
  } catch {
    return false;
  }
}

/** Builds the image in a folder and lives once with it, beside a sandbox. Removes what it made. */
async function buildAndLive(folder: string, mirror: string): Promise<ContainerLife> {
  const group = folder.slice(folder.lastIndexOf('/') + 1);
  const podman: Podman = (...args) => runToEnd('podman', [
    '--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--cgroup-manager=cgroupfs', ...args,
  ]);
  const sandbox = spawn(join(PROJECT, 'bin', 'gannet'), ['sandbox', '--json', '--seed', '19'], {
    cwd: folder, stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(createInterface(sandbox.stdout), 'line') as [string];
    const { base_url: baseUrl, rpc_url: rpcUrl, wallet: { private_key: key } } = JSON.parse(line) as Sandbox;
    makeBaseImages(podman, folder, mirror);
    process.stderr.write(podman('build', '--format=docker', '--pull=never', '--network=host', '--file',
      join(FILES, 'Containerfile'), '--tag', 'gannet', PROJECT));
    const place = join(folder, 'place');
    mkdirSync(place);
    writeFileSync(join(place, 'live.yaml'), liveConfig({
      baseUrl, rpcUrl, keyFile: '/run/secrets/wallet_key',
    }));
    writeFileSync(join(place, 'wallet.key'), key);
    chownSync(join(place, 'wallet.key'), 10002, 10000);
    chmodSync(join(place, 'wallet.key'), 0o600);
    return await live(podman, place, group);
  } catch (error) {
    process.stderr.write(logsOf(podman));
    throw error;
  } finally {
    sandbox.kill();
    succeeds(podman, 'rm', '--all', '--force', '--time=1');
    succeeds(podman, 'volume', 'rm', '--all', '--force');
    succeeds(podman, 'rmi', '--all', '--force');
    for (const path of ['/sys/fs/cgroup', ...readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name))])
      if (existsSync(join(path, 'cgroup.procs'))) removeControlGroup(join(path, group));
    spawnSync('umount', [join(folder, 'storage', 'overlay')]);
  }
}

function logsOf(podman: Podman): string {
  return ['signer', 'daemon'].map((name) => {
    try {
      return podman('logs', '--tail', '40', name);
    } catch (error) {
      return `${name}: ${String(error)}\n`;
    }
  }).join('');
}

/**
 * `node test/campaign/container.ts [--mirror URL] [--out FILE]`, as root, with debootstrap, podman, crun and catatonit.
 * crun refuses control groups of both versions: there, run it in `unshare --mount` after
 * `umount /sys/fs/cgroup/unified`.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    mirror: { type: 'string', default: DEBIAN_MIRROR },
    out: { type: 'string', default: resultsFile('container') },
  } });
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'gannet-container-'));
  // The users of the containers go through it.
  chmodSync(folder, 0o755);
  try {
    const done = await buildAndLive(folder, values.mirror);
    addResult(values.out, {
      type: 'container', at: new Date().toISOString(), ...codeVersion('everything'),
      seconds: Math.round((performance.now() - startedMs) / 1_000), ...done,
    });
    return endCampaign(values.out, done.violations);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await main();
