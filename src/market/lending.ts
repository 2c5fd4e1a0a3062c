import type { MarketEventBase } from './event-base.ts';

/** The earnings of one position. */
export interface LendEarning {
  /** The position's address. */
  readonly address: string;
  readonly ownerAddress: string;
  /** In the unit of the service, which it does not describe; may be a fraction. */
  readonly earnings: number;
  /** The slot at which the earnings were measured. */
  readonly slot: bigint;
}

/** What an account earned by lending, at one poll. */
export interface LendEarningsEvent extends MarketEventBase {
  readonly kind: 'lend-earnings';
  readonly owner: string;
  readonly earnings: readonly LendEarning[];
}
