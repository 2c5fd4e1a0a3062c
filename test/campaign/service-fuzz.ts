import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { spawnSandbox } from '../../src/sandbox/spawn.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { walletOfKey } from '../sandbox/service/sandbox-client.ts';
import { createOrdinaryClient } from './aftermath.ts';
import { createChoose } from './choose.ts';
import { TEMPLATES } from './service-requests.ts';
import { fireOne, fireService, type Shots } from './shots.ts';
import { createFuzzCounters, SLOWEST_MS, type Violation } from './fuzz-counters.ts';
import { wireRequest } from './wire-request.ts';
import { exploreFixture } from './fuzz-fixture.ts';

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly profile?: 'reference' | 'live';
  readonly dialect?: string;
  /** Called about once a second with how many requests have been answered. */
  readonly onProgress?: (done: number) => void;
}

export interface FuzzReport {
  readonly requests: number;
  readonly seconds: number;
  /** Answers by door and status: `service 400`. */
  readonly answers: Readonly<Record<string, number>>;
  readonly slowest: { readonly ms: number; readonly request: string };
  /**
   * The resident memory of the sandbox after half of the requests, and at the end, in MB; undefined where it cannot be
   * read.
   */
  readonly memoryMb: { readonly half: number; readonly end: number } | undefined;
  readonly violations: readonly Violation[];
}

const IN_FLIGHT = 12;
/** A heap that is as large as it gets after a while; what leaks goes on. */
const MOST_MEMORY_MB = 900;
const MOST_GROWTH_MB = 200;
const KEPT_VIOLATIONS = 200;

/**
 * Fires random and hostile requests at every endpoint of a sandbox of its own, at its RPC and its websocket, and
 * reports what should not have happened: no answer in time, a status that is neither 200 nor 4xx, an answer that is no
 * JSON, an internal error, a process that died or grew, money that moved without a signature, an ordinary swap that
 * fails afterwards.
 */
export async function fuzzService(options: FuzzOptions): Promise<FuzzReport> {
  const { requests, seed, profile = 'reference' } = options;
  const dialect = loadDialect(options.dialect ?? 'neutral');
  const startedMs = performance.now();
  // Its time stands still but for what the requests themselves ask for: only they move anything.
  const sandbox = await spawnSandbox({ seed, slotMs: 3_000_000, profile, dialect: dialect.name });
  const pool = new Pool(sandbox.addresses.base_url, {
    connections: IN_FLIGHT, headersTimeout: SLOWEST_MS, bodyTimeout: SLOWEST_MS,
  });
  const rpcPool = new Pool(new URL(sandbox.addresses.rpc_url).origin, {
    connections: IN_FLIGHT, headersTimeout: SLOWEST_MS, bodyTimeout: SLOWEST_MS,
  });
  const counters = createFuzzCounters();
  let half: number | undefined;
  try {
    const fixture = await exploreFixture({ addresses: sandbox.addresses, dialect, pool });
    const client = createOrdinaryClient({ addresses: sandbox.addresses, dialect, pool, rpcPool, key: fixture.key });
    const owner = walletOfKey(sandbox.addresses.wallet.private_key);
    const before = await client.holdings(owner.address);
    const shots: Shots = { pool, rpcPool, fixture, profile, sandbox, counters };
    for (const template of TEMPLATES) {
      const request = wireRequest(template.make(createChoose(`${seed}:${template.name}`), fixture), fixture);
      await fireService(shots, request, 'expected to be answered with 200');
    }

    let next = 0;
    let lastProgressMs = performance.now();
    const worker = async (): Promise<void> => {
      while (next < requests && counters.violations.length < KEPT_VIOLATIONS && !counters.isDead) {
        const number = next++;
        if (number === Math.floor(requests / 2)) half = memoryMb(sandbox.pid);
        await fireOne(shots, createChoose(`${seed}:${number}`));
        if (performance.now() - lastProgressMs > 1_000) {
          lastProgressMs = performance.now();
          options.onProgress?.(number);
        }
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));

    // A dead process is not checked further: its end is the violation.
    if (!counters.isDead) {
      await client.tidyUp(fixture.prices);
      const after = await client.holdings(owner.address);
      if (shown(before) !== shown(after))
        counters.violation('money of a wallet that signed nothing moved', `${shown(before)} became ${shown(after)}`);
      const [sol, usdc] = ['SOL', 'USDC']
        .map((symbol) => sandbox.addresses.tokens.find((token) => token.symbol === symbol)!.mint) as [string, string];
      for (const violation of await client.swapViolations(owner, {
        inputMint: usdc, outputMint: sol, amount: 25_000_000n,
      })) counters.violation(violation, 'an ordinary swap afterwards');
    }
    const end = memoryMb(sandbox.pid);
    const memory = half === undefined || end === undefined ? undefined : { half, end };
    if (memory !== undefined && (memory.end > MOST_MEMORY_MB || memory.end - memory.half > MOST_GROWTH_MB)) {
      counters.violation(`memory grew from ${memory.half} to ${memory.end} MB in the second half`, 'all of them');
    }
    return {
      requests: next, seconds: (performance.now() - startedMs) / 1_000, answers: counters.answers,
      slowest: counters.slowest, memoryMb: memory, violations: counters.violations,
    };
  } finally {
    await Promise.all([pool.destroy(), rpcPool.destroy()]);
    await sandbox.stop();
  }
}

function shown(holdings: Readonly<Record<string, bigint>>): string {
  return Object.entries(holdings).map(([name, amount]) => `${name} ${amount}`).sort().join(', ');
}

/** Returns the resident memory of a process, where the system tells. */
function memoryMb(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch {
    return undefined;
  }
}

/** `node test/campaign/service-fuzz.ts --requests 100000 --seed 1 [--profile live] [--dialect NAME]` */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' },
      profile: { type: 'string', default: 'reference' }, dialect: { type: 'string', default: 'neutral' },
    },
  });
  const requests = Number(values.requests);
  const started = performance.now();
  const report = await fuzzService({
    requests, seed: Number(values.seed), profile: values.profile === 'live' ? 'live' : 'reference',
    dialect: values.dialect,
    onProgress(done) {
      const seconds = (performance.now() - started) / 1_000;
      process.stderr.write(`\r${done} of ${requests} · ${Math.round(done / seconds)}/s · `
        + `${Math.round(((requests - done) / done) * seconds)} s left   `);
    },
  });
  const { violations, ...summary } = report;
  process.stderr.write('\n');
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  for (const { what, request } of violations) process.stdout.write(`\n${what}\n  ${JSON.stringify(request)}\n`);
  process.stdout.write(`\n${violations.length} violations\n`);
  return violations.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
