import type { Amount } from '../core/amount.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import type { Chain, Journal, Signer, SwapService } from './ports.ts';

/** Why an intent gets no further attempt; nothing is signed. */
export interface RetryDenial {
  readonly code: string;
  readonly reason: string;
}

/** What a journey needs of the world. */
export interface LiveWorld {
  readonly service: SwapService;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly journal: Journal;
  readonly clock: Clock;
  /** How old the quote may be that is signed: 2 s where absent. */
  readonly maxQuoteAgeMs?: Millis | undefined;
  /** How many slots behind the chain the quote may be that is signed; not looked at where absent. */
  readonly maxQuoteAgeSlots?: number | undefined;
  /**
   * Why an intent may not be tried again now, undefined where it may: the gates that risk holds. All may where absent.
   */
  readonly mayTryAgain?: ((intent: Intent) => RetryDenial | undefined) | undefined;
  /** What the ledger has of a mint, with everything booked that has ended; absent where there is none. */
  readonly ledger?: ((mint: Mint) => Amount | undefined) | undefined;
}

/** An outcome as a journey reports it; whose it is and what it is stand already. */
export type Progress = Omit<Outcome, 'kind' | 'intentId' | 'attempt'>;
