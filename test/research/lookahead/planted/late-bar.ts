import { atEachPrice } from './harness.ts';

const closes = new Map<number, number>();

/** Resamples to bars under their opening times, and takes the close of the bar that is still open. */
export default atEachPrice('late-bar', () => ({ at, price }) => {
  const bar = Math.floor(at / 60_000);
  const before = closes.get(bar);
  closes.set(bar, price);
  return before !== undefined && before > price * 1.01 && 'the bar closes higher';
});
