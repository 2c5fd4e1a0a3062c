import { filter, map } from 'rxjs';
import { z } from 'zod';
import { beforeAll, describe, expect, it } from 'vitest';
import { mean } from '../../../src/research/metrics/statistics.ts';
import { OBJECTIVES } from '../../../src/research/trials/objectives.ts';
import type { Trial, TrialParams } from '../../../src/research/trials/trial.ts';
import type { UnparsedStrategy } from '../../../src/research/trials/run-trial.ts';
import type { WalkForwardResult } from '../../../src/research/walk-forward/walk-forward.ts';
import { walkForward } from '../../../src/research/walk-forward/walk-forward.ts';
import type { Fold } from '../../../src/research/walk-forward/folds.ts';
import { foldPlan } from '../../../src/research/walk-forward/folds.ts';
import type { Millis } from '../../../src/core/time.ts';
import { amount, defineStrategy, pair, quotes } from '../../../src/strategy/index.ts';
import { SOL_USDC } from '../../market/tokens.ts';
import { DAY, DIP, HOUR, poolOver, priceAt, START, writeMarket } from './market.ts';

const SETS: readonly TrialParams[] = [4, 8, 24].map((window) => ({ dip: { window } }));
const DAYS = 8;
const FOLDS = foldPlan({
  firstAt: START, lastAt: START + DAYS * DAY - 1, warmupMs: 4 * HOUR, inSampleMs: 2 * DAY, outOfSampleMs: DAY,
  anchored: false,
}).folds;

interface Walk {
  readonly result: WalkForwardResult;
  readonly trials: readonly Trial[];
}

async function walk(price: (at: Millis) => number | undefined = priceAt, {
  strategies = [DIP], ...terms
}: Partial<Parameters<typeof walkForward>[1]> & {
  readonly strategies?: readonly UnparsedStrategy[];
} = {}): Promise<Walk> {
  const market = await writeMarket(DAYS, price, { isClosed: false });
  try {
    const trials: Trial[] = [];
    const pool = await poolOver(market.directory, { strategies, onTrial: (trial) => { trials.push(trial); } });
    return { result: await walkForward(() => Promise.resolve(pool), {
      folds: FOLDS, sets: SETS, objective: 'total_return', ...terms,
    }), trials };
  } finally {
    market.remove();
  }
}

/** Nothing like the true price, on every row. */
const spoilt = (at: Millis): number => 90 + 40 * Math.sin(at / HOUR) + (at % 7);
const within = (at: Millis, { from, to }: Fold['outOfSample']): boolean => at >= from && at < to;
const choices = ({ folds }: WalkForwardResult): unknown[] => folds.map(({ choice }) =>
  choice && { params: choice.params, value: choice.value, hash: choice.inSample.decisionHash });

