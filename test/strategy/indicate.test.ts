import * as fc from 'fast-check';
import type { Observable } from 'rxjs';
import { EMPTY, from, map, NEVER, of, Subject, throwError, toArray } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { placeOf } from '../../src/core/throw-place.ts';
import type { Bar, Indicator, KeepInputs } from '../../src/strategy/index.ts';
import { indicate, over, previous, PricedQuote, settled } from '../../src/strategy/index.ts';
import { StateParts } from '../../src/strategy/stateful.ts';
import { ATR, DonchianChannels, EMA, MACD, ROC, RSI, SMA, VWAP } from '../../src/strategy/technical-indicators.ts';
import { strategy, start, alerts } from '../engine/runs.ts';
import { buyingSol } from '../market/events.ts';

/** Returns what a stream emits at once, and the error that ended it. */
function shown<T>(stream: Observable<T>): { readonly values: T[]; readonly error: unknown } {
  const values: T[] = [];
  let error: unknown;
  stream.subscribe({ next: (value) => { values.push(value); }, error: (thrown: unknown) => { error = thrown; } });
  return { values, error };
}

const barOf = (close: number, i: number): Bar => ({
  openAt: i * 60_000, closeAt: (i + 1) * 60_000, open: close, high: close + 1, low: close - 1, close, ticks: 3,
});
const bars = (closes: readonly number[]): Observable<Bar> => from(closes.map(barOf));
/** An indicator whose result has members of several kinds. */
const half = (): Indicator<number, { readonly half: number; readonly text: string; readonly none: null }> =>
  ({ isStable: true, add: (input) => ({ half: 1 / input, text: 'a', none: null }) });
/** Returns how many bars closed above a channel. */
const breakouts = (all: readonly { readonly input: Bar; readonly value: { readonly upper: number } }[]): number =>
  all.filter(({ input, value }) => input.close > value.upper).length;
const keep = (parts: StateParts, inputs: number): KeepInputs =>
  ({ context: { stateful: parts.open.bind(parts) }, name: 'average', inputs });
const quotesOf = (prices: readonly number[]): Observable<PricedQuote> =>
  from(prices.map((price, at) => new PricedQuote(buyingSol(150_000, at), price)));

