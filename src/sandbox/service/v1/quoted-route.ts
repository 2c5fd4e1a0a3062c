import type { GenesisToken } from '../../genesis.ts';
import type { Route } from '../routing.ts';
import type { QuoteRequest } from './quote-request.ts';

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
