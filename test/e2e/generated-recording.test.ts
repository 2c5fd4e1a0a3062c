import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { join } from 'node:path';
import { openRecording } from '../../src/recording/reader.ts';
import type { Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT } from './gannet.ts';

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');
/** An event that opened a quarter of an hour before the start, and ends a quarter of an hour after it. */
const EVENT = '999999';
const OWNER = 'So11111111111111111111111111111111111111112';

/** Alerts at each event of each input, with what it is about. */
const WATCHER = `import { map, merge } from '${RXJS}';
import { z } from '${ZOD}';
import {
  amount, defineStrategy, lendEarnings, orderBook, pair, predictionEvent, predictionEvents, predictionHistory,
  predictionMarket, predictionPositions, quotes, token, tokenList, tokenRecord, tokenStats,
} from '${SDK}';

const every = { every: '5m' };
export default defineStrategy({
  name: 'watcher', summary: 'Tells what it sees.',
  params: z.strictObject({ token: token(), owner: z.string(), event: z.string(), pair: pair(), size: amount() }),
  inputs: (p) => ({
    record: tokenRecord(p.token, every), stats: tokenStats(p.token, every),
    recent: tokenList({ list: 'recent', limit: 5 }, every),
    leaders: tokenList({ list: 'toptraded', interval: '1h', limit: 3 }, every),
    market: predictionMarket({ event: p.event, market: p.event + '1' }, every),
    event: predictionEvent(p.event, every), events: predictionEvents({ search: 'the', limit: 3 }, every),
    positions: predictionPositions(p.owner, every), history: predictionHistory(p.owner, every),
    earned: lendEarnings(p.owner, [p.owner], every), book: orderBook('SPRINGTIDE-26DEC31', every),
    missing: orderBook('NO-SUCH-MARKET', every),
    detailed: quotes(p.pair, { amount: p.size, every: '1m', detail: true }),
  }),
  run: (inputs, p, ctx) => merge(...Object.entries(inputs).map(([name, input]) => input.pipe(map((event) =>
    ctx.alert('info', name + (name === 'market' ? ' ' + event.market.status + ' ' + event.market.result : '')))))),
});
`;

let playground: Playground;
let yaml: string;

beforeAll(() => {
  playground = createPlayground();
  playground.write('watcher.ts', WATCHER);
  yaml = playground.write('watcher.yaml', `mode: paper
service: { base_url: "https://unreachable.invalid", api_key: "\${NO_SUCH_VARIABLE}" }
strategies:
  - use: ./watcher.ts
    params: { token: SOL, owner: ${OWNER}, event: "${EVENT}", pair: SOL/USDC, size: "25 USDC" }
`);
});
afterAll(() => playground.close());

async function generated(name: string, seed: string): Promise<Readonly<Record<string, unknown>>> {
  return document(await playground.ask([
    'recording', 'generate', '--config', yaml, '--days', '0.02', '--seed', seed, '--out', playground.path(name),
    '--json',
  ]));
}

describe('gannet recording generate --config', () => {
  it('generates every input that a configuration watches, from the seed alone', async () => {
    const done = await generated('one', '7');
    await generated('again', '7');
    await generated('other', '8');
    expect(done['warnings']).toStrictEqual(
      ['the embedded service has nothing for the order book of NO-SUCH-MARKET: the recording holds faults alone'],
    );
    const [one, again, other] = ['one', 'again', 'other'].map((name) => playground.path(name)) as
      [string, string, string];
    const { kinds, feeds, manifest, lastAt, firstAt } = openRecording(one);
    expect(kinds).toStrictEqual([
      'quote', 'quote-detail', 'order-book', 'prediction-market', 'event-markets', 'prediction-events',
      'prediction-positions', 'prediction-history', 'token-stats', 'token-record', 'token-list', 'lend-earnings',
      'feed-health',
    ]);
    expect(feeds).toHaveLength(14);
    expect(manifest.source).toStrictEqual({ kind: 'synthetic', market: 'stochastic-volatility', seed: 7 });
    expect(lastAt! - firstAt!).toBeGreaterThan(25 * 60_000);
    expect(openRecording(again).manifest.files).toStrictEqual(manifest.files);
    expect(openRecording(other).manifest.files).not.toStrictEqual(manifest.files);
    expect(document(await playground.ask(['recording', 'verify', one, '--json']))).toMatchObject({ valid: true });
  });

  it('refuses flags that say the same another way, and leaves nothing at an interrupt', async () => {
    // Days enough for minutes of work: an interrupt must not wait for its end.
    const args = ['recording', 'generate', '--config', yaml, '--days', '3000', '--out', playground.path('cut')];
    const refused = await playground.ask([...args, '--every', '3s']);
    expect([refused.code, refused.stderr]).toMatchObject([2, expect.stringContaining('--pair, --every')]);
    const running = playground.start(args);
    await vi.waitUntil(() => existsSync(playground.path('cut')), { timeout: 60_000 });
    running.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(existsSync(playground.path('cut'))).toBe(false);
  });

  it('gives a recording that a backtest reads: each kind, and a market that resolves', async () => {
    await generated('tested', '7');
    const recording = playground.path('tested');
    const out = playground.path('tested.jsonl');
    await playground.ask(['recording', 'export', recording, '--to', 'jsonl', '--out', out]);
    const inputs = jsonLines(readFileSync(out, 'utf8'));
    const results = inputs.filter(({ kind }) => kind === 'prediction-market')
      .map(({ market }) => market as { readonly status: string; readonly result?: string });
    expect(results[0]).toMatchObject({ status: 'open' });
    expect(results[0]).not.toHaveProperty('result');
    expect(results.at(-1)).toMatchObject({ status: 'closed', result: expect.stringMatching(/^(?:yes|no)$/) });
    const ledgers = inputs.filter(({ kind }) => kind === 'prediction-history').map(({ total }) => total);
    expect(ledgers.at(-1)).toBeGreaterThan(ledgers[0] as number);
    const tested = document(await playground.ask([
      'backtest', yaml, '--recording', recording, '--json', '--state-dir', playground.path('state'),
    ]));
    const seen = inputs.filter(({ kind }) => kind !== 'quote' && kind !== 'feed-health');
    expect(tested['decisions']).toBe(seen.length);
  });
});
