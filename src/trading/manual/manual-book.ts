import type { Token } from '../../market/token.ts';

/** No strategy of a configuration can have a name that begins so, because it has no dot. */
const PREFIX = 'manual.';

/** Returns the name of the book of manual swaps that spend a token: "manual.USDC". */
export function manualBookOf({ symbol }: Pick<Token, 'symbol'>): string {
  return `${PREFIX}${symbol}`;
}

/**
 * Returns whether a book is one of manual swaps through a running daemon. Such a book has money of its budget's token
 * only while a swap spends it: it comes from what no strategy has of the wallet, and goes back there.
 */
export function isManualBook(strategy: string): boolean {
  return strategy.startsWith(PREFIX);
}
