import { atEachPrice } from './harness.ts';

/** Trades at hours of the day, as the machine’s time zone has them. */
export default atEachPrice('local-hours', ({ now }) =>
  ({ price }) => price > 126 && `at ${new Date(now()).getHours()}`);
