import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** Where Debian's packages come from when nothing else is said. */
export const DEBIAN_MIRROR = 'http://deb.debian.org/debian';

/** The hierarchies by which systemd follows processes: the unified one, alone or beside those of version 1. */
const CONTROL_GROUPS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];

/** Runs a program to its end. Throws where it fails. Returns what it printed. */
export function runToEnd(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const done = spawnSync(command, args, {
    encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...environment },
  });
  expectDone(`${command} ${args[0] ?? ''}`, done);
  return done.stdout;
}

/**
 * Makes a fresh Debian 12 in a folder, with the name server and the certificates of this machine. One of another
 * architecture needs an emulator of its programs.
 */
export function makeDebian(root: string, { mirror, packages = [], variant = '-', architecture }: {
  readonly mirror: string; readonly packages?: readonly string[]; readonly variant?: '-' | 'minbase';
  readonly architecture?: string;
}): void {
  runToEnd('debootstrap', [
    ...(architecture === undefined ? [] : [`--arch=${architecture}`]),
    ...(packages.length === 0 ? [] : [`--include=${packages.join(',')}`]), `--variant=${variant}`, 'bookworm', root,
    mirror,
  ]);
  // Users other than root go through it.
  chmodSync(root, 0o755);
  cpSync('/etc/resolv.conf', join(root, 'etc', 'resolv.conf'), { dereference: true });
  const own = '/usr/local/share/ca-certificates';
  if (existsSync(own)) cpSync(own, join(root, own), { recursive: true });
}

/**
 * Boots the Debian in a folder with its systemd, runs a script there as root after the boot, and turns it off. Returns
 * what the script printed, and its exit code. Where this process is killed, the machine ends with it.
 */
export function bootForScript(root: string, script: string, { limitMs }: { readonly limitMs: number }): {
  readonly output: string; readonly code: number;
} {
  const machine = basename(root);
  writeFileSync(join(root, 'root', 'script.sh'), script);
  const units = join(root, 'etc', 'systemd', 'system');
  writeFileSync(join(units, 'campaign.service'), `[Unit]
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
Environment=HOME=/root TERM=dumb NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
WorkingDirectory=/root
ExecStart=/bin/bash /root/script.sh
ExecStopPost=/bin/sh -c 'echo "$EXIT_STATUS" > /root/code; systemctl --no-block poweroff'
StandardOutput=append:/root/output
StandardError=inherit
`);
  const wanted = join(units, 'multi-user.target.wants');
  mkdirSync(wanted, { recursive: true });
  symlinkSync('../campaign.service', join(wanted, 'campaign.service'));
  const groups = CONTROL_GROUPS.filter((path) => existsSync(join(path, 'cgroup.procs')))
    .map((path) => join(path, machine));
  try {
    // In groups of its own, and in a namespace of processes that ends with this process.
    const done = spawnSync('unshare', [
      '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '/bin/sh', '-c',
      'for group; do mkdir "$group" && echo 0 > "$group/cgroup.procs"; done; exec systemd-nspawn --quiet --boot '
      + `--register=no --keep-unit --console=pipe --directory='${root}' --machine='${machine}'`,
      'machine', ...groups,
    ], {
      encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs, killSignal: 'SIGKILL',
      // As Debian 12 boots; without this it would get the hierarchy of this machine.
      env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
    });
    const path = join(root, 'root', 'output');
    const output = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (!existsSync(join(root, 'root', 'code'))) {
      process.stderr.write(output);
      expectDone('systemd-nspawn', { ...done, status: done.status === 0 ? 1 : done.status });
    }
    return { output, code: Number(readFileSync(join(root, 'root', 'code'), 'utf8')) };
  } finally {
    groups.forEach(removeControlGroup);
    rmSync(`/run/systemd/nspawn/propagate/${machine}`, { recursive: true, force: true });
  }
}

/** Removes a control group with those in it; their processes have ended. */
export function removeControlGroup(group: string): void {
  if (!existsSync(group)) return;
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeControlGroup(join(group, entry.name));
  rmdirSync(group);
}

function expectDone(what: string, { status, stdout, stderr, error }: SpawnSyncReturns<string>): void {
  if (status === 0) return;
  throw error ?? new Error(`${what} ended with ${status}: ${stdout.slice(-2_000)} ${stderr.slice(-2_000)}`);
}
