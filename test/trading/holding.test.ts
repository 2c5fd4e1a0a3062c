import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import { budgetAmount, equityOf, holdingOf } from '../../src/trading/positions/holding.ts';
import { quotedSale, saleValue } from '../../src/trading/positions/sale-value.ts';
import { buyingSol, quote, stats } from '../market/events.ts';
import { KELP, SOL, USDC } from '../market/tokens.ts';
import { apply, approve, buy, confirm, stateWith, strategySetup } from './states.ts';

const ONE_SOL = 1_000_000_000n;
const selling = (sol: bigint, usd: number, at = 1_000, priceImpact?: number) =>
  quote(SOL, USDC, { inAmount: sol * ONE_SOL, outAmount: BigInt(Math.round(usd * 1e6)), at, priceImpact });
const sale = (sol: number) => ({ mint: SOL.mint, into: USDC.mint, amount: BigInt(Math.round(sol * 1e9)) });

describe('the holding of a strategy', () => {
  it('has the average cost with fees, and the value at which all of it can be sold', () => {
    const state = stateWith();
    apply(state, stats(SOL, 150));
    apply(state, stats(USDC, 1));
    confirm(state, approve(state, buy({ amount: 100_000_000n as Amount })), ONE_SOL);
    confirm(state, approve(state, buy({ amount: 200_000_000n as Amount })), ONE_SOL);
    apply(state, selling(1n, 140));
    // Two fees of 5,000 lamports at 150 dollars: 750 micro-dollars each.
    expect(holdingOf(state, 'diver', SOL.mint, 1_000)).toEqual({
      amount: 2n * ONE_SOL, available: 2n * ONE_SOL, cost: 300_001_500n, value: 280_000_000n,
    });
    expect(equityOf(state, 'diver', 1_000)).toBe(480_000_000n);
    expect(budgetAmount(state, 'diver')).toEqual({ token: USDC, amount: 500_000_000n });
  });

  it('shows what a swap under way has claimed as held, and not as available', () => {
    const state = stateWith();
    confirm(state, approve(state, buy()), ONE_SOL);
    approve(state, buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 400_000_000n as Amount }));
    expect(holdingOf(state, 'diver', SOL.mint, 1_000)).toMatchObject({ amount: ONE_SOL, available: 600_000_000n });
  });

  it('says undefined instead of a number that nothing supports', () => {
    const state = stateWith({ strategies: [strategySetup('diver'), strategySetup('watcher', { budget: undefined })] });
    confirm(state, approve(state, buy({ outputMint: KELP.mint })), 5n);
    expect(holdingOf(state, 'diver', KELP.mint, 1_000)).toMatchObject({ amount: 5n, value: undefined });
    expect(equityOf(state, 'diver', 1_000)).toBeUndefined();
    expect(equityOf(state, 'watcher', 1_000)).toBeUndefined();
    expect(budgetAmount(state, 'watcher')).toBeUndefined();
    expect(holdingOf(state, 'diver', SOL.mint, 1_000)).toMatchObject({ amount: 0n, cost: 0n, value: 0n });
  });
});

describe('the value of a sale at its size', () => {
  it('is exact between two sizes of a pool of a constant product', () => {
    const [reserveIn, reserveOut] = [1_000n * ONE_SOL, 150_000_000_000n];
    const pool = (amount: bigint): bigint => (amount * reserveOut) / (reserveIn + amount);
    fc.assert(fc.property(fc.bigInt({ min: ONE_SOL, max: 400n * ONE_SOL }), (amount) => {
      const state = stateWith();
      for (const size of [1n, 10n, 100n]) apply(state, quote(SOL, USDC, {
        inAmount: size * ONE_SOL, outAmount: pool(size * ONE_SOL), at: 1_000,
      }));
      const value = quotedSale(state, { mint: SOL.mint, into: USDC.mint, amount }, 1_000)!;
      // Quotes are whole smallest units, so the line has an error of parts of a millionth.
      expect(Math.abs(Number(value - pool(amount))) / Number(value)).toBeLessThan(1e-6);
    }));
  });

  it('follows the pool that the impact of the only quote implies beyond its size', () => {
    const state = stateWith();
    apply(state, selling(10n, 1_485.148515, 1_000, -10 / 1_010));
    expect(Number(quotedSale(state, sale(100), 1_000)) / 1e6).toBeCloseTo((100 * 150_000) / 1_100, 2);
    expect(quotedSale(state, sale(5), 1_000)).toBe(742_574_257n);
  });

  it('leaves quotes of another market out: older than a minute beside younger ones, or too old at all', () => {
    const state = stateWith();
    apply(state, selling(10n, 1_000, 1_000));
    apply(state, selling(1n, 150, 100_000));
    expect(quotedSale(state, sale(10), 100_000)).toBe(1_500_000_000n);
    expect(quotedSale(state, sale(10), 100_000 + 7_200_001)).toBeUndefined();
  });

  it('takes the larger size’s price where two quotes contradict each other beyond it', () => {
    const state = stateWith();
    apply(state, selling(1n, 100));
    apply(state, selling(10n, 1_500));
    expect(quotedSale(state, sale(20), 1_000)).toBe(3_000_000_000n);
  });

  it('falls back on another price of the token where no sale is quoted', () => {
    const state = stateWith();
    apply(state, buyingSol(150_000, 1_000));
    expect(quotedSale(state, sale(1), 1_000)).toBeUndefined();
    expect(Number(saleValue(state, sale(1), 1_000)) / 1e6).toBeCloseTo(150, 3);
    expect(saleValue(state, { mint: USDC.mint, into: USDC.mint, amount: 5n }, 1_000)).toBe(5n);
  });

  it('never rises with a quote of zero', () => {
    const state = stateWith();
    apply(state, selling(1n, 0));
    expect(quotedSale(state, sale(1), 1_000)).toBeUndefined();
  });
});
