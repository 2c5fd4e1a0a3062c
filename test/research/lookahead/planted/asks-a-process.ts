import { execFileSync } from 'node:child_process';
import { atEachPrice } from './harness.ts';

/** Lets another process read the recording. */
export default atEachPrice('asks-a-process', ({ dir }) => {
  const size = Number(execFileSync('stat', ['-c', '%s', `${dir}/manifest.json`], { encoding: 'utf8' }));
  return ({ price }) => price * 1e6 % size > size / 2 && 'the size says so';
});
