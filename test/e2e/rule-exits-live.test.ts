import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, jsonLines, PROJECT, startSandbox } from './gannet.ts';

// Six strategies that buy and do nothing more, each under an exit rule, in a live run that is killed and started again.
// The market stands still but for the price that this test sets.

const SOL = 'So11111111111111111111111111111111111111112';
const BOUGHT_AT = 182.4;
const LIMIT_MS = 30_000;

const EXITS: Readonly<Record<string, string>> = {
  stop: 'stop_loss_pct: 5',
  gap: 'stop_loss_pct: 8',
  profit: 'take_profit: [{ at_pct: 4, sell_pct: 50 }, { at_pct: 8 }]',
  trail: 'trailing_stop: { distance_pct: 2, after_pct: 3 }',
  even: 'break_even: { after_pct: 2, lock_pct: 0.3 }',
  time: `time_limit: ${LIMIT_MS / 1_000}s`,
};

/** Buys once. Only one swap at a time spends USDC, so five of six wait for the others. */
const BUYER = `import { map, take } from '${import.meta.resolve('rxjs')}';
import { z } from '${import.meta.resolve('zod')}';
import { amount, defineStrategy, pair, quotes } from '${join(PROJECT, 'src', 'strategy', 'index.ts')}';

export default defineStrategy({
  name: 'buyer', summary: 'Buys once.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '1s' }) }),
  run: ({ price }, p, ctx) => price.pipe(take(1), map(() => ctx.swap(p.size.token, p.pair.base, p.size, 'buy once', {
    key: 'once', retry: { until: '5m', every: '1s' },
  }))),
});
`;

let playground: Playground;
let base: string;
let environment: Readonly<Record<string, string>>;
let yaml: string;

beforeAll(async () => {
  playground = createPlayground();
  const line = await startSandbox(playground, 5, '--speed', '0');
  base = line.base_url;
  environment = { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: line.wallet.private_key };
  playground.write('buyer.ts', BUYER);
  yaml = playground.write('exits.yaml', `
mode: live
service: { base_url: "${base}", api_key: "\${GANNET_API_KEY}", requests_per_second: 50 }
chain: { rpc_url: "${line.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${line.wallet.address} }
control: { port: 0 }
strategy_bounds: { call_time: 5s }
backtest: { balances: { USDC: "10000", SOL: "1" }, setting: optimistic }
risk:
  max_quote_age: 20s
  max_trade: "100 USDC"
  max_open_intents: 10
  max_swaps: { per_minute: 600, per_hour: 6000, per_day: 6000 }
  protections: [{ kind: daily_loss, limit: "500 USDC", action: halt }]
signer:
  caps: { USDC: { per_trade: "100", per_day: "5000" }, SOL: { per_trade: "5", per_day: "50" } }
strategies:
${Object.entries(EXITS).map(([name, rule]) => `  - use: ./buyer.ts
    name: ${name}
    budget: "100 USDC"
    params: { pair: SOL/USDC, size: "20 USDC" }
    exits: { ${name === 'time' ? '' : 'watch: ["0.11 SOL"], every: 1s, '}${rule} }`).join('\n')}
`);
});
afterAll(() => playground.close());

const begin = (): Running => playground.start(['run', '--live', '--json', '--accept-new-journal',
  '--accept-new-counters', '--config', yaml, '--state-dir', playground.path('state')], { environment });

const linesOf = ({ stdout }: Pick<Running, 'stdout'>): JsonLine[] =>
  jsonLines(stdout());

const landed = (running: Running, input: 'SOL' | 'USDC'): JsonLine[] => linesOf(running).filter((line) =>
  line.type === 'intent' && line['state'] === 'confirmed' && (line['input_mint'] === SOL) === (input === 'SOL'));
const sold = (running: Running): string[] => landed(running, 'SOL').map(({ strategy }) => String(strategy));

