import type { Amount } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';

/** An amount of a token that bounds the value of something. */
export interface ValueLimit {
  readonly mint: Mint;
  readonly amount: Amount;
}
