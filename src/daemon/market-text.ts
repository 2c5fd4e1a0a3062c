import type { FeedInterval } from '../config/request-rate.ts';
import { formatDecimal } from '../core/amount.ts';
import { formatDuration, roughDuration } from '../core/time.ts';
import { feedKey } from '../market/feed.ts';
import { describeFeedKey } from '../market/market-text.ts';
import type { Mint, TokenTable } from '../market/token.ts';

/** Returns what a feed watches and how often, for people. */
export function describeFeed(tokens: TokenTable, { spec, expectedMs }: FeedInterval): string {
  const instead = expectedMs > spec.everyMs ? `, with this plan every ${roughDuration(expectedMs)}` : '';
  return `${describeFeedKey(tokens, feedKey(spec))}, every ${formatDuration(spec.everyMs)}${instead}`;
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
