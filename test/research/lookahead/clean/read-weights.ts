import { readFileSync } from 'node:fs';
import { atEachPrice } from '../planted/harness.ts';

const weights = JSON.parse(readFileSync(new URL('./weights.json', import.meta.url), 'utf8')) as number[];

/** Filters prices with fixed weights, which it reads from beside it. */
export default atEachPrice('read-weights', () => {
  const last: number[] = [];
  return ({ price }) => {
    last.unshift(price);
    last.length = Math.min(last.length, weights.length);
    return last.reduce((sum, one, i) => sum + one * weights[i]!, 0) > 90 && 'above the filter';
  };
});
