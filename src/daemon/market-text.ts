import { formatDecimal } from '../core/amount.ts';
import { formatDuration } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { Mint, TokenTable } from '../market/token.ts';

/** Returns an amount for people, "1.5 SOL"; of a token that the configuration does not name, the smallest units. */
export function showAmount(tokens: TokenTable, mint: Mint, amount: bigint): string {
  const token = tokens.byMint(mint);
  return token === undefined ? `${amount} of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
}

/** Returns the alias of a mint, or the mint itself. */
export function symbolOf(tokens: TokenTable, mint: string): string {
  return tokens.byMint(mint as Mint)?.symbol ?? mint;
}

/** Returns what a feed watches, for people. */
export function describeFeed(tokens: TokenTable, spec: FeedSpec): string {
  const every = `every ${formatDuration(spec.everyMs)}`;
  switch (spec.kind) {
    case 'quote': return `the price of ${showAmount(tokens, spec.inputMint, spec.amount)} in ${symbolOf(tokens, spec.outputMint)}, ${every}`;
    case 'order-book': return `the order book of ${spec.marketId}, ${every}`;
    case 'token-stats': return `the statistics of ${symbolOf(tokens, spec.mint)}, ${every}`;
  }
}

/** Returns what the feed of a key watches, for people. */
export function describeFeedKey(tokens: TokenTable, feed: FeedKey): string {
  const [kind, first = '', second = '', amount = '0'] = feed.split(':');
  if (kind === 'quote') return `the price of ${showAmount(tokens, first as Mint, BigInt(amount))} in ${symbolOf(tokens, second)}`;
  return kind === 'token-stats' ? `the statistics of ${symbolOf(tokens, first)}` : `the order book of ${first}`;
}
