import { formatDecimal } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import type { EngineState } from '../state.ts';

/** Returns an amount for people: "1.5 SOL". */
export function showAmount(state: EngineState, mint: Mint, amount: bigint): string {
  const token = state.tokens.byMint(mint);
  return token === undefined ? `${amount} raw of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
}

/** Returns what people call a token: its alias, else its address. */
export function showMint(state: EngineState, mint: Mint): string {
  return state.tokens.byMint(mint)?.symbol ?? mint;
}
