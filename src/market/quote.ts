import type { Amount, Bps } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { MarketEventBase } from './event-base.ts';
import type { Mint } from './token.ts';

/** The service's present price of `inAmount`. It is indicative: the service reserves nothing. */
export interface Quote extends MarketEventBase {
  readonly kind: 'quote';
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

/** Returns outAmount / inAmount as a double. */
export function rateOf(inAmount: bigint, outAmount: bigint): number {
  return Number(outAmount) / Number(inAmount);
}

/** Returns the output of `inAmount` at the average price of a quote, floored. */
export function outputAt(quote: { readonly inAmount: Amount; readonly outAmount: Amount }, inAmount: Amount): Amount {
  return mulDiv(inAmount, quote.outAmount, quote.inAmount, 'floor');
}
