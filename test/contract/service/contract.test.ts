import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PROFILES } from '../../../src/sandbox/service/context.ts';
import { dialectNames } from '../../../src/service/wire/dialect.ts';
import { CASES } from './cases/index.ts';
import type { World } from './world.ts';
import { openWorld } from './world.ts';

// The whole suite over HTTP against the embedded service: in every dialect, and in the profile that a case asks for.
for (const dialect of dialectNames()) {
  for (const profile of PROFILES) {
    const cases = CASES.filter((each) => (each.profile ?? 'reference') === profile);
    describe.runIf(cases.length > 0)(`the ${profile} in the dialect "${dialect}"`, () => {
      let world: World;
      beforeAll(async () => {
        world = await openWorld({ dialect, profile });
      });
      afterEach(async () => {
        const { faults } = await world.control('/sandbox/state');
        if (faults.length > 0) await world.raw('DELETE', '/sandbox/faults');
        // A fault that hit nothing has proved nothing.
        expect(faults).toEqual([]);
      });
      afterAll(() => world.close());

      test.each(cases.map((each) => [each.says, each] as const))('%s', async (_says, each) => {
        await each.play(world);
      });
    });
  }
}
