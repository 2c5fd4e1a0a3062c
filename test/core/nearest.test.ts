import { expect, it } from 'vitest';
import { nearest } from '../../src/core/text.ts';

it('finds the word that was meant', () => {
  expect(nearest('max_slipage_bps', ['max_slippage_bps', 'max_fee_bps', 'max_trade'])).toBe('max_slippage_bps');
  expect(nearest('usdc', ['SOL', 'USDC', 'USDT'])).toBe('USDC');
  expect(nearest('windw', ['window', 'k'])).toBe('window');
});

it('suggests nothing where nothing is close, and the first of equals', () => {
  expect(nearest('elephant', ['window', 'k', 'size'])).toBeUndefined();
  expect(nearest('anything', [])).toBeUndefined();
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
});
