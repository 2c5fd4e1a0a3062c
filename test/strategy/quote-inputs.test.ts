import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Bar } from '../../src/market/bar.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { Pair } from '../../src/market/token.ts';
import type { QuoteLadder } from '../../src/strategy/index.ts';
import { bars, chainedOutput, quoteLadder, quoteRound, roundSpan, twoSided } from '../../src/strategy/index.ts';
import { buyingSol, PURCHASE, quote, sellingSol } from '../market/events.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';

const PAIR: Pair = { base: SOL, quote: USDC };
const usdc = (amount: bigint): { token: typeof USDC; amount: bigint } => ({ token: USDC, amount });
const sol = (amount: bigint): { token: typeof SOL; amount: bigint } => ({ token: SOL, amount });
const ONE_SOL = 1_000_000_000n;

/** A quote for four times the usual purchase. */
const large = (at: number): MarketEvent =>
  quote(USDC, SOL, { inAmount: 4n * PURCHASE, outAmount: 600_000_000n, at });

describe('a ladder', () => {
  const amounts = [usdc(PURCHASE), sol(ONE_SOL), usdc(4n * PURCHASE)];
  const { spec, further, assemble } = quoteLadder(PAIR, { amounts, every: '5s', weight: 2 });

  it('is a quote of each size', () => {
    expect([spec, ...further!]).toMatchObject([
      { kind: 'quote', inputMint: USDC.mint, amount: PURCHASE, everyMs: 5_000, weight: 2 },
      { kind: 'quote', inputMint: SOL.mint, amount: ONE_SOL, everyMs: 5_000, weight: 2 },
      { kind: 'quote', inputMint: USDC.mint, amount: 4n * PURCHASE, everyMs: 5_000, weight: 2 },
    ]);
  });

  it('emits once per round, with the newest price of each size in the order of the amounts', () => {
    const convert = assemble!();
    expect(convert(sellingSol(149_000, 1))).toEqual([]);
    expect(convert(buyingSol(150_000, 2))).toEqual([]);
    expect(convert(buyingSol(160_000, 3))).toEqual([]);
    const [ladder, ...more] = convert(large(4));
    expect(more).toEqual([]);
    expect(ladder!.at).toBe(4);
    expect(ladder!.rungs.map(({ at }) => at)).toEqual([3, 1, 4]);
    expect(ladder!.rungs[0]!.price).toBeCloseTo(160, 3);
    expect(convert(large(5))).toEqual([]);
  });

  it('finds back to rounds of one moment after a part of one is missing', () => {
    const convert = assemble!();
    const rounds = [
      // The first answer of the first round is missing.
      buyingSol(150_000, 2), large(4), sellingSol(149_000, 5_001), buyingSol(150_000, 5_002), large(5_004),
      sellingSol(149_000, 10_001), buyingSol(150_000, 10_002), large(10_004),
    ].flatMap((event) => convert(event)).map(({ rungs }) => rungs.map(({ at }) => at));
    expect(rounds).toEqual([[2, 5_001, 4], [5_002, 5_001, 5_004], [10_002, 10_001, 10_004]]);
  });

  it('remembers nothing of another run', () => {
    const first = assemble!();
    first(sellingSol(149_000, 1));
    first(buyingSol(150_000, 2));
    expect(assemble!()(large(3))).toEqual([]);
    expect(first(large(3))).toHaveLength(1);
  });

  it('may name one size twice', () => {
    const twice = quoteLadder(PAIR, { amounts: [usdc(PURCHASE), usdc(PURCHASE)], every: '5s' });
    expect(twice.assemble!()(buyingSol(150_000, 2))[0]!.rungs).toHaveLength(2);
  });

  it('has at least one size, and at most 32', () => {
    for (const size of [0, 33]) {
      expect(() => quoteLadder(PAIR, { amounts: Array.from({ length: size }, () => usdc(1n)), every: '5s' }))
        .toThrow(`expected 1 to 32 amounts of a ladder, got ${size}`);
    }
  });
});

describe('a round of quotes', () => {
  it('has the price of each pair, once per round', () => {
    const convert = quoteRound([
      { pair: PAIR, amount: usdc(PURCHASE) }, { pair: { base: FISH, quote: SOL }, amount: sol(ONE_SOL) },
    ], { every: '5s' }).assemble!();
    expect(convert(buyingSol(150_000, 1))).toEqual([]);
    const [round] = convert(quote(SOL, FISH, { inAmount: ONE_SOL, outAmount: 5_000_000n, at: 2 }));
    expect(round!.rungs.map(({ at }) => at)).toEqual([1, 2]);
    // 50 FISH for one SOL.
    expect(round!.rungs[1]!.price).toBeCloseTo(0.02, 12);
  });
});

describe('a two-sided quote', () => {
  it('says what a round trip costs', () => {
    const convert = twoSided(PAIR, { buy: usdc(PURCHASE), sell: sol(ONE_SOL), every: '5s' }).assemble!();
    expect(convert(buyingSol(151_000, 1))).toEqual([]);
    const [both] = convert(sellingSol(149_000, 2));
    expect(both).toMatchObject({ at: 2, buy: { at: 1 }, sell: { at: 2 } });
    expect(both!.mid).toBeCloseTo(150, 3);
    expect(both!.spread).toBeCloseTo(2 / 150, 5);
  });

  it('takes each amount in its own token', () => {
    expect(() => twoSided(PAIR, { buy: sol(1n), sell: usdc(1n), every: '5s' }))
      .toThrow('expected "buy" in USDC and "sell" in SOL, got SOL and USDC');
  });
});

const MINUTE = 60_000;
const START = 1_790_000_040_000 - (1_790_000_040_000 % MINUTE);

