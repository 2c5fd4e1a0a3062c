import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WarmUpVerdict } from '../../../src/backtest/lookahead/warm-up-twin.ts';
import { lookForHistory } from '../../../src/cli/lookahead.ts';
import type { Market } from './suite.ts';
import { instance, prepared, writeMarket } from './suite.ts';

const REVERSION = { pair: 'SOL/USDC', size: '25 USDC', window: 10, k: 1 };

let market: Market;
let verdicts: ReadonlyMap<string, WarmUpVerdict>;
beforeAll(async () => {
  market = await writeMarket();
  verdicts = await lookForHistory(prepared(market, [
    instance('cold', 'mean-reversion', REVERSION),
    instance('warm', 'mean-reversion', REVERSION, 300_000),
    instance('without-a-past', 'book-watch', { market: 'M', level: 0.99, rearm: 0.98 }),
  ]));
}, 180_000);
afterAll(() => { market.remove(); });

describe('a longer history before the start', () => {
  it('changes what a strategy decides that needs some and is given none, and it is said how much is enough', () => {
    const { leak, enoughMs, longestMs } = verdicts.get('cold')!;
    expect(leak).toMatchObject({ poison: 'warm-up' });
    expect(leak!.at).toBeGreaterThanOrEqual(market.firstAt + longestMs);
    expect(enoughMs).toBeGreaterThan(0);
    expect(enoughMs).toBeLessThan(longestMs);
  });

  it('changes nothing where what is given is enough, or where nothing is needed', () => {
    expect(verdicts.get('warm')).toMatchObject({ leak: undefined, enoughMs: 300_000, warmupMs: 300_000 });
    expect(verdicts.get('without-a-past')).toMatchObject({ leak: undefined, enoughMs: 0 });
  });
});
