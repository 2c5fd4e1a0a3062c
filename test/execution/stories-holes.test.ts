import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/store/journal.ts';
import { memoryFolder } from './memory-folder.ts';
import { breachesOf } from './stories/laws.ts';
import type { Fate } from './stories/model-chain.ts';
import { KIND_FATE } from './stories/model-chain.ts';
import type { Played } from './stories/play.ts';
import { play } from './stories/play.ts';
import type { SwapPlan } from './stories/story.ts';
import { CALM } from './stories/weather.ts';

const FOLDER = memoryFolder('gannet-holes-');
afterAll(() => { rmSync(FOLDER, { recursive: true, force: true }); });

let journals = 0;

/** Plays swaps of which the nodes keep every other block only, for longer than any transaction lives. */
function playInHoles(swaps: readonly Partial<SwapPlan>[], fates: readonly Partial<Fate>[]): Promise<Played> {
  return play({
    seed: 1, tricks: [], crashes: [], words: [], jumps: [], deposits: [], skipped: 0,
    weathers: [{ ...CALM, holes: true, forMs: 200_000 }],
    swaps: swaps.map((swap) =>
      ({ at: 0, strategy: 0, exits: false, token: 2, route: 'build', percent: 30, ...swap })),
    fates: fates.map((fate) => ({ ...KIND_FATE, ...fate })),
  }, (clock) => {
    journals += 1;
    return openJournal({
      path: join(FOLDER, `${journals}.sqlite`),
      clock: { now: () => clock.now(), schedule: () => { throw new Error('a journal has no timers'); } },
    });
  });
}

/** Whether it was unknown before the nodes had all of their history again. */
const doubted = ({ intents, story }: Played): boolean =>
  intents.some(({ intent_id: id }) => story(id)!.transitions.some(({ code }) => code === 'PROOF_DISAGREES'));

const BLOCKS = [[1, 1], [1, 2], [2, 1], [2, 2]] as const;

describe('a swap that landed in a gap of the history', () => {
  it.each(
    BLOCKS,
  )('is not dead though another one brought as much as it took (%i and %i blocks later)', async (first, second) => {
    const played = await playInHoles(
      [{ at: 0 }, { at: 400, strategy: 1, token: 0, percent: 90 }], [{ lands: first }, { lands: second }],
    );
    expect(breachesOf(played)).toEqual([]);
    expect(played.intents.map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  });

  it.each(
    BLOCKS,
  )('is not dead though one that its balance lacked already was booked later (%i and %i blocks later)', async (
    first, second,
  ) => {
    const played = await playInHoles([{ at: 0 }, { at: 2_000, strategy: 1, token: 2 }], [
      { lands: first, tipLamports: 70_000n, givenLateMs: 4_000 }, { lands: second },
    ]);
    expect(breachesOf(played)).toEqual([]);
    expect(played.intents.map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  });

  it('is unknown until the nodes have all of it', async () => {
    const played = await Promise.all([1, 2].map((lands) => playInHoles([{ at: 0 }], [{ lands }])));
    expect(played.map((one) => breachesOf(one))).toEqual([[], []]);
    expect(played.filter(doubted)).toHaveLength(1);
  });
});
