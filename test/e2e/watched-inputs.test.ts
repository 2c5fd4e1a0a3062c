import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import type { Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT, replayed, startSandbox } from './gannet.ts';

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');
const EVENT = 'SPRINGTIDE';
const MARKET = 'SPRINGTIDE-26DEC31';

/** Alerts at each event of each input with all that it holds, so that the hash of the decisions covers every member. */
const WATCHER = `import { map, merge } from '${RXJS}';
import { z } from '${ZOD}';
import {
  amount, bars, defineStrategy, lendEarnings, pair, predictionEvent, predictionEvents, predictionHistory,
  predictionMarket, predictionPositions, quoteLadder, quotes, token, tokenList, tokenRecord, twoSided,
} from '${SDK}';

const every = { every: '1s' };
const digest = (event) =>
  JSON.stringify(event.detail ?? event, (key, value) => (typeof value === 'bigint' ? value + 'n' : value));
export default defineStrategy({
  name: 'watcher', summary: 'Tells what it sees.',
  params: z.strictObject({
    token: token(), owner: z.string(), vault: z.string(), pair: pair(), size: amount(), large: amount(), sale: amount(),
  }),
  inputs: (p) => ({
    record: tokenRecord(p.token, every),
    recent: tokenList({ list: 'recent', limit: 5 }, every),
    leaders: tokenList({ list: 'toptraded', interval: '1h', limit: 3 }, every),
    tagged: tokenList({ list: 'tag', tag: 'verified', limit: 2 }, every),
    found: tokenList({ list: 'search', query: 'SOL', limit: 2 }, every),
    market: predictionMarket({ event: '${EVENT}', market: '${MARKET}' }, every),
    event: predictionEvent('REGATTA27', { every: '1s', page: 1 }),
    events: predictionEvents({ search: 'the', limit: 3 }, every),
    positions: predictionPositions(p.owner, every),
    history: predictionHistory(p.owner, every),
    earned: lendEarnings(p.owner, [p.vault], every),
    ladder: quoteLadder(p.pair, { amounts: [p.size, p.large], every: '1s' }),
    both: twoSided(p.pair, { buy: p.size, sell: p.sale, every: '1s' }),
    bars: bars(p.pair, { every: '2s', poll: '1s', amount: p.size }),
    detailed: quotes(p.pair, { amount: p.size, every: '1s', detail: true }),
  }),
  run: (inputs, p, ctx) => merge(...Object.entries(inputs).map(([name, input]) => input.pipe(map((event) => {
    const text = digest(event);
    let sum = 0;
    for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) % 1000003;
    const result = name === 'market' ? ' ' + event.market.status + ' ' + event.market.result
      : name === 'detailed' ? ' by ' + event.detail.route.map((leg) => leg.exchange + ' ' + leg.bps).join() : '';
    return ctx.alert('info', name + ' ' + text.length + ' ' + sum + result);
  })))),
});
`;

let playground: Playground;
let yaml: string;
let base: string;
const environment = { GANNET_API_KEY: 'any' };
const state = (): string => playground.path('state');

beforeAll(async () => {
  playground = createPlayground();
  const line = await startSandbox(playground, 9, '--speed', '1');
  base = line.base_url;
  playground.write('watcher.ts', WATCHER);
  yaml = playground.write('watcher.yaml', `control: { port: 0 }
mode: paper
service: { base_url: "${base}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${line.rpc_url}" }
wallet: { address: ${line.wallet.address} }
strategies:
  - use: ./watcher.ts
    params:
      { token: SOL, owner: ${line.wallet.address}, vault: ${line.wallet.address}, pair: SOL/USDC, size: "25 USDC",
        large: "100 USDC", sale: "1 SOL" }
`);
});
afterAll(() => playground.close());

describe('everything that the service knows', () => {
  it('is watched, and config check shows what it costs', async () => {
    const checked = document(await playground.ask(['config', 'check', yaml, '--json'], { environment }));
    expect(checked).toMatchObject({ valid: true, requests_per_second: 14 });
  });

  it('is recorded, replayed to the same hash, backtested, exported and verified', async () => {
    const running = playground.start(
      ['run', '--json', '--config', yaml, '--state-dir', state(), '--duration', '14s'], { environment },
    );
    await running.until((stdout) => stdout.includes('market '));
    const resolved = await fetch(`${base}/sandbox/resolve`, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ market_id: MARKET, result: 'yes' }),
    });
    expect(resolved.status, await resolved.text()).toBe(200);
    const ended = await running.ended;
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    const lines = jsonLines(ended.stdout);
    const told = JSON.stringify(lines);
    const names = [
      'record', 'recent', 'leaders', 'tagged', 'found', 'market', 'event', 'events', 'positions', 'history', 'earned',
      'ladder', 'both', 'bars', 'detailed',
    ];
    for (const name of names) expect(told).toMatch(new RegExp(`"${name} \\d+ \\d+`));
    expect(told).toMatch(/"detailed \d+ \d+ by \w+ \d+/);
    expect(told).toMatch(/"market \d+ \d+ open undefined"/);
    expect(told).toMatch(/"market \d+ \d+ closed yes"/);

    const recording = await replayed(playground, lines.at(-1)!, { state: state(), environment });
    const tested = document(await playground.ask(
      ['backtest', yaml, '--recording', recording, '--json', '--state-dir', state()], { environment },
    ));
    expect(Number(tested['decisions'])).toBeGreaterThan(names.length);

    const out = playground.path('tables');
    await playground.ask(['recording', 'export', recording, '--to', 'parquet', '--out', out, '--state-dir', state()]);
    for (const kind of ['token-record', 'token-list', 'prediction-market', 'event-markets', 'prediction-events',
      'prediction-positions', 'prediction-history', 'lend-earnings', 'quote-detail'])
      expect(readFileSync(join(out, `${kind}.parquet`)).subarray(0, 4).toString()).toBe('PAR1');
  });
});
