import { atEachPrice } from './harness.ts';

/** Tosses a coin without a seed. */
export default atEachPrice('unseeded-chance', () => ({ price }) => Math.random() < 0.05 && `heads at ${price}`);
