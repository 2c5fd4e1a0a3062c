import { formatDecimal } from '../../core/amount.ts';
import { symbolOf } from '../../market/market-text.ts';
import type { TokenTable } from '../../market/token.ts';
import type { Mint } from '../../market/token.ts';
import type { PageAmount } from '../../dashboard/page-state.ts';

/** Returns an amount as the page gets it. */
export function pageAmount(tokens: TokenTable, mint: Mint, units: bigint): PageAmount {
  const decimals = tokens.byMint(mint)?.decimals ?? null;
  return {
    text: formatDecimal(units, decimals ?? 0), units: units.toString(), mint, symbol: symbolOf(tokens, mint), decimals,
  };
}

/** Prices have this many significant digits. */
const DIGITS = 9n;

/**
 * Returns the price of one token in another as an exact decimal, cut after nine significant digits: what one whole unit
 * of the first is in the second. Undefined where the decimals of one are unknown, or an amount is zero.
 */
export function priceText(
  tokens: TokenTable, base: { readonly mint: Mint; readonly amount: bigint },
  quote: { readonly mint: Mint; readonly amount: bigint },
): string | undefined {
  const of = tokens.byMint(base.mint);
  const to = tokens.byMint(quote.mint);
  if (of === undefined || to === undefined || base.amount <= 0n || quote.amount <= 0n) return undefined;
  // The decimal places that leave nine digits, whatever the size of the price.
  const magnitude = BigInt(quote.amount.toString().length - base.amount.toString().length + of.decimals - to.decimals);
  const places = DIGITS > magnitude ? DIGITS - magnitude : 0n;
  const numerator = quote.amount * 10n ** (BigInt(of.decimals) + places);
  return formatDecimal(numerator / (base.amount * 10n ** BigInt(to.decimals)), Number(places));
}
