import { map, mergeMap, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { MeasuredRun } from '../../../src/research/trials/measured-run.ts';
import type { SimulationModel } from '../../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { benchmarksOf, tradeFills } from '../../../src/research/metrics/run-figures.ts';
import { roundTrips } from '../../../src/research/metrics/round-trips.ts';
import { sampleStep } from '../../../src/backtest/record/equity-sampler.ts';
import type { Bps, Lamports } from '../../../src/core/amount.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { strategy } from '../../engine/runs.ts';
import { buyingSol, quote, sellingSol, stats } from '../../market/events.ts';
import { FISH, SOL, SOL_USDC, USDC } from '../../market/tokens.ts';
import { bothSides, CALM, inAndOut, measured } from '../measured.ts';
import { backtest, pricePath } from '../recordings.ts';

const ROUND = bothSides([[125, 124], [131, 130], [131, 130], [131, 130]]).filter(({ receivedAt, ...event }) =>
  receivedAt <= 10_000 || !('inAmount' in event) || event.inAmount !== 25_000_000n);

const haircutWarnings = ({ warnings }: MeasuredRun): string[] =>
  warnings.filter((warning) => warning.includes('other_side_haircut_bps'));

describe('the record of a backtest', () => {
  it('holds the equity as proceeds of a sale less fees, at each step after a new price and after each fill', () => {
    const { record, series } = measured([...ROUND]);
    expect(record.times).toEqual([0, 5_000, 6_805, 10_000, 11_805, 15_000, 20_000]);
    // A fifth of a coin at 124; 9,000 lamports at 124, then as many at 130.
    const [bought, risen, sold] = [475 + 24.8 - 0.001_116, 475 + 26 - 0.001_116, 475 + 26 - 0.001_116 - 0.001_17];
    expect(series.values)
      .toEqual([500, 500, bought, risen, sold, sold, sold].map((value) => expect.closeTo(value, 6) as number));
    expect(series.held).toEqual([0, 0, 24.8, 26, 0, 0, 0]);
    expect(record.strategies)
      .toMatchObject([{ name: 'in-and-out', sent: 2, landed: 2, feesPaid: expect.closeTo(0.002_286, 9) }]);
  });

  it('holds each fill with its quote, its value and its costs', () => {
    expect(measured([...ROUND]).record.fills).toEqual([
      {
        at: 6_805, strategy: 'in-and-out', input: 'USDC', output: 'SOL', amountIn: '25000000', amountOut: '200000000',
        quotedOut: '200000000', value: 25, costs: 0.001_116, reason: 'its turn',
      },
      {
        at: 11_805, strategy: 'in-and-out', input: 'SOL', output: 'USDC', amountIn: '200000000', amountOut: '26000000',
        quotedOut: '26000000', value: 26, costs: 0.001_17, reason: 'its turn',
      },
    ]);
  });

  it('holds ask and bid at the size of the benchmark, null before the first quote', () => {
    const [instrument] = measured([...ROUND]).record.instruments;
    expect(instrument).toMatchObject({ symbol: 'SOL', decimals: 9 });
    expect(instrument!.bids.slice(0, 2)).toEqual([null, 124]);
    expect(instrument!.asks.slice(0, 2)).toEqual([null, 125]);
    expect(instrument!.bids.at(-1)).toBe(130);
  });

  it('prices the benchmark at the largest recorded size at most', () => {
    // A smaller size of another time, at a distant price: the line through both leads to 620 at 500 USDC.
    const [small, large] = [
      quote(USDC, SOL, { inAmount: 1_000_000n, outAmount: 10_000_000n, at: 4_000 }),
      quote(SOL, USDC, { inAmount: 10_000_000n, outAmount: 1_240_000n, at: 4_000 }),
    ];
    const [instrument] = measured([small, large, ...bothSides([[125, 124]])]).record.instruments;
    expect([instrument!.asks.at(-1), instrument!.bids.at(-1)]).toEqual([125, 124]);
  });

  it('measures the spread at the size of the swaps, not at that of the budget', () => {
    // Swaps are of 25 USDC: at 125 and 124 half of the spread is 40 bps; the wide quotes for 500 USDC belong to no
    // swap.
    const wide = [5_000, 10_000, 15_000, 20_000].flatMap((at) => [
      quote(USDC, SOL, { inAmount: 500_000_000n, outAmount: 3_000_000_000n, at }),
      quote(SOL, USDC, { inAmount: 4_000_000_000n, outAmount: 300_000_000n, at }),
    ]);
    const events = [...bothSides([[125, 124], [125, 124], [125, 124], [125, 124]]), ...wide]
      .toSorted((x, y) => x.receivedAt - y.receivedAt);
    const [instrument] = measured(events).record.instruments;
    expect(instrument!.swapHalfSpreadBps).toBeLessThan(60);
    expect(instrument!.asks.at(-1)! / instrument!.bids.at(-1)!).toBeGreaterThan(1.5);
    expect(measured([buyingSol(125_000, 5_000)], { strategies: [] }).record.instruments[0]?.swapHalfSpreadBps)
      .toBeUndefined();
  });

  it('counts the fees of failed swaps, and the sent transactions that did not land', () => {
    // The price drops while the swap is under way: it fails with 6001, and its fee is paid.
    const { record, assessment } = measured([buyingSol(125_000, 5_000), buyingSol(150_000, 6_000)]);
    expect(record.strategies)
      .toMatchObject([{ sent: 1, landed: 0, feesPaid: expect.closeTo(9_000e-9 * 150 * 0.994, 5) }]);
    expect([assessment.metrics.landing_rate, assessment.metrics.fees_paid])
      .toEqual([0, record.strategies[0]!.feesPaid]);
  });

  it('adds the fees of a failed swap to the next one of its token, so that round trips match the equity', () => {
    const { record, series, assessment } =
      measured(FAILING_FIRST, { strategies: [buysAndSells(['buy', 'wait', 'buy', 'sell'])] });
    expect(record.strategies).toMatchObject([{ sent: 3, landed: 2 }]);
    const { trips } = roundTrips(tradeFills(record));
    expect(trips).toHaveLength(1);
    expect(trips[0]!.costs).toBeCloseTo(record.strategies[0]!.feesPaid, 6);
    expect(trips[0]!.profit).toBeCloseTo(series.values.at(-1)! - 500, 5);
    expect(assessment.warnings.map(({ code }) => code)).not.toContain('fees_of_no_trip');
  });

  it('reports the share of fees without a later fill, which is in no trade', () => {
    const { series, assessment } = measured(FAILING_FIRST, { strategies: [buysAndSells(['buy'])] });
    expect(series.values.at(-1)).toBeLessThan(500);
    expect(assessment.warnings.find(({ code }) => code === 'fees_of_no_trip')?.message)
      .toMatch(/^100\.00 % of all fees .* in no trade$/);
  });

  it('includes a price at the very end of a bar in that bar', () => {
    const hourly = bothSides([[125, 124], [131, 130], [141, 140]], HOUR);
    const { record, assessment } = measured([...hourly, buyingSol(141_000, 3 * HOUR + 60_000)], { everyMs: HOUR });
    const bought = record.fills[0]!.at;
    expect([record.times, record.instruments[0]!.bids].map((column) => column.slice(0, 4)))
      .toEqual([[0, HOUR, bought, 2 * HOUR], [null, 124, 124, 130]]);
    // At the end of the second hour what was bought for 125 brings 130.
    expect(assessment.path.bars[2]).toBeCloseTo(475 + 26, 2);
  });

  it('includes the trough between two samples and the peak before it, and nothing else between them', () => {
    // Bought at 125; at its highest a coin brings 150, then 90, and at the next sample 120 again.
    const prices = [
      [125, 124], [130, 129], [151, 150], [140, 139], [91, 90], [100, 99], [121, 120], [121, 120], [121, 120],
      [121, 120], [121, 120], [121, 120], [121, 120],
    ] as const;
    const holding = [buysAndSells(['buy'])];
    const blind = measured(bothSides(prices), { strategies: holding, everyMs: MINUTE });
    expect(blind.assessment.metrics.max_drawdown_absolute).toBeLessThan(2);
    const { record, series, assessment } =
      measured(bothSides(prices), { strategies: holding, everyMs: MINUTE, extremesEveryMs: 1_000 });
    expect(assessment.metrics.max_drawdown_absolute).toBeCloseTo(0.2 * (150 - 90), 6);
    expect(assessment.metrics)
      .toMatchObject({ drawdown_start: '1970-01-01T00:00:15.000Z', drawdown_trough: '1970-01-01T00:00:25.000Z' });
    // Zero, the first price of both directions, the fill, the two extremes; the samples at one minute and at the end.
    expect(record.times).toEqual([0, 5_000, expect.any(Number), 15_000, 25_000, MINUTE, 65_000]);
    expect(series.values.at(-1)).toBe(blind.series.values.at(-1));
    expect(record.strategies[0]!.held).toHaveLength(record.times.length);
    expect(record.instruments[0]!.bids.slice(3, 5)).toEqual([150, 90]);
    // The range at one minute is that of all prices since the fill, relative to the price of 120 then.
    expect(record.instruments[0]!.range).toMatchObject({
      lowest: [null, expect.any(Number), expect.any(Number), null, null, 90 / 120, 1],
      highest: [null, expect.any(Number), expect.any(Number), null, null, 150 / 120, 1],
    });
    expect(blind.record.instruments[0]!.range).toBeUndefined();
  });

  it('holds the first 200 characters of a reason', () => {
    const { record } = measured([...ROUND], { strategies: [inAndOut('wordy', 'x'.repeat(2_000))] });
    expect(record.fills.map(({ reason }) => reason)).toEqual(['x'.repeat(200), 'x'.repeat(200)]);
  });

  it('includes a trough whose price arrives at the instant of a sample and of a check', () => {
    const FILL = 6_805;
    const events = [...bothSides([[125, 124]]), ...[[FILL, 90], [8_500, 120]].flatMap(([at, bid]) => [
      sellingSol(bid! * 1_000, at!), buyingSol((bid! + 1) * 1_000, at!),
    ])];
    const { record, assessment } = measured(
      events, { strategies: [buysAndSells(['buy'])], everyMs: MINUTE, extremesEveryMs: FILL / 5 },
    );
    // The sample is the one of the fill, before the price; the next check finds it.
    expect(record.times).toEqual([0, 5_444, FILL, 8_166, 8_500]);
    expect(record.strategies[0]!.held).toEqual([0, 0, 24.8, 18, 24]);
    expect(assessment.metrics.max_drawdown_absolute).toBeCloseTo(500 - 475 - 18 + 0.001_116, 9);
  });

  it('begins benchmarks when everything has a price, for any swaps and any sampling interval', () => {
    const events = bothSides([[125, 124], [131, 130], [141, 140], [151, 150]], 15_000);
    const bought = [[inAndOut()], [buysAndSells(['wait', 'wait', 'buy'])], [buysAndSells(['wait'])]]
      .map((strategies) => {
        const { buy_and_hold: held } =
          benchmarksOf(measured(events, { strategies, everyMs: HOUR, extremesEveryMs: 1_000 }).record);
        return held!.series.values.at(-1)!;
      });
    // 500 USDC at 125, sold at 150; the spread is assumed to be a constant part of the price.
    expect(new Set(bought).size).toBe(1);
    expect(bought[0]).toBeCloseTo(600, -1);
  });

  it('does not sample at every check where one token’s price expired before another’s first one', () => {
    // SOL is quoted once; FISH two days later, when that price of SOL is too old.
    const late = Array.from({ length: 20 }, (_, n) => [
      quote(USDC, FISH, { inAmount: 1_000_000n, outAmount: 1_000_000n, at: 2 * DAY + n * 1_000 }),
      quote(FISH, USDC, { inAmount: 1_000_000n, outAmount: 990_000n, at: 2 * DAY + n * 1_000 }),
    ]).flat();
    const { record } = measured([...bothSides([[125, 124]]), ...late], {
      strategies: [buysAndSells(['wait'])], instruments: [SOL, FISH], everyMs: DAY, extremesEveryMs: 1_000,
    });
    expect(record.times.length).toBeLessThan(8);
  });

  it('warns where only one direction was recorded, which benchmarks pay for', () => {
    expect(haircutWarnings(measured([buyingSol(125_000, 5_000)]))).toEqual([
      expect.stringMatching(/^only one direction of SOL was recorded: the other is assumed to be 60 bps worse/),
    ]);
    expect(haircutWarnings(measured(bothSides([[125, 124]])))).toEqual([]);
  });

  it('warns of a strategy whose stream was complete before the end', () => {
    const { warnings } = measured(bothSides([[125, 124], [126, 125], [127, 126]]), {
      strategies: ([['brief', 1], ['other', 9]] as const).map(([name, most]) => strategy(name, ({ price }, context) =>
        price!.pipe(take(most), map(() => context.alert('info', 'seen'))))),
    });
    expect(warnings.filter((warning) => warning.includes(' ended at '))).toEqual([
      'brief ended at 1970-01-01T00:00:05.000Z: its stream is complete, so it proposed nothing after that',
    ]);
  });

  it('values holdings by the other direction, less the haircut, where only purchases are quoted', () => {
    const noFee = { ...CALM, costs: { ...BASE_MODEL.costs, microLamportsPerUnit: 0n, tipLamports: 0n as Lamports } };
    const { series, warnings } = measured([buyingSol(125_000, 5_000)], { model: noFee });
    expect(series.unpriced).toBe(0);
    expect(series.values.at(-1)).toBeCloseTo(475 + 25 * 0.994 - 5_000e-9 * 125 * 0.994, 5);
    expect(warnings.filter((warning) => warning.includes('no price'))).toEqual([]);
  });
});

/** The price jumps while the first swap is under way, and makes it fail. */
const FAILING_FIRST = [
  ...bothSides([[125, 124]]), sellingSol(149_000, 6_000), buyingSol(150_000, 6_000),
  ...bothSides([[150, 149], [150, 149]], 20_000),
];

/** Makes the next proposal of a list at each price. */
function buysAndSells(turns: readonly string[]): ReturnType<typeof strategy> {
  return strategy('turns', ({ price }, context) => price!.pipe(mergeMap((_, n) =>
    (turns[n] === 'buy' ? [context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, 'in')]
      : turns[n] === 'sell' ? [context.sell(SOL_USDC, 'all', 'out')] : []))));
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Prices that swing by a few dollars, each `everyMs` after the one before. */
const swings = (count: number, everyMs: number): MarketEvent[] =>
  bothSides(Array.from({ length: count }, (_, n) => [125 + (n * 7) % 5, 124 + (n * 7) % 5]), everyMs);

const about = (events: readonly MarketEvent[], strategies = [inAndOut()]): string[] =>
  measured(events, { strategies }).warnings.filter((warning) => warning.includes(' holds '));

const boughtOnce = (model: Partial<SimulationModel>): number =>
  measured(swings(1, 5_000), { model: { ...CALM, ...model } }).record.strategies[0]!.held.at(-1)!;

describe('holdings', () => {
  const costs = { ...BASE_MODEL.costs, microLamportsPerUnit: 0n };

  it('are worth the proceeds of a sale after the platform’s and the issuer’s fees', () => {
    // 25 dollars buy a fifth of a coin, or less of it; it brings 124 a coin.
    expect(boughtOnce({ costs })).toBeCloseTo(24.8, 6);
    expect(boughtOnce({ costs: { ...costs, platformFeeBps: 20 as Bps } })).toBeCloseTo(24.8 * 0.998 * 0.998, 5);
    expect(boughtOnce({ costs: { ...costs, platformFeeBps: 20 as Bps, platformFeeIn: 'input' } }))
      .toBeCloseTo(24.8 * 0.998 * 0.998, 5);
    expect(boughtOnce({ costs, transferFees: new Map([[SOL.mint, { bps: 20, maximum: 10n ** 18n }]]) }))
      .toBeCloseTo(24.8 * 0.998 * 0.998, 5);
    expect(boughtOnce({ costs, dearerBps: 50 })).toBeCloseTo(24.8 * 0.995 * 0.995, 5);
  });

  it('are worth the same before and after their sale at an unchanged price', () => {
    const allOut = strategy('all-out', ({ price }, context) => price!.pipe(map((_, n) =>
      (n === 0 ? context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, 'in')
        : context.sell(SOL_USDC, 'all', 'out')))));
    const same = bothSides([[125, 124], [125, 124]]);
    const { series: { values }, record } = measured(same, {
      strategies: [allOut], model: { ...CALM, costs: { ...costs, signatures: 0, platformFeeBps: 20 as Bps } },
    });
    expect(record.fills).toHaveLength(2);
    expect(values.at(-1)).toBeCloseTo(values.at(-2)!, 5);
  });

  it('are valued as the setting fills a sale: in the pessimistic one at the minimum under the slippage', () => {
    const fees = { ...costs, signatures: 0 };
    const flat = bothSides([[125, 124], [125, 124]]);
    const runOf = (model: Partial<SimulationModel>) =>
      measured(flat, { strategies: [buysAndSells(['buy', 'sell'])], model: { ...CALM, costs: fees, ...model } });
    for (const model of [
      { setting: 'optimistic' }, { setting: 'base' }, { setting: 'pessimistic' },
      { landing: { ...CALM.landing!, adverseBps: 20 as Bps } },
    ] as const) {
      const { series: { values }, record } = runOf(model);
      expect(record.fills).toHaveLength(2);
      expect(values.at(-1)).toBeCloseTo(values.at(-2)!, 5);
    }
    const held = (model: Partial<SimulationModel>): number => runOf(model).series.held.find((value) => value > 0)!;
    expect(held({ setting: 'pessimistic' })).toBeLessThan(held({ setting: 'base' }) * 0.9925);
    expect(held({ setting: 'base' })).toBe(held({ setting: 'optimistic' }));
  });

  it('cause a warning where their price is old, or comes from much smaller sales', () => {
    expect(about([...swings(1, 5_000), stats(FISH, 1, 10 * HOUR)]))
      .toEqual([expect.stringMatching(/^in-and-out holds SOL at the end with a last price that is 10h old/)]);
    expect(about([...swings(1, 5_000), stats(FISH, 1, HOUR)])).toEqual([]);
    const buysOn = strategy('buys-on', ({ price }, context) =>
      price!.pipe(map(() => context.buy(SOL_USDC, { token: USDC, amount: 25_000_000n }, 'more'))));
    expect(about(swings(1, 5_000), [buysOn])).toEqual([]);
    expect(about(swings(18, 5_000), [buysOn]))
      .toEqual([expect.stringMatching(/^buys-on holds [34] times as much SOL at the end as the largest recorded/)]);
  });
});

