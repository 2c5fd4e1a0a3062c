import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivingOutput, isFirm, passageOf } from '../../../src/backtest/models/landing.ts';
import { SETTINGS, underSetting } from '../../../src/backtest/models/settings.ts';
import type { Amount, Bps } from '../../../src/core/amount.ts';
import type { SimulationSetting } from '../../../src/trading/simulation-model.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';

const LANDING = { ...BASE_MODEL.landing, adverseBps: 20 as Bps, lastLookBps: 10 as Bps };
const output = (
  setting: SimulationSetting, acceptedOut: bigint, arrivalOut: bigint, firm = false,
): Amount | undefined =>
  arrivingOutput(
    { acceptedOut: acceptedOut as Amount, arrivalOut: arrivalOut as Amount, isFirm: firm }, LANDING, SETTINGS[setting],
  );
const chance = { quote: 0.5, sign: 0.5, land: 0.5, drop: 0.5, unknown: 0.5 };

describe('a transaction on its way', () => {
  it('is lost, unseen, or arrives, by its own random numbers', () => {
    const model = { ...LANDING, dropProbability: 0.1, unknownProbability: 0.2 };
    expect(passageOf({ ...chance, drop: 0.099 }, model, 1_500)).toBe('expires');
    expect(passageOf({ ...chance, drop: 0.1, unknown: 0.199 }, model, 1_500)).toBe('arrives-unseen');
    expect(passageOf({ ...chance, drop: 0.1, unknown: 0.2 }, model, 1_500)).toBe('arrives');
  });

  it('expires where it takes longer than its lifetime', () => {
    expect(passageOf(chance, LANDING, LANDING.expiryMs)).toBe('arrives');
    expect(passageOf(chance, LANDING, LANDING.expiryMs + 1)).toBe('expires');
  });
});

describe('the output of a swap on arrival', () => {
  it('is the quoted one, or the one on arrival less the adverse move, floored', () => {
    expect(output('optimistic', 1_000_000n, 900_000n)).toBe(1_000_000n);
    expect(output('base', 1_000_000n, 900_001n)).toBe(898_200n);
    expect(output('pessimistic', 1_000_000n, 1_100_000n)).toBe(1_097_800n);
  });

  it('is the quoted one of a firm quote, even where the price moved against the taker', () => {
    expect(isFirm('rfqz')).toBe(true);
    expect(isFirm('iris')).toBe(false);
    for (const setting of ['optimistic', 'base', 'pessimistic'] as const)
      expect(output(setting, 1_000_000n, 500_000n, true)).toBe(1_000_000n);
  });

  it('is undefined where a maker declines, since the price moved in the taker’s favour', () => {
    expect(output('base', 1_000_000n, 1_001_000n, true)).toBe(1_000_000n);
    expect(output('base', 1_000_000n, 1_001_001n, true)).toBeUndefined();
    expect(output('optimistic', 1_000_000n, 2_000_000n, true)).toBe(1_000_000n);
    expect(output('pessimistic', 1_000_000n, 1_000_001n, true)).toBeUndefined();
  });

  it('is never more than both the quoted one and the one on arrival, in any setting', () => {
    const amounts = fc.bigInt({ min: 0n, max: 2n ** 63n });
    fc.assert(fc.property(amounts, amounts,
      fc.constantFrom('optimistic' as const, 'base' as const, 'pessimistic' as const), fc.boolean(),
      (accepted, arrival, setting, firm) => {
        const found = output(setting, accepted, arrival, firm) ?? 0n;
        expect(found <= (accepted > arrival ? accepted : arrival)).toBe(true);
      }));
  });
});

describe('the settings', () => {
  it('are ordered from optimistic to pessimistic in every factor', () => {
    const { optimistic, base, pessimistic } = SETTINGS;
    for (const column of ['quoteLatency', 'landLatency', 'ownImpact', 'mishaps', 'priority'] as const) {
      expect(optimistic[column]).toBeLessThanOrEqual(base[column]);
      expect(base[column]).toBeLessThanOrEqual(pessimistic[column]);
    }
    expect(optimistic.makerTolerance).toBeGreaterThan(base.makerTolerance);
    expect(base.makerTolerance).toBeGreaterThan(pessimistic.makerTolerance);
    expect([optimistic, base, pessimistic].map(({ fill }) => fill)).toEqual(['quoted', 'arrival', 'threshold']);
  });

  it('change only their factors: the base setting is the configured model', () => {
    expect(underSetting(BASE_MODEL)).toEqual({ ...BASE_MODEL, row: SETTINGS.base });
    expect(underSetting(BASE_MODEL, 'optimistic').landing)
      .toEqual({ ...BASE_MODEL.landing, dropProbability: 0, unknownProbability: 0 });
    expect(underSetting(
      { ...BASE_MODEL, landing: { ...BASE_MODEL.landing, dropProbability: 0.6 } }, 'pessimistic',
    ).landing.dropProbability).toBe(1);
  });
});
