import type { Amount } from '../../core/amount.ts';
import { assertNever } from '../../core/assert.ts';
import type { Random } from '../../core/random.ts';
import { normal } from '../../core/random.ts';
import type { BookLevel } from '../../market/order-book.ts';
import { ONE_USD } from '../../market/order-book.ts';
import type { Quote } from '../../market/quote.ts';
import { rateOf } from '../../market/quote.ts';
import type { TokenStats } from '../../market/token-stats.ts';
import type { Input } from '../../trading/step.ts';

/** Standard deviation of the logarithm of what values are multiplied by: far beyond what a market does from row to row. */
const NOISE = 0.7;

/** Returns an input of the same feed at the same time that says something else. */
export function noisy(input: Input, random: Random): Input {
  switch (input.kind) {
    case 'quote': return scaledQuote(plainQuote(input), factor(random));
    case 'order-book': return { ...input, yes: input.yes.map((level) => noisyLevel(level, random)), no: input.no.map((level) => noisyLevel(level, random)) };
    case 'token-stats': return { ...input, values: noisyValues(input.values, random) };
    case 'command': return input.name === 'judge-token' ? { ...input, findings: input.findings.length > 0 ? [] : ['POISONED'] } : input;
    case 'feed-health':
    case 'outcome':
      return input;
    default: return assertNever(input, 'input');
  }
}

/** Returns what an input says, at the time and in the place of another one of its feed. */
export function movedTo(input: Input, place: Input): Input {
  if (input.kind === 'quote' && place.kind === 'quote') return { ...plainQuote(input), receivedAt: place.receivedAt, eventAt: place.eventAt, contextSlot: place.contextSlot };
  if ('receivedAt' in input && 'receivedAt' in place) return { ...input, receivedAt: place.receivedAt, eventAt: place.eventAt };
  return input;
}

/** A recorded one has accessors, which no copy by spreading takes along. */
function plainQuote({ kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router, feeBps, rate }: Quote): Quote {
  return { kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot, router, feeBps, rate };
}

function scaledQuote(quote: Quote, by: number): Quote {
  const outAmount = scaled(quote.outAmount, by);
  return { ...quote, outAmount, threshold: scaled(quote.threshold, by), rate: rateOf(quote.inAmount, outAmount) };
}

function scaled(amount: Amount, by: number): Amount {
  const product = BigInt(Math.round(Number(amount) * by));
  return (product > 0n ? product : 1n) as Amount;
}

function noisyLevel({ size }: BookLevel, random: Random): BookLevel {
  return { priceMicroUsd: Math.round((0.02 + 0.47 * random()) * ONE_USD), size: size * factor(random) };
}

function noisyValues(values: TokenStats['values'], random: Random): TokenStats['values'] {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factor(random)]));
}

function factor(random: Random): number {
  return Math.exp(NOISE * normal(random));
}
