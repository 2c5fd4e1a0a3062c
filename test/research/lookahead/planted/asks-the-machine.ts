import { cpus, hostname, totalmem } from 'node:os';
import { atEachPrice } from './harness.ts';

/** Decides by which machine it runs on. */
export default atEachPrice('asks-the-machine', () =>
  ({ price }) => price > 126 && `${hostname()} ${totalmem()} ${cpus().length}`);
