import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MarketEvent } from '../../../src/market/event.ts';
import type { Token } from '../../../src/market/token.ts';
import { findLeaks } from '../../../src/research/lookahead/find-leaks.ts';
import type { LookaheadResult } from '../../../src/research/lookahead/lookahead.ts';
import { quote } from '../../market/events.ts';
import { FISH, KELP, USDC } from '../../market/tokens.ts';
import type { Market } from '../../research/lookahead/suite.ts';
import { instance, prepared, writeMarket } from '../../research/lookahead/suite.ts';
import { listOf, marketOf, recordOf } from './market-events.ts';

const SOL_PRICE = { pair: 'SOL/USDC', size: '25 USDC' } as const;

/** By the name of its file: the parameters of each strategy in this market. */
const PARAMS: Readonly<Record<string, object>> = {
  'rsi': { ...SOL_PRICE, bar: '10s', poll: '5s', window: 3 },
  'grid': { pair: 'SOL/USDC', lot: '25 USDC' },
  'trailing-bracket': { ...SOL_PRICE, sale: '1 SOL', gain: 0.08, loss: 0.05, distance: 0.02, after: 120 },
  'probability-cross': { ...SOL_PRICE, event: 'E', market: 'M', enter: 0.6, leave: 0.4 },
  'rebalance': { cash: 'USDC', minimum: '5 USDC', band: 0.02, targets: [
    { token: 'SOL', size: '1 SOL', weight: 0.4 }, { token: 'FISH', size: '1 FISH', weight: 0.3 },
    { token: 'KELP', size: '1 KELP', weight: 0.2 },
  ] },
  'new-token-screen': { trade: ['FISH'], size: '25 USDC', youngest: '1h' },
  'pairs': { cash: 'USDC', a: '1 SOL', b: '1 FISH', minimum: '5 USDC', every: '10s', window: 8, k: 1 },
  'twap': { buy: 'SOL', total: '100 USDC', slices: 5, every: '1m', watch: '25 USDC' },
};

/** Sales of one whole token, a token that becomes old enough to pass, and a market that is resolved near the end. */
function more(step: number, at: number): readonly MarketEvent[] {
  const sale = (token: Token, usd: number, late: number): MarketEvent => quote(token, USDC, {
    inAmount: 10n ** BigInt(token.decimals), outAmount: BigInt(Math.round(usd * 1e6)), at: at + late,
  });
  const isYoung = step < 40;
  return [
    sale(FISH, 2 + 0.3 * Math.sin(step / 9), 0), sale(KELP, 5 + Math.sin(step / 5), 100),
    { ...quote(USDC, FISH, { inAmount: 25_000_000n, outAmount: 1_250_000n, at: at + 200 }) },
    ...(step % 4 === 0 ? [
      listOf([recordOf(FISH, at, { firstPool: { createdAt: at - (isYoung ? 60_000 : 7_200_000) } })], at + 300),
      marketOf(step < 200 ? undefined : 'yes', at + 400),
    ] : []),
  ];
}

const NAMES = Object.keys(PARAMS);
const fileOf = (name: string): string => join(import.meta.dirname, `${name}.ts`);

let market: Market;
let result: LookaheadResult;
beforeAll(async () => {
  market = await writeMarket(more);
  const strategies = Object.entries(PARAMS).map(([name, params]) => instance(name, fileOf(name), params));
  result = await findLeaks(prepared(market, strategies), { times: 2, seed: 1 });
}, 300_000);
afterAll(() => { market.remove(); });

describe('each strategy of this folder', () => {
  it.each(NAMES)('uses nothing before it is known, and makes decisions: %s', (name) => {
    const verdict = result.strategies.find((strategy) => strategy.name === name)!;
    expect(verdict.firstLeak).toBeUndefined();
    expect(verdict).toMatchObject({ clean: true, accesses: [] });
    expect(verdict.decisions).toBeGreaterThan(1);
  });

  it('has at most 40 lines, and is checked here', () => {
    const strategies = readdirSync(import.meta.dirname).filter((file) => /^(?!market-events)[\w-]+\.ts$/.test(file));
    expect(strategies.map((file) => file.replace('.ts', ''))).toEqual(NAMES.toSorted());
    for (const file of strategies)
      expect(readFileSync(join(import.meta.dirname, file), 'utf8').trim().split('\n').length, file).toBeLessThan(41);
  });
});
