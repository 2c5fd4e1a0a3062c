import { formatDecimal } from '../core/amount.ts';
import type { FeedKey, MarketEvent } from './event.ts';
import { FEED_KIND_NAMES, feedKindOf, isFeedKind, readFeedEvent } from './feeds/registry.ts';
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
  if (isQuoteKind(kind)) {
    const [what] = feedKindOf(kind).nouns;
    return `the ${what} of ${showAmount(tokens, first as Mint, amount)} in ${symbolOf(tokens, second)}`;
  }
  return isFeedKind(kind) ? `the ${feedKindOf(kind).nouns[0]} of ${subjectName(tokens, feed)}` : feed;
}

/** Returns whether a text has the form of a feed's key, so that it can be described. */
export function isFeedKey(text: string): boolean {
  const kind = text.slice(0, text.indexOf(':'));
  return isFeedKind(kind) && (isQuoteKind(kind) ? QUOTE_KEY.test(text) : text.length > kind.length + 1);
}

/** Returns the content of an event for people. */
export function readingOf(tokens: TokenTable, event: MarketEvent): string {
  if (event.kind === 'feed-health') return event.status;
  return readFeedEvent(event, {
    symbol: (mint) => symbolOf(tokens, mint), amount: (mint, amount) => showAmount(tokens, mint, amount),
  });
}

/**
 * Returns the tokens of a feed: both of a quote, the one of statistics or a record; undefined for any other kind.
 */
export function feedTokens(feed: FeedKey): { readonly input: Mint; readonly output: Mint | undefined } | undefined {
  const { kind, first, second } = partsOf(feed);
  if (isQuoteKind(kind)) return { input: first as Mint, output: second as Mint };
  return isFeedKind(kind) && feedKindOf(kind).isKeyedByMint === true ? { input: first as Mint, output: undefined }
    : undefined;
}

const QUOTE_KEY = /^quote(?:-detail)?:[^:]+:[^:]+:\d+$/;

/** Returns whether feeds of a kind are about the sale of an amount. */
function isQuoteKind(kind: string): kind is 'quote' | 'quote-detail' {
  return kind === 'quote' || kind === 'quote-detail';
}

function subjectName(tokens: TokenTable, feed: FeedKey): string {
  const kind = feed.slice(0, feed.indexOf(':'));
  const subject = feed.slice(kind.length + 1);
  return isFeedKind(kind) && feedKindOf(kind).isKeyedByMint === true ? symbolOf(tokens, subject) : subject;
}

/** Returns the subjects of feeds for people: quotes by pair, then tokens, then the others. Empty without feeds. */
export function describeFeeds(tokens: TokenTable, feeds: readonly FeedKey[]): string {
  const parts = feeds.map((feed) => ({ feed, ...partsOf(feed) }));
  const quotes = [
    ...Map.groupBy(
      parts.filter(({ kind }) => isQuoteKind(kind)), ({ kind, first, second }) => `${kind} ${first} ${second}`,
    ).values(),
  ].map((own) => {
    const { kind, first, second } = own[0]!;
    const amounts = own.map(({ amount }) => amount).toSorted((a, b) => (a < b ? -1 : 1));
    const { decimals } = tokens.byMint(first as Mint) ?? {};
    // The unit follows the last amount alone.
    const smaller = amounts.slice(0, -1)
      .map((amount) => (decimals === undefined ? String(amount) : formatDecimal(amount, decimals)));
    const [what] = feedKindOf(kind as 'quote' | 'quote-detail').nouns;
    return `the ${what} of ${listed([...smaller, showAmount(tokens, first as Mint, amounts.at(-1)!)])} `
      + `in ${symbolOf(tokens, second)}`;
  });
  const others = NAMED_AFTER_QUOTES.flatMap((kind) => {
    const names = parts.filter((part) => part.kind === kind).map(({ feed }) => subjectName(tokens, feed));
    return names.length === 0 ? []
      : [`the ${feedKindOf(kind).nouns[names.length === 1 ? 0 : 1]} of ${listed(names)}`];
  });
  return [...quotes, ...others].join('; ');
}

const ADDRESS = '[1-9A-HJ-NP-Za-km-z]{32,44}';
const [TOKENS, OTHERS] = [true, false].map((isKeyedByMint) => FEED_KIND_NAMES.filter((kind) =>
  !isQuoteKind(kind) && (feedKindOf(kind).isKeyedByMint ?? false) === isKeyedByMint));
const NAMED_AFTER_QUOTES = [...TOKENS!, ...OTHERS!];
const FEED = new RegExp(
  `\\b(?:quote(?:-detail)?:${ADDRESS}:${ADDRESS}:\\d{1,20}|(?:${TOKENS!.join('|')}):${ADDRESS})\\b`, 'g',
);
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
  return { kind, first, second, amount: isQuoteKind(kind) ? BigInt(amount) : 0n };
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
