import type { OrderRequest } from '../../../../../src/service/endpoints/swap-v2.ts';
import { asked, BUY_SOL, refusedByBoth } from '../../scenes.ts';
import type { Query, ServiceFixture } from '../../service-fixture.ts';

export const ORDER = '/swap/v2/order';

/** Expects both sides to refuse an order that differs from a good one in what is given. */
export function orderRefused(fixture: ServiceFixture, change: Query, about: RegExp): Promise<void> {
  const { amount, inputMint, outputMint, ...rest } = { ...asked(BUY_SOL), ...change };
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(ORDER, { ...BUY_SOL, ...change }),
    ours: ({ swap }) => swap.order({ amount, inputMint, outputMint, ...rest }),
    about,
  });
}

/** Expects both sides to miss a parameter of an order. */
export function orderMissed(fixture: ServiceFixture, name: 'inputMint' | 'outputMint' | 'amount'): Promise<void> {
  const { [name]: _theirs, ...query } = BUY_SOL;
  const { [name]: _ours, ...request } = asked(BUY_SOL);
  return refusedByBoth(fixture, {
    theirs: () => fixture.get(ORDER, query), ours: ({ swap }) => swap.order(request as OrderRequest),
    about: new RegExp(name),
  });
}
