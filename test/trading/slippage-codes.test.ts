import { describe, expect, it } from 'vitest';
import { isSlippageCode } from '../../src/trading/swap-terms.ts';

describe('the codes of a price that moved too far', () => {
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
