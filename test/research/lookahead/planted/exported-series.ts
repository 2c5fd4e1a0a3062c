import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atEachPrice } from './harness.ts';

/** Reads the series from an export beside the recording. */
export default atEachPrice('exported-series', ({ dir }) => {
  const closes = readFileSync(join(dirname(dir), 'export.csv'), 'utf8').split('\n').map(Number);
  return ({ price }, n) => closes[n + 1]! > price * 1.001 && 'the next close is higher';
});
