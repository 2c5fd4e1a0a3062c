import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDirOf } from '../../src/daemon/files/find-run.ts';
import { createManifest, writeManifest } from '../../src/daemon/files/run-manifest.ts';
import { openJournal } from '../../src/store/journal.ts';
import { freshSnapshot } from '../../src/trading/engine-state.ts';
import { configOf } from '../config/load-text.ts';
import { readFamilies, valueOf } from '../daemon/metrics/exposition-text.ts';
import { alertRules, dashboardExpressions, metricsIn } from '../daemon/metrics/monitoring-files.ts';
import { attemptOf, intentOf, outcomeOf, wallClock } from '../store/sample-intents.ts';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { childrenOf, createPlayground, daemonOf, document, filesIn, jsonLines } from './gannet.ts';

const SOL = 'So11111111111111111111111111111111111111112';
const CONFIG = `mode: live
service: { base_url: embedded }
chain: { rpc_url: embedded }
control: { port: 0 }
tokens: { SOL: ${SOL}, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
risk: { max_trade: "200 USDC", max_open_intents: 2, max_swaps: { per_minute: 400, per_hour: 4000, per_day: 9000 } }
strategies:
  - { use: dca, name: one, budget: "300 USDC", params: { buy: SOL, spend: "1 USDC", every: 500ms, watch: 500ms } }
  - { use: dca, name: two, budget: "300 USDC", params: { buy: SOL, spend: "1 USDC", every: 500ms, offset: 250ms,
      watch: 500ms } }
`;

let playground: Playground;
let state: string;
let daemon: Running;
let ended: Ended;
let token: string;
let url: string;
let runId: string;
let environments: string[];
const TOKENS = { operator: '3f9c1e5a7b0d2468ace1357902468bdf', viewer: 'Xk3vQ8wZp1Lm9Rt5Yb7Nc2Hd4Jf6Gs0A' };
const seen: Record<string, JsonLine> = {};
const statuses: Record<string, number> = {};
let metrics: string;
/** Of commands after the run is over. */
const answers: Record<string, Ended> = {};
/** Of manual swaps, sales and pauses. */
const manual: Record<string, Ended> = {};

const gannet = (...args: readonly string[]): Promise<Ended> =>
  playground.ask([...args, '--json', '--state-dir', state]);

/** Resolves with the first line that fits among those that come from now on. */
async function next(fits: (line: JsonLine) => boolean): Promise<JsonLine> {
  const before = daemon.lines().length;
  let found: JsonLine | undefined;
  await daemon.until((stdout) => (found = jsonLines(stdout).slice(before).find(fits)) !== undefined);
  return found!;
}

const decides = (strategy: string, code: string | null) => (line: JsonLine): boolean =>
  (line.type === 'decision' || line.type === 'denial') && line['strategy'] === strategy && line['code'] === code;
const lands = (strategy: string) =>
  (line: JsonLine): boolean => line.type === 'intent' && line['strategy'] === strategy && line['state'] === 'confirmed';
const isFlat = (line: JsonLine): boolean => line.type === 'alert' && String(line['message']).startsWith('flat: ');

async function ask(
  path: string, options: Partial<Dispatcher.RequestOptions> = {},
): Promise<{ readonly status: number; readonly body: JsonLine }> {
  const { statusCode, body } = await request(`${url}${path}`, {
    ...options, headers: { authorization: `Bearer ${token}`, ...options.headers as Record<string, string> },
  });
  return { status: statusCode, body: await body.json() as JsonLine };
}

