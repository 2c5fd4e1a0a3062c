import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, Lamports } from '../../src/core/amount.ts';
import type { Fill } from '../../src/trading/intent.ts';
import { Portfolio } from '../../src/trading/portfolio.ts';
import { FISH, SOL, USDC } from '../market/tokens.ts';
import { approve, buy, confirm, stateWith, WALLET } from './states.ts';

const MINTS = [SOL.mint, USDC.mint, FISH.mint] as const;
const STRATEGIES = ['a', 'b'] as const;

function fill(change: Partial<Fill>): Fill {
  return {
    inputMint: USDC.mint, outputMint: SOL.mint, amountIn: 0n as Amount, amountOut: 0n as Amount,
    feeLamports: 0n as Lamports, rentLamports: 0n as Lamports, ...change,
  };
}

describe('a portfolio', () => {
  it('books a fill in book and wallet, and fee and deposit in the wallet’s SOL', () => {
    const state = stateWith();
    confirm(state, approve(state, buy({ amount: 25_000_000n as Amount })), 166_000_000n, 5_000n);
    const { portfolio } = state;
    expect(portfolio.available('diver', USDC.mint)).toBe(475_000_000n);
    expect(portfolio.available('diver', SOL.mint)).toBe(166_000_000n);
    expect(portfolio.wallet.get(USDC.mint)).toBe(WALLET.get(USDC.mint)! - 25_000_000n);
    expect(portfolio.wallet.get(SOL.mint)).toBe(WALLET.get(SOL.mint)! + 166_000_000n - 5_000n);
    expect(portfolio.book('diver')).toMatchObject({ feesLamports: 5_000n, swaps: 1 });
    portfolio.applyFill('diver', fill({ rentLamports: 2_039_280n as Lamports }));
    expect(portfolio.wallet.get(SOL.mint)).toBe(WALLET.get(SOL.mint)! + 166_000_000n - 5_000n - 2_039_280n);
  });

  it('has one book per strategy', () => {
    const portfolio = new Portfolio(WALLET);
    portfolio.openBook('a', undefined);
    expect(() => { portfolio.openBook('a', undefined); }).toThrow('open already');
    expect(() => portfolio.book('b')).toThrow('no book of b');
  });

  it('does not change the wallet that it was created from', () => {
    const wallet = new Map(WALLET);
    const portfolio = new Portfolio(wallet);
    portfolio.openBook('a', undefined);
    portfolio.applyFill('a', fill({ amountIn: 1n as Amount }));
    expect(wallet).toEqual(WALLET);
  });

  it('keeps available plus reserved equal to the balance', () => {
    const state = stateWith();
    const { portfolio } = state;
    fc.assert(fc.property(fc.array(fc.bigInt({ min: 1n, max: 100_000_000n }), { maxLength: 5 }), (sizes) => {
      const intents = sizes.map((amountIn, n) => ({
        ...approveOnce(), id: `diver-x${n}`, amountIn: amountIn as Amount,
      }));
      for (const intent of intents) portfolio.reserve(intent);
      const reserved = portfolio.book('diver').reserved.get(USDC.mint) ?? 0n;
      expect(reserved).toBe(sizes.reduce((sum, size) => sum + size, 0n));
      expect(portfolio.available('diver', USDC.mint) + reserved).toBe(portfolio.book('diver').balances.get(USDC.mint));
      expect(portfolio.unreserved(USDC.mint) + reserved).toBe(portfolio.wallet.get(USDC.mint));
      for (const intent of intents) portfolio.release(intent);
      expect(portfolio.book('diver').reserved.size).toBe(0);
    }));
  });

  it('is a ledger: after any fills, each balance is the budget plus inflow less outflow', () => {
    const anyFill = fc.record({
      strategy: fc.constantFrom(...STRATEGIES),
      from: fc.constantFrom(...MINTS),
      to: fc.constantFrom(...MINTS),
      share: fc.integer({ min: 0, max: 1_000 }),
      out: fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fee: fc.bigInt({ min: 0n, max: 10_000n }),
    }).filter(({ from, to }) => from !== to);
    fc.assert(fc.property(fc.array(anyFill, { maxLength: 30 }), (fills) => {
      const portfolio = new Portfolio(new Map(MINTS.map((mint) => [mint, 10n ** 15n as Amount])));
      for (const name of STRATEGIES) portfolio.openBook(name, { mint: USDC.mint, amount: 10n ** 9n as Amount });
      const expected = new Map(MINTS.map((mint) => [mint, mint === USDC.mint ? 2n * 10n ** 9n : 0n]));
      let fees = 0n;
      for (const { strategy, from, to, share, out, fee } of fills) {
        const amountIn = (portfolio.available(strategy, from) * BigInt(share)) / 1_000n;
        portfolio.applyFill(strategy, fill({
          inputMint: from, outputMint: to, amountIn: amountIn as Amount, amountOut: out as Amount,
          feeLamports: fee as Lamports,
        }));
        expected.set(from, expected.get(from)! - amountIn);
        expected.set(to, expected.get(to)! + out);
        fees += fee;
      }
      for (const mint of MINTS) {
        const budgets = mint === USDC.mint ? 2n * 10n ** 9n : 0n;
        expect(portfolio.held(mint)).toBe(expected.get(mint));
        expect(portfolio.wallet.get(mint))
          .toBe(10n ** 15n + expected.get(mint)! - budgets - (mint === SOL.mint ? fees : 0n));
      }
      expect(portfolio.book('a').feesLamports + portfolio.book('b').feesLamports).toBe(fees);
      expect(portfolio.book('a').swaps + portfolio.book('b').swaps).toBe(fills.length);
    }));
  });

  it('never goes below zero where the chain took more than the ledger had', () => {
    const portfolio = new Portfolio(new Map([[SOL.mint, 3n as Amount]]));
    portfolio.openBook('a', { mint: USDC.mint, amount: 5n as Amount });
    portfolio.applyFill('a', fill({ amountIn: 9n as Amount, feeLamports: 9n as Lamports }));
    expect([portfolio.available('a', USDC.mint), portfolio.unreserved(USDC.mint), portfolio.unreserved(SOL.mint)])
      .toEqual([0n, 0n, 0n]);
  });
});

function approveOnce(): ReturnType<typeof approve> {
  return approve(stateWith(), buy());
}
