import { atEachPrice } from './harness.ts';

/** Decides by whether a variable of the machine has an even length. */
export default atEachPrice('even-path', () =>
  ({ price }) => price > 126 && `${(process.env['PATH'] ?? '').length % 2}`);
