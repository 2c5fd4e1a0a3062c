import { atEachPrice } from './harness.ts';

let last = 0;

/** Trades towards where the market ended last time. */
export default atEachPrice('last-row', () => ({ price }) => {
  const target = last;
  last = price;
  return target > price + 10 && 'below where it ends';
});
