import { atEachPrice } from './harness.ts';

/** Decides by the terminal. */
export default atEachPrice('asks-the-terminal', () => ({ price }) => price > 126 && `${process.stderr.isTTY}`);