/** Returns the bars of a minute that prices of a sale, in dollars, lead to; times are seconds after a full minute. */
function barsOf(prices: readonly (readonly [second: number, price: number])[], poll = '10s'): readonly Bar[] {
  const convert = bars(PAIR, { every: '1m', poll, amount: sol(ONE_SOL) }).assemble!();
  return prices.flatMap(([second, price]) => convert(sellingSol(price * 1_000, START + second * 1_000)));
}

const bar = (minute: number, [open, high, low, close]: readonly number[], ticks: number): Bar => ({
  openAt: START + minute * MINUTE, closeAt: START + (minute + 1) * MINUTE,
  open: open!, high: high!, low: low!, close: close!, ticks,
});

describe('bars', () => {
  test('hold open, high, low and close of the prices of each minute, and come once it is over', () => {
    expect(barsOf([[5, 100], [15, 110], [25, 90], [35, 105]])).toEqual([]);
    expect(barsOf([[5, 100], [15, 110], [25, 90], [35, 105], [65, 1]])).toEqual([bar(0, [100, 110, 90, 105], 4)]);
  });

  test('end with a price at their very end, as an imported candle has it', () => {
    expect(barsOf([[5, 100], [60, 120], [61, 130], [120, 140]]))
      .toEqual([bar(0, [100, 120, 100, 120], 2), bar(1, [130, 140, 130, 140], 2)]);
  });

  test('begin with the first minute that was seen from its start', () => {
    expect(barsOf([[30, 100], [70, 110], [125, 1]])).toEqual([bar(1, [110, 110, 110, 110], 1)]);
  });

  test('mark a minute without a price', () => {
    const gap = { ...bar(1, [100, 100, 100, 100], 0), isGap: true };
    expect(barsOf([[5, 100], [185, 90]])).toEqual([
      bar(0, [100, 100, 100, 100], 1), gap, { ...gap, openAt: START + 2 * MINUTE, closeAt: START + 3 * MINUTE },
    ]);
  });

  test('begin again after a silence of more than a thousand bars', () => {
    const later = 1_002 * 60;
    expect(barsOf([[5, 100], [later + 5, 90], [later + 65, 80]]))
      .toEqual([bar(0, [100, 100, 100, 100], 1), bar(1_002, [90, 90, 90, 90], 1)]);
    expect(barsOf([[5, 100], [later - 55, 90]])).toHaveLength(1_001);
  });

  test('do not change by a price of an interval that is over', () => {
    expect(barsOf([[5, 100], [60, 100], [50, 500], [61, 90], [121, 80]]))
      .toEqual([bar(0, [100, 100, 100, 100], 2), bar(1, [90, 90, 90, 90], 1)]);
  });

  test('are at least twice as long as the interval of their quotes', () => {
    expect(() => bars(PAIR, { every: '1m', poll: '40s', amount: sol(ONE_SOL) }))
      .toThrow('expected bars of at least twice the interval of their quotes, 1m20s, got 1m');
  });

  test('follow one another without overlap, and never hold a price from after their end', () => {
    const step = fc.record({ wait: fc.integer({ min: 1, max: 200 }), price: fc.integer({ min: 1, max: 500 }) });
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let second = 0;
      const prices = steps.map(({ wait, price }): [number, number] => [second += wait, price]);
      const all = barsOf(prices);
      for (const [index, { openAt, closeAt, open, high, low, close, ticks, isGap }] of all.entries()) {
        if (index > 0) expect(openAt).toBe(all[index - 1]!.closeAt);
        const own = prices.filter(([at]) => START + at * 1_000 > openAt && START + at * 1_000 <= closeAt)
          .map(([, price]) => price);
        expect(ticks).toBe(own.length);
        expect(isGap === true).toBe(own.length === 0);
        if (own.length > 0)
          expect([open, high, low, close]).toEqual([own[0], Math.max(...own), Math.min(...own), own.at(-1)]);
      }
    }));
  });
});

/** Returns a purchase and a sale in one round, with the slots and times of their quotes. */
function roundOf(slots: readonly (bigint | undefined)[], times: readonly number[]): QuoteLadder {
  const { assemble } = quoteRound([
    { pair: PAIR, amount: usdc(PURCHASE) }, { pair: PAIR, amount: sol(ONE_SOL) },
  ], { every: '5s' });
  const convert = assemble!();
  const [bought, sold] = [buyingSol(150_000, times[0]!), sellingSol(149_000, times[1]!)];
  return [{ ...bought, contextSlot: slots[0] }, { ...sold, contextSlot: slots[1] }]
    .flatMap((event) => convert(event as MarketEvent))[0]!;
}

describe('a cycle of swaps', () => {
  it('carries what each swap brings to the next one, floored, and no more than was quoted for', () => {
    const quoted = roundOf([1n, 1n], [1, 2]);
    const [bought, sold] = quoted.rungs;
    const carried = bought!.outAmount / 5n;
    expect(chainedOutput(quoted, PURCHASE / 5n)).toBe((carried * sold!.outAmount) / sold!.inAmount);
    expect(chainedOutput(quoted, PURCHASE + 1n)).toBeUndefined();
  });

  it('is as far apart as its quotes, by time and by the slots that are stated', () => {
    expect(roundSpan(roundOf([7n, 4n], [100, 350]))).toEqual({ ms: 250, slots: 3 });
    expect(roundSpan(roundOf([undefined, 4n], [100, 100]))).toEqual({ ms: 0, slots: 0 });
    expect(roundSpan(roundOf([undefined, undefined], [100, 100]))).toEqual({ ms: 0, slots: 0 });
  });
});
