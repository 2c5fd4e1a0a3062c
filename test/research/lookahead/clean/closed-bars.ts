import { atEachPrice } from '../planted/harness.ts';

/** Resamples to bars, and speaks of those that are closed only. */
export default atEachPrice('closed-bars', () => {
  let bar = -1;
  let close = 0;
  return ({ at, price }) => {
    const closed = close;
    const isOver = Math.floor(at / 60_000) !== bar;
    bar = Math.floor(at / 60_000);
    close = price;
    return isOver && closed > 0 && `closed at ${closed.toFixed(3)}`;
  };
});
