import { expect, it } from 'vitest';
import { formatTokenAmount, mint, tokenTable } from '../../src/market/token.ts';
import { TOKEN_STAT_NAMES } from '../../src/market/token-stats.ts';
import { FISH, SOL, USDC } from './tokens.ts';

it('a mint is an address in base58', () => {
  expect(mint(SOL.mint)).toBe(SOL.mint);
  for (const text of [
    '', 'SOL', '0'.repeat(44), `${SOL.mint}x2`, `${SOL.mint.slice(1)}O`, `${SOL.mint.slice(1)}l`, ` ${SOL.mint}`,
    `${SOL.mint}\n`,
  ]) {
    expect(() => mint(text), text).toThrow(expect.objectContaining({ code: 'MINT_INVALID' }) as Error);
  }
});

it('a token is found by its alias and by its mint, case-sensitively', () => {
  const table = tokenTable([SOL, USDC]);
  expect(table.bySymbol('SOL')).toBe(SOL);
  expect(table.byMint(USDC.mint)).toBe(USDC);
  expect(table.bySymbol('sol')).toBeUndefined();
  expect(table.byMint(FISH.mint)).toBeUndefined();
});

it('an amount is written with its token’s decimals', () => {
  expect(formatTokenAmount({ token: SOL, amount: 1_500_000_000n })).toBe('1.5 SOL');
  expect(formatTokenAmount({ token: FISH, amount: 1n })).toBe('0.00001 FISH');
});

it('every number of a token record has one unique name', () => {
  expect(new Set(TOKEN_STAT_NAMES).size).toBe(TOKEN_STAT_NAMES.length);
  expect(TOKEN_STAT_NAMES).toEqual(expect.arrayContaining(['usdPrice', '5m.buyVolume', '24h.numNetBuyers']));
});
