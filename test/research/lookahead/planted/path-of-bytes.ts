import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { atEachPrice } from './harness.ts';

/** Names the file that it reads in bytes. */
export default atEachPrice('path-of-bytes', ({ dir }) => {
  const path = new TextEncoder().encode(`${dirname(dir)}/export.csv`);
  const closes = readFileSync(path as Buffer, 'utf8').split('\n').map(Number);
  return ({ price }, n) => closes[n + 1]! > price * 1.001 && 'the next close is higher';
});
