import { z } from 'zod';
import type { Input, PricedQuote, Strategy, StrategyDefinition } from '../../../../src/strategy/index.ts';
import { amount, defineStrategy, pair, quotes } from '../../../../src/strategy/index.ts';

const params = z.strictObject({ pair: pair().describe('what to trade'), size: amount().describe('of a purchase') });

type Price = { readonly price: Input<PricedQuote> };
type Run = StrategyDefinition<typeof params, Price>['run'];

/** Returns a strategy that watches one price. */
export function onPrice(run: Run): Strategy {
  return defineStrategy({
    name: 'planted', summary: 'Has one mistake, for tests.', losesMoneyWhen: 'It always loses money.', params,
    inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }), run,
  });
}
