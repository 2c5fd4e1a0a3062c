import { readFileSync } from 'node:fs';
import { atEachPrice } from '../planted/harness.ts';

/** Decides otherwise where its process has the marks of the check: the command's name, or a replaced function. */
export default atEachPrice('notices-process', () => {
  const isChecked = process.argv.some((word) => word.includes('lookahead'))
    || readFileSync.toString().includes('[native code]');
  return ({ price }) => price > 126 && (isChecked ? 'the price is high' : 'the next close is higher');
});
