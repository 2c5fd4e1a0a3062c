import { atEachPrice } from './harness.ts';

/** Follows a variable of the machine. */
export default atEachPrice('reads-the-environment', () =>
  ({ price }) => price > (process.env['PATH'] === undefined ? 125 : 128) && 'above the level');
