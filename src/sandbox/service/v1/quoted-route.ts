import { hash } from 'node:crypto';
import { canonicalJson } from '../../../core/json.ts';
import type { GenesisToken } from '../../genesis.ts';
import { createRecent } from '../recent.ts';
import type { Route } from '../routing/routing.ts';
import type { QuoteRequest } from './quote-request.ts';

/** The service's memory of its quotes: `/swap` executes only those. */
export interface Quotes {
  remember(answer: object, quoted: QuotedRoute): void;
  /** Returns the quote of an answer that comes back unchanged. */
  find(answer: object): QuotedRoute | undefined;
}

/** Quotes do not expire; the oldest are dropped. */
const LARGEST_COUNT = 10_000;

/** The members that identify a quote, without the threshold, which no transaction uses. */
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

/** Ignores additional members and the order of members. */
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
  /** What the user receives: after fees, before slippage; with ExactOut the requested amount. */
  readonly outAmount: bigint;
  /** Of the output. */
  readonly feeAmount: bigint;
  /** The least output with ExactIn, the most input with ExactOut. */
  readonly threshold: bigint;
}
