import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlayground, document, PROJECT } from '../e2e/gannet.ts';
import { repeatBacktest } from './hash.ts';

const { resolve } = createRequire(import.meta.url);

/** One recording for both, of a day. */
const RECORDED = { days: 1, every: '2m', seed: 7 } as const;
const place = createPlayground();
const recording = place.path('recording');
beforeAll(async () => {
  document(await place.ask([
    'recording', 'generate', '--days', String(RECORDED.days), '--every', RECORDED.every, '--seed',
    String(RECORDED.seed), '--out', recording, '--json',
  ]));
}, 180_000);
afterAll(() => place.close());

it.concurrent('the same backtest comes to the same hash in every process, time zone, locale and thread', async () => {
  const { repetitions, processes, hashes, where, violations, fills } =
    await repeatBacktest({ repetitions: 4, perProcess: 2, ...RECORDED, recording, spinners: 0 });
  expect(violations).toEqual([]);
  expect(Object.values(hashes)).toEqual([repetitions]);
  expect([repetitions, processes]).toEqual([4, 2]);
  expect(Object.keys(where).sort()).toEqual([
    'main thread, America/St_Johns, ar-EG', 'main thread, Pacific/Chatham, tr-TR',
    'worker thread, America/St_Johns, ar-EG', 'worker thread, Pacific/Chatham, tr-TR',
  ]);
  expect(fills).toBeGreaterThan(20);
}, 180_000);

it.concurrent('that is noticed where it is not so', async () => {
  place.write('local.ts', `import { map } from '${resolve('rxjs')}';
import { z } from '${resolve('zod')}';
import { defineStrategy, interval } from '${PROJECT}src/strategy/index.ts';
export default defineStrategy({
  name: 'local', summary: 'Tells the local time.', params: z.strictObject({}), inputs: () => ({}),
  run: (_inputs, _params, ctx) =>
            interval(ctx, '6h').pipe(map(() => ctx.alert('info', new Date(ctx.now()).toLocaleString()))),
});
`);
  const config = place.write(
    'local.yaml',
    'mode: paper\ntokens: { USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }\nstrategies: [{ use: ./local.ts }]\n',
  );
  const { hashes, violations } =
    await repeatBacktest({ repetitions: 2, perProcess: 1, ...RECORDED, recording, spinners: 0, config });
  expect(Object.keys(hashes)).toHaveLength(2);
  expect(violations)
    .toEqual([expect.stringMatching(/^repetition 2 \(main thread, America\/St_Johns, ar-EG\) came to /)]);
}, 180_000);
