import { atEachPrice } from './harness.ts';

const prices = new Map<number, number>();

/** Compares with an average whose window is centred on the present. */
export default atEachPrice('centred-average', () => ({ at, price }) => {
  prices.set(at, price);
  const near = [-10_000, -5_000, 0, 5_000, 10_000].map((by) => prices.get(at + by)).filter((one) => one !== undefined);
  return price < near.reduce((sum, one) => sum + one, 0) / near.length && 'below its average';
});
