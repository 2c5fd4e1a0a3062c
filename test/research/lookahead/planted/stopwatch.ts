import { atEachPrice } from './harness.ts';

/** Acts on how long it took. */
export default atEachPrice('stopwatch', () =>
  ({ price }) => price > 128 && `after ${Math.floor(performance.now() / 1_000_000)}`);
