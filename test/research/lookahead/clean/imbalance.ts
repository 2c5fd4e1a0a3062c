import { mergeMap } from 'rxjs';
import { bookTop } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Leans the way the book does. */
export default strategyOf('imbalance', ({ book }, { context }) => book.pipe(mergeMap((latest) => {
  const { imbalance, mid } = bookTop(latest, 'yes');
  return imbalance !== undefined && Math.abs(imbalance) > 0.3
    ? [context.alert('info', `${imbalance.toFixed(4)} at ${mid}`)] : [];
})));
