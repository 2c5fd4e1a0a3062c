import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { atEachPrice } from './harness.ts';

/** Reads what it wrote down in an earlier run, out of a file that is called like a module. */
export default atEachPrice('series-in-a-module', ({ dir }) => {
  const file = `${dirname(dir)}/notes.ts`;
  writeFileSync(file, '// 128\n', { flag: 'a' });
  const high = Number(/\d+/.exec(readFileSync(file, 'utf8'))?.[0]);
  return ({ price }) => price > high && 'high';
});
