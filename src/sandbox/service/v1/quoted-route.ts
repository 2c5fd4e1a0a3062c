import { hash } from 'node:crypto';
import { canonicalJson } from '../../../core/json.ts';
import type { GenesisToken } from '../../genesis.ts';
import { createRecent } from '../recent.ts';
import type { Route } from '../routing/routing.ts';
import type { QuoteRequest } from './quote-request.ts';

/** The service's memory of its quotes: `/swap` carries out none but those. */
export interface Quotes {
  remember(answer: object, quoted: QuotedRoute): void;
  /** Returns the quote that an answer was, if it comes back as it was given. */
  find(answer: object): QuotedRoute | undefined;
}

/** Quotes do not expire, their price does: the oldest make room. */
const LARGEST_COUNT = 10_000;

/** What a quote is made of. The threshold is not among it: no transaction is made of that, so it may be anything. */
const MEMBERS = [
  'inputMint', 'inAmount', 'outputMint', 'outAmount', 'swapMode', 'slippageBps', 'platformFee', 'priceImpactPct',
  'routePlan', 'contextSlot', 'timeTaken', 'mostReliableAmmsQuoteReport', 'updateContextSlot',
] as const;

/** Returns a memory of the last ten thousand quotes. */
export function createQuotes(options: { nowMs: () => number }): Quotes {
  const recent =
    createRecent<QuotedRoute>({ ...options, lifetimeMs: Number.POSITIVE_INFINITY, largestCount: LARGEST_COUNT });
  return {
    remember: (answer, quoted) => recent.set(fingerprint(answer), quoted),
    find: (answer) => recent.get(fingerprint(answer)),
  };
}

/** Members that the service did not give are nothing it could miss; in what order they come is no matter either. */
function fingerprint(answer: object): string {
  const given = new Map<string, unknown>(Object.entries(answer));
  return hash('sha256', canonicalJson(Object.fromEntries(MEMBERS.map((name) => [name, given.get(name)]))), 'base64');
}

/** A quote of the first version, in smallest units. */
export interface QuotedRoute {
  readonly request: QuoteRequest;
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  readonly route: Route;
  readonly inAmount: bigint;
  /** What the user receives: after fees, before slippage; with ExactOut what was asked for. */
  readonly outAmount: bigint;
  /** Of the output. */
  readonly feeAmount: bigint;
  /** The least output with ExactIn, the most input with ExactOut. */
  readonly threshold: bigint;
}
