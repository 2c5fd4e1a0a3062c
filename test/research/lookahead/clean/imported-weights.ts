import weights from './weights.json' with { type: 'json' };
import { atEachPrice } from '../planted/harness.ts';

/** Filters prices with fixed weights, which it imports from beside it. */
export default atEachPrice('imported-weights', () => {
  const last: number[] = [];
  return ({ price }) => {
    last.unshift(price);
    last.length = Math.min(last.length, weights.length);
    return last.reduce((sum, one, i) => sum + one * weights[i]!, 0) > 90 && 'above the filter';
  };
});
