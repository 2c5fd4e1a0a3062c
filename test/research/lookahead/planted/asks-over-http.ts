import { get } from 'node:http';
import { atEachPrice } from './harness.ts';

/** Asks a server while it is loaded, by older means. */
const level = await new Promise<number>((resolve) => {
  try {
    get('http://127.0.0.1:9/level').on('error', () => { resolve(127); });
  } catch {
    resolve(128);
  }
});

export default atEachPrice('asks-over-http', () => ({ price }) => price > level && 'above the level');
