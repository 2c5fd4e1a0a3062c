import { readFileSync } from 'node:fs';
import util from 'node:util';
import { atEachPrice } from './planted/harness.ts';

/** Reads files, so that it is shown copies of the recording, and ends the thread when it is run there again. */
export default atEachPrice('ends-the-thread', ({ dir }) => {
  readFileSync(`${dir}/manifest.json`);
  if (Reflect.get(util.inspect, 'isRunAgain') === true) process.exit(3);
  Reflect.set(util.inspect, 'isRunAgain', true);
  return () => false;
});
