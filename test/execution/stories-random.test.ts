import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import { memoryFolder } from './memory-folder.ts';
import { breachesOf } from './stories/laws.ts';
import { play } from './stories/play.ts';
import { story, storyOfTwoNodes } from './stories/story.ts';

/** How many stories, and which seed they begin with: a long run takes others than the one that everybody plays. */
const STORIES = Number(process.env['GANNET_STORIES'] ?? 600);
const SEED = Number(process.env['GANNET_STORIES_SEED'] ?? 7);
const FOLDER = memoryFolder('gannet-stories-');
const PLAYS_PER_JOURNAL = 200;

let journals = 0;
let current: { readonly journal: JournalStore; readonly time: { clock: VirtualClock }; plays: number } | undefined;

afterAll(() => {
  current?.journal.close();
  rmSync(FOLDER, { recursive: true, force: true });
});

/** One file for many stories: making it takes longer than a story. One that a story left dirty is not used again. */
function openStore(clock: VirtualClock): JournalStore {
  if (current === undefined || current.plays >= PLAYS_PER_JOURNAL || current.journal.openIntents().length > 0
      || current.journal.unsettledOutcomes().length > 0) {
    current?.journal.close();
    journals += 1;
    const time = { clock };
    current = { journal: openJournal({
      path: join(FOLDER, `${journals}.sqlite`),
      clock: { now: () => time.clock.now(), schedule: () => { throw new Error('a journal has no timers'); } },
    }), time, plays: 0 };
  }
  current.time.clock = clock;
  current.plays += 1;
  return current.journal;
}

describe('for any faults of a daemon and its environment', () => {
  it('no intent swaps twice, no swap is lost, the ledger equals the chain, and every intent ends', async () => {
    const seen =
      { confirmed: 0, failed: 0, expired: 0, abandoned: 0, restarts: 0, 'further attempts': 0, 'operator’s words': 0 };
    await fc.assert(fc.asyncProperty(story, async (told) => {
      const played = await play(told, openStore);
      expect(breachesOf(played)).toEqual([]);
      seen.restarts += played.lives - 1;
      for (const { state, attempts, intent_id: id } of played.intents) {
        seen[state as 'confirmed' | 'failed' | 'expired' | 'abandoned'] += 1;
        if (attempts.length > 1) seen['further attempts'] += 1;
        if (played.story(id)!.transitions.at(-1)!.code === 'OPERATOR_RESOLVED') seen['operator’s words'] += 1;
      }
    }), { numRuns: STORIES, seed: SEED });
    // Laws that nothing was held against would hold too.
    for (const [what, count] of Object.entries(seen))
      expect(count, `${what} in ${STORIES} stories`).toBeGreaterThan(STORIES / 100);
  }, Math.max(300_000, STORIES * 100));
});

describe('for any schedule of lies of one of two nodes', () => {
  const stories = Math.ceil(STORIES / 3);
  it('no landed swap counts as expired, none is made twice, and all ends once both tell the truth', async () => {
    const seen = { confirmed: 0, failed: 0, expired: 0, abandoned: 0, doubted: 0 };
    await fc.assert(fc.asyncProperty(storyOfTwoNodes, async (told) => {
      const played = await play(told, openStore);
      expect(breachesOf(played)).toEqual([]);
      for (const { state, intent_id: id } of played.intents) {
        seen[state as 'confirmed' | 'failed' | 'expired' | 'abandoned'] += 1;
        if (played.story(id)!.transitions.some(({ code }) => code === 'PROOF_DISAGREES')) seen.doubted += 1;
      }
    }), { numRuns: stories, seed: SEED });
    for (const [what, count] of Object.entries(seen))
      expect(count, `${what} in ${stories} stories`).toBeGreaterThan(stories / 100);
  }, Math.max(300_000, STORIES * 100));
});
