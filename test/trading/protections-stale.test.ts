import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { Millis } from '../../src/core/time.ts';
import { takeChanges } from '../../src/trading/protections/check-protections.ts';
import { VALUE_MAX_AGE_MS } from '../../src/trading/valuation.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import { quote } from '../market/events.ts';
import { FISH, USDC } from '../market/tokens.ts';
import { carry, HOUR, MINUTE, price, protection, SELL, START, stateUnder } from './protected-states.ts';
import { apply, buy, verdictOn } from './states.ts';

const ONE_FISH = 100_000n;
const BOTH = ['diver', ''] as const;

/** Sets the price of one FISH in US dollars. */
function fishPrice(state: EngineState, usd: number, at: Millis): void {
  apply(state, quote(FISH, USDC, { inAmount: ONE_FISH, outAmount: BigInt(Math.round(usd * 1e6)), at }), at);
}

/**
 * "diver" holds 2 SOL at 100 dollars and 200 dollars of FISH, of which nothing is heard any more; "other" holds its 500
 * dollars.
 */
function withSilentFish(limitPct: number): EngineState {
  const state = stateUnder([
    protection({ kind: 'max-drawdown', limitPct }), protection({ kind: 'max-drawdown', limitPct }, { scope: 'global' }),
  ]);
  price(state, 100, START);
  fishPrice(state, 2, START);
  carry(state, buy({ amount: 200_000_000n as Amount }), START, 'confirmed', { out: 2_000_000_000n });
  carry(
    state, buy({ amount: 200_000_000n as Amount, outputMint: FISH.mint }), START, 'confirmed', { out: 100n * ONE_FISH },
  );
  return state;
}

const worth = (state: EngineState): unknown => BOTH.map((name) => {
  const { value, peak, isKnown } = state.protections.equity.get(name)!;
  return [Number(value) / 1e6, Number(peak) / 1e6, isKnown];
});
const LATER = START + VALUE_MAX_AGE_MS + MINUTE;

describe('a holding without a fresh price', () => {
  it('keeps its last price, and entries are refused, of all strategies under a global limit; exits are not', () => {
    const state = withSilentFish(30);
    price(state, 100, LATER);
    expect(worth(state)).toEqual([[500, 500, false], [1_000, 1_000, false]]);
    for (const strategy of ['diver', 'other'])
      expect(verdictOn(state, buy(), { at: LATER, strategy })).toBe('VALUE_UNKNOWN');
    expect(verdictOn(state, SELL, { at: LATER })).toBeNull();
    fishPrice(state, 2, LATER + MINUTE);
    price(state, 100, LATER + MINUTE);
    expect(verdictOn(state, buy(), { at: LATER + MINUTE, strategy: 'other' })).toBeNull();
  });

  it('hides no loss of other holdings, and causes none', () => {
    const state = withSilentFish(15);
    price(state, 100, LATER);
    price(state, 63, LATER + MINUTE);
    expect(takeChanges(state.protections)).toEqual([]);
    price(state, 62.5, LATER + 2 * MINUTE);
    expect(takeChanges(state.protections).map(({ change, subject, reason }) => [change, subject, reason])).toEqual([
      ['fired', 'diver', 'equity is 15 % below its peak, allowed are less than 15 %'],
    ]);
  });

  it('raises no peak, so a lower price later is no loss of an unrealised profit', () => {
    const state = withSilentFish(30);
    price(state, 150, LATER);
    expect(worth(state)).toEqual([[600, 500, false], [1_100, 1_000, false]]);
    // A hundred dollars were won with SOL, a hundred and fifty lost with FISH.
    fishPrice(state, 0.5, LATER + HOUR);
    price(state, 150, LATER + HOUR);
    expect(worth(state)).toEqual([[450, 500, true], [950, 1_000, true]]);
    expect(takeChanges(state.protections)).toEqual([]);
  });

  it('is valued at the youngest stale price, whatever its kind', () => {
    const state = withSilentFish(30);
    // From here on purchases alone are quoted: a dollar each.
    price(state, 100, LATER);
    apply(state, quote(USDC, FISH, { inAmount: 1_000_000n, outAmount: ONE_FISH, at: LATER + MINUTE }), LATER + MINUTE);
    expect(worth(state)).toEqual([[400, 500, true], [900, 1_000, true]]);
    price(state, 100, LATER + VALUE_MAX_AGE_MS + 2 * MINUTE);
    expect(worth(state)).toEqual([[400, 500, false], [900, 1_000, false]]);
  });
});
