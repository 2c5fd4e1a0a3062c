import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { readControlFile } from '../daemon/control/control-file.ts';
import type { MeasuredDaemon } from './daemon-rows.ts';
import { FEEDS } from './daemon-rows.ts';

const STRATEGIES = 20;
const PAGES = 50;
/** The tables that an open page reads again and again. */
const TABLES = ['/api/decisions?limit=120', '/api/story?limit=120', '/api/equity?range=all'];
const TABLES_EVERY_MS = 5_000;

/**
 * A live daemon with 500 feeds of 5 s in 20 strategies, and 50 open pages: each of their decisions is refused, a
 * hundred in a second, so that the table of decisions is full and the story changes all the time.
 */
export const PAGE_LOAD: MeasuredDaemon = { strategies: wideWatchers, beside: openPages };

/** Opens the streams of all pages, and reads their tables from time to time. */
async function openPages(stateDir: string): Promise<() => void> {
  const { url, token } = readControlFile(stateDir);
  const ended = new AbortController();
  const options = { headers: { authorization: `Bearer ${token}` }, signal: ended.signal };
  await Promise.all(Array.from({ length: PAGES }, async () => {
    const { statusCode, body } = await request(`${url}/api/events`, { ...options, bodyTimeout: 0 });
    if (statusCode !== 200) throw new Error(`a page was refused with ${statusCode}: ${await body.text()}`);
    // A stream that ends is no fault of the measurement: it ends the streams itself.
    body.on('error', () => undefined);
    body.resume();
  }));
  const reading = setInterval(() => {
    for (const path of TABLES)
      void request(`${url}${path}`, options).then(({ body }) => body.dump(), () => undefined);
  }, TABLES_EVERY_MS);
  return () => {
    clearInterval(reading);
    ended.abort();
  };
}

const WATCHER = `import { map, merge } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';

export default defineStrategy({
  name: 'wide-watcher',
  summary: 'Watches one pair in many sizes, and wants more than its budget.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({ pair: pair(), size: amount(), feeds: z.int() }),
  inputs: ({ pair: pairOf, size, feeds }) => Object.fromEntries(Array.from({ length: feeds }, (_, i) =>
    [\`size\${i}\`, quotes(pairOf, { amount: { ...size, amount: size.amount + BigInt(i) * 1_000n }, every: '5s' })])),
  run: (streams, p, ctx) => merge(...Object.values(streams)).pipe(
    map(() => ctx.buy(p.pair, { ...p.size, amount: 1_000_000_000n }, 'more than there is'))),
});
`;

/** Returns strategies of many feeds each, whose code is written into a folder. */
function wideWatchers(dir: string): string {
  writeFileSync(join(dir, 'wide-watcher.ts'), WATCHER);
  const feeds = FEEDS / STRATEGIES;
  return Array.from({ length: STRATEGIES }, (_, i) => `  - { use: ./wide-watcher.ts, name: wide-${i + 1}, budget: `
    + `"2 USDC", params: { pair: SOL/USDC, size: "${(1 + i * feeds / 1_000).toFixed(3)} USDC", feeds: ${feeds} } }\n`)
    .join('');
}
