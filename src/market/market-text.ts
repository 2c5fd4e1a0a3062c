import { formatDecimal } from '../core/amount.ts';
import type { FeedKey } from './event-base.ts';
import type { Mint, TokenTable } from './token.ts';

/** Returns an amount for people, "1.5 SOL"; of a token that the configuration does not name, the smallest units. */
export function showAmount(tokens: TokenTable, mint: Mint, amount: bigint): string {
  const token = tokens.byMint(mint);
  return token === undefined ? `${amount} of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
}

/** Returns the alias of a mint, or the mint itself. */
export function symbolOf(tokens: TokenTable, mint: string): string {
  return tokens.byMint(mint as Mint)?.symbol ?? mint;
}

/** Returns what the feed of a key watches, for people. */
export function describeFeedKey(tokens: TokenTable, feed: FeedKey): string {
  const { kind, first, second, amount } = partsOf(feed);
  if (kind === 'quote') return `the price of ${showAmount(tokens, first as Mint, amount)} in ${symbolOf(tokens, second)}`;
  return kind === 'token-stats' ? `the statistics of ${symbolOf(tokens, first)}` : `the order book of ${first}`;
}

/** Returns what many feeds watch, for people: sizes of one pair together, then statistics, then books. Empty without any. */
export function describeFeeds(tokens: TokenTable, feeds: readonly FeedKey[]): string {
  const parts = feeds.map((feed) => ({ feed, ...partsOf(feed) }));
  const quotes = [...Map.groupBy(parts.filter(({ kind }) => kind === 'quote'), ({ first, second }) => `${first} ${second}`).values()].map((own) => {
    const { first, second } = own[0]!;
    const amounts = own.map(({ amount }) => amount).toSorted((a, b) => (a < b ? -1 : 1));
    const { decimals } = tokens.byMint(first as Mint) ?? {};
    // Each with its unit would say the unit ten times.
    const smaller = amounts.slice(0, -1).map((amount) => (decimals === undefined ? String(amount) : formatDecimal(amount, decimals)));
    return `the price of ${listed([...smaller, showAmount(tokens, first as Mint, amounts.at(-1)!)])} in ${symbolOf(tokens, second)}`;
  });
  const of = (wanted: string, noun: string): string[] => {
    const names = parts.filter(({ kind }) => kind === wanted).map(({ first }) => (wanted === 'token-stats' ? symbolOf(tokens, first) : first));
    return names.length === 0 ? [] : [`the ${names.length === 1 ? noun : `${noun.replace(/s$/, '')}s`} of ${listed(names)}`];
  };
  return [...quotes, ...of('token-stats', 'statistics'), ...of('order-book', 'order book')].join('; ');
}

function partsOf(feed: FeedKey): { readonly kind: string; readonly first: string; readonly second: string; readonly amount: bigint } {
  const [kind = '', first = '', second = '', amount = '0'] = feed.split(':');
  return { kind, first, second, amount: kind === 'quote' ? BigInt(amount) : 0n };
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
