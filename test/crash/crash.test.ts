import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameOf, type CrashPoint, type Doom } from './preload/points.ts';
import { killAtRandom } from './random-kill.ts';
import { openIn } from './recovery.ts';
import { scenarioOf } from './scenarios.ts';
import { canTrace, readAccount, traceSwap } from './system-calls.ts';
import { playLife, playTrial, type Trial } from './trial.ts';
import { openCrashFixture, type CrashFixture } from './crash-fixture.ts';

// The short form: a few crashes in the places that matter most. The long one, before and after every point of every
// scenario and at random times: `npm run campaign:crash`.

/** A seed whose first victim is a process of strategies. */
const HOST_FIRST = '1:6';

let fixture: CrashFixture;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-crash-test-'));
  fixture = await openCrashFixture({ seed: 7 });
});
afterAll(async () => {
  await fixture.close();
  rmSync(folder, { recursive: true });
});

/** Returns the first point of a kind in a run that was not killed. */
function pointOf({ points }: Trial, kind: string, what: string): CrashPoint {
  const point = points.find((candidate) => candidate.kind === kind && candidate.what.includes(what));
  expect(point, `${kind} ${what} in ${points.map(nameOf).join('; ')}`).toBeDefined();
  return point!;
}

function doomOf(whole: Trial, when: Doom['when'], [kind, what]: readonly [kind: string, what: string]): Doom {
  return { when, point: nameOf(pointOf(whole, kind, what)) };
}

describe('a daemon that is killed during a swap', () => {
  let whole: Trial;
  beforeAll(async () => { whole = await playTrial(fixture, scenarioOf('order: success'), { name: 'whole' }); });

  it('has every signed byte in its journal before the first one leaves', () => {
    expect(whole.violations).toEqual([]);
    expect(whole.states).toEqual(['confirmed']);
    expect(whole.sent).toBeGreaterThan(0);
    expect(pointOf(whole, 'commit', 'INSERT attempts').number)
      .toBeLessThan(pointOf(whole, 'send', '/swap/v2/execute').number);
  });

  it('swaps once at most, with correct books, over crashes before and after sending and before booking', async () => {
    const dooms = ([
      ['before', 'commit', 'INSERT attempts'], ['after', 'send', '/swap/v2/execute'],
      ['before', 'commit', 'INSERT snapshot'],
    ] as const)
      .map(([when, kind, what]) => doomOf(whole, when, [kind, what]));
    const life = await playLife(fixture, scenarioOf('order: success'), { name: 'life', dooms, isRecorded: false });
    expect(life.violations).toEqual([]);
    expect(life.crashes.map(({ killedAt }) => killedAt?.kind)).toEqual(['commit', 'send', 'commit']);
  });

  it.each([
    'maker: answer dropped after landing', 'build: answer dropped after landing',
  ])('finds a landed swap without an answer about it: %s', async (name) => {
    const trial = await playTrial(fixture, scenarioOf(name), {
      name: 'lost', isRecorded: false, doom: doomOf(whole, 'after', ['commit', 'INSERT attempts']),
    });
    expect(trial.violations).toEqual([]);
    expect(trial.killedAt).toBeDefined();
    expect(trial.states).toEqual(['confirmed']);
  });

  it('swaps again after the swap of the killed run is proven to never land', async () => {
    // The first daemon dies early: the proof takes longer than a start waits for it, so its input is locked at first.
    const dooms = [
      doomOf(whole, 'after', ['commit', 'INSERT attempts']), doomOf(whole, 'after', ['commit', 'INSERT attempts']),
    ];
    const life =
      await playLife(fixture, scenarioOf('order: never lands'), { name: 'locked', dooms, isRecorded: false });
    expect(life.violations).toEqual([]);
    expect(life.crashes.map(({ killedAt }) => killedAt?.kind)).toEqual(['commit', 'commit']);
    expect(life.states).toEqual(['expired', 'expired']);
  });

  it('recovers from the end of any of its processes at any time', async () => {
    expect((await killAtRandom(fixture, { name: 'random', seed: '1:1', kills: 1 })).violations).toEqual([]);
  });

  it('recovers from its own end after the end of its process of strategies', async () => {
    const life = await killAtRandom(fixture, { name: 'host', seed: HOST_FIRST, kills: 1 });
    expect(life.violations).toEqual([]);
    expect(life.kills).toMatchObject([{ victim: 'the strategy host, then the trading process', hosts: 1 }]);
  });

  it('is known to have no intents when it dies before its journal has a write-ahead log', () => {
    const [writing, left] = ['writing', 'left'].map((name) => join(folder, name)) as [string, string];
    for (const path of [writing, left]) mkdirSync(path);
    const database = new DatabaseSync(join(writing, 'journal.sqlite'));
    // With so small a cache the open transaction reaches the file, with what rolls it back beside it.
    database.exec('PRAGMA cache_size = 1; CREATE TABLE first (value); BEGIN');
    for (let row = 0; row < 1_000; row++) database.exec('INSERT INTO first VALUES (randomblob(500))');
    for (const name of ['journal.sqlite', 'journal.sqlite-journal'])
      copyFileSync(join(writing, name), join(left, name));
    database.close();
    expect(openIn(left)).toEqual([]);
  });

  it.skipIf(!canTrace())('has the kernel’s word that the journal was on disk before the first byte left', async () => {
    // Under a tracer on a busy machine a quote can be too old before it is signed: then nothing is sent, and the run
    // says little.
    let traced = { sent: 0, synced: 0 };
    for (let tries = 0; traced.sent === 0 && tries < 4; tries++)
      traced = await traceSwap(fixture, { name: `traced-${tries}`, scenario: scenarioOf('order: success') });
    expect(traced.sent).toBeGreaterThan(0);
    expect(traced.synced).toBe(traced.sent);
  }, 180_000);

  it('would detect bytes that left before the journal was synced', () => {
    const wrote = '12 pwrite64(20</s/journal.sqlite-wal>, "x", 4096, 32) = 4096';
    const synced = '12 fdatasync(20</s/journal.sqlite-wal>) = 0';
    const sent = '12 write(21<TCP:[127.0.0.1:1->127.0.0.1:2]>, "POST /swap/v2/execute HTTP/1.1", 30) = 30';
    expect(readAccount([wrote, synced, sent].join('\n'))).toEqual({ sent: 1, synced: 1 });
    expect(readAccount([synced, wrote, sent].join('\n'))).toEqual({ sent: 1, synced: 0 });
  });
});
