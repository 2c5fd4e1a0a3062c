import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChildCommand } from './child-command.ts';
import { startCommand } from './child-command.ts';
import type { BenchRow } from './measurement.ts';
import { measured } from './measurement.ts';
import { PROBE_WINDOW_MS, probedEnvironment, readProbe } from './probe-line.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import type { SandboxAddresses } from '../sandbox/sandbox.ts';

/** How many feeds each row watches. */
export const FEEDS = 500;
/** After these, every feed has been polled several times and the compiler is warm. */
const WARM_UP_WINDOWS = 4;
const WINDOWS = 6;

/** The figures of the daemon in one window. */
export interface DaemonWindow {
  readonly loopDelayP99Ms: number;
  readonly pssMb: number;
}

/**
 * A live daemon with 500 feeds of 5 s, recorded, with its control API and a swap every 10 s, on a sandbox in a process
 * of its own: the delay of its event loop (p99 of each window), and the memory of all its processes, signer, daemon and
 * strategies. What several processes share counts once (PSS). The daemon is started once before, because only the first
 * start compiles and has the compiler in memory.
 */
export const DAEMON_ROWS: readonly BenchRow[] = [
  { name: 'loop-delay', measure: async () =>
    measured('loop-delay', 'ms', (await windows()).map(({ loopDelayP99Ms }) => loopDelayP99Ms)) },
  { name: 'pss', measure: async () => measured('pss', 'MB', (await windows()).map(({ pssMb }) => pssMb)) },
];

let known: Promise<DaemonWindow[]> | undefined;

function windows(): Promise<DaemonWindow[]> {
  known ??= measureDaemon({ strategies: watchers });
  return known;
}

/** What differs between the measured daemons. */
export interface MeasuredDaemon {
  /** Returns the strategies of the configuration; files of their own are written into its folder. */
  readonly strategies: (dir: string) => string;
  /** Starts what uses the daemon of a state directory meanwhile, and returns how it ends. */
  readonly beside?: ((stateDir: string) => Promise<() => void>) | undefined;
  /** How many windows are measured once the daemon is warm. */
  readonly windows?: number | undefined;
  /** Called with each measured window. */
  readonly onWindow?: ((window: DaemonWindow) => void) | undefined;
}

/** Returns the figures of a daemon, window by window, once it is warm. */
export async function measureDaemon(
  { strategies, beside, windows: measuredWindows = WINDOWS, onWindow }: MeasuredDaemon,
): Promise<DaemonWindow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  const sandbox = startCommand(['sandbox', '--json']);
  try {
    const addresses = await firstLine(sandbox.stdout) as SandboxAddresses;
    const config = join(dir, 'bench.yaml');
    const probe = join(dir, 'probe.ndjson');
    writeFileSync(config, configOf(addresses, strategies(dir)));
    const start = (...flags: readonly string[]): ChildCommand => startCommand(
      ['run', '--live', '--json', '--config', config, '--state-dir', join(dir, 'state'), ...flags],
      probedEnvironment(probe, { GANNET_WALLET_KEY: addresses.wallet.private_key }),
    );
    await start('--duration', '1s').ended();
    rmSync(probe, { force: true });
    const daemon = start();
    let end: (() => void) | undefined;
    try {
      await firstLine(daemon.stdout);
      daemon.stdout.resume();
      end = await beside?.(join(dir, 'state'));
      const seen: DaemonWindow[] = [];
      for (let count = 0; count < WARM_UP_WINDOWS + measuredWindows;) {
        await pause(PROBE_WINDOW_MS / 10);
        daemon.assertRunning();
        const line = readProbe(probe)[count];
        if (line?.kind !== 'window') continue;
        count += 1;
        if (count <= WARM_UP_WINDOWS) continue;
        const window = { loopDelayP99Ms: line.loopDelayP99Ms, pssMb: proportionalKilobytes(daemon.pid) / 1_024 };
        seen.push(window);
        onWindow?.(window);
      }
      return seen;
    } finally {
      end?.();
      await daemon.stop();
    }
  } finally {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function firstLine(stdout: NodeJS.ReadableStream): Promise<unknown> {
  for await (const line of createInterface({ input: stdout })) return JSON.parse(line);
  throw new Error('a command ended before it printed its first line');
}

/** Returns the memory of a process and all that it has started, each page divided among the processes that have it. */
function proportionalKilobytes(pid: number): number {
  const [, own] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter((id) => id !== ''));
  return children.reduce((sum, child) => sum + proportionalKilobytes(Number(child)), Number(own));
}

/** Returns strategies of one feed each: each watches another size, and all end before their averages are full. */
function watchers(): string {
  return Array.from({ length: FEEDS }, (_, i) => `  - { use: sma-crossover, name: watch-${i + 1}, budget: "2 `
    + `USDC", params: { pair: SOL/USDC, size: "${(1 + i / 1_000).toFixed(3)} USDC", every: 5s } }\n`).join('');
}

function configOf({ base_url: baseUrl, rpc_url: rpcUrl, wallet }: SandboxAddresses, strategies: string): string {
  return `mode: live
service: { base_url: "${baseUrl}", api_key: bench, requests_per_second: 150 }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: "env:GANNET_WALLET_KEY", address: ${wallet.address} }
tokens: { SOL: ${SOL_MINT}, USDC: ${USDC_MINT} }
signer:
  caps:
    USDC: { per_trade: "5", per_hour: "1000", per_day: "1000" }
    SOL: { per_trade: "1", per_hour: "10", per_day: "10" }
risk:
  max_trade: "5 USDC"
  max_swaps: { per_minute: 60, per_hour: 1000, per_day: 1000 }
  protections: [ { kind: daily_loss, limit: "100 USDC", action: halt } ]
control: { port: 0 }
strategies:
  - { use: dca, name: buyer, budget: "100 USDC", params: { buy: SOL, spend: "1 USDC", every: 10s } }
${strategies}`;
}
