import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LookaheadResult } from '../../../src/research/lookahead/lookahead.ts';
import { strategyText } from '../../../src/research/trials/strategy-source.ts';
import type { ThreadStrategy } from '../../../src/research/trials/thread-setup.ts';
import { findLeaks } from '../../../src/research/lookahead/find-leaks.ts';
import type { Market } from './suite.ts';
import { instance, prepared, strategiesIn, writeMarket } from './suite.ts';

/** The project's own, as a configuration uses them. */
const OWN: readonly ThreadStrategy[] = [
  instance('mean-reversion', 'mean-reversion', { pair: 'SOL/USDC', size: '25 USDC', window: 10, k: 1 }),
  instance('sma-crossover', 'sma-crossover', { pair: 'SOL/USDC', size: '25 USDC', fast: 3, slow: 9 }),
  instance('dca', 'dca', { buy: 'SOL', spend: '25 USDC', every: '45s', watch: '5s' }),
  instance('book-watch', 'book-watch', { market: 'M', level: 0.6, rearm: 0.4 }),
  instance('swap-once', 'swap-once', { spend: '25 USDC', buy: 'SOL' }),
  instance('warm-reversion', 'mean-reversion', { pair: 'SOL/USDC', size: '25 USDC', window: 10, k: 1 }, 120_000),
];
const NAMES = [
  'batches', 'breakout', 'clockwork', 'closed-bars', 'counter', 'dates', 'exponential-average', 'imbalance',
  'imported-weights', 'moving-average', 'named-zone', 'parsed-dates', 'quiet', 'read-weights', 'relative-strength',
  'running-maximum', 'sampler', 'seeded-chance', 'statistics', 'stop-loss', 'table-of-constants', 'three-inputs',
  'throttled', 'whisperer',
];

let market: Market;
let result: LookaheadResult;
beforeAll(async () => {
  market = await writeMarket();
  const strategies = [...OWN, ...strategiesIn('clean', market)];
  expect(strategies.map(({ name }) => name).slice(OWN.length)).toEqual(NAMES);
  const { places } = prepared(market, []);
  const withData = await Promise.all(strategies.map(async (own) => (
    { ...own, data: (await strategyText(own.use, places)).data })));
  result = await findLeaks(prepared(market, withData), { times: 2, seed: 1 });
}, 300_000);
afterAll(() => { market.remove(); });

describe('a strategy that uses nothing but its inputs', () => {
  it.each([...OWN.map(({ name }) => name), ...NAMES])('is clean and makes decisions: %s', (name) => {
    const verdict = result.strategies.find((strategy) => strategy.name === name)!;
    expect(verdict.firstLeak).toBeUndefined();
    expect(verdict.clean).toBe(true);
    expect(verdict.decisions).toBeGreaterThan(0);
  });

  it('makes the whole result clean together with the others', () => {
    expect(result.clean).toBe(true);
  });

  it('is judged the same over a recording that is too large for memory, and that no strategy can read', async () => {
    const read = await findLeaks(prepared(
      market, [OWN[0]!, ...strategiesIn('refused', market)],
    ), { times: 2, seed: 1 }, { mostSharedBytes: 1 });
    expect(read.strategies[0]).toStrictEqual({
      ...result.strategies[0]!, passes: read.strategies[0]!.passes, compared: read.strategies[0]!.compared,
    });
    expect(read.strategies[1]!.accesses).toContainEqual(expect.stringContaining('recording/reader.ts'));
    expect(read.strategies[1]!.stopped).toMatch(/tried to|ENOENT|no recording|RECORDING|expected a recording/);
  });
});
