import { atEachPrice } from './harness.ts';

/** Counts from midnight where the machine stands. */
export default atEachPrice('local-midnight', ({ now }) =>
  ({ price }) => price > 126 && `${now() - new Date(now()).setHours(0, 0, 0, 0)} ms into the day`);
