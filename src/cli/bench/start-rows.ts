import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT_DIR } from '../project.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, stopwatch } from './measurement.ts';

const RUNS = 5;

/** From typing the command to the first decision on the embedded service, everything started anew each time. */
export const START_ROWS: readonly BenchRow[] = [{ name: 'first-decision', measure: measureFirstDecision }];

const CONFIG = `mode: live
service: { base_url: embedded }
chain: { rpc_url: embedded }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
control: { enabled: false }
strategies:
  - { use: dca, budget: "100 USDC", params: { buy: SOL, spend: "1 USDC", every: 10s } }
`;

async function measureFirstDecision(): Promise<Measurement> {
  const seconds: number[] = [];
  for (let run = 0; run < RUNS; run++) seconds.push(await firstDecision());
  return measured('first-decision', 's', seconds);
}

async function firstDecision(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  writeFileSync(join(dir, 'bench.yaml'), CONFIG);
  const startedAt = stopwatch();
  const child = spawn(join(PROJECT_DIR, 'bin', 'gannet'), ['run', '--json', '--max-intents', '1', '--config', join(dir, 'bench.yaml'), '--state-dir', join(dir, 'state')], {
    cwd: PROJECT_DIR, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('{"type":"decision"')) return (stopwatch() - startedAt) / 1_000;
    }
    throw new Error('the daemon ended before it decided anything');
  } finally {
    child.kill('SIGINT');
    child.stdout.resume();
    await exited;
    rmSync(dir, { recursive: true, force: true });
  }
}
