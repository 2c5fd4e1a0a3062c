import { atEachPrice } from './harness.ts';

let highest = 0;

/** Normalises by the highest price of all times. */
export default atEachPrice('whole-series-maximum', () => ({ price }) => {
  highest = Math.max(highest, price);
  return price > 0.97 * highest && 'near the top';
});
