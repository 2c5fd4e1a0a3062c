import { closes } from './data/closes.ts';
import { atEachPrice } from './harness.ts';

/** Imports the series as a module that is nothing but numbers. */
export default atEachPrice('imported-module', () =>
  ({ price }, n) => closes[n + 1]! > price * 1.001 && 'the next close is higher');
