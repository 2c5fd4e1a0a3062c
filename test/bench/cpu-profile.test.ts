import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { profiled } from '../../src/bench/measurement.ts';
import { stopwatch } from '../../src/research/stopwatch.ts';

let parent: string;
beforeEach(() => { parent = mkdtempSync(join(tmpdir(), 'gannet-profile-')); });
afterEach(() => { rmSync(parent, { recursive: true, force: true }); });

function spinForAWhile(): number {
  const until = stopwatch() + 30;
  let turns = 0;
  while (stopwatch() < until) turns += 1;
  return turns;
}

it('writes the CPU profile of some work under the name of its row, and returns its result', async () => {
  const dir = join(parent, 'made', 'for it');
  expect(await profiled(async () => spinForAWhile(), { dir, name: 'a-row' })).toBeGreaterThan(0);
  expect(readdirSync(dir)).toEqual(['a-row.cpuprofile']);
  const profile = JSON.parse(
    readFileSync(join(dir, 'a-row.cpuprofile'), 'utf8'),
  ) as { samples: number[]; nodes: { callFrame: { functionName: string } }[] };
  expect(profile.samples.length).toBeGreaterThan(0);
  expect(profile.nodes.map(({ callFrame }) => callFrame.functionName)).toContain('spinForAWhile');
});

it('also writes the profile of failing work, and throws its error', async () => {
  await expect(profiled(() => Promise.reject(new Error('not measured')), { dir: parent, name: 'b-row' }))
    .rejects.toThrow('not measured');
  expect(readdirSync(parent)).toEqual(['b-row.cpuprofile']);
});
