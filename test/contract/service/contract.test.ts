import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PROFILES } from '../../../src/sandbox/service/context.ts';
import { dialectNames } from '../../../src/service/wire/dialect.ts';
import { CASES, LIVE_TOO } from './cases/index.ts';
import type { ServiceFixture } from './service-fixture.ts';
import { openFixture } from './service-fixture.ts';

// The whole suite over HTTP against the embedded service: in every dialect, and in the profile that a case asks for.
// What moves money is played once more as the live service behaves, in one dialect.
for (const dialect of dialectNames()) {
  for (const profile of PROFILES) {
    const own = CASES.filter((each) => (each.profile ?? 'reference') === profile);
    const cases = profile === 'live' && dialect !== 'neutral' ? [...LIVE_TOO, ...own] : own;
    describe.runIf(cases.length > 0)(`the ${profile} in the dialect "${dialect}"`, () => {
      let fixture: ServiceFixture;
      beforeAll(async () => {
        fixture = await openFixture({ dialect, profile });
      });
      afterEach(async () => {
        const { faults } = await fixture.control('/sandbox/state');
        if (faults.length > 0) await fixture.raw('DELETE', '/sandbox/faults');
        // A fault that hit nothing has proved nothing.
        expect(faults).toEqual([]);
      });
      afterAll(() => fixture.close());

      test.each(cases.map((each) => [each.says, each] as const))('%s', async (_says, each) => {
        await each.play(fixture);
      });
    });
  }
}
