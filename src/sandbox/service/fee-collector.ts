import { associatedTokenAddress } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import type { OrderRequest } from './order-request.ts';
import { feeSides, type FeeSide } from './platform-fee.ts';

/** Who collects the fee of an order, and in which token. */
export interface FeeCollector {
  readonly side: FeeSide;
  readonly account: string;
  /** Where a fee out of the output can go, if anywhere: a maker pays no other. */
  readonly outputAccount: string | undefined;
}

/**
 * Returns the collector of an order's fee: the referrer, in the token that is preferred among those it has an account
 * for. Where there is no referrer, or one without an account for either token, the platform collects the fee.
 */
export function feeCollector(
  context: ServiceContext, request: OrderRequest, pair: { input: GenesisToken; output: GenesisToken },
): FeeCollector {
  const referrer = request.referral?.account;
  const accountOf = (owner: string, side: FeeSide): string =>
    associatedTokenAddress(owner, pair[side].mint, pair[side].tokenProgram);
  const preferred = feeSides(pair.input, pair.output);
  const own = referrer === undefined ? []
    : preferred.filter((side) => context.chain.accountExists(accountOf(referrer, side)));
  const [owner, sides] = referrer !== undefined && own.length > 0 ? [referrer, own] : [context.feeOwner, preferred];
  return {
    side: sides[0],
    account: accountOf(owner, sides[0]),
    outputAccount: sides.includes('output') ? accountOf(owner, 'output') : undefined,
  };
}
