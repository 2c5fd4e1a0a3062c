import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLeaks } from '../../../src/research/lookahead/find-leaks.ts';
import type { LookaheadResult } from '../../../src/research/lookahead/lookahead.ts';
import type { Strategy } from '../../../src/strategy/index.ts';
import { testStrategy } from '../../../src/testing/index.ts';
import { openHosts } from '../../../src/daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import type { CallResult } from '../../../src/engine/host/strategy-call.ts';
import { PORTFOLIO } from '../../daemon/hosts/hosts-fixture.ts';
import { buyingSol } from '../../market/events.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { instance, prepared, writeMarket } from '../../research/lookahead/suite.ts';
import type { Market } from '../../research/lookahead/suite.ts';
import emaCross from './ema-cross.ts';
import rsiBars from './rsi-bars.ts';

const RSI_FILE = join(import.meta.dirname, 'rsi-bars.ts');
const EMA_FILE = join(import.meta.dirname, 'ema-cross.ts');
const RSI_PARAMS = { pair: 'SOL/USDC', size: '25 USDC', window: 2, bar_ms: 10_000 };
const EMA_PARAMS = { pair: 'SOL/USDC', size: '25 USDC', fast: 2, slow: 4 };

/** Returns the approved swaps of prices, one every five seconds from the start on: "25s buy". */
const swaps = (strategy: Strategy, params: object, prices: readonly number[]): string[] =>
  testStrategy(strategy, { params: { pair: 'SOL/USDC', size: '25 USDC', ...params } })
    .advance('5s').series('5s', { price: prices }).lines('swap').map((line) => line.split(' ').slice(0, 2).join(' '));

describe('a strategy of the relative strength index over bars', () => {
  it('buys after falling bars, sells after rising ones, and decides on closed bars alone', () => {
    // Bars of 10 s close at 100, 100, 98, 96, 97 and 99. Mean gains and losses of the last two changes, then Wilder's
    // steps of a half: (0, 1) an index of 0, (0, 1.5) 0, (0.5, 0.75) 40, (1.25, 0.375) 76.9.
    expect(swaps(rsiBars, RSI_PARAMS, [100, 100, 100, 99, 98, 97, 96, 96, 97, 98, 99, 101, 102, 102, 102]))
      .toEqual(['30s buy', '1m sell']);
  });

  it('buys nothing in a market that does not move enough', () => {
    expect(swaps(rsiBars, { ...RSI_PARAMS, min_range: 5 }, [100, 100, 100, 99, 98, 97, 96, 96, 97])).toEqual([]);
  });
});

describe('a strategy of exponential means', () => {
  it('trades the crosses, and not the relation that it starts with', () => {
    // Fast and slow from the fourth price on: (103.5, 102.6), (105.8, 104.4), (101.9, 102.6) below, (97.3, 99.6),
    // (95.1, 97.3), (98.4, 98.4), (104.8, 102.2) above.
    expect(swaps(emaCross, EMA_PARAMS, [100, 102, 103, 104, 107, 100, 95, 94, 100, 108, 100, 90]))
      .toEqual(['50s buy', '1m sell']);
  });
});

describe('each of them', () => {
  let market: Market;
  let result: LookaheadResult;
  beforeAll(async () => {
    market = await writeMarket();
    result = await findLeaks(prepared(market, [
      instance('rsi-bars', RSI_FILE, { ...RSI_PARAMS, window: 5 }),
      instance('ema-cross', EMA_FILE, { ...EMA_PARAMS, fast: 3, slow: 9 }),
    ]), { times: 2, seed: 1 });
  }, 300_000);
  afterAll(() => { market.remove(); });

  it.each(['rsi-bars', 'ema-cross'])('uses nothing before it is known, and makes decisions: %s', (name) => {
    const verdict = result.strategies.find((strategy) => strategy.name === name)!;
    expect(verdict.firstLeak).toBeUndefined();
    expect(verdict.clean).toBe(true);
    expect(verdict.accesses).toEqual([]);
    expect(verdict.decisions).toBeGreaterThan(0);
  });

  it.each([RSI_FILE, EMA_FILE])('has at most 40 lines: %s', (file) => {
    expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(40);
  });

  it('runs in a box, and a restarted one continues with the inputs that it kept', async () => {
    const hosts = openHosts({ clock: systemClock });
    const prices = [100, 102, 103, 104, 107, 100, 95, 94, 100, 108, 112, 99, 90, 85];
    const runFrom = async (kept: string | undefined, from: number, until: number): Promise<{
      readonly states: string[]; readonly proposed: string[];
    }> => {
      const reading = await hosts.load({
        use: EMA_FILE, file: EMA_FILE, origin: 'project',
        isolation: { kind: 'per-strategy', callMs: 5_000, memoryMb: 160 },
      }).read({ params: EMA_PARAMS, tokens: [SOL, USDC], name: 'ema-cross', seed: 7 });
      if ('ended' in reading) throw new Error(reading.ended);
      const results: CallResult[] = [reading.apart!.call({ kind: 'start', warming: false, kept, at: 0 }, PORTFOLIO)];
      for (let i = from; i < until; i += 1) {
        const at = i * 5_000;
        const event = buyingSol(prices[i]! * 1_000, at);
        results.push(reading.apart!.call({ kind: 'event', input: 0, event, at }, PORTFOLIO));
      }
      const effects = results.flatMap((one) => {
        if ('ending' in one) throw new Error(JSON.stringify(one.ending));
        return one.effects;
      });
      return {
        states: effects.flatMap((effect) => (effect.kind === 'state' ? [effect.text] : [])),
        proposed: effects.flatMap(({ kind }) => (kind === 'propose' ? [kind] : [])),
      };
    };
    try {
      const whole = await runFrom(undefined, 0, prices.length);
      const first = await runFrom(undefined, 0, 6);
      const second = await runFrom(first.states.at(-1), 6, prices.length);
      expect(whole.proposed.length).toBeGreaterThan(0);
      expect(second.states.at(-1)).toBe(whole.states.at(-1));
    } finally {
      await hosts.close();
    }
  });
});
