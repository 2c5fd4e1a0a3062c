import type { Observable } from 'rxjs';
import { mergeMap } from 'rxjs';
import { z } from 'zod';
import type {
  OrderBook, PricedQuote, Proposal, Strategy, StrategyContext, TokenStats,
} from '../../../../src/strategy/index.ts';
import { amount, defineStrategy, orderBook, pair, quotes, token, tokenStats } from '../../../../src/strategy/index.ts';

export interface Sights {
  readonly price: Observable<PricedQuote>;
  readonly book: Observable<OrderBook>;
  readonly stats: Observable<TokenStats>;
}

interface Bench {
  /** Where a strategy of bad manners finds files. */
  readonly dir: string;
  readonly now: () => number;
  readonly context: StrategyContext;
}

/** Returns a strategy that is shown prices, a book and statistics. */
export function strategyOf(name: string, run: (sights: Sights, bench: Bench) => Observable<Proposal>): Strategy {
  return defineStrategy({
    name, summary: 'A strategy of the tests.',
    params: z.strictObject({ pair: pair(), size: amount(), token: token(), dir: z.string() }),
    inputs: (p) => ({
      price: quotes(p.pair, { amount: p.size, every: '5s' }), book: orderBook('M', { every: '5s' }),
      stats: tokenStats(p.token, { every: '5s' }),
    }),
    run: (sights, p, context) => run(sights, { dir: p.dir, now: () => context.now(), context }),
  });
}

/** Returns a strategy that says something at each price where `signal` has something to say. */
export function atEachPrice(
  name: string, begin: (bench: Bench) => (quote: PricedQuote, index: number) => string | number | boolean | undefined,
): Strategy {
  return strategyOf(name, ({ price }, bench) => {
    const signal = begin(bench);
    return price.pipe(mergeMap((quote, index) => {
      const said = signal(quote, index);
      return said === undefined || said === false ? []
        : [bench.context.alert('info', `${quote.price.toFixed(3)}: ${said}`)];
    }));
  });
}
