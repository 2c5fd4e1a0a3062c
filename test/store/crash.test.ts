import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, temporaryJournal } from './fixtures.ts';

const CHILD = fileURLToPath(new URL('journalling-child.ts', import.meta.url));
const STEPS = ['approved', 'building', 'attempt', 'signed', 'submitted', 'confirmed', 'kept'];

/** Returns how many steps the child said before it was killed in the middle of its work. */
async function killedAfter(path: string, steps: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (said.split('\n').length > steps) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return said.split('\n').length - 1;
}

describe('a journal whose process was killed', () => {
  it.each([
    1, 3, 10, 100, 301,
  ])('has every acknowledged write, and at most one more (after %i writes)', async (steps) => {
    const path = join(temporaryFolder(), 'journal.sqlite');
    const acknowledged = await killedAfter(path, steps);
    const journal = temporaryJournal(path);
    const unsettled = new Set(journal.unsettledOutcomes().map(({ intent }) => intent.id));
    const found = journal.listIntents({ limit: 10_000 }).toReversed().flatMap(({ intent_id, attempts }) => {
      const reached = journal.showIntent(intent_id)!.transitions.map(({ state }) => state as string);
      // The attempt and the state that holds an outcome have no transition of their own.
      return ['approved', ...reached.flatMap((state) => {
        if (state === 'building' && attempts.length > 0) return [state, 'attempt'];
        return state === 'confirmed' && !unsettled.has(intent_id) ? [state, 'kept'] : [state];
      })];
    });
    expect(found.length).toBeGreaterThanOrEqual(acknowledged);
    expect(found.length).toBeLessThanOrEqual(acknowledged + 1);
    expect(found).toStrictEqual(found.map((_, index) => STEPS[index % STEPS.length]));
    const last = found.length % STEPS.length;
    expect(journal.openIntents().length).toBe(last === 0 || last === STEPS.indexOf('kept') ? 0 : 1);
    const kept = Math.floor(found.length / STEPS.length);
    expect(journal.loadSnapshot()?.intentCounts)
      .toStrictEqual(kept === 0 ? undefined : { dca: Math.ceil(found.length / STEPS.length) });
    expect(unsettled.size).toBe(last === STEPS.indexOf('kept') ? 1 : 0);
  });
});
