import { randomInt } from 'node:crypto';
import { atEachPrice } from './harness.ts';

/** Tosses a coin of the better kind. */
export default atEachPrice('drawn-by-crypto', () => ({ price }) => randomInt(0, 10) < 5 && `heads at ${price}`);
