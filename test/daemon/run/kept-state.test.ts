import { expect, test } from 'vitest';
import { START, start } from '../session-fixture.ts';

const MINUTE_MS = 60_000;

test('a run without finished swaps saves equity peaks, days and the operator’s presence every minute', async () => {
  const daemon = await start();
  await daemon.pass(10 * MINUTE_MS);
  const kept = daemon.kept()?.protections;
  expect(kept?.now).toBeGreaterThan(START + 9 * MINUTE_MS);
  expect(kept?.presenceAt).not.toBeNull();
  expect(Object.keys(kept?.equity ?? {})).toContain('ticker');
});
