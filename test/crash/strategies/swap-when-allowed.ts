import { filter, map, merge, of, switchMap, take } from 'rxjs';
import { z } from 'zod';
import type { DenialCode } from '../../../src/strategy/index.ts';
import { amount, defineStrategy, quotes, token } from '../../../src/strategy/index.ts';

/**
 * Refusals that pass by themselves: an earlier swap of the wallet is not yet proven, the service does not answer, the
 * token is not yet checked, or no recent price has arrived.
 */
const TRANSIENT: ReadonlySet<DenialCode> = new Set([
  'INTENT_OPEN_FOR_MINT', 'SERVICE_SILENT', 'TOKEN_UNVETTED', 'INPUT_STALE', 'QUOTE_STALE', 'VALUE_UNKNOWN',
]);

/**
 * Swaps once. A transient refusal delays the swap: trading starts beside an unproven swap of the killed run, which
 * locks its input for a while.
 */
export default defineStrategy({
  name: 'swap-when-allowed',
  summary: 'Swaps once, and proposes the swap at each price until it is allowed.',
  params: z.strictObject({ spend: amount(), buy: token(), route: z.enum(['order', 'build']) }),
  inputs: (p) => ({ price: quotes({ base: p.buy, quote: p.spend.token }, { amount: p.spend, every: '2s' }) }),
  run: ({ price }, p, ctx) => {
    const delayed$ = ctx.denials$.pipe(filter(({ code }) => TRANSIENT.has(code)));
    return merge(of(undefined), delayed$).pipe(
      switchMap(() => price.pipe(take(1))),
      map(() => ctx.swap(p.spend.token, p.buy, p.spend, 'the swap of the scenario', { route: p.route, key: 'once' })),
    );
  },
});
