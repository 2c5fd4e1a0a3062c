import type { GenesisToken } from '../genesis.ts';

/** What a token's price follows. */
export type PriceClass = 'sol' | 'stable' | 'staked' | 'other';

/** Returns what a token's price follows: fees and intermediate tokens are chosen by it. */
export function priceClass(token: GenesisToken): PriceClass {
  if (token.symbol === 'SOL' && token.isVerified) return 'sol';
  if (token.tags.includes('lst')) return 'staked';
  return token.isVerified && token.volatility < 0.1 ? 'stable' : 'other';
}
