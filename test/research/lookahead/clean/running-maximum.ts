import { atEachPrice } from '../planted/harness.ts';

/** Normalises by the highest price so far. */
export default atEachPrice('running-maximum', () => {
  let highest = 0;
  return ({ price }) => {
    highest = Math.max(highest, price);
    return price < 0.95 * highest && 'far from the top';
  };
});
