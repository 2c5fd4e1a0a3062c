import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BenchRow } from './measurement.ts';
import { measured } from './measurement.ts';
import { IS_SOURCE, PROJECT_DIR } from '../core/code-files.ts';
import { stopwatch } from '../research/stopwatch.ts';

const START_RUNS = 5;

/** What is measured in a run, in seconds. */
type Start = 'first-decision' | 'version';
type Starts = Readonly<Record<Start, number[]>>;

/**
 * The time from the start of a command to its end or its first decision on the embedded service, with fresh processes
 * each time: of the source, and of the build that the package holds, one after the other in each run.
 */
export const START_ROWS: readonly BenchRow[] = (['first-decision', 'version'] as const).flatMap((name) => [
  { name, measure: async () => measured(name, 's', (await starts()).here[name]) },
  ...(IS_SOURCE ? [{
    name: `${name}-package`, measure: async () => measured(`${name}-package`, 's', (await starts()).built[name]),
  }] : []),
]);

const START_CONFIG = `mode: live
service: { base_url: embedded }
chain: { rpc_url: embedded }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
control: { enabled: false }
strategies:
  - { use: dca, budget: "100 USDC", params: { buy: SOL, spend: "1 USDC", every: 10s } }
`;

let known: Promise<{ readonly here: Starts; readonly built: Starts }> | undefined;

function starts(): NonNullable<typeof known> {
  known ??= measureStarts();
  return known;
}

async function measureStarts(): NonNullable<typeof known> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  const here: Starts = { 'first-decision': [], 'version': [] };
  const built: Starts = { 'first-decision': [], 'version': [] };
  try {
    const programs: (readonly [Starts, string])[] = [[here, PROJECT_DIR]];
    if (IS_SOURCE) programs.push([built, layOut(join(dir, 'gannet'))]);
    // The first run of each compiles its code.
    for (let run = -1; run < START_RUNS; run++) for (const [times, home] of programs) {
      const decided = await timeOf(home, dir, ['run', '--json', '--max-intents', '1'], '{"type":"decision"');
      const told = await timeOf(home, dir, ['--version'], '');
      if (run < 0) continue;
      times['first-decision'].push(decided);
      times.version.push(told);
    }
    return { here, built };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Builds the checkout, and returns a folder from which its build runs as from the package. */
function layOut(home: string): string {
  execFileSync(process.execPath, ['build.ts'], { cwd: PROJECT_DIR, stdio: ['ignore', 'ignore', 'inherit'] });
  mkdirSync(join(home, 'bin'), { recursive: true });
  copyFileSync(join(PROJECT_DIR, 'bin', 'gannet'), join(home, 'bin', 'gannet'));
  for (const name of ['dist', 'node_modules', 'package.json']) symlinkSync(join(PROJECT_DIR, name), join(home, name));
  return home;
}

/** Returns the seconds until a command prints a line that begins so. */
async function timeOf(home: string, dir: string, args: readonly string[], wanted: string): Promise<number> {
  const state = join(dir, 'state');
  const config = join(dir, 'bench.yaml');
  rmSync(state, { recursive: true, force: true });
  writeFileSync(config, START_CONFIG);
  const places = args.length === 1 ? [] : ['--config', config, '--state-dir', state];
  const startedAt = stopwatch();
  const child = spawn(join(home, 'bin', 'gannet'), [...args, ...places], {
    cwd: PROJECT_DIR, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith(wanted)) return (stopwatch() - startedAt) / 1_000;
    throw new Error(`gannet ${args[0] ?? ''} ended before it was ready`);
  } finally {
    child.kill('SIGINT');
    child.stdout.resume();
    await exited;
  }
}
