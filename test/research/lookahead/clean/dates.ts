import { atEachPrice } from '../planted/harness.ts';

/** Reads the hour and the day from the engine’s time. */
export default atEachPrice('dates', ({ now }) =>
  ({ price }) => new Date(now()).getUTCMinutes() % 3 === 0 && price > 125 && 'a good minute');
