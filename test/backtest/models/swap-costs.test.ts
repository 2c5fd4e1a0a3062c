import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptCosts, createTokenAccounts } from '../../../src/backtest/models/swap-costs.ts';
import { platformFeeOf, transferFeeOf } from '../../../src/backtest/models/token-fees.ts';
import type { Amount, Bps, Lamports } from '../../../src/core/amount.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import { FISH, KELP, SOL, USDC } from '../../market/tokens.ts';

const units = (value: bigint): Amount => value as Amount;

describe('the cost of an attempt', () => {
  it.each([
    // Signatures, limit, price, tip: base fee, priority ceil(limit × price / 10^6).
    [1, 200_000, 0n, 0n, 5_000n],
    [2, 200_000, 0n, 0n, 10_000n],
    [1, 1_400_000, 1_000n, 0n, 6_400n],
    [1, 200_001, 1n, 0n, 5_001n],
    [1, 333_333, 3n, 10_000n, 15_001n],
  ])('%i signatures, %i units at %i, a tip of %i: %i lamports', (
    signatures, computeUnitLimit, microLamportsPerUnit, tip, total,
  ) => {
    const costs = attemptCosts({
      ...BASE_MODEL.costs, signatures, computeUnitLimit, microLamportsPerUnit, tipLamports: tip as Lamports,
    });
    expect(costs.feeLamports).toBe(total);
    expect(costs.baseLamports + costs.priorityLamports + costs.tipLamports).toBe(total);
  });

  it('doubles the bid in the pessimistic setting, but not the signature fee', () => {
    const model = { ...BASE_MODEL.costs, tipLamports: 7n as Lamports };
    expect(attemptCosts(model, 2))
      .toEqual({ baseLamports: 5_000n, priorityLamports: 8_000n, tipLamports: 14n, feeLamports: 13_014n });
  });
});

describe('the transfer fee of an issuer', () => {
  it.each([
    // Computed manually from the token program's rule: ceil(amount × bps / 10^4), at most the maximum.
    [1_000_000n, 100, 10_000_000n, 10_000n],
    [1_000_001n, 100, 10_000_000n, 10_001n],
    [1n, 1, 10n, 1n],
    [1_000_000n, 100, 5_000n, 5_000n],
    [0n, 100, 5_000n, 0n],
    [1_000_000n, 0, 5_000n, 0n],
    [77n, 10_000, 2n ** 64n - 1n, 77n],
  ])('of %i at %i bps and at most %i: %i', (amount, bps, maximum, kept) => {
    expect(transferFeeOf(units(amount), { bps, maximum })).toBe(kept);
  });

  it('is 0 for other tokens, and never more than the amount', () => {
    expect(transferFeeOf(units(5n), undefined)).toBe(0n);
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 0, max: 10_000 }),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (amount, bps, maximum) => {
        expect(transferFeeOf(units(amount), { bps, maximum })).toBeLessThanOrEqual(amount);
      }));
  });

  it('is separate from the platform’s fee, which is floored', () => {
    expect(platformFeeOf(units(9_999n), 50 as Bps)).toBe(49n);
    expect(platformFeeOf(units(10_000n), 50 as Bps)).toBe(50n);
  });
});

describe('deposits for token accounts', () => {
  it('are paid once for each new token, more under the newer program, and come back when the account closes', () => {
    const accounts = createTokenAccounts([USDC.mint], (mint) => mint === KELP.mint);
    expect([SOL, USDC, FISH, FISH, KELP].map(({ mint }) => accounts.open(mint)))
      .toEqual([0n, 0n, 2_039_280n, 0n, 2_074_080n]);
    expect(accounts.lockedLamports()).toBe(4_113_360n);
    expect(accounts.close(FISH.mint)).toBe(2_039_280n);
    expect(accounts.close(USDC.mint)).toBe(0n);
    expect(accounts.close(SOL.mint)).toBe(0n);
    expect(accounts.lockedLamports()).toBe(2_074_080n);
    expect(accounts.depositFor(FISH.mint)).toBe(2_039_280n);
    expect(accounts.depositFor(SOL.mint)).toBe(0n);
  });

  it('are never lost: each deposit is locked or came back', () => {
    const mints = [SOL.mint, USDC.mint, FISH.mint, KELP.mint];
    fc.assert(fc.property(fc.array(fc.record({ mint: fc.constantFrom(...mints), opens: fc.boolean() })), (steps) => {
      const accounts = createTokenAccounts([], () => false);
      let balance = 0n;
      for (const { mint, opens } of steps) balance += opens ? accounts.open(mint) : -accounts.close(mint);
      expect(accounts.lockedLamports()).toBe(balance);
    }));
  });
});
