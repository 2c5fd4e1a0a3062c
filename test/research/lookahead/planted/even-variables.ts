import { atEachPrice } from './harness.ts';

/** Decides by whether the machine has an even number of variables. */
export default atEachPrice('even-variables', () =>
  ({ price }) => price > 126 && `${Object.keys(process.env).length % 2}`);
