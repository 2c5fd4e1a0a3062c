import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFixture } from '../crash/crash-fixture.ts';
import { LIES, PLANS, planName, type Lie } from './lies/lie-kinds.ts';
import { playLyingLife } from './lies/life.ts';

// The short form: one daemon, and the lies that were the worst. The long one, every lie alone and every two, again and
// again: `npm run campaign:lies`.

const TIME_FACTOR = 20;
const WORST = [
  ['statuses failed', 'transactions failed'],
  ['heights far ahead'],
  ['statuses hidden', 'balances of before'],
  ['balances doubled', 'blockhash validity invalid'],
  ['heights too high', 'blockhash validity invalid'],
];

function plan(names: readonly string[]): readonly Lie[] {
  return names.map((name) => LIES.find((lie) => planName([lie]) === name)!);
}

const run = (...args: readonly string[]): ReturnType<typeof spawnSync> => (
  spawnSync(
    process.execPath, ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'lies.ts'), ...args],
    { encoding: 'utf8' },
  ));

it('the campaign of lies prints its usage for --help, and with exit code 2 for an unknown option', () => {
  expect(run('--help'))
    .toMatchObject({ status: 0, stdout: expect.stringMatching(/^usage: npm run campaign:lies -- .*\n$/), stderr: '' });
  expect(run('--nope', '3')).toMatchObject({
    status: 2, stdout: '', stderr: expect.stringMatching(/^Unknown option '--nope'.*\nusage: .*\n$/),
  });
});

let fixture: CrashFixture;
beforeAll(async () => { fixture = await openCrashFixture({ seed: 7, timeFactor: TIME_FACTOR }); });
afterAll(() => fixture.close());

describe('issue 13.34: a daemon that trades through a node that lies', () => {
  it('repeats no swap, knows each landed one, and trades on within a minute after each lie', async () => {
    const life = await playLyingLife(fixture, {
      name: 'lies', seed: '7', timeFactor: TIME_FACTOR, plans: WORST.map(plan), kills: 0, lasting: [3_000],
      comparedMs: 0,
    });
    expect(life.violations).toEqual([]);
    expect(life.lies.map((lie) => lie.plan)).toEqual(WORST.map((names) => names.join(' + ')));
    expect(life.lies.reduce((sum, { answers }) => sum + answers, 0)).toBeGreaterThan(0);
    expect(life.states['confirmed']).toBeGreaterThan(WORST.length);
  }, 120_000);

  it('meets every lie alone and every pair of different subjects', () => {
    const things = new Map<string, number>();
    for (const { about } of LIES) things.set(about, (things.get(about) ?? 0) + 1);
    const pairs = [...things.values()]
      .flatMap((count, index, all) => all.slice(index + 1).map((other) => count * other))
      .reduce((sum, count) => sum + count, 0);
    expect(things.size).toBe(7);
    expect(new Set(PLANS.map(planName)).size).toBe(LIES.length + pairs);
  });
});
