import { showAmount, symbolOf } from '../market/market-text.ts';
import type { TokenTable } from '../market/token.ts';
import type { Proposal } from '../trading/proposal.ts';

/** Returns a logged proposal for people; in a log amounts are text. */
export function proposalText(tokens: TokenTable, proposal: Proposal): string {
  if (proposal.kind === 'alert') return `an alert, ${proposal.level}: ${proposal.message}`;
  const { inputMint, outputMint, amount, limit } = proposal;
  const size: unknown = amount;
  const input = size === 'all' ? `all its ${symbolOf(tokens, inputMint)}`
    : typeof size === 'string' || typeof size === 'bigint' ? showAmount(tokens, inputMint, BigInt(size))
      : `${(size as { readonly fraction: number }).fraction * 100} % of its ${symbolOf(tokens, inputMint)}`;
  const least = limit === undefined ? '' : `, for at least ${showAmount(tokens, outputMint, BigInt(limit))}`;
  return `to swap ${input} to ${symbolOf(tokens, outputMint)}${least}`;
}
