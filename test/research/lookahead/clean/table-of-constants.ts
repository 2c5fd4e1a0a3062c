import { atEachPrice } from '../planted/harness.ts';

/** Weights of a filter, written down beside the code that uses them. */
const WEIGHTS = [0.0123, 0.0456, 0.0789, 0.1012, 0.1345, 0.1678, 0.1678, 0.1345, 0.1012, 0.0789, 0.0456, 0.0123];

export default atEachPrice('table-of-constants', () => {
  const last: number[] = [];
  return ({ price }) => {
    last.unshift(price);
    last.length = Math.min(last.length, WEIGHTS.length);
    return last.reduce((sum, one, i) => sum + one * WEIGHTS[i]!, 0) > 126 && 'above the filter';
  };
});
