import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { collectGoldens } from '../signer/policy/goldens.ts';
import { withV1 } from '../signer/policy/v1-goldens.ts';
import type { ReaderTold, ReaderWork } from './reader-worker.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

export interface ReaderFuzzOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly onProgress?: (read: bigint) => void;
}

export interface ReaderFuzzReport {
  readonly minutes: number;
  readonly read: number;
  readonly unread: number;
  readonly denied: number;
  readonly allowed: number;
  /** Of the thread's own time. */
  readonly slowestMs: number;
  readonly violations: readonly { readonly what: string; readonly base64: string }[];
}

const GOLDENS = 220;
const POLL_MS = 250;
/** A reading that takes this long of the machine's time hangs, however busy the machine is. */
const HANGS_MS = 10_000;
const KEPT_VIOLATIONS = 50;
const LARGEST_SHOWN = 5_000;

/**
 * Feeds damaged bytes to the signer's reader and policy, in a thread that is watched from outside: what crashes, hangs,
 * reads otherwise than it is written or lets harm through is a violation, with the bytes that did it.
 */
export async function fuzzReader({ minutes, seed, onProgress }: ReaderFuzzOptions): Promise<ReaderFuzzReport> {
  const goldens = withV1(await collectGoldens({ count: GOLDENS, seed }), { every: 1 });
  const window = new SharedArrayBuffer(4 + LARGEST_SHOWN);
  const rounds = new SharedArrayBuffer(8);
  const counter = new BigInt64Array(rounds);
  const startedMs = Date.now();
  const untilMs = startedMs + minutes * 60_000;
  const total = { unread: 0, denied: 0, allowed: 0 };
  const violations: { what: string; base64: string }[] = [];
  let slowestMs = 0;

  const worker = new Worker(new URL('reader-worker.ts', import.meta.url), {
    workerData: { goldens, seed: `reader ${seed}`, untilMs, window, rounds } satisfies ReaderWork,
  });
  worker.on('message', (told: ReaderTold) => {
    slowestMs = Math.max(slowestMs, told.slowestMs);
    if (told.violation !== undefined) violations.push(told.violation);
    else for (const kind of ['unread', 'denied', 'allowed'] as const) total[kind] += told.counts[kind];
  });
  const complain = (what: string): void => {
    const length = new Int32Array(window, 0, 1)[0]!;
    violations.push({ what, base64: Buffer.from(new Uint8Array(window, 4, length)).toString('base64') });
  };
  worker.on('error', (error: unknown) => {
    complain(`the thread died: ${error instanceof Error ? error.stack ?? error.message : String(error)}`);
  });
  const over = { is: false };
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      over.is = true;
      resolve();
    });
  });

  let [last, lastMovedMs] = [0n, Date.now()];
  while (!over.is && violations.length < KEPT_VIOLATIONS) {
    await Promise.race([ended, sleep(POLL_MS)]);
    const now = Atomics.load(counter, 0);
    onProgress?.(now);
    if (now !== last) [last, lastMovedMs] = [now, Date.now()];
    else if (!over.is && last > 0n && Date.now() - lastMovedMs > HANGS_MS) {
      complain(`hangs after ${last} readings`);
      break;
    }
  }
  if (!over.is) await worker.terminate();
  return {
    minutes: (Date.now() - startedMs) / 60_000, read: Number(Atomics.load(counter, 0)), ...total, slowestMs, violations,
  };
}

/** `node test/campaign/reader.ts --minutes 60 --seed 1 [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' },
    out: { type: 'string', default: resultsFile('reader') },
  } });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const version = codeVersion('policy');
  const startedMs = Date.now();
  const { violations, ...figures } = await fuzzReader({
    minutes, seed,
    onProgress(read) {
      if (!process.stderr.isTTY) return;
      const done = (Date.now() - startedMs) / 60_000;
      process.stderr.write(`\r${read} read · ${Math.round(done)} of ${minutes} minutes   `);
    },
  });
  addResult(values.out, {
    type: 'reader', at: new Date().toISOString(), ...version, seed, ...figures, violations: violations.length,
  });
  return endCampaign(values.out, violations.map(({ what, base64 }) => `${what}\n  ${base64}`), figures);
}

if (import.meta.main) process.exitCode = await main();