describe('the operator', () => {
  it('emits each number with the result, from the first stable one on', () => {
    expect(shown(of(1, 2, 3, 4).pipe(indicate(() => new SMA(3)))).values).toStrictEqual([
      { input: 3, isStable: true, value: 2 }, { input: 4, isStable: true, value: 3 },
    ]);
  });

  it('waits for results that the indicator returns before it is stable', () => {
    // The first results of an EMA are returned at once, while its own `isStable` is false.
    expect(new EMA(3).add(1)).toBe(1);
    expect(shown(of(1, 2, 3, 4).pipe(indicate(() => new EMA(3)))).values.map(({ input }) => input)).toEqual([3, 4]);
  });

  it('takes the price of a quote, and passes the quote on', () => {
    const { values } = shown(quotesOf([10, 20, 30]).pipe(indicate(() => new SMA(2))));
    expect(values.map(({ input, value }) => [input.at, input.price, value])).toEqual([[1, 20, 15], [2, 30, 25]]);
  });

  it('gives bars to indicators of bars, and a member of them to indicators of numbers', () => {
    const { values } = shown(bars([10, 12, 14]).pipe(indicate({
      range: () => new ATR(2), mean: over('close', () => new SMA(2)),
      middle: over((bar: Bar) => (bar.high + bar.low) / 2, () => new SMA(1)),
    })));
    // True ranges 2, 3, 3: the mean of the first two, then Wilder's step of a half.
    expect(values.map(({ range, mean, middle }) => [range, mean, middle])).toEqual([[2.5, 11, 12], [2.75, 13, 14]]);
    expect(values[0]!.input).toStrictEqual(barOf(12, 1));
  });

  it('emits several results of the same element, once all are stable', () => {
    const { values } = shown(of(1, 2, 3, 4, 5).pipe(indicate({ fast: () => new SMA(2), slow: () => new SMA(4) })));
    expect(values).toStrictEqual([
      { input: 4, isStable: true, fast: 3.5, slow: 2.5 }, { input: 5, isStable: true, fast: 4.5, slow: 3.5 },
    ]);
  });

  it('says on demand that it is not stable yet, and which results there are', () => {
    const group = { fast: () => new SMA(1), slow: () => new SMA(2) };
    expect(shown(of(1, 2).pipe(indicate(group, { emit: 'always' }))).values).toStrictEqual([
      { input: 1, isStable: false, fast: 1, slow: undefined }, { input: 2, isStable: true, fast: 2, slow: 1.5 },
    ]);
    expect(shown(of(1).pipe(indicate(() => new SMA(2), { emit: 'always' }))).values)
      .toStrictEqual([{ input: 1, isStable: false, value: undefined }]);
  });

  it('starts over with each subscription', () => {
    const means = of(1, 2).pipe(indicate(() => new SMA(2)));
    expect(shown(means)).toStrictEqual(shown(means));
  });

  it('passes on the end and the error of its source', () => {
    const reason = new Error('the source failed');
    expect(shown(throwError(() => reason).pipe(indicate<number, number>(() => new SMA(2)))).error).toBe(reason);
    let all: unknown;
    EMPTY.pipe(indicate<number, number>(() => new SMA(2)), toArray()).subscribe((values) => { all = values; });
    expect(all).toEqual([]);
  });

  it('has typed results', () => {
    const numbers: Observable<number> = NEVER;
    const whole: Observable<Bar> = NEVER;
    const rsi = numbers.pipe(indicate(() => new RSI(14)));
    expectTypeOf(rsi).toEqualTypeOf<
      Observable<{ readonly input: number; readonly isStable: true } & { readonly value: number }>>();
    const both = whole.pipe(indicate({
      channel: () => new DonchianChannels(20),
      macd: over('close', () => new MACD(new EMA(12), new EMA(26), new EMA(9))),
    }), map(({ channel, macd, input }) => [channel.upper, macd.histogram, input.closeAt]));
    expectTypeOf(both).toEqualTypeOf<Observable<number[]>>();
    const perhaps = numbers.pipe(indicate(() => new RSI(14), { emit: 'always' }), map(({ value }) => value));
    expectTypeOf(perhaps).toEqualTypeOf<Observable<number | undefined>>();
    const refused = [
      // @ts-expect-error An index of numbers takes no bars: over('close', …) chooses.
      () => whole.pipe(indicate(() => new RSI(14))),
      // @ts-expect-error Bars of quotes have no volume for certain.
      () => whole.pipe(indicate(() => new VWAP(5))),
      // @ts-expect-error Numbers have no high and low.
      () => numbers.pipe(indicate(() => new ATR(14))),
    ];
    expect(refused).toHaveLength(3);
  });
});

describe('bad input', () => {
  it.each([Number.NaN, Infinity, -Infinity])('%d stops the stream with the line of the call', (bad) => {
    const { values, error } = shown(of(1, 2, bad, 3).pipe(indicate(() => new SMA(2))));
    expect(values).toHaveLength(1);
    expect(error).toMatchObject({ code: 'STRATEGY_INVALID', message: expect.stringContaining(`got input ${bad}`) });
    expect(placeOf(error)).toMatch(/^indicate\.test\.ts:\d+:\d+$/);
  });

  it.each(['open', 'high', 'low', 'close', 'volume'])('a bar without a finite %s does too', (member) => {
    const bad = { ...barOf(1, 0), volume: 1, [member]: Number.NaN };
    const { error } = shown(of(bad).pipe(indicate(over((bar: Bar) => bar, () => new ATR(2)))));
    expect(error).toMatchObject({ message: expect.stringContaining(`got ${member} NaN`) });
  });

  it('a member that does not exist is named', () => {
    const untyped = of({ close: 1 }) as unknown as Observable<{ readonly spread: number }>;
    const { error } = shown(untyped.pipe(indicate(over('spread', () => new SMA(2)))));
    expect(error).toMatchObject({ message: expect.stringContaining('got spread undefined') });
    expect(shown(untyped.pipe(indicate(over(() => Number.NaN, () => new SMA(2))))).error)
      .toMatchObject({ message: expect.stringContaining('got what is picked NaN') });
    expect(shown((of('1') as unknown as Observable<number>).pipe(indicate(() => new SMA(2)))).error)
      .toMatchObject({ message: expect.stringContaining('got input 1') });
  });

  it('an indicator that throws is reported with the line of the call', () => {
    const broken: Indicator<number, number> = {
      isStable: true, add: () => { throw new RangeError('a bad indicator'); },
    };
    const { error } = shown(of(1).pipe(indicate(() => broken)));
    expect(error).toMatchObject({ code: 'STRATEGY_INVALID', message: 'a bad indicator' });
    expect((error as Error).cause).toBeInstanceOf(RangeError);
    expect(placeOf(error)).toMatch(/^indicate\.test\.ts:/);
  });

  it('a parameter that an indicator refuses is reported where it is given', () => {
    expect(() => indicate<number, number>(() => new RSI(14, undefined, { overbought: 1, oversold: 2 })))
      .toThrow('oversold');
  });

  it('a result may not have the name of another member', () => {
    const untyped = { input: () => new SMA(1) } as unknown as Readonly<Record<'mean', () => SMA>>;
    expect(() => indicate<number, typeof untyped>(untyped)).toThrow('another name for a result than "input"');
  });

  it('of one strategy stops it, and no other', () => {
    const faulty = strategy('faulty', ({ price }, ctx) => (price as Observable<PricedQuote>).pipe(
      map(({ at }) => (at === 2 ? Number.NaN : at)), indicate(() => new SMA(1)),
      map(({ input }) => ctx.alert('info', `saw ${input}`)),
    ));
    const sound = strategy('sound', ({ price }, ctx) => (price as Observable<PricedQuote>).pipe(
      indicate(() => new SMA(1)), map(({ input }) => ctx.alert('info', `saw ${input.at}`)),
    ));
    const run = start([faulty, sound]);
    for (const at of [1, 2, 3]) run.engine.accept(buyingSol(150_000, at), at);
    expect(alerts(run, 'sound')).toEqual(['1 saw 1', '2 saw 2', '3 saw 3']);
    expect(alerts(run, 'faulty')[0]).toBe('1 saw 1');
    expect(alerts(run).filter((text) => text.includes('finite numbers'))).toHaveLength(1);
  });
});

