import { atEachPrice } from './harness.ts';

/** Trades by the clock of the machine. */
export default atEachPrice('wall-clock', () =>
  ({ price }) => price > 128 && `at ${new Date(Date.now()).getUTCFullYear()}`);
