import type { Amount, Bps, Lamports } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey, MarketEventBase } from './event-base.ts';
import type { Mint } from './token.ts';

/** The terms of a quote. */
interface QuoteTerms {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  /** The least output after slippage as the service states it; equals `outAmount` where no slippage applies. */
  readonly threshold: Amount;
  /** Signed fraction: -0.001 is 0.1 % worse than the market. Undefined where the service does not state it. */
  readonly priceImpact?: number | undefined;
  readonly contextSlot?: bigint | undefined;
  readonly router: string;
  readonly feeBps: Bps;
  /** outAmount / inAmount in smallest units, as a double, for signals; never for money. */
  readonly rate: number;
}

/** The service's present price of `inAmount`. It is indicative: the service reserves nothing. */
export interface Quote extends MarketEventBase, QuoteTerms {
  readonly kind: 'quote';
}

/** A market on the way from the input to the output. Its texts are safe to print. */
interface RouteLeg {
  /** The service's label of the exchange. */
  readonly exchange?: string | undefined;
  /** The account of the market. */
  readonly account?: string | undefined;
  /** The share of the route in basis points; 10,000 is all of it. */
  readonly bps?: number | undefined;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  readonly usdValue?: number | undefined;
}

/** Everything that the service says with a quote. What it does not say is absent. Texts are safe to print. */
export interface QuoteDetail extends MarketEventBase, QuoteTerms {
  readonly kind: 'quote-detail';
  /** `ultra` or `manual`. */
  readonly mode?: string | undefined;
  readonly swapMode?: string | undefined;
  /** The slippage that the threshold rests on, in basis points. */
  readonly slippageBps?: number | undefined;
  /** In US dollars, as the service values them. */
  readonly inUsdValue?: number | undefined;
  readonly outUsdValue?: number | undefined;
  readonly swapUsdValue?: number | undefined;
  /** The markets of the route; empty where the service names none. */
  readonly route?: readonly RouteLeg[] | undefined;
  /** The token in which fees are taken. */
  readonly feeMint?: Mint | undefined;
  readonly platformFee?: {
    readonly amount?: Amount | undefined; readonly feeBps?: number | undefined; readonly feeMint?: Mint | undefined;
  } | undefined;
  readonly signatureFeeLamports?: Lamports | undefined;
  /** Priority fees and tips. */
  readonly prioritizationFeeLamports?: Lamports | undefined;
  /** Estimated. */
  readonly rentFeeLamports?: Lamports | undefined;
  readonly gasless?: boolean | undefined;
  /** How long the service took, in milliseconds. */
  readonly totalTimeMs?: number | undefined;
  readonly requestId?: string | undefined;
  /** Those of a maker's quote. */
  readonly quoteId?: string | undefined;
  readonly maker?: string | undefined;
  readonly expireAt?: Millis | undefined;
}

/** Recorded quotes by row, whose members are read without making the quotes. */
export interface QuoteRows {
  /** The feed of each row as a code, and the feeds by code. */
  readonly feeds: { readonly codes: Int32Array; readonly texts: readonly FeedKey[] };
  /** Returns the stamp, milliseconds. */
  timeAt(row: number): Millis;
  receivedAt(row: number): Millis;
  rateAt(row: number): number;
  inputAt(row: number): Quote;
}

/** Quotes one after the other: the rows from `from` to before `end`, as far as they are stamped within a period. */
export interface QuoteRun {
  readonly rows: QuoteRows;
  readonly from: number;
  readonly end: number;
  /** Rows stamped before it, or at or after the other end, interrupt the run. */
  readonly since: Millis;
  readonly until: Millis;
}

/** Returns outAmount / inAmount as a double. */
export function rateOf(inAmount: bigint, outAmount: bigint): number {
  return Number(outAmount) / Number(inAmount);
}

/** Returns the output of `inAmount` at the average price of a quote, floored. */
export function outputAt(quote: { readonly inAmount: Amount; readonly outAmount: Amount }, inAmount: Amount): Amount {
  return mulDiv(inAmount, quote.outAmount, quote.inAmount, 'floor');
}