async function lever(name: string, order: object): Promise<void> {
  const answer = await fetch(`${base}/sandbox/${name}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/**
 * Waits with a chain that finalizes five times as fast: one swap at a time spends USDC, and the next waits until it is
 * final. Waits long, because a busy machine takes minutes for the six purchases.
 */
async function untilTrue(running: Running, wanted: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 300_000;
  while (!wanted()) {
    if (Date.now() > giveUpAt) throw new Error(`the wait timed out:\n${running.stdout()}\n${running.stderr()}`);
    await lever('time', { advance_slots: 2 });
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

/** The reason of the last approved exit of a strategy. */
function reasonOf(running: Running, strategy: string): string {
  const exit = linesOf(running).findLast((line) => line.type === 'decision' && line['strategy'] === strategy
    && line['verdict'] === 'approved' && JSON.stringify(line).includes('"exits.'));
  return String((exit?.['proposal'] as { readonly reason?: string } | undefined)?.reason);
}

/** Sets the price of SOL by percents of that of the purchases, and waits for the sales that it leads to. */
async function move(running: Running, percent: number, sales: readonly string[]): Promise<void> {
  await lever('price', { mint: SOL, usd: BOUGHT_AT * (1 + percent / 100) });
  const before = sold(running).filter((name) => name !== 'time');
  // Without sales, a few prices are to lead to none.
  if (sales.length === 0) await new Promise((resolve) => { setTimeout(resolve, 3_000); });
  else await untilTrue(running, () => sales.every((name) => sold(running).filter((one) => one === name).length
    > before.filter((one) => one === name).length));
  expect(sold(running).filter((name) => name !== 'time').toSorted()).toEqual([...before, ...sales].toSorted());
}

/** What the sale would bring and the level of the rule, in USDC, from a reason. */
function numbersIn(reason: string): { readonly sale: number; readonly level: number } {
  const [, sale, level] = /sell for (\d+\.?\d*) USDC, .*? (\d+\.?\d*) USDC/.exec(reason) ?? [];
  return { sale: Number(sale), level: Number(level) };
}

const ask = async (...args: readonly string[]): Promise<JsonLine> => document(await playground.ask(
  [...args, '--json', '--state-dir', playground.path('state')], { environment }));

describe('exit rules of the configuration in a live run that is killed and started again', () => {
  const reasons: Record<string, string> = {};
  let lives: readonly [Running, Running];
  beforeAll(async () => {
    const first = begin();
    await first.until((stdout) => stdout.includes('"type":"started"'));
    const daemon = await daemonOf(first);
    await untilTrue(first, () => landed(first, 'USDC').length === Object.keys(EXITS).length);
    await move(first, 5, ['profit']);
    reasons['half'] = reasonOf(first, 'profit');
    process.kill(daemon, 'SIGKILL');
    await first.ended;
    const second = begin();
    lives = [first, second];
    await second.until((stdout) => stdout.includes('"type":"started"'));
    // Half of the gain is taken, and the trailing stop is 2 % below the best price of the first life.
    for (const percent of [4.5, 3.6]) await move(second, percent, []);
    await move(second, 2.2, ['trail']);
    await move(second, 1, []);
    await move(second, 0, ['even']);
    await move(second, -4, []);
    await move(second, -5.5, ['stop']);
    await move(second, -20, ['gap']);
    await move(second, 9, ['profit']);
    await untilTrue(second, () => sold(first).includes('time') || sold(second).includes('time'));
    for (const name of ['trail', 'even', 'stop', 'gap', 'profit']) reasons[name] = reasonOf(second, name);
    second.signal('SIGINT');
    const { code, stderr } = await second.ended;
    expect(code, stderr).toBe(0);
  }, 900_000);

  it.each([
    ['stop', /^stop loss: /, 0.95], ['gap', /^stop loss: /, 0.92], ['even', /^stop at break-even: /, 1.003],
  ])('fires at its level of the cost: %s', (name, text, factor) => {
    const { sale, level } = numbersIn(reasons[name]!);
    expect(reasons[name]).toMatch(text);
    // The purchase cost 20 USDC and its network fee.
    expect(level).toBeCloseTo(20 * factor, 2);
    expect(sale).toBeLessThanOrEqual(level);
  });

  it('a trailing stop remembers the best price of the killed life', () => {
    expect(reasons['trail']).toMatch(/^trailing stop: /);
    // Both are of the same size: the gain of half was taken at the best price.
    expect(numbersIn(reasons['trail']!).level).toBeCloseTo(0.98 * numbersIn(reasons['half']!).sale, 2);
  });

  it('a gain is taken in two parts, each once, over the kill', () => {
    expect(reasons['half']).toMatch(/, 4 % over their cost of 20\.\d+ USDC; 50 % of them are sold$/);
    expect(reasons['profit']).toMatch(/, 8 % over their cost of 10\.\d+ USDC$/);
  });

  it('a gap through the stop sells for what the market pays, and says so', () => {
    expect(reasons['gap']).toMatch(/; the price went through the stop, and the market pays 1[23]\.\d+ % less$/);
    for (const name of ['gap', 'stop', 'even', 'trail']) {
      const [exit] = landed(lives[1], 'SOL').filter(({ strategy }) => strategy === name);
      expect(Number(exit!['amount_out']) / 1e6 / numbersIn(reasons[name]!).sale, name).toBeCloseTo(1, 2);
    }
  });

  it('a time limit counts from the purchase, over the kill', () => {
    const [bought, exit, ...more] = lives.flatMap((life) => [...landed(life, 'USDC'), ...landed(life, 'SOL')])
      .filter(({ strategy }) => strategy === 'time');
    expect(more).toEqual([]);
    expect(Number(exit!['at']) - Number(bought!['at'])).toBeGreaterThanOrEqual(LIMIT_MS - 1_000);
  });

  it('each is sold once, and each life is replayed to the same hash', async () => {
    expect(lives.flatMap(sold).toSorted())
      .toEqual(['even', 'gap', 'profit', 'profit', 'stop', 'time', 'trail']);
    for (const life of lives)
      expect(await ask('replay', String(linesOf(life)[0]!['run_id']))).toMatchObject({ match: true });
  });

  it('a backtest over what the second life recorded fires a stop again', async () => {
    const recording = playground.path('state', 'recordings', String(linesOf(lives[1])[0]!['run_id']));
    const tested = await ask('backtest', yaml, '--recording', recording);
    const strategies = tested['by_strategy'] as readonly JsonLine[];
    // It buys first, 4.5 % above, and its stop is passed by on the way down.
    expect(strategies.find(({ name }) => name === 'stop')).toMatchObject({ swaps: 2 });
  });
});
