import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineStrategy, oncePerSlot, quotes, slots, slotStart } from '../../src/strategy/index.ts';
import type { StrategyRun, TestOptions } from '../../src/testing/index.ts';
import { testStrategy } from '../../src/testing/index.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';

const EVERY = { every: '1m' };
const SIZE = { token: USDC, amount: 10_000_000n };

/** Buys in each minute, but never in the third one. */
const minutely = defineStrategy({
  name: 'minutely', summary: 'Buys once a minute.', params: z.strictObject({}),
  inputs: () => ({ price: quotes(SOL_USDC, { amount: SIZE, every: '10s' }) }),
  run: (_inputs, _params, ctx) => {
    const first = Math.floor(ctx.now() / 60_000);
    return slots(ctx, EVERY).pipe(oncePerSlot(ctx, 'minute', (slot) => (slot === first + 2 ? undefined
      : ctx.buy(SOL_USDC, SIZE, `minute ${slot - first}`))));
  },
});

const minutes = (options: TestOptions): StrategyRun => testStrategy(minutely, {
  prices: { 'SOL/USDC': 100 }, startAt: '1970-01-01T00:00:00Z', ...options,
});

describe('one swap for each slot', () => {
  it('is proposed once where it is approved, and not where there is none', () => {
    const run = minutes({}).advance('4m');
    expect(run.approved.map(({ at, key }) => `${at} ${key}`))
      .toEqual(['0s minute-0', '1m minute-1', '3m minute-3', '4m minute-4']);
  });

  it('is proposed again after 1, 2, 4 … seconds until the next slot while the refusal passes', () => {
    const run = minutes({ swaps: ['pending'] }).advance('61s');
    // The swap of the first minute is under way, so that of the second one is refused.
    run.advance('59s');
    expect(run.denials.map(({ at, code }) => `${at} ${code}`))
      .toEqual(['1m', '1m1s', '1m3s', '1m7s', '1m15s', '1m31s'].map((at) => `${at} INTENT_OPEN_FOR_MINT`));
    run.settle().advance('1m');
    expect(run.approved.map(({ at, key }) => `${at} ${key}`)).toEqual(['0s minute-0', '3m minute-3']);
  });

  it('is proposed again where it was given up before its signature, and not after a failure', () => {
    const run = minutes({ swaps: ['abandon', 'abandon', 'fail', 'fill'] }).advance('90s');
    expect(run.approved.map(({ at, key }) => `${at} ${key}`))
      .toEqual(['0s minute-0', '1s minute-0', '3s minute-0', '1m minute-1']);
  });

  it('is not proposed again after a refusal that stays', () => {
    const run = minutes({ budget: '5 USDC' }).advance('59s');
    expect(run.denials.map(({ at, code }) => `${at} ${code}`)).toEqual(['0s BUDGET_EXCEEDED']);
  });
});

it('a slot begins at its multiple of the interval, shifted by the offset', () => {
  expect([slotStart(3, EVERY), slotStart(3, { ...EVERY, offset: '5s' })]).toEqual([180_000, 185_000]);
});
