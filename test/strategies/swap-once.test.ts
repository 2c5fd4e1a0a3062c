import { describe, expect, it } from 'vitest';
import swapOnce from '../../strategies/swap-once.ts';
import type { StrategyRun } from '../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../src/testing/index.ts';

const PARAMS = { spend: '25 USDC', buy: 'SOL' };

const show = (params: object, prices: readonly number[]): StrategyRun =>
  testStrategy(swapOnce, { params: { ...PARAMS, ...params } }).series('5s', { price: prices });

describe('swap-once', () => {
  it('swaps at the first price, and never again', () => {
    expect(show({}, []).lines()).toEqual([]);
    expect(show({}, [100, 90, 80]).lines()).toEqual([
      '0s buy 25 USDC -> SOL "asked for by the operator" key=once', '0s filled 25 USDC -> 0.25 SOL key=once',
    ]);
  });

  it('uses the configured route and slippage', () => {
    const [swap] = show({ route: 'build', slippage_bps: 10 }, [100]).approved;
    expect(swap!.proposal).toMatchObject({ route: 'build', slippageBps: 10, key: 'once' });
  });

  it('issue 13.23: accepts no less than the previewed worst case', () => {
    expect(show({ at_least: '0.2 SOL' }, [100]).approved[0]!.proposal).toMatchObject({ limit: 200_000_000n });
    expect(show({ at_least: '0.251 SOL' }, [100]).lines('outcome'))
      .toEqual(['0s abandoned 25 USDC -> SOL (LIMIT_NOT_MET) key=once']);
    expect(paramErrors(swapOnce, { ...PARAMS, at_least: '1 USDC' }))
      .toEqual(['at_least: expected an amount of the token that is bought']);
  });

  it('refuses to swap a token for itself', () => {
    expect(paramErrors(swapOnce, { spend: '1 SOL', buy: 'SOL' }))
      .toEqual(['buy: expected another token than the one that is spent']);
  });
});
