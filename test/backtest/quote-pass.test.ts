import * as fc from 'fast-check';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { concatWith, ignoreElements, map, merge, mergeMap, switchMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { InputCursor } from '../../src/backtest/driver.ts';
import type { Amount } from '../../src/core/amount.ts';
import { runToEnd } from '../../src/core/chunked-work.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { measureInChunks } from '../../src/research/trials/measured-run.ts';
import type { TokenAmount } from '../../src/strategy/index.ts';
import {
  bars, bollinger, defineStrategy, portfolio, quotes, smaCrossover, twoSided,
} from '../../src/strategy/index.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import type { Protection, StrategyLimits } from '../../src/trading/limits.ts';
import { DEFAULT_PROTECTIONS } from '../../src/trading/protections/catalogue.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import dca from '../../strategies/dca.ts';
import meanReversion from '../../strategies/mean-reversion.ts';
import smaStrategy from '../../strategies/sma-crossover.ts';
import { buyingSol, PURCHASE, sellingSol, stats, trouble } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { appendAll, openWriter, temporaryFolder } from '../recording/temporary.ts';
import { configured } from '../strategies/instances.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

const SPENT: TokenAmount = { token: USDC, amount: PURCHASE };
const SOLD: TokenAmount = { token: SOL, amount: 1_000_000_000n };
const PURCHASES = quotes(SOL_USDC, { amount: SPENT, every: '1s' });
const SALES = quotes(SOL_USDC, { amount: SOLD, every: '1s' });
const SLOWER_SALES = quotes(SOL_USDC, { amount: SOLD, every: '3s' });
const NO_PARAMS = z.strictObject({});

/** Trades crossings of the price at which SOL is sold, whose feed others watch for moments only. */
const seller = defineStrategy({
  name: 'seller', summary: 'A test.', params: z.strictObject({ slow: z.number() }),
  inputs: () => ({ price: SALES }),
  run: ({ price }, { slow }, ctx) => price.pipe(smaCrossover(2, slow), map(({ trend }) => (trend === 'below'
    ? ctx.buy(SOL_USDC, SPENT, 'it fell') : ctx.sell(SOL_USDC, 'all', 'it rose')))),
});

/** Watches the sales for a moment after each crossing. */
const curious = defineStrategy({
  name: 'curious', summary: 'A test.', params: NO_PARAMS, inputs: () => ({ price: PURCHASES }),
  run: ({ price }, _, ctx) => price.pipe(smaCrossover(3, 4), switchMap(() => ctx.watch(SLOWER_SALES).pipe(take(2))),
    map((sale) => ctx.alert('info', `${sale.price} at ${sale.at}`))),
});

/** Subscribes to its input twice, and throws at last. */
const faulty = defineStrategy({
  name: 'faulty', summary: 'A test.', params: NO_PARAMS, inputs: () => ({ price: PURCHASES }),
  run: ({ price }, _, ctx) => merge(
    price.pipe(smaCrossover(2, 3), take(4), map(({ trend }) => ctx.alert('info', trend))),
    price.pipe(bollinger(3, 1), mergeMap(({ z: deviation }, n) => {
      if (n === 25) throw new Error('it had enough');
      return deviation > 1 ? [ctx.buy(SOL_USDC, SPENT, `${deviation}`)] : [];
    })),
  ),
});

/** Buys at its start and tells what that is worth from then on; it watches no price. */
const owner = defineStrategy({
  name: 'owner', summary: 'A test.', params: NO_PARAMS, inputs: () => ({ own: portfolio() }),
  run: ({ own }, _, ctx) => own.pipe(map(({ equity }, n) =>
    (n === 0 ? ctx.buy(SOL_USDC, SPENT, 'at once') : ctx.alert('info', `${equity}`)))),
});

/** Buys at the first crossing and holds. */
const holder = defineStrategy({
  name: 'holder', summary: 'A test.', params: NO_PARAMS, inputs: () => ({ price: PURCHASES }),
  run: ({ price }, _, ctx) => price.pipe(smaCrossover(2, 9), take(1),
    mergeMap(() => [ctx.buy(SOL_USDC, SPENT, 'once')]), concatWith(price.pipe(smaCrossover(9, 60), ignoreElements()))),
});

/** Tells each bar. */
const teller = defineStrategy({
  name: 'teller', summary: 'A test.', params: NO_PARAMS,
  inputs: () => ({ bar: bars(SOL_USDC, { amount: SPENT, every: '4s', poll: '1s' }) }),
  run: ({ bar }, _, ctx) => bar.pipe(map((one) => ctx.alert('info', JSON.stringify(one)))),
});

/** Needs both prices, each as it comes. */
const both = defineStrategy({
  name: 'both', summary: 'A test.', params: NO_PARAMS,
  inputs: () => ({ sides: twoSided(SOL_USDC, { buy: SPENT, sell: SOLD, every: '1s' }) }),
  run: ({ sides }, _, ctx) => sides.pipe(mergeMap((_value, n) =>
    (n % 9 === 0 ? [ctx.buy(SOL_USDC, SPENT, 'the ninth')] : []))),
});

const TRADED = { pair: 'SOL/USDC', size: '25 USDC' };
const CAST: Readonly<Record<string, () => StrategyInstance>> = {
  'trend': () => configured(smaStrategy, { ...TRADED, fast: 2, slow: 5 }, 'trend'),
  'slow trend': () => configured(smaStrategy, { ...TRADED, fast: 3, slow: 8 }, 'slow trend'),
  'every other': () => configured(smaStrategy, { ...TRADED, every: '2s', fast: 2, slow: 4 }, 'every other'),
  'holder': () => configured(holder, {}),
  'slowest': () => configured(smaStrategy, { ...TRADED, fast: 2, slow: 40 }, 'slowest'),
  'teller': () => configured(teller, {}),
  'dips': () => configured(meanReversion, { ...TRADED, window: 4, k: 1 }, 'dips'),
  'dca': () => configured(dca, { buy: 'SOL', spend: '25 USDC', every: '11s' }, 'dca'),
  'seller': () => configured(seller, { slow: 7 }),
  'slow seller': () => configured(seller, { slow: 60 }, 'slow seller'),
  'curious': () => configured(curious, {}),
  'faulty': () => configured(faulty, {}),
  'owner': () => configured(owner, {}),
  'both': () => configured(both, {}),
};

/** Those whose operators take prices. */
const TAKING = [
  'holder', 'slowest', 'slow seller', 'trend', 'slow trend', 'teller', 'seller', 'curious', 'owner', 'every other',
  'dca',
];

const NONE: readonly Protection[] = [];
const TIGHT: readonly Protection[] = [
  { trigger: { kind: 'max-drawdown', limitPct: 0.1 }, scope: 'strategy', action: 'flatten',
    release: { kind: 'elapsed', afterMs: 30_000 } },
  { trigger: { kind: 'stale-feed', afterMs: 12_000 }, scope: 'strategy', action: 'deny', release: { kind: 'cleared' } },
];

/** Wider limits, which are reached between two decisions, and the other actions. */
const QUICK: readonly Protection[] = [
  { trigger: { kind: 'max-drawdown', limitPct: 6 }, scope: 'global', action: 'flatten',
    release: { kind: 'elapsed', afterMs: 15_000 } },
  { trigger: { kind: 'daily-loss', limit: { mint: USDC.mint, amount: 60_000n as Amount } }, scope: 'strategy',
    action: 'reduce-only', release: { kind: 'elapsed', afterMs: 20_000 } },
  { trigger: { kind: 'stale-feed', afterMs: 15_000 }, scope: 'global', action: 'halt', release: { kind: 'cleared' } },
];

/** As if each feed had been polled each second. */
const INTERVALS = new Map([buyingSol(1, 0), sellingSol(1, 0)].map(({ feed }) => [feed, 1_000]));

/** Events of two feeds of quotes and of others, at times that stand still, go on, and now and then go back. */
const markets = fc.constantFrom(
  ['buy', 'buy', 'sell'], ['buy', 'buy', 'buy', 'buy', 'sell', 'sell', 'stats', 'trouble'],
).chain((kinds) => fc.array(
  fc.record({
    what: fc.constantFrom(...kinds),
    afterMs: fc.constantFrom(0, 100, 1_000, 1_000, 1_000, 1_000, 3_000, 40_000, -2_000),
    step: fc.integer({ min: -4_000, max: 4_000 }),
  }), { minLength: 40, maxLength: 400 },
)).map((steps) => {
  let at = 1_750_000_000_000;
  let price = 150_000;
  return steps.map(({ what, afterMs, step }): { readonly at: number; readonly input: MarketEvent } => {
    at += afterMs;
    price = Math.max(50_000, price + step);
    const input = what === 'buy' ? buyingSol(price, at) : what === 'sell' ? sellingSol(price - 40, at)
      : what === 'stats' ? stats(SOL, price / 1_000, at) : trouble(buyingSol(1, 0).feed, at);
    return { at, input };
  });
});

/** What a backtest did and found, in full; `passed` are the rows that were passed over. */
function backtest(cursor: InputCursor, {
  cast, protections, limits, hasShortChunks, isMeasured, everyMs, extremesEveryMs, startAt,
}: {
  readonly cast: readonly string[]; readonly protections: readonly Protection[]; readonly limits: StrategyLimits;
  readonly hasShortChunks?: boolean | undefined; readonly isMeasured?: boolean | undefined;
  readonly everyMs?: number | undefined;
  readonly extremesEveryMs?: number | undefined;
  readonly startAt: number;
}) {
  const strategies = cast.map((name) => CAST[name]!());
  const state = stateWith({
    strategies: strategies.map(({ name }) => strategySetup(name, { limits })), limits: { protections },
  });
  const decisions: LoggedDecision[] = [];
  const { result, record, warnings } = runToEnd(measureInChunks({
    state, strategies, seed: 7, startAt, cursor, model: BASE_MODEL, stopwatch: () => 0, currency: USDC,
    onDecision: (decision) => { decisions.push(decision); },
    ...(hasShortChunks === true ? { onEvents: () => undefined } : {}),
    intervals: isMeasured === true ? INTERVALS : undefined,
    instruments: [SOL], everyMs: everyMs ?? 5_000, extremesEveryMs, interval: false,
  }));
  return { result, record, warnings, decisions, state: snapshotState(state) };
}

/** Returns the cursor as one whose quotes have to be made. */
function whole(cursor: InputCursor): InputCursor {
  return { next: () => cursor.next(), get at() { return cursor.at; }, get input() { return cursor.input; } };
}

describe('quotes that a backtest passes over', () => {
  it('change no decision, fill, figure or state', async () => {
    const folder = temporaryFolder();
    let rows = 0;
    let passed = 0;
    await fc.assert(fc.asyncProperty(
      markets, fc.constantFrom(TAKING.slice(0, 3), TAKING.slice(0, 7), TAKING, Object.keys(CAST))
        .chain((names) => fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })),
      fc.constantFrom(NONE, TIGHT, QUICK, DEFAULT_PROTECTIONS),
      fc.constantFrom<StrategyLimits>({}, {}, { exits: { rules: { stopLossBps: 100 }, feeds: [] } }),
      fc.constantFrom(
        {}, { everyMs: 300_000 }, { isMeasured: true }, { hasShortChunks: true }, { extremesEveryMs: 1_000 },
      ),
      async (market, cast, protections, limits, course) => {
        rmSync(join(folder, 'run'), { recursive: true, force: true });
        const writer = openWriter(folder, { flushRows: 64 });
        appendAll(writer, market.map((row, index) => ({ seq: index + 1, ...row })), 64);
        await writer.close();
        const setting = { cast, protections, limits, ...course, startAt: market[0]!.at };
        const cursor = openRecording(writer.directory).cursor();
        const skip = cursor.skip.bind(cursor);
        cursor.skip = (count) => {
          passed += count + 1;
          skip(count);
        };
        rows += market.length;
        expect(backtest(cursor, setting)).toEqual(backtest(whole(openRecording(writer.directory).cursor()), setting));
      }), { numRuns: 100 });
    expect(passed / rows).toBeGreaterThan(0.05);
  });
});