describe('a walk-forward', () => {
  let base: Walk;
  beforeAll(async () => { base = await walk(); });

  it('chooses by the in-sample rows of each fold, and runs the choice on the following rows', () => {
    const { result, trials } = base;
    const { folds } = result;
    expect(folds).toHaveLength(5);
    for (const { fold, tried, choice, outOfSample, status } of folds) {
      const values = tried.map((trial) =>
        (trial.kind === 'done' ? OBJECTIVES.total_return.valueOf(trial)! : Number.NaN));
      expect([choice!.value, choice!.params])
        .toStrictEqual([Math.max(...values), SETS[values.indexOf(Math.max(...values))]]);
      expect(trials.find(({ id }) => id === outOfSample!.id))
        .toMatchObject({ params: choice!.params, period: fold.outOfSample });
      expect([status, outOfSample!.fills > 0, outOfSample!.events]).toStrictEqual(['judged', true, 144]);
    }
    expect(new Set(folds.map(({ choice }) => choice!.place)).size).toBeGreaterThan(1);
    // Each of three, what was chosen once more, and what it is judged by.
    expect(trials).toHaveLength(5 * 5);
    expect(result.deviation).toBeUndefined();
  });

  it('joins the out-of-sample runs, each beginning with the final equity of the one before', () => {
    const { folds, joined } = base.result;
    const { times, values } = joined!.series;
    const growth = folds.reduce((product, { outOfSample }) => product * (1 + outOfSample!.metrics.total_return!), 1);
    expect(joined!.assessment.metrics.total_return).toBeCloseTo(growth - 1, 12);
    expect([times[0], values[0]]).toStrictEqual([FOLDS[0]!.outOfSample.from, 500]);
    expect(joined!.assessment.metrics)
      .toMatchObject({ sharpe: expect.any(Number), win_rate: expect.any(Number), landing_rate: expect.any(Number) });
    expect(joined!.benchmarks.buy_and_hold!.series.times).toStrictEqual(times);
  });

  it('returns the efficiency, the number of folds with a gain, and the stability of choices', () => {
    const { folds, efficiency, judged, positive, stability } = base.result;
    // Periods of two days against one.
    expect(efficiency).toBeCloseTo(mean(folds.map(({ outOfSample }) => outOfSample!.metrics.total_return!)) / mean(
      folds.map(({ choice }) => choice!.inSample.metrics.total_return! / 2),
    ), 12);
    expect([judged, positive])
      .toStrictEqual([5, folds.filter(({ outOfSample }) => outOfSample!.metrics.total_return! > 0).length]);
    const places = folds.map(({ choice }) => choice!.place);
    const changes = places.filter((place, i) => i > 0 && place !== places[i - 1]).length;
    expect(stability)
      .toMatchObject({ choices: 5, changes, parameters: [{ strategy: 'dip', parameter: 'window', changes }] });
  });

  it('gives a fold the same result whatever rows follow its out-of-sample period', async () => {
    for (const number of [2, 4]) {
      const { to } = FOLDS[number - 1]!.outOfSample;
      const { result } =
        await walk((at) => (at < to ? priceAt(at) : spoilt(at)), { folds: FOLDS.slice(0, number + 1) });
      expect(result.folds.slice(0, number)).toStrictEqual(base.result.folds.slice(0, number));
      expect(result.folds[number]).not.toStrictEqual(base.result.folds[number]);
    }
  });

  it('chooses the same whatever the out-of-sample rows are, and differently after other in-sample rows', async () => {
    const { outOfSample, inSample } = FOLDS[2]!;
    const { result: after } =
      await walk((at) => (within(at, outOfSample) ? spoilt(at) : priceAt(at)), { folds: FOLDS.slice(0, 3) });
    expect(choices(after).slice(0, 3)).toStrictEqual(choices(base.result).slice(0, 3));
    expect(after.folds[2]!.tried).toStrictEqual(base.result.folds[2]!.tried);
    expect(after.folds[2]!.outOfSample!.decisionHash).not.toBe(base.result.folds[2]!.outOfSample!.decisionHash);
    const { result: before } =
      await walk((at) => (within(at, inSample) ? spoilt(at) : priceAt(at)), { folds: FOLDS.slice(2, 3) });
    expect(choices(before)[0]).not.toStrictEqual(choices(base.result)[2]);
  });

  it('warms up on earlier rows, so that the first out-of-sample row may be traded on', () => {
    const { folds } = base.result;
    const firsts = folds.map(({ fold, outOfSample }) => outOfSample!.record!.fills[0]!.at - fold.outOfSample.from);
    // A window of eight rows and more takes longer than two hours to fill.
    expect(Math.min(...firsts)).toBeLessThan(2 * HOUR);
  });
});

it('a strategy that keeps state between runs is detected', async () => {
  let runs = 0;
  const sly = defineStrategy({
    name: 'sly', summary: 'Does otherwise each time.',
    params: z.strictObject({ pair: pair(), size: amount(), every: z.string() }),
    inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '20m' }) }),
    run: ({ price }, p, ctx) => {
      runs += 1;
      const turn = runs;
      return price.pipe(filter(({ at }) => at % (2 * HOUR) === 0 && ctx.openIntents() === 0), map(({ at }) =>
        (at % (4 * HOUR) === 0 ? ctx.buy(SOL_USDC, p.size, `run ${turn}`) : ctx.sell(SOL_USDC, 'all', `run ${turn}`))));
    },
  });
  const { result } = await walk(priceAt, { strategies: [
    { ...DIP, name: 'sly', strategy: sly, rawParams: { pair: 'SOL/USDC', size: '25 USDC', every: '20m' } },
  ], folds: FOLDS.slice(0, 1), sets: [{}] });
  expect(result).toMatchObject({ deviation: { isSame: false, fault: undefined }, folds: [{ status: 'judged' }] });
});

