import { atEachPrice } from './harness.ts';

/** Writes a price in the language of the machine. */
export default atEachPrice('default-language', () => ({ price }) => price > 126 && price.toLocaleString());
