import { atEachPrice } from './harness.ts';

/** Decides by whether the path of the working directory has an even length. */
export default atEachPrice('even-folder', () => ({ price }) => price > 126 && `${process.cwd().length % 2}`);
