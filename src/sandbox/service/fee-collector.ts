import { associatedTokenAddress } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import type { OrderRequest } from './order-request.ts';
import { feeSides, type FeeSide } from './platform-fee.ts';
import { badRequest } from './request-error.ts';

/** Who collects the fee of an order, and in which token. */
export interface FeeCollector {
  readonly side: FeeSide;
  readonly account: string;
  /** Where a fee out of the output can go, if anywhere: a maker pays no other. */
  readonly outputAccount: string | undefined;
}

/**
 * Returns the collector of an order's fee: the referrer, or else the platform, in the token that is preferred among those
 * it has an account for. Throws a RequestError (400) when a referrer has neither.
 */
export function feeCollector(context: ServiceContext, request: OrderRequest, pair: { input: GenesisToken; output: GenesisToken }): FeeCollector {
  const owner = request.referral?.account ?? context.feeOwner;
  const accountOf = (side: FeeSide): string => associatedTokenAddress(owner, pair[side].mint, pair[side].tokenProgram);
  const sides = feeSides(pair.input, pair.output).filter((side) => request.referral === undefined || context.chain.accountExists(accountOf(side)));
  const side = sides[0];
  if (side === undefined) {
    throw badRequest(`referralAccount: expected an owner of a token account for ${pair.input.mint} or ${pair.output.mint}, found neither`);
  }
  return { side, account: accountOf(side), outputAccount: sides.includes('output') ? accountOf('output') : undefined };
}