describe('folds that prove nothing are named and excluded from averages', () => {
  it('when few or no rows were recorded out of sample or in-sample', async () => {
    const [, second, , fourth] = FOLDS;
    const { result } = await walk((at) => (within(at, second!.outOfSample) ? undefined
      : within(at, fourth!.outOfSample) && at % DAY > 0 ? undefined : priceAt(at)));
    expect(result.folds.map(({ status }) => status))
      .toStrictEqual(['judged', 'no_rows', 'judged', 'few_rows', 'judged']);
    expect(result.folds[1]!.reason).toBe('no row was received out of sample');
    expect(result.folds[3]!.reason).toMatch(/^only \d+ rows were received out of sample/);
    expect(result.judged).toBe(3);
    // What was not seen is no flat line: the curve has nothing there.
    expect(result.joined!.series.times.some((at) => within(at, second!.outOfSample))).toBe(false);
    const { inSample } = FOLDS[0]!;
    const { result: blind } = await walk(
      (at) => (at < inSample.to ? (at < START + 4 * HOUR ? priceAt(at) : undefined) : priceAt(at)),
      { folds: FOLDS.slice(0, 2) },
    );
    expect(blind.folds[0]).toMatchObject({
      status: 'no_choice', reason: 'no row was received in-sample', choice: undefined, outOfSample: undefined,
    });
    expect(blind).toMatchObject({ judged: 1, stability: { choices: 1, changes: 0 } });
  });

  it('when prices did not move, so that nothing was bought', async () => {
    const { outOfSample, inSample } = FOLDS[2]!;
    const { result: idle } = await walk((at) =>
      (within(at, { from: outOfSample.from - 4 * HOUR, to: outOfSample.to }) ? 150 : priceAt(at)));
    expect(idle.folds[2]).toMatchObject({
      status: 'no_swaps', reason: 'the choice made no swap out of sample', outOfSample: { fills: 0 },
    });
    expect([idle.judged, idle.joined!.series.times.some((at) => within(at, outOfSample))]).toStrictEqual([4, true]);
    const { result: still } = await walk(
      (at) => (within(at, { from: inSample.from - 4 * HOUR, to: inSample.to }) ? 150 : priceAt(at)),
      { folds: FOLDS.slice(2, 3) },
    );
    expect(still.folds[0]).toMatchObject({ status: 'no_choice', reason: 'none of 3 made a swap in-sample' });
  });

  it('when the objective has no figure, with the reason', async () => {
    const { result } = await walk(priceAt, { objective: 'calmar', folds: FOLDS.slice(0, 1) });
    expect(result.folds[0]).toMatchObject({ status: 'no_choice', reason: expect.stringMatching(
      /^none of 3 has a Calmar ratio in-sample: .*the data span .* days, less than 30 days$/,
    ) as string });
    expect([result.joined, result.efficiency, result.judged]).toStrictEqual([undefined, undefined, 0]);
  });

  it('when the strategy fails with the choice', async () => {
    const from = FOLDS[1]!.outOfSample.from;
    const fragile = defineStrategy({
      name: 'fragile', summary: 'Fails from some day on.',
      params: z.strictObject({ pair: pair(), size: amount(), every: z.string(), share: z.number() }),
      inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '20m' }) }),
      run: ({ price }, p, ctx) => price.pipe(
        map(({ at }) => { if (at >= from + 6 * HOUR) throw new Error('the sky fell'); return at; }),
        filter((at) => at % (2 * HOUR) === 0 && ctx.openIntents() === 0),
        map((at) => (at % (4 * HOUR) === 0 ? ctx.buy(SOL_USDC, p.size, 'its turn')
          : ctx.sell(SOL_USDC, { fraction: p.share }, 'its turn'))),
      ),
    });
    const strategies = [{
      ...DIP, name: 'fragile', strategy: fragile,
      rawParams: { pair: 'SOL/USDC', size: '25 USDC', every: '20m', share: 1 },
    }];
    const { result } = await walk(priceAt, {
      strategies, folds: FOLDS.slice(0, 3), sets: [{ fragile: { share: 1 } }, { fragile: { share: 0.5 } }],
    });
    expect(result.folds.map(({ status }) => status)).toStrictEqual(['judged', 'failed', 'no_choice']);
    expect(result.folds[1]!.reason).toMatch(/fragile stopped: .*the sky fell/);
    expect(result.folds[2]!.reason).toMatch(/none of 2 ran in-sample: .*the sky fell/);
  });

  it('when every parameter set is refused', async () => {
    const { result } =
      await walk(priceAt, { sets: [{ dip: { window: 1 } }, { dip: { k: -1 } }], folds: FOLDS.slice(0, 1) });
    expect(result.folds[0]).toMatchObject({
      status: 'no_choice', reason: expect.stringMatching(/^none of 2 ran in-sample: dip: window: /) as string,
    });
  });
});
