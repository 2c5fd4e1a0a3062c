import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { replayRun } from '../../src/backtest/replay.ts';
import type { IsolationConfig } from '../../src/config/run-config.ts';
import type { StrategyReader } from '../../src/config/strategies/strategy-reader.ts';
import { openReplayInput } from '../../src/daemon/files/replay-input.ts';
import { openHosts } from '../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Playground } from '../e2e/gannet.ts';
import { createPlayground, PROJECT } from '../e2e/gannet.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** A run of the daemon whose decisions are repeated with and without processes for its strategies. */
export interface RepeatedRun {
  readonly name: string;
  /** The text of its configuration. */
  readonly config: string;
}

export interface IsolationReport {
  readonly run: string;
  readonly seconds: number;
  readonly events: number;
  readonly decisions: number;
  readonly repetitions: number;
  /** Every hash that came out, with how often: one, if all is well. */
  readonly hashes: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

/** Generous, because other threads keep the cores busy. */
const ISOLATION: IsolationConfig = { kind: 'shared', callMs: 5_000, memoryMb: 96 };

/** What `npm start` runs. */
export const DEMONSTRATION: RepeatedRun = {
  name: 'demonstration', config: readFileSync(join(PROJECT, 'config', 'gannet.yaml'), 'utf8'),
};

/** Ten strategies that trade without a pause, with states, timers, denials and two tokens. */
export const BUSY: RepeatedRun = { name: 'ten strategies', config: busyConfig() };

function busyConfig(): string {
  const [head] = DEMONSTRATION.config.split('\nstrategies:');
  return `${head!}
strategies:
${[
    dca('quick', 'SOL', '2s', 'order'), dca('pearl', 'PEARL', '3s', 'build'), dca('slow', 'SOL', '5s', 'build'),
    onPrices('mean-reversion', 'dip-5', 'window: 5, k: 0.5'), onPrices('mean-reversion', 'dip-8', 'window: 8, k: 1'),
    onPrices('mean-reversion', 'dip-12', 'window: 12, k: 1.5'),
    onPrices('sma-crossover', 'trend-2', 'fast: 2, slow: 5'),
    onPrices('sma-crossover', 'trend-3', 'fast: 3, slow: 8'), onPrices('sma-crossover', 'trend-4', 'fast: 4, slow: 12'),
  ].join('\n')}
  - { use: book-watch, name: tide, params: { market: SPRINGTIDE-26DEC31, level: 0.5, rearm: 0.49, every: 1s } }
`;
}

function dca(name: string, buy: string, every: string, route: string): string {
  return `  - { use: dca, name: ${name}, budget: "500 USDC", params: { buy: ${buy}, spend: "1 USDC", every: ${every}, `
    + `route: ${route}, watch: 1s } }`;
}

function onPrices(use: string, name: string, params: string): string {
  return `  - { use: ${use}, name: ${name}, budget: "500 USDC", params: { pair: SOL/USDC, size: "5 USDC", every: 1s, `
    + `${params} } }`;
}

/**
 * Runs the daemon with its strategies in processes of their own, then repeats the run by turns in one process and with
 * processes for the strategies, while other threads keep the cores busy. Each hash must be that of the run.
 */
export async function compareIsolation({ place, run, seconds, repetitions, spinners, onProgress }: {
  readonly place: Playground; readonly run: RepeatedRun; readonly seconds: number; readonly repetitions: number;
  readonly spinners: number; readonly onProgress?: (done: number) => void;
}): Promise<IsolationReport> {
  const runDir = await recordRun(place, run, seconds);
  const busy = Array.from({ length: spinners }, () =>
    new Worker('for (let n = 1; ; n = Math.sqrt(n + 1));', { eval: true }));
  const hashes: Record<string, number> = {};
  const violations: string[] = [];
  let [events, decisions] = [0, 0];
  try {
    for (let done = 0; done < repetitions; done++) {
      const apart = done % 2 === 1;
      const result = await repeat(runDir, apart);
      ({ events, decisions } = result);
      hashes[result.decisionHash] = (hashes[result.decisionHash] ?? 0) + 1;
      if (!result.match) {
        violations.push(`repetition ${done + 1} (${apart ? 'processes' : 'one process'}) came to `
          + `${result.decisionHash}: ${JSON.stringify(result.firstDivergence, (_key, value: unknown) =>
            (typeof value === 'bigint' ? String(value) : value))}`);
      }
      onProgress?.(done + 1);
    }
  } finally {
    await Promise.all(busy.map((spinner) => spinner.terminate()));
  }
  return { run: run.name, seconds, events, decisions, repetitions, hashes, violations };
}

async function recordRun(place: Playground, { name, config }: RepeatedRun, seconds: number): Promise<string> {
  const stateDir = place.path(name.replaceAll(' ', '-'));
  mkdirSync(stateDir);
  const file = join(stateDir, 'gannet.yaml');
  writeFileSync(file, config);
  const { code, stdout, stderr } =
    await place.run(['run', '--config', file, '--state-dir', stateDir, '--duration', `${seconds}s`, '--json']);
  if (code !== 0) throw new Error(`the run of ${name} ended with ${code}: ${stdout.slice(-1_000)}${stderr}`);
  const [runId] = readdirSync(join(stateDir, 'runs'));
  return join(stateDir, 'runs', runId!);
}

async function repeat(runDir: string, apart: boolean): Promise<ReturnType<typeof replayRun>> {
  const input = await openReplayInput(runDir);
  const options = input.replay();
  if (!apart) return replayRun(options);
  const hosts = openHosts({ clock: systemClock });
  try {
    return replayRun({ ...options, strategies: await apartFrom(hosts, input, options.strategies) });
  } finally {
    await hosts.close();
  }
}

async function apartFrom(
  hosts: StrategyReader, { manifest }: Awaited<ReturnType<typeof openReplayInput>>,
  strategies: readonly StrategyInstance[],
): Promise<StrategyInstance[]> {
  return Promise.all(manifest.config.strategies.map(async ({ name, use, params }, index) => {
    const file = join(PROJECT, 'strategies', `${use}.ts`);
    const reading = await hosts.load({ use, file, origin: 'project', isolation: ISOLATION })
      .read({ params: params, tokens: manifest.config.tokens, name, seed: manifest.config.seed });
    if (!('apart' in reading) || reading.apart === undefined)
      throw new Error(`${name} does not run apart: ${JSON.stringify(reading)}`);
    return { ...strategies[index]!, apart: reading.apart };
  }));
}

/** `node test/campaign/isolation.ts [--repetitions 100] [--seconds 60] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    repetitions: { type: 'string', default: '100' }, seconds: { type: 'string', default: '60' },
    out: { type: 'string', default: resultsFile('isolation') },
  } });
  const place = createPlayground();
  let count = 0;
  try {
    for (const run of [DEMONSTRATION, BUSY]) {
      const { violations, ...figures } = await compareIsolation({
        place, run, seconds: Number(values.seconds), repetitions: Number(values.repetitions), spinners: 2,
        onProgress(done) {
          if (process.stderr.isTTY) process.stderr.write(`\r${run.name}: ${done} of ${values.repetitions}   `);
        },
      });
      count += violations.length;
      addResult(values.out, {
        type: 'isolation', at: new Date().toISOString(), ...codeVersion('everything'), ...figures,
        violations: violations.length,
      });
      process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${violations.map((what) => `${what}\n`).join('')}`);
    }
  } finally {
    await place.close();
  }
  packResults(values.out);
  process.stdout.write(`${count} violations\n`);
  return count === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
