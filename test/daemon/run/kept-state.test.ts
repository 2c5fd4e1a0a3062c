import { expect, test } from 'vitest';
import { START, start } from '../session-fixture.ts';

const MINUTE_MS = 60_000;

test('a run in which no swap ends leaves peaks, days and the operator’s presence to the next one, as of the last minute', async () => {
  const daemon = await start();
  await daemon.pass(10 * MINUTE_MS);
  const kept = daemon.kept()?.protections;
  expect(kept?.now).toBeGreaterThan(START + 9 * MINUTE_MS);
  expect(kept?.presenceAt).not.toBeNull();
  expect(Object.keys(kept?.equity ?? {})).toContain('ticker');
});
