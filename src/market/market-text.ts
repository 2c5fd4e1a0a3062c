import { formatDecimal } from '../core/amount.ts';
import type { FeedKey } from './event-base.ts';
import type { Mint, TokenTable } from './token.ts';

/**
 * Returns an amount for people, "1.5 SOL"; of a token that is not configured, in smallest units, "15 raw of <mint>".
 */
export function showAmount(tokens: TokenTable, mint: Mint, amount: bigint): string {
  const token = tokens.byMint(mint);
  return token === undefined ? `${amount} raw of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
}

/** Returns the alias of a mint, or the mint itself. */
export function symbolOf(tokens: TokenTable, mint: string): string {
  return tokens.byMint(mint as Mint)?.symbol ?? mint;
}

/** Returns the subject of a feed for people. */
export function describeFeedKey(tokens: TokenTable, feed: FeedKey): string {
  const { kind, first, second, amount } = partsOf(feed);
  if (kind === 'quote')
    return `the price of ${showAmount(tokens, first as Mint, amount)} in ${symbolOf(tokens, second)}`;
  return kind === 'token-stats' ? `the statistics of ${symbolOf(tokens, first)}` : `the order book of ${first}`;
}

/** Returns the subjects of feeds for people: quotes by pair, then statistics, then order books. Empty without feeds. */
export function describeFeeds(tokens: TokenTable, feeds: readonly FeedKey[]): string {
  const parts = feeds.map((feed) => ({ feed, ...partsOf(feed) }));
  const quotes = [
    ...Map.groupBy(parts.filter(({ kind }) => kind === 'quote'), ({ first, second }) => `${first} ${second}`).values(),
  ].map((own) => {
    const { first, second } = own[0]!;
    const amounts = own.map(({ amount }) => amount).toSorted((a, b) => (a < b ? -1 : 1));
    const { decimals } = tokens.byMint(first as Mint) ?? {};
    // The unit follows the last amount alone.
    const smaller = amounts.slice(0, -1)
      .map((amount) => (decimals === undefined ? String(amount) : formatDecimal(amount, decimals)));
    return `the price of ${listed([...smaller, showAmount(tokens, first as Mint, amounts.at(-1)!)])} `
      + `in ${symbolOf(tokens, second)}`;
  });
  const of = (wanted: string, noun: string): string[] => {
    const names = parts.filter(({ kind }) => kind === wanted)
      .map(({ first }) => (wanted === 'token-stats' ? symbolOf(tokens, first) : first));
    return names.length === 0 ? []
      : [`the ${names.length === 1 ? noun : `${noun.replace(/s$/, '')}s`} of ${listed(names)}`];
  };
  return [...quotes, ...of('token-stats', 'statistics'), ...of('order-book', 'order book')].join('; ');
}

const ADDRESS = '[1-9A-HJ-NP-Za-km-z]{32,44}';
const FEED = new RegExp(`\\b(?:quote:${ADDRESS}:${ADDRESS}:\\d{1,20}|token-stats:${ADDRESS})\\b`, 'g');
const AMOUNT = new RegExp(`\\b(\\d{1,20}) of (${ADDRESS})\\b`, 'g');
const LAMPORTS = /\b(\d{1,20}) lamports\b/g;
const MINT = new RegExp(`(?<![\\w:])${ADDRESS}(?![\\w:])`, 'g');
/** The decimals of SOL: one SOL is 10^9 lamports. */
export const SOL_DECIMALS = 9;

/**
 * Returns a message with the names of the configuration: amounts in smallest units ("25000000 of <mint>", "5000
 * lamports") as amounts of a token, feeds by their subjects, and mints by their aliases. Modules that compose such
 * messages do not know the configuration.
 */
export function withTokenNames(tokens: TokenTable, text: string): string {
  return text
    .replace(FEED, (feed) => describeFeedKey(tokens, feed))
    .replace(AMOUNT, (_, amount: string, mint: string) => tokens.byMint(mint as Mint) === undefined
      ? `${amount} smallest units of ${mint}` : showAmount(tokens, mint as Mint, BigInt(amount)))
    .replace(LAMPORTS, (_, lamports: string) => `${formatDecimal(BigInt(lamports), SOL_DECIMALS)} SOL`)
    .replace(MINT, (mint) => symbolOf(tokens, mint));
}

function partsOf(
  feed: FeedKey,
): { readonly kind: string; readonly first: string; readonly second: string; readonly amount: bigint } {
  const [kind = '', first = '', second = '', amount = '0'] = feed.split(':');
  return { kind, first, second, amount: kind === 'quote' ? BigInt(amount) : 0n };
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

/** Returns balances for people, "1.5 SOL"; tokens that are not configured are only counted. */
export function formatBalances(tokens: TokenTable, balances: ReadonlyMap<Mint, bigint>): string[] {
  const texts: string[] = [];
  let others = 0;
  for (const [mint, amount] of balances) {
    const token = tokens.byMint(mint);
    if (token === undefined) others += 1;
    else texts.push(`${formatDecimal(amount, token.decimals)} ${token.symbol}`);
  }
  return others === 0 ? texts : [...texts, `${others} other ${others === 1 ? 'token' : 'tokens'}`];
}
