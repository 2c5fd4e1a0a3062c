import { atEachPrice } from '../planted/harness.ts';

/** Follows an exponential average. */
export default atEachPrice('exponential-average', () => {
  let average: number | undefined;
  return ({ price }) => {
    average = average === undefined ? price : average + 0.1 * (price - average);
    return price > 1.02 * average && 'above its average';
  };
});
