import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemon, type CrashDaemon } from './daemon.ts';
import { isOpen } from './invariants.ts';
import { runArgs, type Place } from './place.ts';
import { nodeOptions } from './crash-fixture.ts';

/** What a daemon says that does not start because service or node did not answer in time, as on a busy machine. */
export const UNANSWERED = /"code":"(?:CHAIN_UNREACHABLE|SERVICE_UNREACHABLE|SERVICE_TIMEOUT)"/;
/** Of the machine's own time. */
const RUN_MS = 40_000;
const RECOVERY_MS = 40_000;
const RECOVERIES = 3;
const GONE_MS = 5_000;
const POLL_MS = 10;
/** What a daemon ends with that starts after three crashes in a row: it has recovered, and trades nothing. */
const SAFE_MODE = 3;
const SQLITE_READONLY_ROLLBACK = 776;

/** Lets a daemon that was killed recover, and ends it in order. Returns what is wrong with that. */
export async function recovered(place: Place): Promise<string[]> {
  const environment = { ...place.environment, NODE_OPTIONS: nodeOptions({ points: false }) };
  for (let times = 1; ; times++) {
    const before = openIn(place.stateDir);
    const daemon = startDaemon(runArgs(place), { cwd: place.dir, environment });
    const settled = await untilSettled(place, daemon, before);
    daemon.signal('SIGTERM');
    const violations = await ending(daemon, { expected: 'an end' });
    if (settled && violations.length === 0 && openIn(place.stateDir).length === 0) return [];
    // On a busy machine a node may not answer in time: a supervisor starts it again.
    const wasRefused = UNANSWERED.test(daemon.stdout() + daemon.stderr());
    if (violations.length > 0 && !wasRefused) return violations;
    if (times === RECOVERIES) return [
      `not settled after ${times} recoveries: ${daemon.stdout().slice(-2_000)} ${daemon.stderr().slice(-1_000)}`,
    ];
  }
}

/** Waits for the end of a daemon and all its processes. Returns what is wrong with it. */
export async function ending(
  daemon: CrashDaemon, { expected }: { readonly expected: 'an end' | 'a kill' },
): Promise<string[]> {
  const code = await Promise.race([daemon.ended, sleep(RUN_MS, 'never' as const, { ref: false })]);
  const violations: string[] = [];
  if (code === 'never')
    violations.push(`does not end: ${daemon.stdout().slice(-1_500)} ${daemon.stderr().slice(-500)}`);
  else if (expected === 'an end' && code !== 0 && !(code === SAFE_MODE && daemon.stdout().includes('safe mode')))
    violations.push(`ended with ${code}: ${daemon.stdout().slice(-1_000)} ${daemon.stderr().slice(-1_000)}`);
  const alone = await daemon.gone(code === 'never' ? 0 : GONE_MS);
  if (!alone && code !== 'never') violations.push('a process of it outlived the daemon');
  return violations;
}

/** Resolves once a daemon trades and nothing is under way that was when it started, or the timeout is at an end. */
async function untilSettled({ stateDir }: Place, daemon: CrashDaemon, before: readonly string[]): Promise<boolean> {
  const giveUpAt = performance.now() + RECOVERY_MS;
  const over = new AbortController();
  void daemon.ended.then(() => { over.abort(); });
  while (performance.now() < giveUpAt && !over.signal.aborted) {
    if (daemon.stdout().includes('"type":"started"')) {
      const open = openIn(stateDir);
      if (before.every((id) => !open.includes(id))) return true;
    }
    await sleep(POLL_MS);
  }
  return false;
}

/** Returns the names of the intents that are under way. */
export function openIn(stateDir: string): readonly string[] {
  const path = join(stateDir, 'journal.sqlite');
  if (!existsSync(path)) return [];
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'intents'").get() === undefined) return [];
    return database.prepare('SELECT intent_id, state FROM intents').all().filter((row) => isOpen(String(row['state'])))
      .map((row) => String(row['intent_id']));
  } catch (error) {
    // A daemon that was killed before its new file had a write-ahead log left a transaction that only the next one can
    // roll back. There are no intents in such a file.
    if ((error as { readonly errcode?: number }).errcode === SQLITE_READONLY_ROLLBACK) return [];
    throw error;
  } finally {
    database.close();
  }
}