const post = (path: string, body: object | string, headers: Record<string, string> = {}): ReturnType<typeof ask> =>
  ask(path, {
    method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

beforeAll(async () => {
  playground = createPlayground();
  state = playground.path('state');
  const config = playground.write('gannet.yaml', CONFIG);
  daemon = playground.start(['run', '--json', '--config', config, '--state-dir', state], {
    environment: { GANNET_CONTROL_TOKEN: TOKENS.operator, GANNET_CONTROL_VIEWER_TOKEN: TOKENS.viewer },
  });
  await daemon.until((stdout) => ['one', 'two'].every((name) => jsonLines(stdout).some(lands(name))));
  const [started] = daemon.lines();
  runId = String(started!['run_id']);
  url = String(started!['control_url']);
  token = (JSON.parse(readFileSync(`${state}/control.json`, 'utf8')) as { token: string }).token;
  statuses['ready'] = (await ask('/readyz')).status;
  const trading = await daemonOf(daemon);
  environments = childrenOf(trading).map((pid) => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  await viewAsAViewer();

  seen['halted'] = document(
    await playground.run(['halt', '--strategy', 'one', '--reason', 'it seems odd', '--json', '--state-dir', state]),
  );
  const denied = await next(decides('one', 'TRADING_HALTED'));
  seen['denied'] = denied;
  seen['othersGoOn'] = await next(lands('two'));
  seen['explained'] = document(await gannet('explain', String(denied['seq'])));

  seen['flattened'] = (await post('/api/flatten', { reason: 'enough for today' })).body;
  await daemon.until((stdout) => jsonLines(stdout).filter(isFlat).length >= 2);
  seen['portfolio'] = (await ask('/api/portfolio')).body;
  seen['profit'] = (await ask('/api/profit')).body;
  seen['profit of the command'] = document(await gannet('profit'));
  seen['denied while flat'] = await next(decides('two', 'TRADING_REDUCE_ONLY'));

  seen['resumed'] = (await post('/api/resume', {})).body;
  seen['bought again'] = await next(lands('two'));
  statuses['one starts'] = (await post('/api/strategies/one/start', { reason: 'it was nothing' })).status;
  seen['one bought again'] = await next(lands('one'));
  await tradeManually();

  writeFileSync(`${state}/STOP`, 'the cat is on the keyboard\u001b[31m\nsecond line');
  seen['stopped'] = await next(({ type, by }) => type === 'state' && by === 'stop-file');
  seen['refused'] = document(await gannet('resume'));
  rmSync(`${state}/STOP`);
  await next(({ type, message }) => type === 'state' && String(message).includes('STOP is gone'));
  seen['still halted'] = (await ask('/api/state')).body;
  seen['resumed after all'] = (await post('/api/resume', {})).body;
  metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKENS.viewer}` } })).text();
  const bought = await next(lands('two'));

  const id = String(bought['intent_id']);
  const [listed, shown, explained] = await Promise.all([
    gannet('journal', 'list', '--limit', '500'), gannet('journal', 'show', id), gannet('explain', id),
    askAsAStranger(id),
  ]);
  Object.assign(seen, { listed: document(listed), shown: document(shown), 'explained swap': document(explained) });

  await post('/api/halt', { reason: 'closing time' });
  seen['status at the end'] = document(await gannet('status'));
  answers['a status in words'] = await playground.ask(['status', '--state-dir', state]);
  answers['a doctor beside the run'] =
    await playground.run(['doctor', '--json', '--config', playground.path('gannet.yaml'), '--state-dir', state]);
  answers['warnings of the log'] = await gannet('logs', '-n', '2', '--level', 'warn');
  daemon.signal('SIGINT');
  ended = await daemon.ended;
  const { seq, h } = seen['denied'];
  const stateDir = ['--state-dir', state];
  const calls: Record<string, Promise<Ended>> = {
    'profit': gannet('profit', '--csv', playground.path('tax.csv')),
    'profit in words': playground.ask(['profit', ...stateDir]),
    'trades': gannet('trades'),
    'trades of a strategy': gannet('trades', '--strategy', 'one', '--since', '1h', '--csv', playground.path('one.csv')),
    'trades of an unknown strategy': gannet('trades', '--strategy', 'onne'),
    'days': gannet('daily'),
    'no profit on paper': gannet('profit', '--paper'),
    'a replay': gannet('replay', runId),
    'a halt without a daemon': gannet('halt'),
    'an explanation from the files': gannet('explain', String(seq), '--run', runId),
    'the latest decisions': gannet('explain', '--run', runId),
    'the latest decisions in words': playground.ask(['explain', '--run', runId, ...stateDir]),
    'an explanation in words': playground.ask(['explain', String(h).slice(0, 12), ...stateDir]),
    'an unknown decision': gannet('explain', '999999999'),
    'an unknown swap': gannet('journal', 'show', 'one-999999'),
    'no journal': gannet('journal', 'list', '--paper'),
    'a list in words': playground.ask(['journal', 'list', '--limit', '2', ...stateDir]),
    'a word on a closed swap': gannet('resolve', id, '--as', 'expired', '--reason', 'I think so'),
    'a word on a lost swap': playground.run([
      'resolve', 'lost-1', '--as', 'expired', '--reason', 'the explorer has nothing', '--json', '--config', config,
      '--state-dir', lostSwap(),
    ]),
    'a stopped start': runStopped(config),
  };
  for (const [name, call] of Object.entries(calls)) answers[name] = await call;
  answers['a start with higher limits'] = await runWithHigherLimits(playground.path('lost'));
});
afterAll(() => playground.close());

/** Swaps, sells and pauses while both strategies go on trading. */
async function tradeManually(): Promise<void> {
  const order = { in: 'USDC', out: 'SOL', amount: '25', key: 'a-lost-answer' };
  const sent = [post('/api/swap', order), post('/api/swap', order)];
  manual['a swap'] = await gannet('swap', 'USDC', 'SOL', '40');
  await Promise.all(sent);
  manual['an order again'] = await gannet('swap', 'USDC', 'SOL', '25', '--key', order.key);
  seen['manual book'] = (await ask('/api/portfolio')).body;
  manual['a swap above the limit'] = await gannet('swap', 'USDC', 'SOL', '201');
  manual['a preview'] = await gannet('sell', 'SOL', '--strategy', 'manual.USDC', '--dry-run');
  manual['half of it'] = await gannet('sell', 'SOL', '--strategy', 'manual.USDC', '--part', '50%', '--yes');
  manual['too much'] = await gannet('sell', 'SOL', '--strategy', 'manual.USDC', '--part', '99', '--yes');
  manual['no confirmation'] = await gannet('sell', 'SOL', '--strategy', 'manual.USDC');
  manual['a pause'] = await gannet('pause', 'SOL/USDC', '--for', '2h', '--reason', 'news');
  seen['denied by a pause'] = await next(decides('two', 'PAIR_PAUSED'));
  manual['a swap while paused'] = await playground.ask(['swap', 'USDC', 'SOL', '5', '--state-dir', state]);
  manual['the rest'] = await playground.ask(
    ['sell', 'SOL', '--strategy', 'manual.USDC', '--yes', '--state-dir', state],
  );
  manual['status'] = await playground.ask(['status', '--state-dir', state]);
  manual['the end of the pause'] = await gannet('resume', 'SOL/USDC');
  await next(lands('two'));
  seen['manual book at the end'] = (await ask('/api/portfolio')).body;
}

/** Prints at its end which variables a child process would get. */
const SHOWS_VARIABLES = 'process.on("exit", () => console.error(`[${Object.keys(process.env).join(" ")}]`));';

/** Another user on this machine, who has a copy of the viewer's file and nothing else. */
async function viewAsAViewer(): Promise<void> {
  const folder = playground.path('of-a-viewer');
  mkdirSync(folder);
  copyFileSync(`${state}/control-viewer.json`, `${folder}/control-viewer.json`);
  for (const order of ['status', 'halt', 'resume', 'flatten', 'stop']) {
    answers[`${order} by a viewer`] = await playground.ask([order, '--json', '--state-dir', folder]);
  }
  const shows = playground.write('shows-variables.mjs', SHOWS_VARIABLES);
  answers['a command with tokens'] = await playground.run(['status', '--json', '--state-dir', state], { environment: {
    NODE_OPTIONS: `--import=${shows}`, GANNET_API_KEY: 'x', GANNET_CONTROL_TOKEN: TOKENS.operator,
    GANNET_CONTROL_VIEWER_TOKEN: TOKENS.viewer,
  } });
  answers['status with a wrong token'] = await playground.ask(
    ['status', '--json', '--state-dir', state], { environment: { GANNET_CONTROL_TOKEN: 'a wrong one' } },
  );
}

/** Runs where the file lies there before anything else does. */
async function runStopped(config: string): Promise<Ended> {
  const folder = playground.path('stopped');
  mkdirSync(folder);
  writeFileSync(`${folder}/STOP`, '');
  const run = playground.start(['run', '--json', '--config', config, '--state-dir', folder]);
  await run.until((stdout) => jsonLines(stdout).filter(decides('two', 'TRADING_HALTED')).length > 1);
  run.signal('SIGINT');
  return run.ended;
}

/** Returns a state directory whose journal has an open swap with an unknown outcome. */
function lostSwap(): string {
  const folder = playground.path('lost');
  const journal = openJournal({ path: `${folder}/journal.sqlite`, clock: wallClock });
  journal.intentApproved(intentOf(1, { id: 'lost-1', strategy: 'lost' }));
  journal.transition(outcomeOf('lost-1', 'building'));
  journal.attemptSigned(attemptOf('lost-1'));
  for (const reached of ['signed', 'unknown'] as const) journal.transition(outcomeOf('lost-1', reached));
  journal.close();
  return folder;
}

/** Runs after a run of the same mode whose limits were lower, and after an order that was given without a daemon. */
async function runWithHigherLimits(folder: string): Promise<Ended> {
  const text = CONFIG.replace('mode: live', 'mode: paper');
  const earlier = await configOf(text);
  const runDir = runDirOf(folder, '20261121T101112-0a1b2c');
  mkdirSync(runDir, { recursive: true });
  writeManifest(runDir, createManifest({
    config: earlier, mode: 'paper', runId: '20261121T101112-0a1b2c', startAt: 0, snapshot: freshSnapshot(new Map()),
    open: [], restored: { states: {}, unseen: [] }, recording: undefined,
  }));
  const config = playground.write('higher.yaml', text.replace('"200 USDC"', '"201 USDC"'));
  return playground.run(['run', '--json', '--duration', '500ms', '--config', config, '--state-dir', folder]);
}

async function askAsAStranger(closed: string): Promise<void> {
  const asked: readonly (readonly [string, () => ReturnType<typeof ask>])[] = [
    ['no token', () => post('/api/halt', {}, { authorization: '' })],
    ['wrong token', () => post('/api/halt', {}, { authorization: 'Bearer guess' })],
    ['foreign host', () => post('/api/halt', {}, { host: 'rebound.example' })],
    ['foreign origin', () => post('/api/halt', {}, { origin: 'https://page.example' })],
    ['a form', () => post('/api/halt', 'reason=x', { 'content-type': 'application/x-www-form-urlencoded' })],
    ['plain text', () => post('/api/halt', '{}', { 'content-type': 'text/plain' })],
    ['broken JSON', () => post('/api/halt', '{"reason":')],
    ['no body', () => post('/api/halt', '')],
    ['a list', () => post('/api/halt', '[]')],
    ['an unknown member', () => post('/api/halt', { strategy: 'one', force: true })],
    ['a __proto__ member', () => post('/api/halt', '{"__proto__":{"strategy":"one"}}')],
    ['a number as a reason', () => post('/api/halt', { reason: 7 })],
    ['a huge body', () => post('/api/halt', { reason: 'x'.repeat(200_000) })],
    ['an unknown strategy', () => post('/api/halt', { strategy: 'three' })],
    ['a word on a closed swap', () => post(`/api/intents/${closed}/resolve`, { as: 'expired', reason: 'I think so' })],
    ['a word without a reason', () => post(`/api/intents/${closed}/resolve`, { as: 'expired' })],
    ['a reload of an unknown strategy', () => post('/api/strategies/three/reload', {})],
    ['a GET of a command', () => ask('/api/halt')],
    ['too many decisions', () => ask('/api/decisions?limit=100000')],
  ];
  for (const [name, askFor] of asked) {
    const { status, body } = await askFor();
    statuses[name] = status;
    seen[name] = body;
  }
}

describe('a command of the operator', () => {
  it('halts one strategy while the others go on', () => {
    expect(seen['halted']).toMatchObject({ trading: 'active', strategies: [
      { name: 'one', trading: 'halted', trading_word: { by: 'operator', reason: 'it seems odd' } },
      { name: 'two', trading: 'active' },
    ] });
    expect(seen['denied']).toMatchObject({ reason: expect.stringContaining('halted for one') });
    expect(seen['othersGoOn']).toMatchObject({ strategy: 'two' });
  });

  it('flattens: all holdings are sold for the budget’s token by ordinary swaps, without entries', () => {
    expect(seen['flattened']).toMatchObject({
      strategies: [{ name: 'one', trading: 'reduce-only', flattening: true }, { name: 'two', flattening: true }],
    });
    for (const { balances } of seen['portfolio']!['strategies'] as { balances: Record<string, string> }[])
      expect(Object.keys(balances)).not.toContain(SOL);
    const sold = daemon.lines().filter(({ type, input_mint: input, state: reached }) =>
      type === 'intent' && input === SOL && reached === 'confirmed');
    expect(sold.map(({ strategy }) => strategy)).toEqual(expect.arrayContaining(['one', 'two']));
    expect(seen['denied while flat']).toMatchObject({ type: 'denial' });
  });

  it('resumes everything, except a strategy halted by name, which resumes by name', () => {
    expect(seen['resumed']).toMatchObject({
      trading: 'active',
      strategies: [{ name: 'one', flattening: false, effective: 'reduce-only' }, { name: 'two', effective: 'active' }],
    });
    expect(seen['bought again']).toMatchObject({ output_mint: SOL });
    expect(statuses['one starts']).toBe(200);
    expect(seen['one bought again']).toMatchObject({ output_mint: SOL });
  });

  it('appears in the run’s lines with source and reason', () => {
    const words = daemon.lines().filter(({ type, by }) => type === 'state' && by !== undefined)
      .map(({ state: to, by, strategy, reason }) => [to, by, strategy, reason]);
    expect(words).toEqual([
      ['halted', 'operator', 'one', 'it seems odd'],
      ['reduce-only', 'operator', 'one', 'enough for today'],
      ['flattening', 'operator', undefined, 'enough for today'],
      ['active', 'operator', undefined, ''],
      ['active', 'operator', 'one', 'it was nothing'],
      ['halted', 'stop-file', undefined, 'the cat is on the keyboard\\u001b[31m'],
      ['active', 'operator', undefined, ''],
      ['halted', 'operator', undefined, 'closing time'],
    ]);
  });

  it('ends a halted run with exit code 3', () => {
    expect(ended.code, ended.stderr).toBe(3);
    expect(daemon.lines().at(-1)).toMatchObject({ type: 'summary', trading: 'halted', open: [] });
  });

  it('is replayed with the swaps of the flattening', () => {
    expect(document(answers['a replay']!))
      .toMatchObject({ match: true, decision_hash: daemon.lines().at(-1)!['decision_hash'] });
  });

  it('finds no daemon afterwards, and explains how to halt the next one', () => {
    const answer = answers['a halt without a daemon']!;
    expect(answer.code).toBe(1);
    expect(document(answer)['error'])
      .toMatchObject({
        code: 'CONTROL_UNREACHABLE', message: expect.stringMatching(/STOP halts a running daemon within a second/),
      });
  });
});

interface Money { readonly text: string; readonly units: string; readonly symbol: string }
interface Results { readonly realised: Money; readonly trades: number; readonly swaps: number }
interface Statement {
  readonly mode: string;
  readonly prices: { readonly source: string };
  readonly total: Readonly<Record<string, readonly Results[]>>;
  readonly positions: readonly { readonly strategy: string; readonly quantity: Money; readonly value: Money | null }[];
}

const statement = (): Statement => document(answers['profit']!) as unknown as Statement;
const confirmed = (): JsonLine[] =>
  daemon.lines().filter(({ type, state: reached }) => type === 'intent' && reached === 'confirmed');
const sum = (lines: readonly JsonLine[], mint: string, side: 'in' | 'out'): bigint => lines
  .filter((line) => line[side === 'in' ? 'input_mint' : 'output_mint'] === mint)
  .reduce((total, line) => total + BigInt(String(line[`amount_${side}`])), 0n);

describe('profit of a run', () => {
  it('is in the control API and the command, at present prices', () => {
    for (const name of ['profit', 'profit of the command']) {
      const { mode, total, positions } = seen[name] as unknown as Statement;
      expect(mode).toBe('live');
      expect(total['all']![0]!.trades).toBeGreaterThanOrEqual(2);
      // All was sold, so the whole difference of USDC is realised.
      expect(positions).toEqual([]);
    }
  });

  it('is the same from the journal, to the unit: what was paid is received, or the cost of what is held', () => {
    const { mode, total, positions, prices } = statement();
    const swaps = confirmed();
    const [all] = total['all']!;
    expect({ mode, source: prices.source, swaps: all!.swaps })
      .toEqual({ mode: 'live', source: 'last', swaps: swaps.length });
    const held = sum(swaps, SOL, 'out') - sum(swaps, SOL, 'in');
    expect(positions.reduce((units, { quantity }) => units + BigInt(quantity.units), 0n)).toBe(held);
    const usdc = swaps.map((line) => String(line['input_mint'])).find((mint) => mint !== SOL)!;
    const costs = (positions as unknown as readonly { readonly cost: Money }[])
      .reduce((units, { cost }) => units + BigInt(cost.units), 0n);
    expect(BigInt(all!.realised.units)).toBe(sum(swaps, usdc, 'out') - sum(swaps, usdc, 'in') + costs);
    for (const { value } of positions) expect(value).not.toBeNull();
  });

  it('is told in words, trades and days', () => {
    expect(answers['profit in words']!.stdout).toMatch(/live trading[^]*in USDC +today +7 days +30 days +all/);
    const { trades, count } = document(answers['trades']!) as unknown as
      { readonly count: number; readonly trades: readonly { readonly profit: Money; readonly exited_at: number }[] };
    expect(count).toBe(statement().total['all']![0]!.trades);
    expect(trades.reduce((total, { profit }) => total + BigInt(profit.units), 0n))
      .toBe(BigInt(statement().total['all']![0]!.realised.units));
    const ends = trades.map(({ exited_at: at }) => at);
    expect(ends).toEqual(ends.toSorted((a, b) => b - a));
    const days = document(answers['days']!) as unknown as { readonly days: readonly Results[] };
    expect(days.days.reduce((total, { realised }) => total + BigInt(realised.units), 0n))
      .toBe(BigInt(statement().total['all']![0]!.realised.units));
    expect(document(answers['trades of an unknown strategy']!)['error']).toMatchObject({
      code: 'USAGE', message: 'strategy onne has no swap in the journal; did you mean one?',
    });
    expect(document(answers['no profit on paper']!)['error']).toMatchObject({
      code: 'RUN_NOT_FOUND', message: expect.stringContaining('nothing was traded on paper'),
    });
  });

  it('is written for a tax return, with the same gains', () => {
    const [heading, ...rows] = playground.read('tax.csv').trim().split('\r\n').map((line) => line.split(','));
    const gain = heading!.indexOf('gain_usd');
    const micro = rows.filter((row) => row[1] === 'disposal')
      .reduce((total, row) => total + Math.round(Number(row[gain]) * 1e6), 0);
    expect(micro).toBe(Number(statement().total['all']![0]!.realised.units));
    expect(rows.filter((row) => row[1] === 'acquisition')).toHaveLength(confirmed().length);
    expect(playground.read('one.csv')).toMatch(/^exited_at,entered_at[^]*,one,SOL,/);
  });
});

const bookIn = (name: string): Record<string, string> | undefined =>
  (seen[name]!['strategies'] as { name: string; balances: Record<string, string> }[])
    .find((book) => book.name === 'manual.USDC')?.balances;
const manualSwaps = (): JsonLine[] => daemon.lines().filter(({ type, strategy, state: reached }) =>
  type === 'intent' && strategy === 'manual.USDC' && reached === 'confirmed');
const isManual = ({ action }: JsonLine): boolean => /^(?:swap|sell|pause|unpause)$/.test(String(action));

describe('manual trading beside two strategies', () => {
  it('swaps once for each order, asked for by how many requests it may be, and follows it to its end', () => {
    expect(document(manual['a swap']!)).toMatchObject({ state: 'confirmed', over: true, strategy: 'manual.USDC' });
    expect(document(manual['an order again']!), manual['an order again']!.stdout)
      .toMatchObject({ state: 'confirmed', key: 'a-lost-answer' });
    const paid = manualSwaps().slice(0, 2).map(({ amount_in: amount }) => amount);
    expect(new Set(paid)).toEqual(new Set(['25000000', '40000000']));
    const got = manualSwaps().slice(0, 2).reduce((sum, { amount_out: out }) => sum + BigInt(String(out)), 0n);
    expect(bookIn('manual book')).toEqual({ [SOL]: got.toString() });
  });

  it('sells half and the rest exactly, in spite of a pause, and says what it does', () => {
    expect(document(manual['a preview']!)).toMatchObject({
      dry_run: true,
      sentence: expect.stringMatching(/^Sells \d+\.\d+ SOL of manual\.USDC, about \d+(\.\d+)? USDC, in /),
    });
    expect(manual['half of it']!.code, manual['half of it']!.stdout).toBe(0);
    expect(manual['the rest']!.stdout).toMatch(/confirmed {2}\w{8}…\n {2}done: 0\.\d+ SOL → \d+\.\d+ USDC\n$/);
    expect(manualSwaps()).toHaveLength(4);
    expect(bookIn('manual book at the end')).toEqual({});
  });

  it('refuses with the cause and what to do', () => {
    expect(document(manual['a swap above the limit']!)).toMatchObject({
      state: 'denied', code: 'TRADE_EXCEEDS_MAX', reason: expect.stringContaining('ask for less'),
    });
    expect(document(manual['too much']!)['error']).toMatchObject({ details: { code: 'MORE_THAN_HELD' } });
    expect([manual['no confirmation']!.code, document(manual['no confirmation']!)['error']])
      .toMatchObject([2, { message: expect.stringContaining('add --yes') }]);
    expect([manual['a swap while paused']!.code, manual['a swap while paused']!.stdout])
      .toEqual([1, expect.stringMatching(/not done: SOL\/USDC is paused until .*"gannet resume SOL\/USDC" ends/)]);
  });

  it('pauses a pair for every strategy, which status shows, until it is resumed by name', () => {
    expect(document(manual['a pause']!)).toMatchObject({ pauses: [{ what: 'SOL/USDC', reason: 'news' }] });
    expect(seen['denied by a pause']).toMatchObject({ reason: expect.stringContaining('(news)') });
    expect(manual['status']!.stdout).toMatch(/SOL\/USDC is paused since .* \(news\): no entries, sales go on/);
    expect(document(manual['the end of the pause']!)).toMatchObject({ pauses: [] });
  });
});

describe('the metrics of a live run', () => {
  it('have every metric that dashboard and alert rules name, as an independent parser reads them', () => {
    const families = readFamilies(metrics);
    const named = [...dashboardExpressions(), ...alertRules()].flatMap(({ expr }) => metricsIn(expr));
    expect([...new Set(named)].filter((name) => !families.has(name))).toEqual([]);
  });

  it('count its swaps, requests and denials, and show its money and processes', () => {
    const families = readFamilies(metrics);
    const value = (name: string, labels?: Record<string, string>): number => valueOf(families, name, labels) ?? -1;
    const landed = value('gannet_intents_ended_total', { state: 'confirmed' });
    expect(landed).toBeGreaterThan(4);
    for (const name of ['gannet_landing_seconds', 'gannet_realised_slippage_bps', 'gannet_fill_error_bps'])
      expect(Number(families.get(name)!.metrics[0]!.count), name).toBe(landed);
    expect(Number(families.get('gannet_journal_write_seconds')!.metrics[0]!.count)).toBeGreaterThan(4 * landed);
    expect(value('gannet_denials_total', { code: 'TRADING_HALTED' })).toBeGreaterThan(0);
    expect(value('gannet_service_requests_total', { bucket: 'execute', outcome: 'answered' })).toBeGreaterThan(4);
    expect(value('gannet_rpc_calls_total', { outcome: 'ok' })).toBeGreaterThan(4);
    expect(value('gannet_equity', { token: 'USDC' })).toBeGreaterThan(500);
    expect(value('gannet_strategy_profit', { strategy: 'two' })).toBeGreaterThan(-100);
    expect(value('gannet_info', { mode: 'live', run_id: runId })).toBe(1);
    expect(value('gannet_alerts_total', { level: 'warning', code: 'ORDER_WIDENS' })).toBeGreaterThan(0);
    expect(value('gannet_recording_bytes')).toBeGreaterThan(0);
    for (const name of ['daemon', 'strategies', 'signer'])
      expect(value('gannet_memory_resident_bytes', { process: name }), name).toBeGreaterThan(20_000_000);
  });
});

describe('the file STOP', () => {
  it('halts the run, and overrides other commands while it exists', () => {
    expect(seen['stopped']).toMatchObject({ state: 'halted' });
    expect(seen['refused']!['error']).toMatchObject({
      code: 'CONTROL_REFUSED', details: { status: 409, code: 'STOP_FILE' },
      message: expect.stringContaining('the cat is on the keyboard'),
    });
    expect(JSON.stringify(seen['refused'])).not.toContain('\\u001b[31m\\n');
  });

  it('leaves trading halted after its removal, until the operator resumes', () => {
    expect(seen['still halted'])
      .toMatchObject({ trading: 'halted', stop_file: null, trading_word: { by: 'stop-file' } });
    expect(seen['resumed after all']).toMatchObject({ trading: 'active' });
  });

  it('keeps a run from trading before its first strategy starts', () => {
    const { code, stdout } = answers['a stopped start']!;
    expect(code).toBe(3);
    const lines = jsonLines(stdout);
    expect(lines.findIndex(({ by }) => by === 'stop-file'))
      .toBeLessThan(lines.findIndex(({ type }) => type === 'denial'));
    expect(lines.filter(({ type }) => type === 'intent' || type === 'decision')).toEqual([]);
  });
});

describe('gannet explain', () => {
  it('explains a denied swap: the proposal, the rule, the finding and the strategy’s inputs', () => {
    expect(seen['explained']).toMatchObject({
      run_id: runId, seq: seen['denied']!['seq'], strategy: 'one', verdict: 'denied', code: 'TRADING_HALTED',
      meaning: expect.stringMatching(/./), reason: seen['denied']!['reason'], strategy_trading: 'halted',
      held: expect.arrayContaining([expect.stringMatching(/ USDC$/)]),
      saw: [{
        watches: 'the price of 1 USDC in SOL', age_ms: expect.any(Number),
        reading: expect.stringMatching(/^1 USDC would bring .* SOL$/),
      }], proposal: { kind: 'swap', reason: expect.stringMatching(/^purchase due at \d\d:\d\d:\d\d UTC, every /) },
      intent: null, note: null,
    });
  });

  it('explains the same from the files after the run, by number and hash, as JSON and text', () => {
    expect(document(answers['an explanation from the files']!)).toEqual(seen['explained']);
    expect(answers['an explanation in words']!.stdout)
      .toMatch(/verdict +denied, TRADING_HALTED: .*\n +reason +trading is halted for one/);
  });

  it('lists the latest decisions without an argument, newest first, with their numbers', () => {
    const latest = document(answers['the latest decisions']!) as unknown as JsonLine[];
    expect(latest.length).toBe(20);
    const numbers = latest.map(({ seq }) => Number(seq));
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    const [newest] = latest;
    const [heading, first] = answers['the latest decisions in words']!.stdout.split('\n');
    expect(heading).toMatch(/number +decided, UTC +strategy +proposed +verdict/);
    expect(first).toMatch(new RegExp(`^ +${String(newest!['seq'])}  .*${String(newest!['strategy'])} `
      + `+.*(approved|denied, ${String(newest!['code'])})$`));
  });

  it('shows all transitions of a swap', () => {
    expect(seen['explained swap']).toMatchObject({
      verdict: 'approved', code: null, intent_id: seen['shown']!['intent_id'],
      intent: {
        state: 'confirmed', quoted_out: expect.stringMatching(/^\d+$/), amount_out: expect.stringMatching(/^\d+$/),
        fee_lamports: expect.stringMatching(/^\d+$/),
      },
    });
  });

  it('reports an unknown decision', () => {
    expect([answers['an unknown decision']!.code, document(answers['an unknown decision']!)['error']])
      .toMatchObject([1, { code: 'DECISION_UNKNOWN' }]);
  });
});

describe('gannet doctor and gannet logs', () => {
  it('find the running daemon well, its trading halted, and nothing of the state open to others', () => {
    const { code, stderr } = answers['a doctor beside the run']!;
    const doctor = document(answers['a doctor beside the run']!);
    const { ok, checks } = doctor as { ok?: boolean; checks?: readonly JsonLine[] };
    expect([code, ok], JSON.stringify(checks)).toEqual([0, true]);
    expect(stderr).toBe('');
    expect(checks).toContainEqual(expect.objectContaining({ name: 'locks', level: 'ok', message: expect.stringMatching(
      /a daemon runs \(process \d+\) and answers at/) }));
    expect(checks!.filter(({ level }) => level === 'warning').map(({ name }) => name)).toEqual(['trading']);
  });

  it('show the newest warnings of the log', () => {
    const lines = jsonLines(answers['warnings of the log']!.stdout);
    expect(lines).toHaveLength(2);
    for (const { level, timestamp } of lines) {
      expect(level).toMatch(/^(?:warn|error)$/);
      expect(Date.parse(String(timestamp))).toBeGreaterThan(0);
    }
  });
});

describe('gannet journal', () => {
  it('lists swaps, newest first, while the daemon writes', () => {
    const listed = seen['listed'] as unknown as JsonLine[];
    expect(listed.length).toBeGreaterThan(5);
    expect(Object.keys(listed[0]!).sort()).toEqual([
      'amount_in', 'amount_out', 'attempts', 'created_at', 'input_mint', 'intent_id', 'output_mint', 'route', 'state',
      'strategy',
    ]);
    expect(listed.find(({ intent_id: id }) => id === seen['shown']!['intent_id'])!['attempts']).toMatchObject([{
      number: 1, state: 'confirmed', signature: expect.any(String), message_hash: expect.any(String),
      last_valid_block_height: expect.anything(), fee_payer: expect.any(String),
    }]);
    const times = listed.map(({ created_at: at }) => Number(at));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('shows one swap with its transitions, and reports an unknown one', () => {
    expect((seen['shown']!['transitions'] as JsonLine[]).map(({ state: reached }) => reached))
      .toEqual(['building', 'signed', 'submitted', 'confirmed']);
    expect([answers['an unknown swap']!.code, document(answers['an unknown swap']!)['error']])
      .toMatchObject([1, { code: 'INTENT_UNKNOWN' }]);
    expect([answers['no journal']!.code, document(answers['no journal']!)['error']])
      .toMatchObject([2, { code: 'RUN_NOT_FOUND' }]);
    expect(answers['a list in words']!.stdout).toMatch(/confirmed +order +1 USDC +0\.\d+ SOL +1\n/);
  });

  it('resolves a swap with an unknown outcome while no daemon runs', async () => {
    const answer = answers['a word on a lost swap']!;
    expect(answer.code, answer.stdout).toBe(0);
    expect(document(answer)).toMatchObject({
      intent_id: 'lost-1', state: 'expired', code: 'OPERATOR_RESOLVED', reason: 'the explorer has nothing',
    });
    const story =
      document(await playground.ask(['journal', 'show', 'lost-1', '--json', '--state-dir', playground.path('lost')]));
    expect(story).toMatchObject({
      state: 'expired',
      transitions: [{}, {}, { state: 'unknown' }, { state: 'expired', reason: 'the explorer has nothing' }],
    });
  });

  it('does not resolve a closed swap', () => {
    const answer = answers['a word on a closed swap']!;
    expect(answer.code).toBe(1);
    expect(document(answer)['error'])
      .toMatchObject({ code: 'RESOLVE_REFUSED', message: expect.stringContaining('confirmed already') });
  });
});

describe('the tokens of the control API', () => {
  it('are those of the environment, and reach no child process, no line and no file but their own', () => {
    expect(token).toBe(TOKENS.operator);
    expect(environments.length).toBeGreaterThan(0);
    const own = new Set(['control.json', 'control-viewer.json']);
    const files = filesIn(state).filter((name) => !own.has(name))
      .map((name) => readFileSync(`${state}/${name}`, 'latin1'));
    const texts = [...environments, ...files, ended.stdout, ended.stderr];
    for (const secret of Object.values(TOKENS)) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('are dropped from the variables that child processes get, in every command', () => {
    const { code, stderr } = answers['a command with tokens']!;
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^\[.*\bGANNET_API_KEY\b/)]);
    expect(stderr).not.toContain('GANNET_CONTROL');
  });

  it('let a viewer read and nothing else', () => {
    expect(answers['status by a viewer']!.code).toBe(0);
    expect(document(answers['status by a viewer']!)).toMatchObject({ run_id: runId });
    for (const order of ['halt', 'resume', 'flatten', 'stop']) {
      const answer = answers[`${order} by a viewer`]!;
      expect([answer.code, document(answer)['error']], order).toEqual([1, expect.objectContaining({
        code: 'CONTROL_REFUSED', message: expect.stringContaining('needs the operator’s token'),
        details: { status: 403, code: 'VIEWER_TOKEN' },
      })]);
    }
  });

  it('are named by their source where the daemon refuses one', () => {
    const answer = answers['status with a wrong token']!;
    expect([answer.code, document(answer)['error']]).toEqual([1, expect.objectContaining({
      code: 'CONTROL_UNAUTHORIZED', message: expect.stringContaining('the token of GANNET_CONTROL_TOKEN'),
    })]);
    expect(answer.stdout).not.toContain('a wrong one');
  });
});

describe('an order that allows more than before', () => {
  it('raises an alert with its origin, and status shows the last one', () => {
    const alerts = daemon.lines().filter(({ data }) => (data as JsonLine | undefined)?.['code'] === 'ORDER_WIDENS');
    expect(alerts.map(({ data }) => (data as JsonLine)['action']))
      .toEqual(['flatten', 'resume', 'resume', 'unpause', 'resume']);
    expect(alerts[1]).toMatchObject({
      type: 'alert', level: 'warning', message: expect.stringMatching(/^the order "resume" by the operator’s token \(/),
      data: { role: 'operator', address: '127.0.0.1', port: expect.any(Number), uid: process.getuid!() },
    });
    expect(seen['status at the end']).toMatchObject({ last_widening: { action: 'resume' } });
    expect(answers['a status in words']!.stdout)
      .toMatch(/widened +\S+ \d\d:\d\d:\d\d UTC: every strategy may trade again/);
  });

  it('is alerted by the next start where no daemon ran, and so are higher limits than those of the last run', () => {
    const { code, stdout, stderr } = answers['a start with higher limits']!;
    expect(code, stderr).toBe(0);
    const alerts = jsonLines(stdout).map(({ data }) => data as JsonLine | undefined)
      .filter((data) => data?.['code'] === 'ORDER_WIDENS');
    expect(alerts).toEqual([
      expect.objectContaining({ action: 'resolve', command: 'gannet resolve', pid: expect.any(Number) }),
      expect.objectContaining({
        action: 'run', command: 'gannet run', widens: 'max_trade is 201 USDC, it was 200 USDC',
      }),
    ]);
  });

  it('stands with all other orders in a file that outlives the run', () => {
    const orders = jsonLines(readFileSync(`${state}/orders.ndjson`, 'utf8'));
    const told = orders.filter((order) => !isManual(order))
      .map(({ action, strategy, widens, refused }) => [action, strategy, widens !== null, refused]);
    expect(orders.filter(isManual).map(({ action }) => action))
      .toEqual(['swap', 'swap', 'swap', 'sell', 'pause', 'swap', 'sell', 'unpause']);
    expect(orders.filter(isManual)[0]).toMatchObject({ origin: { role: 'operator', address: '127.0.0.1' } });
    expect(told.slice(0, 6)).toEqual([
      ['run', null, false, null], ['halt', 'one', false, null], ['flatten', null, true, null],
      ['resume', null, true, null], ['resume', 'one', true, null], ['resume', null, false, 'STOP_FILE'],
    ]);
    expect(orders[1]!['origin']).toMatchObject({
      role: 'operator', uid: process.getuid!(), says: { pid: expect.any(Number), user: expect.any(String) },
    });
    const closed = jsonLines(readFileSync(`${playground.path('lost')}/orders.ndjson`, 'utf8'));
    expect(closed.map(({ action }) => action)).toEqual(['resolve', 'run']);
    expect(closed[0]).toMatchObject({
      run_id: null, action: 'resolve', intent_id: 'lost-1', as: 'expired', reason: 'the explorer has nothing',
      widens: expect.stringContaining('lost-1 counts as expired'),
      origin: { role: 'command', command: 'gannet resolve', pid: expect.any(Number) },
    });
    expect(answers['a word on a lost swap']!.stderr).toContain('the order "resolve" by "gannet resolve" (process');
  });
});

describe('unauthorized and invalid commands', () => {
  it.each([
    ['no token', 401], ['wrong token', 401], ['foreign host', 403], ['foreign origin', 403], ['a form', 415],
    ['plain text', 415], ['broken JSON', 400], ['no body', 400], ['a list', 400], ['an unknown member', 400],
    ['a __proto__ member', 400], ['a number as a reason', 400], ['a huge body', 413],
    ['an unknown strategy', 404], ['a word on a closed swap', 409], ['a word without a reason', 400],
    ['a reload of an unknown strategy', 409],
    ['a GET of a command', 404], ['too many decisions', 400],
  ])('%s: %i, and nothing changes', (name, status) => {
    expect(statuses[name], JSON.stringify(seen[name])).toBe(status);
    expect(seen[name]!['error'])
      .toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.stringMatching(/./) });
  });

  it('names the known strategies', () => {
    expect(seen['an unknown strategy']!['error'])
      .toMatchObject({ code: 'STRATEGY_UNKNOWN', message: expect.stringContaining('one, two') });
  });

  it('is ready once every part is ready', () => {
    expect(statuses['ready']).toBe(200);
  });
});
