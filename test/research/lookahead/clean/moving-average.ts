import { Sma } from '../../../../src/strategy/index.ts';
import { atEachPrice } from '../planted/harness.ts';

/** Compares with the average of the SDK. */
export default atEachPrice('moving-average', () => {
  const mean = new Sma(12);
  return ({ price }) => {
    const value = mean.push(price);
    return mean.full && price > value * 1.01 && 'above';
  };
});
