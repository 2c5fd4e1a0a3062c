import type { Amount } from '../../core/amount.ts';
import { U64_MAX, amount } from '../../core/amount.ts';
import type { Quote } from '../quote.ts';
import type { Mint } from '../token.ts';
import type { FeedKind } from './feed-kind.ts';
import { readMint } from './feed-kind.ts';

/** The subjects of the feeds of the swap API, by kind. */
export interface SwapSubjects {
  readonly 'quote': { readonly inputMint: Mint; readonly outputMint: Mint; readonly amount: Amount };
}

/** The events of the same feeds. */
export interface SwapEvents {
  readonly 'quote': Quote;
}

/** The feeds of the swap API. */
export const SWAP_FEEDS: { readonly [K in keyof SwapSubjects]: FeedKind<SwapSubjects[K], SwapEvents[K]> } = {
  'quote': {
    input: 'quotes',
    keyOf: ({ inputMint, outputMint, amount: size }) => `${inputMint}:${outputMint}:${size}`,
    read: ({ inputMint, outputMint, amount: size }, reading) => {
      const [input, output] = [readMint(inputMint, reading), readMint(outputMint, reading)];
      if (typeof input === 'string') return input;
      if (typeof output === 'string') return output;
      if (inputMint === outputMint) return `asks for a quote of a token in itself, ${reading.shown(inputMint)}`;
      if (typeof size !== 'string' || !/^\d{1,20}$/.test(size) || BigInt(size) < 1n || BigInt(size) > U64_MAX)
        return `asks for a quote of ${reading.shown(size)} units: expected an amount above 0, of 64 bits at most`;
      return { inputMint: input.mint, outputMint: output.mint, amount: amount(BigInt(size)) };
    },
    feedsPerRequest: 1,
    mints: ({ inputMint, outputMint }) => [inputMint, outputMint],
    hasColumns: true,
    nouns: ['price', 'prices'],
    reading: ({ inputMint, inAmount, outputMint, outAmount }, names) =>
      `${names.amount(inputMint, inAmount)} would bring ${names.amount(outputMint, outAmount)}`,
  },
};
