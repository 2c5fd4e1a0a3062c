import type { Amount } from '../core/amount.ts';
import { amount } from '../core/amount.ts';
import type { Token, TokenAmount } from '../market/token.ts';
import type { SwapOptions } from '../strategy/context.ts';
import type { Size, SwapProposal } from '../trading/proposal.ts';

/**
 * Returns the proposal that a strategy means. Throws TypeError where the amount is of another token than the one spent.
 */
export function swapProposal(
  from: Token, to: Token, size: TokenAmount | Exclude<Size, Amount>, reason: string, options: SwapOptions = {},
): SwapProposal {
  return { kind: 'swap', inputMint: from.mint, outputMint: to.mint, amount: sizeOf(from, size), reason, ...options };
}

function sizeOf(from: Token, size: TokenAmount | Exclude<Size, Amount>): Size {
  if (size === 'all' || 'fraction' in size) return size;
  if (size.token.mint !== from.mint)
    throw new TypeError(`expected an amount of ${from.symbol} to spend, got ${size.token.symbol}`);
  return amount(size.amount);
}