describe('a result that is no finite number', () => {
  it('is not emitted, and the indicator starts over', () => {
    // The rate of change from 0 is infinite.
    const { values } = shown(of(1, 0, 2, 3, 4, 5).pipe(indicate(() => new ROC(1))));
    expect(values.map(({ input, value }) => [input, value])).toEqual([[0, -1], [4, 1 / 3], [5, 0.25]]);
  });

  it('is not emitted as a member of a result either', () => {
    expect(shown(of(2, 0, 4).pipe(indicate(half))).values.map(({ value }) => value.half)).toEqual([0.5, 0.25]);
  });
});

describe('the result of the previous element', () => {
  it('is that before the present one, and stable one element later', () => {
    const { values } = shown(of(1, 2, 3, 4).pipe(
      indicate({ now: () => new SMA(1), before: previous(() => new SMA(2)) }),
    ));
    expect(values.map(({ now, before }) => [now, before])).toEqual([[3, 1.5], [4, 2.5]]);
  });

  it('tells a breakout, which the channel of the present bar cannot', () => {
    const climbing = bars([10, 11, 12, 20]);
    expect(breakouts(shown(climbing.pipe(indicate(() => new DonchianChannels(2)))).values)).toBe(0);
    expect(breakouts(shown(climbing.pipe(indicate(previous(() => new DonchianChannels(2))))).values)).toBe(1);
  });
});

describe('a settled indicator', () => {
  it('counts after so many inputs, but never before it is stable', () => {
    const stableAt = (inputs: number) => shown(of(1, 2, 3, 4, 5).pipe(indicate(settled(inputs, () => new SMA(2)))))
      .values.map(({ input, value }) => [input, value]);
    expect(stableAt(4)).toEqual([[4, 3.5], [5, 4.5]]);
    expect(stableAt(1)).toEqual(shown(of(1, 2, 3, 4, 5).pipe(indicate(() => new SMA(2))))
      .values.map(({ input, value }) => [input, value]));
    expect([1, 4].map((inputs) => settled(inputs, () => new SMA(2))().getRequiredInputs!())).toEqual([2, 4]);
  });
});

