import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, daemonOf, document, jsonLines } from './gannet.ts';

const PURCHASES = 6;
const CONFIG = `
mode: paper
service: { base_url: embedded }
control: { port: 0 }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
backtest: { balances: { USDC: "10000", SOL: "1" }, setting: optimistic }
risk: { max_trade: "200 USDC", max_swaps: { per_minute: 60 } }
strategies:
  - use: dca
    budget: "1000 USDC"
    params: { buy: SOL, spend: "5 USDC", every: 1s, watch: 1s, purchases: ${PURCHASES} }
  - use: sma-crossover
    name: trend
    budget: "1000 USDC"
    warmup: 10m
    params: { pair: SOL/USDC, size: "5 USDC", every: 1s, fast: 2, slow: 6 }
`;

let playground: Playground;
let state: string;
const lives: JsonLine[][] = [];

const confirmed = (lines: readonly JsonLine[]): JsonLine[] =>
  lines.filter((line) => line.type === 'intent' && line['state'] === 'confirmed' && line['strategy'] === 'dca');
const alertsOf = (lines: readonly JsonLine[]): string[] =>
  lines.filter(({ type }) => type === 'alert').map((line) => `${String(line['strategy'])}: ${String(line['message'])}`);

beforeAll(async () => {
  playground = createPlayground();
  state = playground.path('state');
  const config = playground.write('stateful.yaml', CONFIG);
  const begin = () => playground.start(['run', '--json', '--config', config, '--state-dir', state, '--duration', '5m']);
  const killed = begin();
  await killed.until((stdout) => stdout.includes('"type":"started"'));
  const daemon = await daemonOf(killed);
  await killed.until((stdout) => confirmed(jsonLines(stdout)).length >= 3);
  process.kill(daemon, 'SIGKILL');
  lives.push(jsonLines((await killed.ended).stdout));
  const last = begin();
  await last.until((stdout) => stdout.includes(`all ${PURCHASES} purchases are made`));
  last.signal('SIGINT');
  const ended = await last.ended;
  expect(ended.code, ended.stderr).toBe(0);
  lives.push(jsonLines(ended.stdout));
}, 180_000);
afterAll(() => playground.close());

describe('a strategy with a saved state', () => {
  it('continues counting where a killed daemon stopped', async () => {
    const listed = await playground.ask(['journal', 'list', '--paper', '--json', '--state-dir', state]);
    const intents = JSON.parse(listed.stdout) as readonly JsonLine[];
    expect(intents.filter((intent) => intent['strategy'] === 'dca' && intent['state'] === 'confirmed'))
      .toHaveLength(PURCHASES);
    expect(confirmed(lives[1]!).length).toBeGreaterThan(0);
    expect(alertsOf(lives[1]!)).toContain(`dca: all ${PURCHASES} purchases are made`);
  });

  it('is replayed from the state and the warm-up with which each run began', async () => {
    for (const [index, lines] of lives.entries()) {
      const runId = String(lines[0]!['run_id']);
      const manifest = JSON.parse(
        readFileSync(join(state, 'runs', runId, 'manifest.json'), 'utf8'),
      ) as { strategy_states: object; warmup: { recordings: readonly object[] } };
      expect(manifest.strategy_states)
        .toEqual(index === 0 ? {} : { dca: expect.stringMatching(/^\{"purchases":[2-5]\}$/) });
      expect(manifest.warmup.recordings).toHaveLength(index);
      expect(document(await playground.ask(['replay', runId, '--json', '--state-dir', state])))
        .toMatchObject({ match: true });
    }
  });

  it('reports how much of the wanted warm-up was recorded', () => {
    expect(alertsOf(lives[0]!))
      .toContain('trend: not warmed up as wanted: nothing of the last 10m before the start is recorded');
    expect(alertsOf(lives[1]!)).toContainEqual(
      expect.stringMatching(/^trend: not warmed up as wanted: of the last 10m before the start \S+ are recorded$/),
    );
  });
});
