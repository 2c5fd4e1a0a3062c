import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { Intent } from '../../src/trading/intent.ts';
import type { SwapTerms } from '../../src/trading/swap-terms.ts';
import { isSlippageCode, minimumOut, refuseTerms, slippageFor } from '../../src/trading/swap-terms.ts';
import { FISH, SOL } from '../market/tokens.ts';
import { approve, buy, stateWith } from './states.ts';

const intent: Intent = approve(stateWith(), buy());
const fair: SwapTerms = {
  inputMint: intent.inputMint, outputMint: intent.outputMint, inAmount: intent.amountIn,
  outAmount: 166_000_000n as Amount, threshold: 165_170_000n as Amount, priceImpact: -0.001, feeBps: 10, router: 'iris',
};

const refusal = (terms: Partial<SwapTerms>, change: Partial<Intent> = {}): string | undefined =>
  refuseTerms({ ...intent, ...change }, { ...fair, ...terms })?.code;

describe('the terms of a quote', () => {
  it('pass where they match the request within the caps, exactly at each cap too', () => {
    expect(refusal({})).toBeUndefined();
    expect(refusal({ threshold: fair.outAmount })).toBeUndefined();
    expect(refusal({ priceImpact: -0.01 })).toBeUndefined();
    expect(refusal({ priceImpact: 0.5 })).toBeUndefined();
    expect(refusal({ feeBps: 30 })).toBeUndefined();
    expect(refusal({}, { minimumOut: fair.outAmount, maxSlippageBps: 0 as Bps })).toBe('SLIPPAGE_EXCEEDS_MAX');
    expect(refusal({ threshold: fair.outAmount }, { minimumOut: fair.outAmount })).toBeUndefined();
  });

  it.each([
    ['another input', { inputMint: FISH.mint }],
    ['another output', { outputMint: FISH.mint }],
    ['input and output turned round', { inputMint: SOL.mint, outputMint: intent.inputMint }],
    ['one unit more', { inAmount: (intent.amountIn + 1n) as Amount }],
    ['one unit less', { inAmount: (intent.amountIn - 1n) as Amount }],
  ])('are refused when they answer another question: %s', (_what, terms) => {
    expect(refusal(terms)).toBe('TERMS_MISMATCH');
  });

  it('are refused one unit below the slippage cap, and where the threshold exceeds the output', () => {
    expect(minimumOut(intent, fair.outAmount)).toBe(165_170_000n);
    expect(refusal({ threshold: 165_169_999n as Amount })).toBe('SLIPPAGE_EXCEEDS_MAX');
    expect(refusal({ threshold: (fair.outAmount + 1n) as Amount })).toBe('SLIPPAGE_EXCEEDS_MAX');
    expect(refusal({ threshold: 0n as Amount })).toBe('SLIPPAGE_EXCEEDS_MAX');
  });

  it('are refused one unit below the strategy’s limit, in output or threshold', () => {
    const floor = { minimumOut: 165_500_000n as Amount };
    expect(refusal({ outAmount: 165_499_999n as Amount, threshold: 165_499_999n as Amount }, floor))
      .toBe('LIMIT_NOT_MET');
    expect(refusal({ threshold: 165_499_999n as Amount }, floor)).toBe('SLIPPAGE_EXCEEDS_MAX');
    expect(refusal({ threshold: 165_500_000n as Amount }, floor)).toBeUndefined();
  });

  it('are refused with an output of zero', () => {
    expect(refusal({ outAmount: 0n as Amount, threshold: 0n as Amount })).toBe('LIMIT_NOT_MET');
    expect(refusal({ outAmount: 0n as Amount, threshold: 0n as Amount }, { minimumOut: 0n as Amount }))
      .toBe('LIMIT_NOT_MET');
  });

  it('are refused where the impact is above the cap, missing, or NaN', () => {
    expect(refusal({ priceImpact: -0.010_001 })).toBe('IMPACT_EXCEEDS_MAX');
    expect(refusal({ priceImpact: undefined })).toBe('IMPACT_UNKNOWN');
    expect(refusal({ priceImpact: Number.NaN })).toBe('IMPACT_EXCEEDS_MAX');
    expect(refusal({ priceImpact: -Infinity })).toBe('IMPACT_EXCEEDS_MAX');
  });

  it('pass at exactly the impact cap, for every cap', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 9_999 }), (cap) => {
      const caps = { maxPriceImpactBps: cap as Bps };
      expect(refusal({ priceImpact: -cap / 10_000 }, caps)).toBeUndefined();
      expect(refusal({ priceImpact: -(cap + 0.001) / 10_000 }, caps)).toBe('IMPACT_EXCEEDS_MAX');
    }));
  });

  it('are refused where the fee is above the cap or NaN', () => {
    expect(refusal({ feeBps: 31 })).toBe('FEE_EXCEEDS_MAX');
    expect(refusal({ feeBps: Number.NaN })).toBe('FEE_EXCEEDS_MAX');
  });

  it('allow the largest slippage whose threshold is not below the floor', () => {
    fc.assert(fc.property(fc.bigInt({ min: 10_000n, max: 2n ** 63n }), fc.integer({ min: 0, max: 300 }),
      (out, roomBps) => {
        const floor = out - (out * BigInt(roomBps)) / 20_000n;
        const bps = slippageFor({ ...intent, minimumOut: floor as Amount, maxSlippageBps: 100 as Bps }, out as Amount);
        const threshold = (slippage: number): bigint => (out * BigInt(10_000 - slippage)) / 10_000n;
        expect(bps).toBeLessThanOrEqual(100);
        expect(threshold(bps)).toBeGreaterThanOrEqual(floor);
        if (bps < 100) expect(threshold(bps + 1)).toBeLessThan(floor);
      }));
    expect(slippageFor(intent, 166_000_000n as Amount)).toBe(intent.maxSlippageBps);
  });

  it('state the value found and the value expected', () => {
    expect(refuseTerms(intent, { ...fair, feeBps: 31 })!.reason).toBe('31 bps, allowed are 30');
    expect(refuseTerms(intent, { ...fair, priceImpact: -0.02 })!.reason).toBe('200.0 bps, allowed are 100');
  });
});

describe('the error codes of exceeded slippage', () => {
  it.each([
    '6001', '6017', '0x1771', '0X1781', 'SlippageToleranceExceeded', 'slippage_tolerance_exceeded', 'ExceededSlippage',
  ])('%s is one', (code) => {
    expect(isSlippageCode(code)).toBe(true);
  });
  it.each([
    undefined, '', '1', '6002', '0x1', '06001x', 'Unknown', 'InsufficientFundsForFee', '-2003', '16001',
  ])('%s is none', (code) => {
    expect(isSlippageCode(code)).toBe(false);
  });
});
