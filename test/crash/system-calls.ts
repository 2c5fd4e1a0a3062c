import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../e2e/gannet.ts';
import type { Scenario } from './scenarios.ts';
import { openPlace, runArgs, swapOf } from './place.ts';
import { nodeOptions, type CrashFixture } from './crash-fixture.ts';

/** What the kernel saw of signed bytes. */
export interface TracedSwap {
  /** How often signed bytes were written to a socket. */
  readonly sent: number;
  /** How often, of these, everything that the journal's log had been given was synced before. */
  readonly synced: number;
}

const CALLS = 'pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,fsync';

/** Returns whether this system has a tracer and lets it work. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '-e', 'trace=write', '-o', '/dev/null', 'true']).status === 0;
}

/**
 * Runs a swap under a tracer of system calls, and reads from its account whether the journal was on disk when the bytes
 * left.
 */
export async function traceSwap(
  fixture: CrashFixture, { name, scenario }: { readonly name: string; readonly scenario: Scenario },
): Promise<TracedSwap> {
  const place = await openPlace(fixture, { name, funds: scenario, strategies: swapOf(scenario) });
  const account = join(place.dir, 'calls.txt');
  try {
    await fixture.priceSol(1);
    // The tracer, a process above the signer, must not have the key in its environment.
    const { GANNET_WALLET_KEY: key, ...environment } = place.environment;
    writeFileSync(join(place.dir, '.env'), `GANNET_WALLET_KEY=${key!}\n`, { mode: 0o600 });
    const traced = spawn('strace', [
      '-f', '-yy', '-s', '300', '-e', `trace=${CALLS}`, '-o', account, join(PROJECT, 'bin', 'gannet'),
      ...runArgs(place, ['--max-intents', '1']),
    ], {
      cwd: place.dir, stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '', ...environment, NODE_OPTIONS: nodeOptions({ points: false }) },
    });
    const [code] = await once(traced, 'exit') as [number | null];
    if (code !== 0) throw new Error(`the traced run ended with ${code}`);
    return readAccount(readFileSync(account, 'utf8'));
  } finally {
    rmSync(place.dir, { recursive: true, force: true });
  }
}

/** Returns what a tracer's account says, a line for each call in the order in which they began. */
export function readAccount(text: string): TracedSwap {
  let [sent, synced] = [0, 0];
  // Until it was written to and synced, nothing is on disk.
  let isDirty = true;
  // While another thread is heard the account breaks a call in two: who is in one, by process.
  const syncing = new Set<string>();
  for (const line of text.split('\n')) {
    const isJournal = line.includes('/journal.sqlite-wal>');
    const [pid = ''] = line.split(' ', 1);
    if (isJournal && /\bf(?:data)?sync\(.*<unfinished/.test(line)) {
      syncing.add(pid);
      continue;
    }
    if (/<\.\.\. f(?:data)?sync resumed>/.test(line)) {
      if (syncing.delete(pid) && line.endsWith(' = 0')) isDirty = false;
      continue;
    }
    if (isJournal && /\b(?:pwrite64|pwritev|write|writev)\(/.test(line)) {
      isDirty = true;
    } else if (isJournal && /\bf(?:data)?sync\(.*= 0$/.test(line)) {
      isDirty = false;
    } else if (/<TCP/.test(line) && /POST \/\S*execute|sendTransaction/.test(line)) {
      sent += 1;
      if (!isDirty) synced += 1;
    }
  }
  return { sent, synced };
}
