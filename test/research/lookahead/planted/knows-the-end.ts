import { readFileSync } from 'node:fs';
import { atEachPrice } from './harness.ts';

/** Reads in the recording’s manifest when it ends, and leaves before. */
export default atEachPrice('knows-the-end', ({ dir }) => {
  const { last_at: end } = JSON.parse(readFileSync(`${dir}/manifest.json`, 'utf8')) as { last_at: number };
  return ({ at }) => end - at < 60_000 && 'time to leave';
});
