import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../e2e/gannet.ts';
import { repeatBacktest } from './hash.ts';

const { resolve } = createRequire(import.meta.url);

it('the same backtest comes to the same hash in every process, time zone, locale and thread', async () => {
  const { repetitions, processes, hashes, where, violations, fills } = await repeatBacktest({ repetitions: 4, perProcess: 2, days: 1, every: '2m', seed: 7, spinners: 0 });
  expect(violations).toEqual([]);
  expect(Object.values(hashes)).toEqual([repetitions]);
  expect([repetitions, processes]).toEqual([4, 2]);
  expect(Object.keys(where).sort()).toEqual(['main thread, America/St_Johns, ar-EG', 'main thread, Pacific/Chatham, tr-TR', 'worker thread, America/St_Johns, ar-EG', 'worker thread, Pacific/Chatham, tr-TR']);
  expect(fills).toBeGreaterThan(20);
}, 180_000);

it('that is noticed where it is not so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-hash-test-'));
  try {
    writeFileSync(join(folder, 'local.ts'), `import { map } from '${resolve('rxjs')}';
import { z } from '${resolve('zod')}';
import { defineStrategy, interval } from '${PROJECT}src/strategy/index.ts';
export default defineStrategy({
  name: 'local', summary: 'Tells the local time.', params: z.strictObject({}), inputs: () => ({}),
  run: (_inputs, _params, ctx) => interval(ctx, '6h').pipe(map(() => ctx.alert('info', new Date(ctx.now()).toLocaleString()))),
});
`);
    const config = join(folder, 'local.yaml');
    writeFileSync(config, 'mode: paper\ntokens: { USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }\nstrategies: [{ use: ./local.ts }]\n');
    const { hashes, violations } = await repeatBacktest({ repetitions: 2, perProcess: 1, days: 1, every: '1h', seed: 7, spinners: 0, config });
    expect(Object.keys(hashes)).toHaveLength(2);
    expect(violations).toEqual([expect.stringMatching(/^repetition 2 \(main thread, America\/St_Johns, ar-EG\) came to /)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 180_000);
