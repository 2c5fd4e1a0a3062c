import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, jsonLines, PROJECT } from './gannet.ts';

// The strategies of test/strategies/proofs, all in one live run that is killed in the middle and started again.

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const KELP = 'Ke1p7QNiWUUCQY2fCqeLKfvNXuauV8ipQsxfpnD9Xz4';
const EVENT = 'SPRINGTIDE';
const MARKET = 'SPRINGTIDE-26DEC31';
const FIRST_PRICE = 182.4;
/** Below two levels of the grid, below all five, and a gain of three percent above. */
const MIDDLE = 0.985 * FIRST_PRICE;
const LOW = 0.965 * FIRST_PRICE;
const HIGH = 1.05 * FIRST_PRICE;

const PARAMS: Readonly<Record<string, string>> = {
  'rsi': '{ pair: SOL/USDC, size: "20 USDC", bar: 2s, poll: 1s, window: 2 }',
  'grid': '{ pair: SOL/USDC, lot: "10 USDC", every: 1s, step: 0.005 }',
  'trailing-bracket':
    '{ pair: SOL/USDC, size: "20 USDC", sale: "0.12 SOL", gain: 0.03, loss: 0.2, distance: 0.01, after: 186 }',
  'probability-cross': `{ event: ${EVENT}, market: ${MARKET}, pair: SOL/USDC, size: "20 USDC", every: 1s, enter: 0.6,
      leave: 0.4 }`,
  'rebalance': `{ cash: USDC, minimum: "2 USDC", every: 1s, targets: [
      { token: SOL, size: "0.2 SOL", weight: 0.3 }, { token: PEARL, size: "15 PEARL", weight: 0.3 },
      { token: KELP, size: "150 KELP", weight: 0.2 } ] }`,
  'new-token-screen': `{ list: toptraded, every: 1s, oldest: 3650d, trade: [KELP], size: "10 USDC" }`,
  'pairs': '{ cash: USDC, a: "0.6 SOL", b: "45 PEARL", every: 1s, minimum: "2 USDC", window: 8, k: 1.2 }',
  'twap': '{ buy: SOL, total: "30 USDC", slices: 6, every: 3s, watch: "20 USDC" }',
};

let playground: Playground;
let yaml: string;
let base: string;
let environment: Readonly<Record<string, string>>;

