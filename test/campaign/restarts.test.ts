import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFixture } from '../crash/crash-fixture.ts';
import { surviveKills } from './restarts.ts';

let fixture: CrashFixture;
beforeAll(async () => { fixture = await openCrashFixture({ seed: 19, timeFactor: 1 }); });
afterAll(() => fixture.close());

describe('issue 19: a daemon that is killed under its units', () => {
  it('trades again each time, and swaps nothing twice', async () => {
    const life = await surviveKills(fixture, { name: 'life', seed: 'short 3', kills: 3, topology: 'units' });
    expect(life.violations).toEqual([]);
    expect(life.kills).toHaveLength(3);
    expect(life.states['confirmed']).toBeGreaterThan(0);
  }, 300_000);
});
