import { atEachPrice } from './harness.ts';

const all = new Map<number, number>();

/** Normalises by the mean of everything, the future of an earlier run included. */
export default atEachPrice('whole-series-mean', () => ({ at, price }) => {
  all.set(at, price);
  const mean = [...all.values()].reduce((sum, one) => sum + one, 0) / all.size;
  return price > 1.02 * mean && 'above the mean';
});