describe('the equity sampler', () => {
  it('has no price for a token whose last quote is too old, and no benchmark of it', () => {
    const { record, warnings } = measured([...swings(1, 5_000), stats(FISH, 1, HOUR), stats(FISH, 1, 10 * HOUR)]);
    expect(record.instruments[0]!.bids.at(-1)).toBeNull();
    expect(warnings)
      .toContainEqual(expect.stringMatching(/^buy and hold and DCA are not given: SOL has no price at the end/));
    const { record: recent, warnings: none } = measured([...swings(1, 5_000), stats(FISH, 1, HOUR)]);
    expect(recent.instruments[0]!.bids.at(-1)).toBe(124);
    expect(none.filter((warning) => warning.includes('buy and hold'))).toEqual([]);
  });

  it('takes no sample without a new price: daily prices have no hourly returns, and gaps stay gaps', () => {
    const daily = measured(swings(12, DAY), { everyMs: sampleStep(12 * DAY) }).assessment;
    expect(daily.path.barMs).toBe(DAY);
    expect(daily.path.returns!.length).toBeLessThanOrEqual(13);
    expect([daily.metrics.sharpe, daily.metrics.psr]).toEqual([null, null]);
    const later = swings(48, HOUR).map((event) => ({ ...event, receivedAt: event.receivedAt + 50 * DAY }));
    const holed = measured([...swings(48, HOUR), ...later], { everyMs: sampleStep(54 * DAY) }).assessment;
    expect(holed.path.coverage).toBeLessThan(0.2);
    expect([holed.metrics.sharpe, holed.metrics.cagr]).toEqual([null, null]);
    expect(holed.warnings.map(({ code }) => code)).toContain('coverage_low');
  });


  it('changes no decision at any sampling interval', () => {
    const path = pricePath([150, 149, 151, 148, 152, 147, 150, 150]);
    const plain = backtest(inAndOut(), path, BASE_MODEL).result;
    for (const everyMs of [700, 5_000, 60_000]) {
      const { result } = measured(path, { model: BASE_MODEL, everyMs });
      expect([result.decisionHash, result.fills.length, result.endAt])
        .toEqual([plain.decisionHash, plain.fills.length, plain.endAt]);
    }
  });

  it('uses steps that divide bars, and about two thousand of them', () => {
    const day = 86_400_000;
    expect([60_000, 3_600_000, day, 30 * day, 365 * day, 20_000 * day].map((span) => sampleStep(span)))
      .toEqual([1_000, 5_000, 60_000, 1_800_000, 86_400_000, 86_400_000]);
    for (const hours of [1, 7, 100, 2_000])
      expect(3_600_000 % Math.min(3_600_000, sampleStep(hours * 3_600_000))).toBe(0);
  });
});
