import type { Amount, Bps } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { MarketEventBase } from './event-base.ts';
import type { Mint } from './token.ts';

/** What the service would pay for `inAmount` right now. A reading, not a promise: nothing is reserved. */
export interface Quote extends MarketEventBase {
  readonly kind: 'quote';
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly inAmount: Amount;
  readonly outAmount: Amount;
  /** The least output after slippage as the service states it; equals `outAmount` where no slippage applies. */
  readonly threshold: Amount;
  /** Signed fraction: -0.001 is 0.1 % worse than the market. Undefined where the service does not say. */
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

/** Returns what `inAmount` would bring at the average price of a quote, floored. */
export function outputAt(quote: { readonly inAmount: Amount; readonly outAmount: Amount }, inAmount: Amount): Amount {
  return mulDiv(inAmount, quote.outAmount, quote.inAmount, 'floor');
}
