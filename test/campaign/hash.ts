import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { COMPILE_CACHE } from '../e2e/gannet.ts';
import type { HashWork, Repetition } from './hash-repeat.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

export interface HashOptions {
  readonly repetitions: number;
  /** How many of them follow one another in one process. */
  readonly perProcess: number;
  /** The recording where there is one already; `days`, `every` and `seed` describe it then. */
  readonly recording?: string;
  readonly days: number;
  /** Between two recorded quotes, "10s". */
  readonly every: string;
  readonly seed: number;
  /** Threads that do nothing but keep a core busy. */
  readonly spinners: number;
  /** The configuration; one of the project's strategies where absent. */
  readonly config?: string;
  readonly onProgress?: (done: number) => void;
}

export interface HashReport {
  readonly repetitions: number;
  readonly processes: number;
  readonly events: number;
  readonly decisions: number;
  readonly fills: number;
  /** Repetitions by where they ran. */
  readonly where: Readonly<Record<string, number>>;
  readonly minutes: number;
  /** Every hash that came out, with how often: one, if all is well. */
  readonly hashes: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

/** What is read of what `gannet backtest --json` prints. */
interface BacktestAnswer {
  readonly events: number;
  readonly decisions: number;
  readonly fills: number;
  readonly sensitivity: Readonly<Record<'optimistic' | 'base' | 'pessimistic', {
    readonly decision_hash: string; readonly equity: { readonly end: string };
  }>>;
}

/** Two cores: one is left to the backtest, or half of each. */
const SPINNERS = 1;

/** Two places that share neither a time zone, a calendar nor a decimal separator. */
const PLACES = [
  { TZ: 'Pacific/Chatham', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' },
  { TZ: 'America/St_Johns', LC_ALL: 'ar_EG.UTF-8', LANG: 'ar_EG.UTF-8' },
] as const;

const CONFIG = `mode: paper
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
backtest: { balances: { USDC: "10000", SOL: "1" }, latency: { quote: "p5 150ms, p50 300ms, p95 900ms",
    land: "p5 800ms, p50 1500ms, p95 4s" } }
risk:
  max_trade: "500 USDC"
  max_swaps: { per_minute: 60, per_hour: 600, per_day: 6000 }
  protections: [{ kind: daily_loss, limit: "300 USDC", action: halt }, { kind: cooldown, after: loss, for: 1m }]
strategies:
  - { use: mean-reversion, name: dip, budget: "2000 USDC", warmup: 10m, params: { pair: SOL/USDC,
      size: "100 USDC", every: 10s, window: 20, k: 1.5 } }
  - { use: sma-crossover, name: trend, budget: "2000 USDC", params: { pair: SOL/USDC, size: "25 USDC", every: 10s,
      fast: 5, slow: 20 } }
  - { use: dca, budget: "2000 USDC", params: { buy: SOL, spend: "25 USDC", every: 30m, watch: 10s } }
`;

/**
 * Runs the same backtest again and again: in processes in two time zones and locales by turns, in each by turns in its
 * main thread and in a thread beside it, while other threads keep the cores busy. Whatever does not come to the same
 * hash is a violation.
 */
export async function repeatBacktest(
  { repetitions, perProcess, days, every, seed, spinners, config, recording: given, onProgress }: HashOptions,
): Promise<HashReport> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-hash-'));
  const startedMs = Date.now();
  const busy = Array.from({ length: spinners }, () =>
    new Worker('for (let n = 1; ; n = Math.sqrt(n + 1));', { eval: true }));
  const hashes: Record<string, number> = {};
  const where: Record<string, number> = {};
  const violations: string[] = [];
  let [done, processes, events, decisions, fills] = [0, 0, 0, 0, 0];
  try {
    const file = config ?? join(dir, 'hash.yaml');
    if (config === undefined) writeFileSync(file, CONFIG);
    const recording = given ?? join(dir, 'recording');
    if (given === undefined) {
      const [generated] = await inProcess({ args: [
        'recording', 'generate', '--days', String(days), '--every', every, '--seed', String(seed), '--out', recording,
        '--json', '--state-dir', dir,
      ], repetitions: 1 }, PLACES[0]);
      if (generated?.code !== 0) throw new Error(`the recording could not be made: ${generated?.stdout ?? ''}`);
    }
    while (done < repetitions) {
      const place = PLACES[processes % PLACES.length]!;
      const told = await inProcess({
        args: ['backtest', file, '--recording', recording, '--no-grid', '--json', '--state-dir', dir],
        repetitions: Math.min(perProcess, repetitions - done),
      }, place);
      processes += 1;
      for (const repetition of told) {
        done += 1;
        const at = `${repetition.where}, ${repetition.zone}, ${repetition.locale}`;
        where[at] = (where[at] ?? 0) + 1;
        if (repetition.zone !== place.TZ)
          violations.push(`repetition ${done} was to run in ${place.TZ}, and ran in ${repetition.zone}`);
        if (repetition.code !== 0) {
          violations.push(
            `repetition ${done} (${at}) ended with code ${repetition.code}: ${repetition.stdout.slice(0, 500)}`,
          );
          continue;
        }
        const result = JSON.parse(repetition.stdout) as BacktestAnswer;
        const hash = hashOf(result);
        if (Object.keys(hashes).length > 0 && hashes[hash] === undefined)
          violations.push(`repetition ${done} (${at}) came to ${hash}, the first to ${Object.keys(hashes)[0]!}`);
        hashes[hash] = (hashes[hash] ?? 0) + 1;
        ({ events, decisions, fills } = result);
      }
      onProgress?.(done);
    }
    return {
      repetitions: done, processes, events, decisions, fills, where, minutes: (Date.now() - startedMs) / 60_000, hashes,
      violations,
    };
  } finally {
    await Promise.all(busy.map((spinner) => spinner.terminate()));
    rmSync(dir, { recursive: true });
  }
}

/** Of all three settings, with what each ends on: fills that differ lead to decisions that differ, but not at once. */
function hashOf({ sensitivity }: BacktestAnswer): string {
  return (['optimistic', 'base', 'pessimistic'] as const)
    .map((setting) => `${setting} ${sensitivity[setting].decision_hash} ${sensitivity[setting].equity.end}`).join(' ');
}

async function inProcess(work: HashWork, place: Readonly<Record<string, string>>): Promise<readonly Repetition[]> {
  const child = spawn(process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'hash-repeat.ts'), JSON.stringify(work)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, ...place },
    });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  const [code] = await once(child, 'close') as [number | null];
  if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`);
  return stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Repetition);
}

/** `node test/campaign/hash.ts --repetitions 100 [--days 1] [--seed 7] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    repetitions: { type: 'string', default: '100' }, days: { type: 'string', default: '1' },
    seed: { type: 'string', default: '7' }, out: { type: 'string', default: resultsFile('hash') },
  } });
  const repetitions = Number(values.repetitions);
  const { violations, ...figures } = await repeatBacktest({
    repetitions, perProcess: 10, days: Number(values.days), every: '10s', seed: Number(values.seed), spinners: SPINNERS,
    onProgress(done) {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${repetitions}   `);
    },
  });
  addResult(values.out, {
    type: 'hash', at: new Date().toISOString(), ...codeVersion('everything'), seed: Number(values.seed),
    days: Number(values.days), ...figures, violations: violations.length,
  });
  return endCampaign(values.out, violations, figures);
}

if (import.meta.main) process.exitCode = await main();
