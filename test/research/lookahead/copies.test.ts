import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findLeaks } from '../../../src/research/lookahead/find-leaks.ts';
import type { Market } from './suite.ts';
import { instance, PARAMS, prepared, writeMarket } from './suite.ts';

let market: Market;
let folder: string;
beforeEach(async () => {
  market = await writeMarket();
  folder = mkdtempSync(join(tmpdir(), 'gannet-copies-test-'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  market.remove();
  rmSync(folder, { recursive: true });
});

it('removes the copy of the recording when a thread is ended during a pass', async () => {
  const strategy = instance(
    'ends', fileURLToPath(new URL('./ends-the-thread.ts', import.meta.url)), { ...PARAMS, dir: market.directory },
  );
  await expect(findLeaks(prepared(market, [strategy]), { times: 2, seed: 1 })).rejects.toMatchObject({
    code: 'STRATEGY_INVALID', message: expect.stringContaining('ended the thread') as string,
  });
  expect(readdirSync(folder)).toEqual([]);
});
