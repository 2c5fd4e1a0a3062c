import { atEachPrice } from './harness.ts';

const ranked: number[] = [];

/** Ranks the present among all prices, those to come too. */
export default atEachPrice('sorted-by-future', () => ({ price }) => {
  ranked.push(price);
  ranked.sort((a, b) => a - b);
  return ranked.indexOf(price) < ranked.length / 10 && 'among the lowest tenth';
});
