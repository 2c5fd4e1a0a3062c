import * as fc from 'fast-check';
import { from, Subject, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as packaged from 'trading-signals';
import type { Indicator } from '../../src/strategy/index.ts';
import { bollinger, indicate, over, previous, PricedQuote } from '../../src/strategy/index.ts';
import * as offered from '../../src/strategy/technical-indicators.ts';
import {
  ADX, ATR, BollingerBands, CCI, DonchianChannels, EMA, MACD, MFI, MOM, ROC, RSI, SeededEMA, SMA, StochasticOscillator,
  TEMA, TR, WilliamsR, WMA, WSMA,
} from '../../src/strategy/technical-indicators.ts';
import { StateParts } from '../../src/strategy/stateful.ts';
import { buyingSol } from '../market/events.ts';

/** Fifteen bars of the tests of Tulip Indicators (`tests/untest.txt`, 2016), whose results stand beside each case. */
const HIGH = [
  82.15, 81.89, 83.03, 83.30, 83.85, 83.90, 83.33, 84.30, 84.84, 85.00, 85.90, 86.58, 86.98, 88.00, 87.87,
];
const LOW = [81.29, 80.64, 81.31, 82.65, 83.07, 83.11, 82.49, 82.30, 84.15, 84.11, 84.03, 85.39, 85.76, 87.17, 87.01];
const CLOSE = [
  81.59, 81.06, 82.87, 83.00, 83.61, 83.15, 82.84, 83.99, 84.55, 84.36, 85.53, 86.54, 86.89, 87.77, 87.29,
];
const VOLUME = [
  5653100, 6447400, 7690900, 3831400, 4455100, 3798000, 3936200, 4732000, 4841300, 3915300, 6830800, 6694100, 5293600,
  7985800, 4807900,
];

interface TestBar {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** The opens are not part of the tables that are used here. */
const BARS: readonly TestBar[] = CLOSE.map((close, i) =>
  ({ open: close, high: HIGH[i]!, low: LOW[i]!, close, volume: VOLUME[i]! }));
const ofCloses = (closes: readonly number[]): TestBar[] =>
  closes.map((close) => ({ open: close, high: close, low: close, close, volume: 1 }));

type Make = () => Indicator<TestBar, unknown>;
const closes = <R>(create: () => Indicator<number, R>): (() => Indicator<Readonly<Record<'close', number>>, R>) =>
  over('close', create);

/** The close of 33 days, by which ChartSchool of StockCharts explains the index. */
const RSI_CLOSES = [
  44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931, 46.0328, 45.6140,
  46.2820, 46.2820, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439, 46.2122, 46.2521, 45.7137, 46.4515, 45.7835, 45.3548,
  44.0288, 44.1783, 44.2181, 44.5672, 43.4205, 42.6628, 43.1314,
];

/** The closes by which ChartSchool explains the exponential mean. */
const EMA_CLOSES = [
  22.27, 22.19, 22.08, 22.17, 22.18, 22.13, 22.23, 22.43, 22.24, 22.29, 22.15, 22.39, 22.38, 22.61, 23.36, 24.05, 23.75,
  23.83, 23.95, 23.63, 23.82, 23.87, 23.65, 23.19, 23.10, 23.33, 22.68, 23.10, 22.40, 22.17,
];
const EMA_TABLE = [
  22.22, 22.21, 22.24, 22.27, 22.33, 22.52, 22.80, 22.97, 23.13, 23.28, 23.34, 23.43, 23.51, 23.53, 23.47, 23.40, 23.39,
  23.26, 23.23, 23.08, 22.92,
];

interface Published {
  readonly name: string;
  readonly bars?: readonly TestBar[];
  readonly create: Make;
  /** The members of the results that the table gives, each with its last values. */
  readonly table: Readonly<Record<string, readonly number[]>>;
  /** Half of the last digit. */
  readonly digits?: number;
  /** How many results the table leaves out at its beginning. */
  readonly before?: number;
}

const PUBLISHED: readonly Published[] = [
  {
    name: 'RSI(14) of ChartSchool', bars: ofCloses(RSI_CLOSES), create: closes(() => new RSI(14)), digits: 2,
    table: { value: [
      70.53, 66.32, 66.55, 69.41, 66.36, 57.97, 62.93, 63.26, 56.06, 62.38, 54.71, 50.42, 39.99, 41.46, 41.87, 45.46,
      37.30, 33.08, 37.77,
    ] },
  },
  {
    name: 'RSI(5)', create: closes(() => new RSI(5)),
    table: { value: [72.034, 64.927, 75.936, 79.796, 74.713, 83.033, 87.478, 88.755, 91.483, 78.498] },
  },
  {
    name: 'SMA(5)', create: closes(() => new SMA(5)),
    table: { value: [82.426, 82.738, 83.094, 83.318, 83.628, 83.778, 84.254, 84.994, 85.574, 86.218, 86.804] },
  },
  {
    name: 'EMA(5), seeded with the first price', create: closes(() => new EMA(5)),
    table: { value: [82.714, 82.859, 82.853, 83.232, 83.671, 83.901, 84.444, 85.143, 85.725, 86.407, 86.701] },
  },
  {
    name: 'SeededEMA(10) of ChartSchool', bars: ofCloses(EMA_CLOSES), digits: 2,
    create: closes(() => new SeededEMA(10)), table: { value: EMA_TABLE },
  },
  {
    name: 'WMA(5)', create: closes(() => new WMA(5)),
    table: { value: [82.825, 83.066, 83.100, 83.399, 83.809, 84.053, 84.637, 85.399, 86.031, 86.763, 87.121] },
  },
  {
    name: 'WSMA(5), Wilder’s smoothing', create: closes(() => new WSMA(5)),
    table: { value: [82.426, 82.571, 82.625, 82.898, 83.228, 83.455, 83.870, 84.404, 84.901, 85.475, 85.838] },
  },
  {
    name: 'TEMA(5)', create: closes(() => new TEMA(5)), table: { value: [87.042, 87.819, 87.721] },
  },
  {
    name: 'MACD(2, 5, 9)', create: closes(() => new MACD(new EMA(2), new EMA(5), new EMA(9))),
    table: {
      macd: [0.618, 0.351, 0.111, 0.416, 0.578, 0.422, 0.684, 0.927, 0.891, 0.979, 0.621],
      signal: [0.618, 0.564, 0.474, 0.462, 0.485, 0.473, 0.515, 0.597, 0.656, 0.721, 0.701],
      histogram: [0.000, -0.213, -0.363, -0.046, 0.093, -0.050, 0.169, 0.329, 0.235, 0.258, -0.080],
    },
  },
  {
    name: 'ROC(5), a fraction', create: closes(() => new ROC(5)),
    table: { value: [0.019, 0.022, 0.014, 0.019, 0.009, 0.029, 0.045, 0.035, 0.038, 0.035] },
  },
  {
    name: 'MOM(5)', create: closes(() => new MOM(5)),
    table: { value: [1.560, 1.780, 1.120, 1.550, 0.750, 2.380, 3.700, 2.900, 3.220, 2.930] },
  },
  {
    name: 'BollingerBands(5, 2), population deviation', create: closes(() => new BollingerBands(5, 2)),
    table: {
      lower: [80.530, 80.987, 82.533, 82.472, 82.418, 82.435, 82.511, 83.143, 83.536, 83.870, 85.289],
      middle: [82.426, 82.738, 83.094, 83.318, 83.628, 83.778, 84.254, 84.994, 85.574, 86.218, 86.804],
      upper: [84.322, 84.489, 83.655, 84.164, 84.838, 85.121, 85.997, 86.845, 87.612, 88.566, 88.319],
    },
  },
  {
    name: 'TR', create: () => new TR(),
    table: { value: [
      0.860, 1.250, 1.970, 0.650, 0.850, 0.790, 0.840, 2.000, 0.850, 0.890, 1.870, 1.190, 1.220, 1.110, 0.860,
    ] },
  },
  {
    name: 'ATR(5)', create: () => new ATR(5),
    table: { value: [1.116, 1.051, 1.009, 1.207, 1.136, 1.086, 1.243, 1.233, 1.230, 1.206, 1.137] },
  },
  {
    name: 'ADX(5)', create: () => new ADX(5),
    table: { value: [41.384, 44.288, 49.422, 54.918, 59.987, 65.292, 67.355] },
  },
  {
    name: 'StochasticOscillator(5, 3, 3)',
    create: () => new StochasticOscillator({ kPeriod: 5, kSlowingPeriod: 3, dPeriod: 3 }),
    table: {
      stochK: [77.385, 83.126, 84.867, 88.361, 95.246, 96.740, 91.091],
      stochD: [75.702, 78.011, 81.793, 85.452, 89.491, 93.449, 94.359],
    },
  },
  {
    name: 'WilliamsR(5)', create: () => new WilliamsR(5),
    table: { value: [
      -7.477, -23.006, -40.927, -15.500, -11.417, -23.704, -10.278, -0.935, -3.051, -5.793, -17.884,
    ] },
  },
  {
    name: 'CCI(5)', create: () => new CCI(5), before: 4,
    table: { value: [166.667, 82.020, 95.501, 130.912, 99.163, 116.342, 71.928] },
  },
  {
    name: 'MFI(5)', create: () => new MFI(5),
    table: { value: [61.172, 67.308, 62.796, 64.661, 45.238, 67.841, 85.578, 85.963, 87.504, 84.647] },
  },
  {
    // Its maxima and minima are the rows "max 5" and "min 5" of the same tests, applied to closes.
    name: 'DonchianChannels(5)', bars: ofCloses(CLOSE), create: () => new DonchianChannels(5),
    table: {
      upper: [83.610, 83.610, 83.610, 83.990, 84.550, 84.550, 85.530, 86.540, 86.890, 87.770, 87.770],
      lower: [81.060, 81.060, 82.840, 82.840, 82.840, 82.840, 82.840, 83.990, 84.360, 84.360, 85.530],
    },
  },
  {
    name: 'DonchianChannels(5) of the previous bars', bars: ofCloses(CLOSE),
    create: previous(() => new DonchianChannels(5)),
    table: {
      upper: [83.610, 83.610, 83.610, 83.990, 84.550, 84.550, 85.530, 86.540, 86.890, 87.770],
      lower: [81.060, 81.060, 82.840, 82.840, 82.840, 82.840, 82.840, 83.990, 84.360, 84.360],
    },
  },
];

function valuesOf(create: Make, bars: readonly TestBar[]): unknown[] {
  const values: unknown[] = [];
  from(bars).pipe(indicate(create)).subscribe(({ value }) => { values.push(value); });
  return values;
}

function memberOf(value: unknown, member: string): number {
  return typeof value === 'number' ? value : (value as Readonly<Record<string, number>>)[member]!;
}

/** Returns the results of a strategy that is restarted after some bars, with the inputs that it kept. */
function restartedAfter(restart: number, create: Make, bars: readonly TestBar[], inputs = 20): unknown[] {
  const values: unknown[] = [];
  let text: string | undefined;
  for (const part of [bars.slice(0, restart), bars.slice(restart)]) {
    const parts = new StateParts(text, () => undefined);
    const context = { stateful: parts.open.bind(parts) };
    from(part).pipe(indicate(create, { keep: { context, name: 'kept', inputs } }))
      .subscribe(({ value }) => { values.push(value); });
    text = parts.take();
  }
  return values;
}

describe.each(PUBLISHED)('$name', ({ bars = BARS, create, table, digits = 3, before = 0 }) => {
  it('gives the published values, from the first stable one on', () => {
    const values = valuesOf(create, bars);
    for (const [member, expected] of Object.entries(table)) {
      expect(values).toHaveLength(before + expected.length);
      const deviation = Math.max(...expected.map((value, i) => Math.abs(memberOf(values[before + i], member) - value)));
      expect(deviation).toBeLessThanOrEqual(0.5 * 10 ** -digits + 1e-9);
    }
  });

  it('gives the same values after a restart at any bar, with kept inputs', () => {
    const values = valuesOf(create, bars);
    for (let restart = 0; restart <= bars.length; restart += 1)
      expect(restartedAfter(restart, create, bars)).toStrictEqual(values);
  });
});

describe('EMA(10) of ChartSchool', () => {
  it('approaches the published values, whose first one is a mean of ten prices instead of the first price', () => {
    const values = valuesOf(closes(() => new EMA(10)), ofCloses(EMA_CLOSES)) as number[];
    expect(values).toHaveLength(EMA_TABLE.length);
    // The two differ by what is left of the first values: a factor of 9/11 a price.
    const seeds = Math.abs(values[0]! - 22.221);
    expect(seeds).toBeGreaterThan(0);
    EMA_TABLE.forEach((value, i) => {
      expect(Math.abs(values[i]! - value)).toBeLessThanOrEqual(0.005 + seeds * (9 / 11) ** i + 1e-9);
    });
  });
});

describe('z of Bollinger bands', () => {
  it('is the distance from the published mean in published population deviations', () => {
    // "sma 5" and "stddev 5" of Tulip Indicators.
    const mean = [82.426, 82.738, 83.094, 83.318, 83.628, 83.778, 84.254, 84.994, 85.574, 86.218, 86.804];
    const deviation = [0.948, 0.875, 0.280, 0.423, 0.605, 0.671, 0.871, 0.926, 1.019, 1.174, 0.758];
    const zs: number[] = [];
    from(CLOSE.map((price, at) => new PricedQuote(buyingSol(150_000, at), price))).pipe(bollinger(5, 2))
      .subscribe(({ z }) => { zs.push(z); });
    expect(zs).toHaveLength(mean.length);
    zs.forEach((z, i) => { expect(z).toBeCloseTo((CLOSE[i + 4]! - mean[i]!) / deviation[i]!, 2); });
  });
});

const price = fc.double({ min: 0.01, max: 1e6, noNaN: true });
const prices = fc.array(price, { minLength: 1, maxLength: 60 });
const length = fc.integer({ min: 2, max: 20 });

const numbersOf = <R>(create: () => Indicator<number, R>, inputs: readonly number[]): R[] => {
  let values: R[] = [];
  from(inputs).pipe(indicate(create), toArray()).subscribe((all) => { values = all.map(({ value }) => value); });
  return values;
};

describe('the relative strength index', () => {
  it('stays within 0 and 100, and does not depend on the unit of the price', () => {
    fc.assert(fc.property(prices, length, fc.integer({ min: -10, max: 10 }), (inputs, n, power) => {
      const values = numbersOf(() => new RSI(n), inputs);
      expect(values).toHaveLength(Math.max(0, inputs.length - n));
      expect(values.every((value) => value >= 0 && value <= 100)).toBe(true);
      // A power of two changes no digit.
      expect(numbersOf(() => new RSI(n), inputs.map((input) => input * 2 ** power))).toStrictEqual(values);
    }));
  });

  it('is 100 after gains alone, 0 after losses alone, and 50 while nothing changes', () => {
    const rising = Array.from({ length: 20 }, (_, i) => 100 + i);
    expect(numbersOf(() => new RSI(14), rising).at(-1)).toBe(100);
    expect(numbersOf(() => new RSI(14), rising.toReversed()).at(-1)).toBe(0);
    expect(numbersOf(() => new RSI(14), rising.map(() => 100))).toStrictEqual([50, 50, 50, 50, 50, 50]);
    expect(numbersOf(() => new RSI(14), [...rising.map(() => 100), 101]).at(-1)).toBe(100);
  });

  it('can replace its last input, also the one that made the first change', () => {
    const index = new RSI(2);
    for (const input of [5, 5, 5]) index.add(input);
    expect(index.getResult()).toBe(50);
    index.add(6);
    expect(index.getResult()).toBe(100);
    index.replace(5);
    expect(index.getResult()).toBe(50);
    index.replace(4);
    expect(index.getResult()).toBe(0);
  });
});

describe('a seeded exponential mean', () => {
  it('can replace its last input, while it is seeded and after that', () => {
    const mean = new SeededEMA(3);
    expect([1, 2].map((input) => mean.add(input))).toEqual([1, 1.5]);
    expect([mean.replace(5), mean.isStable, mean.getResult()]).toEqual([3, false, null]);
    expect([mean.add(6), mean.isStable, mean.getResult()]).toEqual([4, true, 4]);
    expect([mean.replace(9), mean.getResult()]).toEqual([5, 5]);
    expect([mean.add(7), mean.replace(9), mean.add(3)]).toEqual([6, 7, 5]);
  });

  it('makes MACD with a simple mean as the seed of each line', () => {
    // Means of two and three: (2, 4) 3, then 5, 7.67; (2, 4, 6) 4, then 6.5. MACD 1, 1.17; the signal of one is MACD.
    const lines = new MACD(new SeededEMA(2), new SeededEMA(3), new SeededEMA(2));
    for (const input of [2, 4, 6]) lines.add(input);
    expect(lines.getResult()!.macd).toBeCloseTo(1, 12);
    lines.add(9);
    expect(lines.getResult()).toMatchObject({
      macd: expect.closeTo(23 / 3 - 6.5, 12), signal: expect.closeTo((1 + 23 / 3 - 6.5) / 2, 12),
    });
  });
});

describe('averages', () => {
  it.each([
    ['SMA', (n: number) => new SMA(n)], ['EMA', (n: number) => new EMA(n)], ['WMA', (n: number) => new WMA(n)],
    ['WSMA', (n: number) => new WSMA(n)],
  ] as const)('%s of a constant is that constant, and lies within the prices otherwise', (_name, create) => {
    fc.assert(fc.property(prices, length, (inputs, n) => {
      const [first = 1] = inputs;
      for (const value of numbersOf(() => create(n), inputs.map(() => first)))
        expect(Math.abs(value / first - 1)).toBeLessThan(1e-12);
      for (const value of numbersOf(() => create(n), inputs)) {
        expect(value).toBeGreaterThanOrEqual(Math.min(...inputs) * (1 - 1e-12));
        expect(value).toBeLessThanOrEqual(Math.max(...inputs) * (1 + 1e-12));
      }
    }));
  });
});

describe('indicators of bars', () => {
  const bar = fc.tuple(price, price, price).map(([a, b, c]): TestBar => {
    const [low, close, high] = [a, b, c].toSorted((x, y) => x - y) as [number, number, number];
    return { open: close, high, low, close, volume: 1 };
  });
  const bars = fc.array(bar, { maxLength: 60 });

  it('scale with the unit of the price, or do not depend on it', () => {
    fc.assert(fc.property(bars, length, (inputs, n) => {
      const doubled = inputs.map(({ open, high, low, close }) =>
        ({ open: open * 4, high: high * 4, low: low * 4, close: close * 4, volume: 1 }));
      expect(valuesOf(() => new ATR(n), doubled))
        .toStrictEqual((valuesOf(() => new ATR(n), inputs) as number[]).map((value) => value * 4));
      expect(valuesOf(() => new ADX(n), doubled)).toStrictEqual(valuesOf(() => new ADX(n), inputs));
    }));
  });

  it('stay within their bounds', () => {
    fc.assert(fc.property(bars, length, (inputs, n) => {
      for (const value of valuesOf(() => new ATR(n), inputs) as number[]) expect(value).toBeGreaterThanOrEqual(0);
      for (const value of valuesOf(() => new ADX(n), inputs) as number[]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(100 + 1e-9);
      }
      const stochastic = (): Indicator<TestBar, { readonly stochK: number }> =>
        new StochasticOscillator({ kPeriod: n, kSlowingPeriod: 3, dPeriod: 3 });
      for (const { stochK } of valuesOf(stochastic, inputs) as { stochK: number }[]) {
        expect(stochK).toBeGreaterThanOrEqual(-1e-9);
        expect(stochK).toBeLessThanOrEqual(100 + 1e-9);
      }
    }));
  });

  it('of the previous bars are what the same indicator said one bar before', () => {
    fc.assert(fc.property(bars, length, (inputs, n) => {
      const now = valuesOf(() => new DonchianChannels(n), inputs);
      expect(valuesOf(previous(() => new DonchianChannels(n)), inputs)).toStrictEqual(now.slice(0, -1));
    }));
  });
});

describe('an average directional index', () => {
  it('recovers from a flat beginning, where it divides zero by zero', () => {
    const flat = Array.from({ length: 12 }, () => 100);
    const moving = Array.from({ length: 30 }, (_, i) => 100 + i % 7);
    const bars = new Subject<TestBar>();
    const shown: number[] = [];
    bars.pipe(indicate(() => new ADX(5))).subscribe(({ value }) => { shown.push(value); });
    for (const one of ofCloses([...flat, ...moving])) bars.next(one);
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.every(Number.isFinite)).toBe(true);
  });
});

describe('the list of indicators', () => {
  it('offers each class of the package that is an indicator, and one of its own', () => {
    const bases = [
      'IndicatorSeries', 'MovingAverage', 'NotEnoughDataError', 'TechnicalIndicator', 'ThresholdCrossSeries',
      'TrendIndicator', 'TrendIndicatorSeries', 'ZeroCrossSeries',
    ];
    const classes = Object.entries(packaged)
      .filter(([, value]) => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value)))
      .map(([name]) => name).filter((name) => !bases.includes(name));
    expect(Object.keys(offered).toSorted()).toStrictEqual([...classes, 'SeededEMA'].toSorted());
    expect(classes.length).toBeGreaterThan(100);
  });
});
