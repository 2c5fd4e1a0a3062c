import { atEachPrice } from './bench.ts';

/** Tosses a coin that nobody can toss again. */
export default atEachPrice('unseeded-chance', () => ({ price }) => Math.random() < 0.05 && `heads at ${price}`);
