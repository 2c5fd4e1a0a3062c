import type { Clock } from '../core/time.ts';
import type { Outcome } from '../trading/intent.ts';
import type { Chain, Journal, Signer, SwapService } from './ports.ts';

/** What a journey needs of the world. */
export interface LiveWorld {
  readonly service: SwapService;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly journal: Journal;
  readonly clock: Clock;
}

/** An outcome as a journey reports it; whose it is and what it is stand already. */
export type Progress = Omit<Outcome, 'kind' | 'intentId' | 'attempt'>;
