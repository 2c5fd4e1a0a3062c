import { loadavg } from 'node:os';
import { atEachPrice } from './harness.ts';

/** Trades when the machine has little to do. */
export default atEachPrice('load-of-the-machine', () =>
  ({ price }) => price > 126 && loadavg()[0]! < 90 && 'the machine is idle');
