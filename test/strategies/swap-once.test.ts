import { describe, expect, it } from 'vitest';
import swapOnce from '../../strategies/swap-once.ts';
import { schemaErrors, configured } from './instances.ts';
import { filled, show, swaps } from './trades.ts';

const PARAMS = { spend: '25 USDC', buy: 'SOL' };

describe('swap-once', () => {
  it('swaps at the first price, and never again', () => {
    const run = filled(configured(swapOnce, PARAMS));
    expect(swaps(run)).toEqual([]);
    show(run, [100, 90, 80]);
    expect(swaps(run)).toEqual(['buy 0 approved']);
  });

  it('uses the configured route and slippage', () => {
    const run = filled(configured(swapOnce, { ...PARAMS, route: 'build', slippage_bps: 10 }));
    show(run, [100]);
    expect(run.logged[0]!.proposal).toMatchObject({ route: 'build', slippageBps: 10, key: 'once' });
  });

  it('issue 13.23: accepts no less than the previewed worst case', () => {
    const run = filled(configured(swapOnce, { ...PARAMS, at_least: '0.2 SOL' }));
    show(run, [100]);
    expect(run.logged[0]!.proposal).toMatchObject({ limit: 200_000_000n });
    expect(schemaErrors(swapOnce, { ...PARAMS, at_least: '1 USDC' }))
      .toEqual(['at_least: expected an amount of the token that is bought']);
  });

  it('refuses to swap a token for itself', () => {
    expect(schemaErrors(swapOnce, { spend: '1 SOL', buy: 'SOL' }))
      .toEqual(['buy: expected another token than the one that is spent']);
  });
});
