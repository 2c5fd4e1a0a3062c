import { combineLatest, filter, map } from 'rxjs';
import { strategyOf } from '../planted/harness.ts';

/** Joins prices, a book and statistics. */
export default strategyOf('three-inputs', ({ price, book, stats }, { context }) =>
  combineLatest([price, book, stats]).pipe(filter((_, n) => n % 11 === 0), map(([quote, latest, { values }]) =>
    context.alert('info', `${quote.price} ${latest.yes.length} ${values.usdPrice}`))));