async function lever(path: string, body: object): Promise<void> {
  const answer = await fetch(`${base}/sandbox/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

const believe = (cents: number): Promise<void> =>
  lever('book', { market_id: MARKET, yes: [[cents - 1, 500]], no: [[99 - cents, 500]] });

beforeAll(async () => {
  playground = createPlayground();
  const sandbox = playground.start(['sandbox', '--json', '--seed', '9', '--speed', '0']);
  await sandbox.until((stdout) => stdout.includes('\n'));
  const [line] = jsonLines(sandbox.stdout()) as unknown as readonly [{
    readonly base_url: string; readonly rpc_url: string;
    readonly wallet: { readonly address: string; readonly private_key: string };
  }];
  base = line.base_url;
  environment = { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: line.wallet.private_key };
  yaml = playground.write('strategies.yaml', `
mode: live
service: { base_url: "${base}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${line.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${line.wallet.address} }
control: { port: 0 }
strategy_bounds: { call_time: 5s }
tokens: { PEARL: ${PEARL}, KELP: ${KELP} }
backtest: { balances: { USDC: "10000", SOL: "1" }, setting: optimistic }
risk:
  max_quote_age: 20s
  max_trade: "100 USDC"
  max_open_intents: 10
  max_swaps: { per_minute: 600, per_hour: 6000, per_day: 6000 }
  protections: [{ kind: daily_loss, limit: "900 USDC", action: halt }]
  token_safety: { trusted: [SOL, USDC, PEARL, KELP] }
signer:
  caps:
    USDC: { per_trade: "100", per_hour: "5000", per_day: "5000" }
    SOL: { per_trade: "5", per_hour: "50", per_day: "50" }
    PEARL: { per_trade: "500", per_hour: "5000", per_day: "5000" }
    KELP: { per_trade: "5000", per_hour: "50000", per_day: "50000" }
strategies:
${Object.entries(PARAMS).map(([name, params]) => `  - use: ${join(PROJECT, 'test/strategies/proofs', `${name}.ts`)}
    budget: "100 USDC"
    params: ${params}`).join('\n')}
`);
});
afterAll(() => playground.close());

function begin(): Running {
  return playground.start(['run', '--live', '--json', '--accept-new-journal', '--accept-new-counters', '--config', yaml,
    '--state-dir', playground.path('state')], { environment });
}

const ask = async (...args: readonly string[]): Promise<JsonLine> => document(await playground.ask(
  [...args, '--json', '--state-dir', playground.path('state')], { environment }));

const linesOf = ({ stdout }: Pick<Running, 'stdout'>): JsonLine[] =>
  jsonLines(stdout().slice(0, stdout().lastIndexOf('\n') + 1));
const landed = (running: Pick<Running, 'stdout'>): JsonLine[] =>
  linesOf(running).filter(({ type, state }) => type === 'intent' && state === 'confirmed');
const entered = (running: Running): string[] => landed(running)
  .filter((line) => line['input_mint'] === USDC).map((line) => String(line['strategy']));
const left = (running: Running): string[] => landed(running)
  .filter((line) => line['output_mint'] === USDC).map((line) => String(line['strategy']));

let price = FIRST_PRICE;
/**
 * Moves the price of SOL by a factor a second, to a limit, until what is wanted has happened. On a slow machine the
 * strategies see few prices on the way: after ten seconds at the limit it is repeated.
 */
async function move(
  running: Running, { factor, limit }: { readonly factor: number; readonly limit: number }, wanted: () => boolean,
): Promise<void> {
  const giveUpAt = Date.now() + 150_000;
  const from = price;
  let atLimit = 0;
  while (!wanted()) {
    if (Date.now() > giveUpAt) {
      const { stdout } = await playground.ask(['status', '--json', '--state-dir', playground.path('state')]);
      throw new Error(`the wait timed out: ${stdout}\n${running.stdout()}\n${running.stderr()}`);
    }
    atLimit = price === limit ? atLimit + 1 : 0;
    if (atLimit > 10) price = from;
    else price = factor < 1 ? Math.max(price * factor, limit) : Math.min(price * factor, limit);
    await lever('price', { mint: SOL, usd: price });
    await new Promise((resolve) => { setTimeout(resolve, 1_000); });
  }
}

const includesAll = (names: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((name) => names.includes(name));
const levelsIn = (...lives: readonly Running[]): number =>
  lives.flatMap(entered).filter((name) => name === 'grid').length;

describe('eight strategies in one live run that is killed and started again', () => {
  let lives: Running[];
  beforeAll(async () => {
    await believe(30);
    const first = begin();
    await first.until((stdout) => stdout.includes('"type":"started"'));
    const daemon = await daemonOf(first);
    await move(first, { factor: 0.997, limit: MIDDLE }, () => levelsIn(first) >= 2
      && includesAll(entered(first), ['twap', 'rebalance', 'trailing-bracket', 'new-token-screen']));
    process.kill(daemon, 'SIGKILL');
    await first.ended;
    const second = begin();
    lives = [first, second];
    await second.until((stdout) => stdout.includes('"type":"started"'));
    await move(second, { factor: 0.997, limit: LOW }, () => levelsIn(first, second) >= 5
      && includesAll([...entered(first), ...entered(second)], ['rsi', 'pairs']));
    await believe(70);
    await move(second, { factor: 1.006, limit: HIGH }, () => entered(second).includes('probability-cross')
      && includesAll(left(second), ['rsi', 'grid', 'trailing-bracket']));
    await lever('resolve', { market_id: MARKET, result: 'yes' });
    await move(second, { factor: 1.006, limit: HIGH }, () => left(second).includes('probability-cross'));
    second.signal('SIGINT');
    const { code, stderr } = await second.ended;
    expect(code, stderr).toBe(0);
  }, 600_000);

  it('each swaps, and none repeats a swap or loses a level', () => {
    const [first, second] = lives as [Running, Running];
    const entries = [...entered(first), ...entered(second)];
    expect(new Set(entries)).toEqual(new Set(Object.keys(PARAMS)));
    for (const name of ['trailing-bracket', 'new-token-screen', 'probability-cross'])
      expect(entries.filter((entry) => entry === name), name).toEqual([name]);
    expect(entries.filter((name) => name === 'rsi').length - left(second).filter((name) => name === 'rsi').length)
      .toBeLessThanOrEqual(1);
    const keys = [...linesOf(first), ...linesOf(second)].filter(({ type, verdict }) =>
      type === 'decision' && verdict === 'approved').flatMap(({ strategy, proposal }) => {
      const { key } = proposal as { readonly key?: string };
      return key === undefined ? [] : [`${String(strategy)} ${key}`];
    });
    // A swap that is given up before its signature is proposed again under its key.
    const abandoned = [...linesOf(first), ...linesOf(second)].filter(({ state }) => state === 'abandoned').length;
    expect(keys.length - new Set(keys).size).toBeLessThanOrEqual(abandoned);
    expect([...new Set(keys)].filter((key) => /^grid \d-0$/.test(key)).toSorted())
      .toEqual(Array.from({ length: 5 }, (_, level) => `grid ${level}-0`));
    expect(entries.filter((name) => name === 'twap').length).toBeLessThanOrEqual(6);
    expect([...linesOf(first), ...linesOf(second)].filter(({ level }) => level === 'critical')).toEqual([]);
  });

  it('the market that is resolved is seen', () => {
    expect(linesOf(lives[1]!).filter(({ type }) => type === 'alert').map(({ message }) => message))
      .toContain(`${MARKET} is resolved yes`);
  });

  it('each life is replayed to the same hash', async () => {
    for (const life of lives) {
      const replayed = await ask('replay', String(linesOf(life)[0]!['run_id']));
      expect(replayed).toMatchObject({ match: true });
    }
  });

  it('what the second life recorded serves a backtest, and the look-ahead check finds each clean', async () => {
    const recording = playground.path('state', 'recordings', String(linesOf(lives[1]!)[0]!['run_id']));
    const tested = await ask('backtest', yaml, '--recording', recording);
    expect(Number(tested['fills'])).toBeGreaterThan(5);
    const checked = await ask('lookahead', yaml, '--recording', recording, '--times', '1');
    expect(checked, JSON.stringify(checked['strategies'])).toMatchObject({ clean: true });
    expect(checked['strategies']).toHaveLength(8);
  });
});
