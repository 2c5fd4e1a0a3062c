import { describe, expect, it } from 'vitest';
import { pricedProbability, probabilityText, stateText } from '../../../src/cli/output/prediction-text.ts';
import type { MicroUsd } from '../../../src/core/amount.ts';

const usd = (value: number): MicroUsd => BigInt(value) as MicroUsd;

describe('the state of a market', () => {
  it.each([
    [{ status: 'open', result: undefined }, 'open'],
    [{ status: 'closed', result: undefined }, 'closed'],
    [{ status: 'closed', result: 'yes' }, 'closed, YES won'],
    // As the live service writes the market of a position that is over.
    [{ status: 'no', result: 'no' }, 'closed, NO won'],
    [{ status: 'yes', result: undefined }, 'closed, YES won'],
    [{ status: 'halted', result: undefined }, 'halted'],
    [{ status: '\u001b[2J', result: undefined }, '\\u001b[2J'],
  ])('%j is told as %s', (market, text) => {
    expect(stateText(market)).toBe(text);
  });
});

describe('issue 13.11: the text of the probability of YES', () => {
  it.each([
    [530_000, 550_000, 'at 54.00 %'],
    [450_000, 550_000, 'at 50.00 %'],
    [30_000, 970_000, 'between 3.00 % and 97.00 %'],
    [440_000, 550_000, 'between 44.00 % and 55.00 %'],
    [600_000, 590_000, 'crossed'],
    [310_000, undefined, 'above 31.00 %'],
    [undefined, 690_000, 'below 69.00 %'],
    [undefined, undefined, ''],
  ])('bid at %s and asked at %s is "%s"', (bid, ask, text) => {
    expect(probabilityText({ bid, ask })).toBe(text);
  });

  it('follows from the buy and sell prices of both outcomes', () => {
    expect(pricedProbability({
      buyYesPriceUsd: usd(970_000), sellYesPriceUsd: usd(30_000), buyNoPriceUsd: usd(970_000),
      sellNoPriceUsd: usd(30_000),
    })).toBe('between 3.00 % and 97.00 %');
    expect(pricedProbability({ buyYesPriceUsd: usd(550_000), buyNoPriceUsd: usd(470_000) })).toBe('at 54.00 %');
    expect(pricedProbability({ sellYesPriceUsd: usd(530_000), sellNoPriceUsd: usd(450_000) })).toBe('at 54.00 %');
    expect(pricedProbability({ buyNoPriceUsd: usd(470_000) })).toBe('above 53.00 %');
    expect(pricedProbability({})).toBe('');
  });
});
