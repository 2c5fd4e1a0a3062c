import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/sandbox/sandbox.ts';
import { TRAPS } from './index.ts';
import type { TrapFixture } from './trap-fixture.ts';
import { openTrapFixture } from './trap-fixture.ts';

/** How many there are in the list of what is known of the service. */
const KNOWN = 20;

describe('the traps', () => {
  it(`are 1 to ${KNOWN}, each once, each played`, () => {
    expect(TRAPS.map(({ number }) => number)).toEqual(Array.from({ length: KNOWN }, (_, i) => i + 1));
    for (const { number, title, plays } of TRAPS) {
      expect(plays.length, `trap ${number}`).toBeGreaterThan(0);
      expect(title.length, `trap ${number}`).toBeGreaterThan(20);
      expect(new Set(plays.map(({ says }) => says)).size, `trap ${number}`).toBe(plays.length);
    }
  });

  it('have a file each, named by its number', () => {
    const numbers = readdirSync(import.meta.dirname).flatMap((name) => /^(\d\d)-[a-z0-9-]+\.ts$/.exec(name)?.[1] ?? []);
    expect(numbers.map(Number).sort((a, b) => a - b)).toEqual(TRAPS.map(({ number }) => number));
  });
});

describe.each(PROFILES)('in the %s form of the service', (profile) => {
  let fixture: TrapFixture;
  beforeAll(async () => { fixture = await openTrapFixture(profile); });
  afterEach(() => fixture.tidy());
  afterAll(() => fixture.close());

  for (const { number, title, plays } of TRAPS) {
    const here = plays.filter(({ profiles = ['reference'] }) => profiles.includes(profile));
    if (here.length === 0) continue;
    describe(`trap ${number}: ${title}`, () => {
      for (const one of here) it(one.says, () => one.play(fixture));
    });
  }
});
