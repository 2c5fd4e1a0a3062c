import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isOpen, readJournal } from '../crash/invariants.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { bootForScript, DEBIAN_MIRROR, makeDebian, runToEnd } from './debian.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** Returns the blocks of the install guide that a person pastes into a shell, in their order. */
export function guideBlocks(guide = readFileSync(join(PROJECT, 'docs', 'operations', 'install.md'), 'utf8')): string[] {
  return [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
}

/** After the first block: a service and a chain to install for. */
const SANDBOX = `
systemd-run --quiet --unit=sandbox --property=StandardOutput=file:/tmp/sandbox.json gannet sandbox --json --seed 19
for _ in $(seq 300); do [ -s /tmp/sandbox.json ] && break; sleep 0.2; done
`;

/** Returns a live configuration that trades on a sandbox every two seconds. */
export function liveConfig({ baseUrl, rpcUrl, keyFile, more = '' }: {
  readonly baseUrl: string; readonly rpcUrl: string; readonly keyFile: string; readonly more?: string;
}): string {
  return `mode: live
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: "file:${keyFile}" }
${more}risk: { max_trade: "50 USDC", max_swaps: { per_minute: 60, per_hour: 600, per_day: 600 },
    protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }] }
signer: { caps: { USDC: { per_trade: "50", per_day: "1000" }, SOL: { per_trade: "1", per_day: "9" } } }
strategies: [{ use: dca, budget: "500 USDC", params: { buy: SOL, spend: "2 USDC", every: 2s, watch: 1s } }]
`;
}

/** After the block that copies the example: what a person edits. */
const EDIT = `
json() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p" /tmp/sandbox.json | head -1; }
json private_key > /root/wallet.key
echo GANNET_API_KEY=a-key-of-my-own > /etc/gannet/gannet.env
cat > /etc/gannet/live.yaml <<'END'
${liveConfig({
  baseUrl: 'BASE_URL', rpcUrl: 'RPC_URL', keyFile: '/var/lib/gannet-signer/wallet.key',
  more: 'control: { port: 7070 }\n',
})}END
sed -i "s|BASE_URL|$(json base_url)|; s|RPC_URL|$(json rpc_url)|" /etc/gannet/live.yaml
`;

const START = `
set -e
trap 'code=$?; [ $code = 0 ] || journalctl --no-pager --lines 80; exit $code' EXIT
export GANNET_SOURCE=/source.git DEBIAN_FRONTEND=noninteractive
`;

/** Returns the script that follows the guide: its blocks as they stand, what the text between them asks for, checks. */
export function guideScript(blocks: readonly string[]): string {
  const parts = blocks.map((block, index) => [
    `echo "== block ${index + 1} of ${blocks.length}"\n${block}`,
    ...(block.includes('git clone') ? [SANDBOX] : []),
    ...(block.includes('config/live.yaml /etc/gannet') ? [EDIT] : []),
  ].join('\n'));
  const checks = readFileSync(join(import.meta.dirname, 'install-checks.sh'), 'utf8');
  return [START, ...parts, `echo "== checks"\n${checks}`, 'echo "== done"', ''].join('\n');
}

/** What the checks printed, by their names. */
export type Figures = ReadonlyMap<string, string>;

/** Returns the lines "figure NAME VALUE" of an output. */
export function figuresOf(output: string): Figures {
  return new Map([...output.matchAll(/^figure (\S+) ?(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

const EXPOSURE_MAX = 2;
/** On a machine that does something else too; campaign:restarts is the exact one. */
const BACK_MAX_MS = 30_000;
/** WatchdogSec of the units, and a second for systemd to notice. */
const WATCHDOG_MS = 61_000;
const STOP_MAX_MS = 45_000;
const LIMIT_MS = 30 * 60_000;

function within(ms: number): (value: string) => boolean {
  return (value) => /^\d+$/.test(value) && Number(value) <= ms;
}

/** Returns what the figures of the checks show to be wrong. */
export function figureFaults(figures: Figures): string[] {
  const faults: string[] = [];
  const expect = (name: string, isRight: (value: string) => boolean): void => {
    const value = figures.get(name);
    if (value === undefined || !isRight(value)) faults.push(`${name}: ${value ?? 'missing'}`);
  };
  for (const unit of ['gannet-signer', 'gannet']) {
    expect(`verify:${unit}`, (value) => value === 'clean');
    expect(`exposure:${unit}`, (value) => value !== '' && Number(value) <= EXPOSURE_MAX);
    expect(`process:${unit}`, (value) =>
      value === `${unit} CapBnd=0000000000000000 NoNewPrivs=1 Seccomp=2`);
    expect(`ended:${unit}`, (value) => value === 'success');
  }
  expect('restarts', (value) => value === '1');
  expect('status', (value) => value.startsWith('trading, '));
  for (const name of ['signerKilled', 'resumed', 'signerRestarted', 'started']) expect(name, within(BACK_MAX_MS));
  for (const name of ['hung', 'signerHung']) {
    expect(name, within(WATCHDOG_MS + BACK_MAX_MS));
    expect(`${name}By`, (value) => value === '1');
  }
  expect('ready', within(BACK_MAX_MS));
  expect('stopped', within(STOP_MAX_MS));
  expect('stopResult', (value) => value === 'success');
  expect('refused', (value) => value === 'failed 2 0');
  expect('refusedNamed', (value) => Number(value) > 0);
  return faults;
}

/** Follows the guide on a fresh Debian 12 that systemd has booted. Returns the figures, and what is wrong. */
function followGuide(root: string, mirror: string): Readonly<Record<string, unknown>> & {
  readonly violations: readonly string[];
} {
  makeDebian(root, { mirror, packages: ['dbus', 'systemd-sysv'] });
  runToEnd('git', ['clone', '--bare', '--quiet', PROJECT, join(root, 'source.git')]);
  const { output, code } = bootForScript(root, guideScript(guideBlocks()), { limitMs: LIMIT_MS });
  process.stderr.write(output);
  const figures = figuresOf(output);
  const intents = readJournal(join(root, 'var', 'lib', 'gannet'))?.intents ?? [];
  const confirmed = intents.filter(({ state }) => state === 'confirmed').length;
  return {
    figures: Object.fromEntries(figures), confirmed,
    violations: [
      ...(code === 0 && output.includes('== done') ? []
        : [`the guide ended with ${code}: ${output.slice(-3_000)}`]),
      ...figureFaults(figures),
      ...(confirmed > 0 ? [] : ['no swap was confirmed']),
      ...intents.filter(({ state }) => isOpen(state)).map(({ id }) => `swap ${id} is still open`),
    ],
  };
}

/** `node test/campaign/install.ts [--mirror URL] [--out FILE]`, as root, with debootstrap and systemd-nspawn */
function main(): number {
  const { values } = parseArgs({ options: {
    mirror: { type: 'string', default: DEBIAN_MIRROR },
    out: { type: 'string', default: resultsFile('install') },
  } });
  const startedMs = performance.now();
  const root = mkdtempSync(join(tmpdir(), 'gannet-install-'));
  try {
    const done = followGuide(root, values.mirror);
    addResult(values.out, {
      type: 'install', at: new Date().toISOString(), ...codeVersion('everything'), blocks: guideBlocks().length,
      seconds: Math.round((performance.now() - startedMs) / 1_000), ...done,
    });
    return endCampaign(values.out, done.violations);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = main();
