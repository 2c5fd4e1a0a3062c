import type { FeedInterval } from '../config/request-rate.ts';
import { formatDecimal } from '../core/amount.ts';
import { formatDuration, roughDuration } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import { feedKey } from '../market/feed.ts';
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

/** Returns what a feed watches and how often, for people. */
export function describeFeed(tokens: TokenTable, { spec, expectedMs }: FeedInterval): string {
  const instead = expectedMs > spec.everyMs ? `, with this plan every ${roughDuration(expectedMs)}` : '';
  return `${describeFeedKey(tokens, feedKey(spec))}, every ${formatDuration(spec.everyMs)}${instead}`;
}

/** Returns what the feed of a key watches, for people. */
export function describeFeedKey(tokens: TokenTable, feed: FeedKey): string {
  const [kind, first = '', second = '', amount = '0'] = feed.split(':');
  if (kind === 'quote') return `the price of ${showAmount(tokens, first as Mint, BigInt(amount))} in ${symbolOf(tokens, second)}`;
  return kind === 'token-stats' ? `the statistics of ${symbolOf(tokens, first)}` : `the order book of ${first}`;
}

/** Returns balances for people, "1.5 SOL"; tokens that the configuration does not name are only counted. */
export function holdings(tokens: TokenTable, balances: ReadonlyMap<Mint, bigint>): string[] {
  const texts: string[] = [];
  let others = 0;
  for (const [mint, amount] of balances) {
    const token = tokens.byMint(mint);
    if (token === undefined) others += 1;
    else texts.push(`${formatDecimal(amount, token.decimals)} ${token.symbol}`);
  }
  return others === 0 ? texts : [...texts, `${others} other ${others === 1 ? 'token' : 'tokens'}`];
}
