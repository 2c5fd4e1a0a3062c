import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT } from '../e2e/gannet.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** Returns the blocks of the install guide that a person pastes into a shell, in their order. */
export function guideBlocks(guide = readFileSync(join(PROJECT, 'docs', 'operations', 'install.md'), 'utf8')): string[] {
  return [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
}

/** In place of systemd: starts a unit's program as the unit's user, again and again. */
const SYSTEMCTL = `#!/bin/bash
value() { sed -n "s/^$2=//p" "/etc/systemd/system/$1.service" | tail -1; }
folder() { install -d -m "$(value "$1" "$2Mode")" -o "$(value "$1" User)" -g gannet "$3/$(value "$1" "$2")"; }
start() {
  [ -z "$(value "$1" RuntimeDirectory)" ] || folder "$1" RuntimeDirectory /run
  folder "$1" StateDirectory /var/lib
  folder "$1" CacheDirectory /var/cache
  cd "$(value "$1" WorkingDirectory)"
  mapfile -t variables < <(sed -n 's/^Environment=//p' "/etc/systemd/system/$1.service"; cat /etc/gannet/gannet.env)
  while :; do
    setpriv --reuid="$(value "$1" User)" --regid=gannet --clear-groups --no-new-privs --bounding-set=-all \\
      env -i PATH=/usr/bin:/bin "\${variables[@]}" $(value "$1" ExecStart) >> "/var/log/$1" 2>&1 &
    echo $! > "/run/$1.pid"
    wait $!
    [ $? = 2 ] && exit
    sleep "$(value "$1" RestartSec)"
  done &
}
ready() { for _ in $(seq 600); do [ -e "$1" ] && return; sleep 0.2; done; cat /var/log/gannet*; exit 1; }
case "$1" in
  enable)
    start gannet-signer; ready /run/gannet/signer.sock
    start gannet; ready /var/lib/gannet/control.json ;;
  status) for unit in gannet-signer gannet; do echo "$unit"; kill -0 "$(cat /run/$unit.pid)" || exit 3; done ;;
  kill) kill -9 "$(cat /run/gannet.pid)" ;;
  daemon-reload | restart) ;;
  *) echo "systemctl $* is not known here"; exit 1 ;;
esac
`;

/** After the first block: a service and a chain to install for. */
const SANDBOX = `
gannet sandbox --json --seed 19 > /tmp/sandbox.json 2>/tmp/sandbox.log &
for _ in $(seq 300); do [ -s /tmp/sandbox.json ] && break; sleep 0.2; done
`;

/** After the block that copies the example: what a person edits. */
const EDIT = `
json() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p" /tmp/sandbox.json | head -1; }
json private_key > /root/wallet.key
echo GANNET_API_KEY=a-key-of-my-own > /etc/gannet/gannet.env
cat > /etc/gannet/live.yaml <<END
mode: live
service: { base_url: "$(json base_url)", api_key: "\\\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "$(json rpc_url)" }
wallet: { key_from: "file:/var/lib/gannet-signer/wallet.key" }
control: { port: 7070 }
risk: { max_trade: "50 USDC", max_swaps: { per_day: 600 },
    protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }] }
signer: { caps: { USDC: { per_trade: "50", per_day: "1000" }, SOL: { per_trade: "1", per_day: "9" } } }
strategies: [{ use: dca, budget: "500 USDC", params: { buy: SOL, spend: "5 USDC", every: 2s, watch: 1s } }]
END
`;

/** Returns the script that follows the guide: each block as it stands, and in between what the text asks for. */
export function guideScript(blocks: readonly string[]): string {
  const parts = blocks.map((block, index) => [
    `echo "== block ${index + 1} of ${blocks.length}"\n${block}`,
    ...(block.includes('git clone') ? [SANDBOX] : []),
    ...(block.includes('config/live.yaml /etc/gannet') ? [EDIT] : []),
  ].join('\n'));
  const start = 'set -e\nexport GANNET_SOURCE=/source.git DEBIAN_FRONTEND=noninteractive';
  return [start, ...parts, 'echo "== done"', ''].join('\n');
}

/** Follows the guide on a fresh Debian 12 in a folder. Returns what was printed, and what is wrong. */
function followGuide(root: string, mirror: string): { readonly output: string; readonly violations: string[] } {
  expectDone(run('debootstrap', ['--variant=minbase', 'bookworm', root, mirror]));
  // As on this machine: its name server, and certificates of its own.
  cpSync('/etc/resolv.conf', join(root, 'etc', 'resolv.conf'), { dereference: true });
  const own = '/usr/local/share/ca-certificates';
  if (existsSync(own)) cpSync(own, join(root, own), { recursive: true });
  expectDone(run('git', ['clone', '--bare', '--quiet', PROJECT, join(root, 'source.git')]));
  writeFileSync(join(root, 'usr', 'local', 'sbin', 'systemctl'), SYSTEMCTL, { mode: 0o755 });
  writeFileSync(join(root, 'guide.sh'), guideScript(guideBlocks()));
  mkdirSync(join(root, 'proc'), { recursive: true });
  const inside = `mount --bind /dev ${root}/dev && exec chroot ${root} /usr/bin/env -i HOME=/root TERM=dumb `
    + 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin '
    + 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt /bin/bash /guide.sh';
  // Mounts and processes end with it.
  const { status, stdout, stderr } = run('unshare', [
    '--mount', '--pid', '--fork', '--kill-child', `--mount-proc=${root}/proc`, '/bin/sh', '-c', inside,
  ]);
  const output = stdout + stderr;
  const after = stdout.split('== block').slice(-2).join('== block');
  return {
    output,
    violations: [
      ...(status === 0 && stdout.includes('== done') ? []
        : [`the guide ended with ${status}: ${output.slice(-3_000)}`]),
      ...(/trading/.test(after) ? [] : [`the daemon does not trade: ${after.slice(-2_000)}`]),
    ],
  };
}

function run(command: string, args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function expectDone({ status, stdout, stderr, error }: SpawnSyncReturns<string>): void {
  if (status === 0) return;
  throw error ?? new Error(`ended with ${status}: ${stdout.slice(-1_000)} ${stderr.slice(-1_000)}`);
}

/** `node test/campaign/install.ts [--mirror URL] [--out FILE]`, as root, with debootstrap */
function main(): number {
  const { values } = parseArgs({ options: {
    mirror: { type: 'string', default: 'http://deb.debian.org/debian' },
    out: { type: 'string', default: resultsFile('install') },
  } });
  const startedMs = performance.now();
  const root = mkdtempSync(join(tmpdir(), 'gannet-install-'));
  try {
    const { output, violations } = followGuide(root, values.mirror);
    process.stderr.write(output);
    addResult(values.out, {
      type: 'install', at: new Date().toISOString(), ...codeVersion('everything'), blocks: guideBlocks().length,
      seconds: Math.round((performance.now() - startedMs) / 1_000), violations,
    });
    packResults(values.out);
    process.stdout.write(`${violations.length} violations; the results are in ${values.out}\n`);
    return violations.length === 0 ? 0 : 1;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = main();
