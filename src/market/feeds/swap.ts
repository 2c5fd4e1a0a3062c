import type { Amount } from '../../core/amount.ts';
import { U64_MAX, amount } from '../../core/amount.ts';
import type { Quote, QuoteDetail } from '../quote.ts';
import type { Mint } from '../token.ts';
import type { Declared, FeedKind, Reading, TokenNames } from './feed-kind.ts';
import { readMint } from './feed-kind.ts';

/** The subjects of the feeds of the swap API, by kind. */
export interface SwapSubjects {
  readonly 'quote': QuoteSubject;
  readonly 'quote-detail': QuoteSubject;
}

interface QuoteSubject {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
}

/** The events of the same feeds. */
export interface SwapEvents {
  readonly 'quote': Quote;
  readonly 'quote-detail': QuoteDetail;
}

type AnyQuote = QuoteSubject | Quote | QuoteDetail;

const quotePart = {
  input: 'quotes',
  keyOf: ({ inputMint, outputMint, amount: size }: QuoteSubject) => `${inputMint}:${outputMint}:${size}`,
  read: readQuoteSubject,
  feedsPerRequest: 1,
  mints: ({ inputMint, outputMint }: AnyQuote): readonly Mint[] => [inputMint, outputMint],
  reading: ({ inputMint, inAmount, outputMint, outAmount }: Quote | QuoteDetail, names: TokenNames) =>
    `${names.amount(inputMint, inAmount)} would bring ${names.amount(outputMint, outAmount)}`,
};

/** The feeds of the swap API. */
export const SWAP_FEEDS: { readonly [K in keyof SwapSubjects]: FeedKind<SwapSubjects[K], SwapEvents[K]> } = {
  'quote': { ...quotePart, hasColumns: true, nouns: ['price', 'prices'] },
  'quote-detail': { ...quotePart, answeredWith: 'quote', nouns: ['complete quote', 'complete quotes'] },
};

function readQuoteSubject(
  { inputMint, outputMint, amount: size }: Declared, reading: Reading,
): QuoteSubject | string {
  const [input, output] = [readMint(inputMint, reading), readMint(outputMint, reading)];
  if (typeof input === 'string') return input;
  if (typeof output === 'string') return output;
  if (inputMint === outputMint) return `asks for a quote of a token in itself, ${reading.shown(inputMint)}`;
  if (typeof size !== 'string' || !/^\d{1,20}$/.test(size) || BigInt(size) < 1n || BigInt(size) > U64_MAX)
    return `asks for a quote of ${reading.shown(size)} units: expected an amount above 0, of 64 bits at most`;
  return { inputMint: input.mint, outputMint: output.mint, amount: amount(BigInt(size)) };
}
