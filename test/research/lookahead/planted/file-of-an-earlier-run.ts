import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atEachPrice } from './harness.ts';

/** Writes what it sees into a file, and begins with what it finds there. */
export default atEachPrice('file-of-an-earlier-run', ({ dir }) => {
  const file = join(dirname(dir), 'notes.json');
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as number[] : [];
  const notes: number[] = [];
  return ({ price }, n) => {
    notes[n] = price;
    if (n % 50 === 49) writeFileSync(file, JSON.stringify(notes));
    return (earlier[n + 1] ?? price) > price * 1.001 && 'the next is higher';
  };
});
