import type { Pair, Token } from '../../src/market/token.ts';
import { mint, SOL_MINT, tokenTable, USDC_MINT } from '../../src/market/token.ts';

export const SOL: Token = { mint: SOL_MINT, symbol: 'SOL', decimals: 9 };
export const USDC: Token = { mint: USDC_MINT, symbol: 'USDC', decimals: 6 };
/** Tokens of this suite alone, at unused addresses. */
export const FISH: Token = { mint: mint('FishFishFishFishFishFishFishFishFishFishFish'), symbol: 'FISH', decimals: 5 };
export const KELP: Token = { mint: mint('KeLpKeLpKeLpKeLpKeLpKeLpKeLpKeLpKeLpKeLpKeLp'), symbol: 'KELP', decimals: 8 };

export const TOKENS = tokenTable([SOL, USDC, FISH, KELP]);
export const SOL_USDC: Pair = { base: SOL, quote: USDC };
