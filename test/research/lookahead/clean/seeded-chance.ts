import { atEachPrice } from '../planted/harness.ts';

/** Tosses a coin that can be tossed again. */
export default atEachPrice('seeded-chance', ({ context }) => () => context.random() < 0.1 && 'heads');
