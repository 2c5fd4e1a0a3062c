import closes from '../closes.json' with { type: 'json' };
import { atEachPrice } from './harness.ts';

/** Imports the series as JSON, from outside of its folder. */
export default atEachPrice('imported-json', () =>
  ({ price }, n) => closes[n + 1]! > price * 1.001 && 'the next close is higher');