describe('kept inputs', () => {
  const SIZE = 10;

  /** A strategy's state over its lives. */
  class Lives {
    text: string | undefined;
    /** Shows a life numbers, of which the first `warming` are its warm-up, and returns the results. */
    show(numbers: readonly number[], { warming = 0, size = SIZE, create = () => new EMA(4) }: {
      readonly warming?: number; readonly size?: number; readonly create?: () => Indicator<number, number>;
    } = {}): number[] {
      const parts = new StateParts(this.text, () => undefined);
      if (warming > 0) parts.hold();
      const values: number[] = [];
      const source = new Subject<number>();
      source.pipe(indicate(create, { keep: keep(parts, size) })).subscribe(({ value }) => { values.push(value); });
      numbers.forEach((number, i) => {
        if (i === warming) parts.release();
        source.next(number);
      });
      this.text = parts.take();
      return values;
    }
  }

  const numbers = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { maxLength: 70 });

  it('give the same results, bit for bit, whenever the strategy is restarted', () => {
    fc.assert(fc.property(numbers, fc.array(fc.nat(70), { maxLength: 6 }), (inputs, cuts) => {
      const expected = new Lives().show(inputs);
      const restarted = new Lives();
      const ends = [...cuts.map((cut) => Math.min(cut, inputs.length)), inputs.length].toSorted((a, b) => a - b);
      const results = ends.flatMap((end, i) => restarted.show(inputs.slice(i === 0 ? 0 : ends[i - 1]!, end)));
      expect(results).toStrictEqual(expected);
    }));
  });

  it('approach the results of all inputs: what is forgotten weighs 0.6 ^ 40 in an EMA of 4', () => {
    const inputs = Array.from({ length: 500 }, (_, i) => 100 + 30 * Math.sin(i / 7));
    const endless = shown(from(inputs).pipe(indicate(() => new EMA(4)))).values.map(({ value }) => value);
    const kept = new Lives().show(inputs, { size: 40 });
    expect(kept).toHaveLength(endless.length);
    expect(Math.max(...kept.map((value, i) => Math.abs(value - endless[i]!)))).toBeLessThan(30 * 0.6 ** 40 * 2);
    expect(kept).not.toStrictEqual(endless);
  });

  it('are at most twice as many as asked for', () => {
    const lives = new Lives();
    lives.show(Array.from({ length: 95 }, (_, i) => i));
    expect(JSON.parse(lives.text!)).toEqual({
      average: { count: 95, length: 15, text: '80\n81\n82\n83\n84\n85\n86\n87\n88\n89\n90\n91\n92\n93\n94\n' },
    });
  });

  it('begin with the warm-up where nothing is kept, and with what is kept otherwise', () => {
    const inputs = Array.from({ length: 12 }, (_, i) => i * i);
    const expected = new Lives().show(inputs);
    const lives = new Lives();
    expect(lives.show(inputs.slice(0, 9), { warming: 7 })).toStrictEqual(expected.slice(0, 6));
    // The kept state is younger than what a warm-up repeats.
    expect(lives.show([1, 2, 3, ...inputs.slice(9)], { warming: 3 })).toStrictEqual(expected.slice(6));
  });

  it('are bars too', () => {
    const closes = Array.from({ length: 30 }, (_, i) => 100 + i % 5);
    let text: string | undefined;
    const results = [[0, 17], [17, 30]].flatMap(([begin, end]) => {
      const parts = new StateParts(text, () => undefined);
      const { values } = shown(from(closes.map(barOf).slice(begin, end)).pipe(indicate(() => new ATR(3), {
        keep: keep(parts, 40),
      })));
      text = parts.take();
      return values;
    });
    expect(results).toStrictEqual(shown(bars(closes).pipe(indicate(() => new ATR(3)))).values);
  });

  it('hold no input that is refused, so that a restart is possible', () => {
    const parts = new StateParts(undefined, () => undefined);
    const { error } = shown(of(1, 2, Number.NaN).pipe(indicate(() => new EMA(2), { keep: keep(parts, 4) })));
    expect(error).toMatchObject({ code: 'STRATEGY_INVALID', message: expect.stringContaining('got input NaN') });
    expect(placeOf(error)).toMatch(/^indicate\.test\.ts:/);
    expect(JSON.parse(parts.take())).toMatchObject({ average: { count: 2, text: '1\n2\n' } });
  });

  it('need to be as many as the indicator needs, and serve one stream', () => {
    expect(() => new Lives().show([], { size: 3 })).toThrow('expected a whole number of at least 4');
    expect(() => new Lives().show([], { size: 4.5 })).toThrow('got 4.5');
    expect(() => new Lives().show([], { size: 4, create: previous(() => new EMA(4)) })).toThrow('at least 5');
    const twice = of(1).pipe(indicate(() => new EMA(4), { keep: keep(new StateParts(undefined, () => undefined), 4) }));
    expect(shown(twice).error).toBeUndefined();
    expect(shown(twice).error).toMatchObject({ message: expect.stringContaining('serve one stream') });
  });
});
