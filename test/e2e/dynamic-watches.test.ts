import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT, replayed, startSandbox } from './gannet.ts';

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');

/** Watches three records of each token that appears, and the prices of a leader that is in no configuration. */
const SCOUT = `import { filter, from, map, merge, mergeMap, scan, take } from '${RXJS}';
import { z } from '${ZOD}';
import { amount, defineStrategy, quotes, screen, token, tokenList, tokenOf, tokenRecord } from '${SDK}';

const every = { every: '1s' };
export default defineStrategy({
  name: 'scout', summary: 'Watches what appears.',
  params: z.strictObject({ quote: token(), size: amount() }),
  inputs: () => ({
    recent: tokenList({ list: 'recent', limit: 20 }, every),
    leaders: tokenList({ list: 'toporganicscore', interval: '1h', limit: 5 }, every),
  }),
  run: ({ recent, leaders }, p, ctx) => merge(
    recent.pipe(
      scan(({ known }, { tokens }) => ({
        fresh: known === undefined ? [] : tokens.filter(({ id }) => !known.has(id)),
        known: new Set([...known ?? [], ...tokens.map(({ id }) => id)]),
      }), {}),
      mergeMap(({ fresh }) => from(fresh)),
      mergeMap((appeared) => ctx.watch(tokenRecord(tokenOf(appeared), every)).pipe(
        take(3),
        map(({ record: { id, values } }, index) =>
          ctx.alert('info', \`appeared \${index} \${id} \${values.holderCount}\`)),
      )),
    ),
    leaders.pipe(
      screen(ctx, {
        max: 1, where: ({ symbol }) => symbol === 'PEARL' || symbol === 'TIDE',
        watch: (base) => quotes({ base, quote: p.quote }, { amount: p.size, ...every }),
      }),
      filter(({ kind }) => kind === 'event'),
      map(({ event }) => ctx.alert('info', 'leader ' + event.price)),
    ),
  ),
});
`;

/** Watches one size more at each price. */
const GREEDY = `import { ignoreElements, mergeMap } from '${RXJS}';
import { z } from '${ZOD}';
import { amountOf, defineStrategy, pair, quotes, amount } from '${SDK}';

export default defineStrategy({
  name: 'greedy', summary: 'Watches without an end.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1s' }) }),
  run: ({ price }, p, ctx) => price.pipe(
    mergeMap((_price, n) =>
      ctx.watch(quotes(p.pair, { amount: amountOf(p.pair.quote, 30 + n), every: '2s' }))),
    ignoreElements(),
  ),
});
`;

let playground: Playground;
let base: string;
let rpc: string;
let wallet: string;
let yaml: string;
const environment = { GANNET_API_KEY: 'any' };
const state = (): string => playground.path('state');

function configured(name: string, size: string): string {
  return playground.write(name, `control: { port: 0 }
mode: paper
service: { base_url: "${base}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${rpc}" }
wallet: { address: ${wallet} }
risk: { max_watches: 4 }
strategies:
  - use: ./scout.ts
    params: { quote: USDC, size: "${size}" }
  - use: ./greedy.ts
    params: { pair: SOL/USDC, size: "25 USDC" }
`);
}

beforeAll(async () => {
  playground = createPlayground();
  ({ base_url: base, rpc_url: rpc, wallet: { address: wallet } } = await startSandbox(playground, 9, '--speed', '1'));
  playground.write('scout.ts', SCOUT);
  playground.write('greedy.ts', GREEDY);
  yaml = configured('watch.yaml', '25 USDC');
});
afterAll(() => playground.close());

async function backtested(file: string, recording: string): Promise<JsonLine> {
  return document(await playground.ask(
    ['backtest', file, '--recording', recording, '--json', '--state-dir', state()], { environment },
  ));
}

describe('what a strategy begins to watch while it runs', () => {
  it('is polled, recorded, bounded, replayed to the same hash and backtested', async () => {
    const running = playground.start(
      ['run', '--json', '--config', yaml, '--state-dir', state(), '--duration', '20s'], { environment },
    );
    await running.until((stdout) => stdout.includes('leader '));
    const launched = await fetch(`${base}/sandbox/time`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ advance_slots: 1_600 }),
    });
    expect(launched.status, await launched.text()).toBe(200);
    const ended = await running.ended;
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    const lines = jsonLines(ended.stdout);
    const told = JSON.stringify(lines);
    expect(told.match(/"leader [\d.]+"/g)!.length).toBeGreaterThan(5);
    const appeared = new Set([...told.matchAll(/"appeared \d (\w+) \d+"/g)].map(([, mint]) => mint));
    expect(appeared.size).toBeGreaterThan(0);
    for (const mint of appeared) expect(new Set(told.match(new RegExp(`appeared \\d ${mint}`, 'g'))).size).toBe(3);
    expect(told).toMatch(/strategy greedy stopped: it watches 5 feeds at once with ctx\.watch, and risk\.max_watches/);
    expect(told).toMatch(/greedy\.ts:\d+:\d+/);

    const recording = await replayed(playground, lines.at(-1)!, { state: state(), environment });
    await playground.ask(
      ['recording', 'export', recording, '--to', 'parquet', '--out', playground.path('out'), '--state-dir', state()],
    );
    const scoutOnly = playground.write('scout.yaml', `risk: { max_watches: 4 }
strategies: [{ use: ./scout.ts, params: { quote: USDC, size: "25 USDC" } }]\n`);
    const tested = await backtested(scoutOnly, recording);
    expect(Number(tested['decisions'])).toBeGreaterThanOrEqual(5 + 3 * appeared.size);
    expect(JSON.stringify(tested)).not.toMatch(/ctx\.watch/);

    const otherSize = playground.write('other.yaml', `risk: { max_watches: 4 }
strategies: [{ use: ./scout.ts, params: { quote: USDC, size: "26 USDC" } }]\n`);
    const lacking = await backtested(otherSize, recording);
    expect(JSON.stringify(lacking)).toMatch(/watched with ctx\.watch what the recording does not hold[^"]*26 USDC/);
  });
});
