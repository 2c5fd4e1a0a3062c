import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Route } from '../../src/trading/proposal.ts';
import { optionsOf, receiverOf, type SwapOptions } from '../../src/trading/swap-options.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { price, protection, START } from './protected-states.ts';
import { apply, approve, buy, fillOf, outcome, stateWith, strategySetup, verdictOn, WALLET } from './states.ts';

const FRIEND = 'FriendFriendFriendFriendFriendFriendFriend1';

describe('a swap whose output went to another receiver', () => {
  it('takes its input from book and wallet, and brings nothing', () => {
    const state = stateWith();
    const intent = approve(state, buy({ amount: 25_000_000n as Amount }));
    for (const reached of ['building', 'signed', 'submitted'] as const) apply(state, outcome(intent, reached));
    apply(state, outcome(intent, 'confirmed', { fill: { ...fillOf(intent, 166_000_000n), receiver: FRIEND } }));
    const { portfolio } = state;
    expect(portfolio.available('diver', USDC.mint)).toBe(475_000_000n);
    expect(portfolio.available('diver', SOL.mint)).toBe(0n);
    expect(portfolio.book('diver').costs.size).toBe(0);
    expect(portfolio.wallet.get(USDC.mint)).toBe(WALLET.get(USDC.mint)! - 25_000_000n);
    expect(portfolio.wallet.get(SOL.mint)).toBe(WALLET.get(SOL.mint)! - 5_000n);
  });

  it('is no loss: the recorded equity goes down with its peak', () => {
    const state = stateWith({ limits: { protections: [protection({ kind: 'max-drawdown', limitPct: 3 })] } });
    const equity = (): readonly bigint[] => {
      const { value, peak, dayStart } = state.protections.equity.get('diver')!;
      return [value, peak, dayStart];
    };
    price(state, 100, START);
    const intent = approve(state, buy({ amount: 25_000_000n as Amount }), { at: START });
    for (const reached of ['building', 'signed', 'submitted'] as const) apply(state, outcome(intent, reached), START);
    expect(equity()).toEqual([500_000_000n, 500_000_000n, 500_000_000n]);
    const fill = { ...fillOf(intent, 250_000_000n, 0n), receiver: FRIEND };
    apply(state, outcome(intent, 'confirmed', { fill }), START);
    expect(equity()).toEqual([475_000_000n, 475_000_000n, 475_000_000n]);
    expect(verdictOn(state, buy(), { at: START })).toBeNull();
  });
});

describe('the options of one swap', () => {
  const options: SwapOptions = {
    isAutomatic: false, order: { receiver: FRIEND, excludeRouters: ['rfqz'] },
    build: { nativeDestinationAccount: FRIEND, maxAccounts: 40 },
  };

  it('pay a receiver for entries alone', () => {
    expect([receiverOf(options, 'order'), receiverOf(options, 'build')]).toEqual([FRIEND, FRIEND]);
    const exit = optionsOf({ purpose: 'exit' }, options);
    expect([receiverOf(exit, 'order'), receiverOf(exit, 'build')]).toEqual([undefined, undefined]);
    expect(exit).toEqual({ isAutomatic: false, order: { excludeRouters: ['rfqz'] }, build: { maxAccounts: 40 } });
  });
});

function routeOf(configured: Route | undefined, proposed: Route | undefined): string {
  return approve(
    stateWith({ strategies: [strategySetup('diver', { limits: { route: configured } })] }),
    buy(proposed === undefined ? {} : { route: proposed }),
  ).route;
}

describe('the route of a strategy', () => {
  it('decides over that of its proposals, where the configuration names one', () => {
    expect(routeOf('build', 'order')).toBe('build');
    expect(routeOf('order', 'build')).toBe('order');
    expect(routeOf(undefined, 'build')).toBe('build');
    expect(routeOf(undefined, undefined)).toBe('order');
  });
});
